"""``cv demo``: the whole loop on a small organisation that it makes, through the real commands."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path

from backend.errors import UsageError
from backend.tree.found import documents_folder
from backend.tree.gitdates import clean_environment
from backend.tree.root import find_root

Say = Callable[[str], None]
Run = Callable[[list[str]], int]

_DOCUMENTS = {
    "web-shop/context-v/specs/Passwordless-Sign-In.md": (
        "Passwordless sign-in",
        "How customers sign in with a link instead of a password.",
        "Auth, Customer-Accounts",
        "Mara Lind",
        3,
        "## Why\n\nHalf of all support mail is about forgotten passwords.\n\n"
        "## Flow\n\nA customer types an address, we send a link that lives for ten minutes and works once.\n\n"
        "## Sessions\n\nA session lasts thirty days and is renewed with each visit. See [[Session-Store]].\n",
    ),
    "web-shop/context-v/plans/Checkout-In-Two-Steps.md": (
        "Checkout in two steps",
        "Fewer pages between the basket and the receipt.",
        "Checkout",
        "Jonas Ek",
        9,
        "## Steps\n\nAddress and payment move onto one page; the receipt is the second.\n\n"
        "## Risks\n\nThe tax service answers slowly, so that the total must be able to arrive late.\n",
    ),
    "web-shop/changelog/2026-01-01_01_Receipts-By-Mail.md": (
        "Receipts go out by mail",
        "Every order now ends with a receipt in the customer's inbox.",
        "Checkout",
        "Jonas Ek",
        6,
        "## What changed\n\nThe order service hands each paid order to the mailer.\n",
    ),
    "platform/context-v/blueprints/Session-Store.md": (
        "The session store",
        "One place for sessions of shop and warehouse tools, with expiry.",
        "Auth, Storage",
        "Mara Lind",
        2,
        "## Shape\n\nA key per session in the shared cache; the value holds the account and when it was renewed.\n\n"
        "## Expiry\n\nThe cache drops a session after thirty days without a visit.\n",
    ),
    "platform/context-v/reminders/Clocks-Are-UTC.md": (
        "Clocks are UTC",
        "Times are stored in UTC and shown in the reader's zone.",
        "Conventions",
        "Ida Holm",
        40,
        "## Rule\n\nNo service stores local time. Receipts show the customer's zone.\n",
    ),
    "platform/tools/stock-sync/context-v/issues/Stock-Counts-Drift.md": (
        "Stock counts drift overnight",
        "The warehouse and the shop disagree by a few pieces each morning.",
        "Stock",
        "Ida Holm",
        1,
        "## What is seen\n\nAfter the nightly import the shop shows more pieces than the shelves hold.\n\n"
        "## Suspect\n\nReturns are counted twice when a parcel is scanned at both doors.\n",
    ),
}

_REPOS = ("web-shop", "platform", "platform/tools/stock-sync")
_TASK = "let people stay signed in for longer without asking for a password again"
_EDITED = "platform/context-v/blueprints/Session-Store.md"


def check_place(folder: Path, named: str) -> None:
    """Raise ``UsageError`` where the demo can't be a senior root of its own; ``named`` is what names ``folder``."""
    if within := documents_folder(folder):
        raise UsageError(
            f"{named}: {within} is a documents folder, where nothing of ours is ever written. Name another folder with --keep DIR"
        )
    there = next((place for place in (folder, *folder.parents) if place.is_dir()), None)
    if there is None:
        raise UsageError(
            f"{named}: {folder} lies on a drive that is not there; name another folder with --keep DIR"
        )
    outer = find_root(there)
    if outer is not None:
        raise UsageError(
            f"{named}: {folder} belongs to the senior root {outer}, which would index the demo; nothing was written. "
            "Name a folder outside of it with --keep DIR"
        )


def run_demo(folder: Path, *, keep: bool, today: date, say: Say, run: Run) -> int:
    """Show the loop in ``folder``: set up, find, edit a document, sync, digest. ``keep``: whether it stays there afterwards.

    ``run`` runs one command of ours from the current folder and returns its exit code; the first that fails ends the demo.
    """
    root = folder / "acorn-goods"
    make_organisation(root, today)
    with _inside(root):
        stays = "" if keep else "; it goes again at the end (--keep DIR makes one that stays)"
        say(f"A small organisation of three git repos was made in {root}{stays}.\n")
        for title, arguments in (
            (
                "Set it up, once",
                ["init", "--senior-root", str(root), "--yes", "--no-settings-hook"],
            ),
            ("Which files matter for a task?", ["find", _TASK, "--n-results", "3"]),
            ("Somebody edits a document", []),
            ("Only what changed is indexed again", ["sync"]),
            ("What moved in the last two weeks?", ["catch-up", "--window", "2w"]),
            ("Where does it stand?", ["status"]),
        ):
            say(f"\n--- {title} ---")
            if not arguments:
                _edit(root / _EDITED, today)
                say(f"(a section on phones was added to {_EDITED}, and its date set to today)")
                continue
            say("$ cv " + " ".join(f'"{a}"' if " " in a else a for a in arguments))
            if code := run(arguments):
                return code
    say(
        "\nIn Claude Code the agent does this by itself when a session starts; the person picks what is loaded."
    )
    return 0


def make_organisation(root: Path, today: date) -> None:
    """Write the documents and commit them, each with a date some days before ``today``."""
    for repo in _REPOS:
        (root / repo).mkdir(parents=True, exist_ok=True)
        _git(root / repo, "init", "--quiet", "--initial-branch=main")
    for path, (title, lede, tags, author, age, body) in _DOCUMENTS.items():
        day = (today - timedelta(days=age)).isoformat()
        file = root / path.replace("2026-01-01", day)
        file.parent.mkdir(parents=True, exist_ok=True)
        head = f"title: {title}\nlede: {lede}\ntags: [{tags}]\nauthors:\n  - {author}\n"
        dates = f"date_created: {day}\ndate_modified: {day}\n"
        file.write_text(f"---\n{head}{dates}status: Draft\n---\n\n# {title}\n\n{body}", "utf-8")
    for repo in reversed(_REPOS):  # the nested one first: git adds no repo without a commit
        _git(root / repo, "add", "--all")
        _git(root / repo, "commit", "--quiet", "--message", "Documents")


def _edit(file: Path, today: date) -> None:
    text = re.sub(r"(?m)^date_modified: .*$", f"date_modified: {today}", file.read_text("utf-8"))
    added = "\n## Phones\n\nA phone keeps its session for ninety days, since its owner locks it.\n"
    file.write_text(text + added, "utf-8")


def _git(repo: Path, *arguments: str) -> None:
    who = [
        "-c",
        "user.name=Demo",
        "-c",
        "user.email=demo@example.invalid",
        "-c",
        "commit.gpgsign=false",
    ]
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(
        ["git", *who, *arguments],
        cwd=repo,
        check=True,
        env=clean_environment() | quiet,
        capture_output=True,
    )


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
