"""``cv catch-up`` as it is typed: what goes where, in which colour, and what is refused."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
Cv = Callable[..., Any]


@pytest.fixture
def tree(org: Any, cv: Cv) -> Any:
    """Thirty documents in two repos, one a day back from today."""
    today = datetime.now(UTC).date()
    for n in range(30):
        repo, topic = ("harbour", "Tides") if n % 2 else ("orchard", "Frost")
        org.document(
            f"{repo}/context-v/specs/Doc-{n:02d}.md",
            title=f"{topic} number {n}",
            day=(today - timedelta(days=n)).isoformat(),
            tags=[topic],
            lede=f"What there is to say on {topic.lower()}, in a sentence that is long enough to be wrapped at {n}.",
        )
    assert cv("init", "--senior-root", str(org.root), "--yes", "--no-settings-hook").code == 0
    return org


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--window", "2w", "--since", "2025-01-01"), "--window or --since, not both"),
        (("--window", "2w", "--theme", "1"), "--theme 1: this window has no themes"),
        (("--window", "3m", "--theme", "99"), "--theme expects a theme's number, 1 to"),
        (("--window", "0d"), "--window expects a number and d, w, m or y"),
        (("--max-files", "0"), "--max-files expects a number of 1 or more; got 0."),
        (("--open",), "--open goes with --html FILE"),
        (("--scope", "harbor"), "Near it: harbour"),
    ],
)
def test_what_makes_no_sense_is_refused(
    tree: Any, cv: Cv, arguments: tuple[str, ...], message: str
) -> None:
    done = cv("catch-up", *arguments)
    assert done.code == 2
    assert message in done.err
    assert done.out == ""


def test_themes_and_their_numbers_are_of_the_same_windows(tree: Any, cv: Cv) -> None:
    quarter = json.loads(cv("catch-up", "--window", "3m", "--json").out)
    assert sum(theme["count"] for theme in quarter["themes"]) == 30
    first = quarter["themes"][0]
    one = cv("catch-up", "--window", "3m", "--theme", "1", "--max-files", "5", "--json")
    drilled = json.loads(one.out)
    assert drilled["total_files"] == first["count"]
    assert drilled["themes"][0]["name"] == first["name"]
    assert drilled["message"].startswith("Theme 1: Showing 5 of")
    text = cv("catch-up", "--window", "3m", "--theme", "1").out
    assert f"(1) {first['name']}, {first['count']} files" in text
    assert "Drill into" not in text
    whole = cv("catch-up", "--window", "3m").out
    assert "Major themes in the last 3 months:" in whole
    assert "Drill into one: cv catch-up --window 3m --theme N" in whole
    named = cv("catch-up", "--window", "3m", "orchard", "--markdown").out
    assert "files: cv catch-up --window 3m --scope orchard --theme N\n" in named


def test_a_folder_may_be_named_without_an_option(tree: Any, cv: Cv) -> None:
    for words in (("orchard",), ("--scope", "orchard"), ("--scope", "orchard/context-v/specs")):
        digest = json.loads(cv("catch-up", *words, "--window", "10d", "--json").out)
        assert [repo["repo"] for repo in digest["repos"]] == ["orchard"]


def test_the_page_is_written_and_the_rest_stays_quiet(tree: Any, cv: Cv, tmp_path: Path) -> None:
    page = tmp_path / "digest.html"
    done = cv("catch-up", "--window", "2w", "--html", str(page))
    assert (done.code, done.out) == (0, "")
    assert done.err == f"wrote {page}\n"
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX")
@pytest.mark.parametrize(
    ("variables", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)],
)
def test_a_terminal_gets_colour_and_its_width_and_no_word_is_cut(
    tree: Any, variables: dict[str, str], coloured: bool
) -> None:
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 60, 0, 0))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", **variables}
    for name in {"NO_COLOR", "COLUMNS"} - variables.keys():
        environment.pop(name, None)
    process = subprocess.Popen(
        [sys.executable, "-P", "-s", "-m", "backend", "catch-up", "--window", "2w"],
        cwd=tree.root, env=environment, stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # Linux says so when the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    assert process.wait() == 0
    text = shown.decode().replace("\r\n", "\n")
    assert ("\x1b[1m=== orchard ===\x1b[0m" in text) == coloured
    plain = re.sub(r"\x1b\[\d+m", "", text)
    assert all(len(line) <= 60 for line in plain.splitlines()), plain
    assert (
        "What there is to say on frost, in a sentence that is long enough to be wrapped at 0."
        in (" ".join(plain.split()))
    )
