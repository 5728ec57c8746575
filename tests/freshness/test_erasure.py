"""What a person takes back is gone for good: one sync later its words are in no file below ``.context-vigilance``."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from organisation import prose

SECRET = "zanzibarquux"
KILLER = """
import os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from backend.freshness.sync import sync
from backend.tree.config import load_config
root = Path(sys.argv[1])
def watch(frame, event, argument):
    if event == "call" and frame.f_code.co_name == sys.argv[2] and "/freshness/" in frame.f_code.co_filename:
        os.kill(os.getpid(), signal.SIGKILL)
sys.setprofile(watch)
sync(root, load_config(root), now=datetime(2026, 3, 2, tzinfo=UTC))
"""
WORDS = f"The password is {SECRET} and must not be kept."


def traces(folder: Path, word: str) -> list[str]:
    """Give the files below ``folder`` that hold ``word``, in any letter case, also as UTF-16."""
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes().lower()
            if word.encode() in data or word.encode("utf-16-le") in data:
                found.append(path.relative_to(folder).as_posix())
    return found


def _left_out(site: Any, repo: str) -> None:
    sources = site.kit / "sources.md"
    head, tail = sources.read_text().split(f'"{repo}/context-v"')
    tail = tail.replace("include: true", "include: false", 1)
    sources.write_text(f'{head}"{repo}/context-v"{tail}')


def _redact(site: Any, repo: str) -> None:
    site.edit(f"{repo}/context-v/specs/Keys.md", SECRET + repo, "removed")


WAYS: dict[str, Callable[[Any, str], Any]] = {
    "deleted": lambda site, repo: site.delete(f"{repo}/context-v/specs/Keys.md"),
    "foldergone": lambda site, repo: site.delete(repo),
    "private": lambda site, repo: site.edit(
        f"{repo}/context-v/specs/Keys.md", "title:", "private: true\ntitle:"
    ),
    "dismissed": lambda site, repo: site.dismiss(repo),
    "leftout": _left_out,
    "redacted": _redact,
}


@pytest.fixture
def tree(site: Any) -> Any:
    """Forty other documents, and for each way one with a secret in body, title, lede, tag, author, heading and name."""
    for number in range(40):
        site.document(f"ferry/context-v/specs/Doc-{number}.md", count=3)
    for way in WAYS:
        word = SECRET + way
        path = f"{way}/context-v/specs/Keys.md"
        fields = {"lede": f"About {word}", "status": word, "owner": word}
        body = f"{prose(way)}\n\n## Part {word}\n\nThe password is {word}, see [[{word}]].\n\n## End\n\nDone."
        site.document(path, body, title=f"Keys {word}", tags=[word], authors=[word], **fields)
    site.sync()
    for way in WAYS:
        assert traces(site.kit, SECRET + way), "the search does not find what is there"
    return site


def left_after_one_sync(tree: Any) -> dict[str, list[str]]:
    for way, erase in WAYS.items():
        erase(tree, way)
    tree.sync()
    return {way: traces(tree.kit, SECRET + way) for way in WAYS}


def test_the_words_are_in_no_file_of_the_store(tree: Any) -> None:
    """Index with its write-ahead log, manifests, lists, logs, and all that Chroma keeps."""
    assert left_after_one_sync(tree) == {way: [] for way in WAYS}


def test_private_text_never_reaches_the_store(site: Any) -> None:
    site.document("mill/context-v/Keys.md", WORDS, private="true", title=SECRET)
    site.write("mill/context-v/.Hidden.md", WORDS)
    site.write("mill/context-v/extra/Scratch.md", WORDS)
    site.document("inn/context-v/Keys.md", WORDS)
    site.dismiss("inn")
    site.document("ferry/changelog/A.md", WORDS, publish="false")
    site.document("ferry/context-v/B.md")
    site.sync()
    assert traces(site.kit, SECRET) == []
    assert list(site.chunks()) == ["ferry/context-v/B.md"]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9 on Windows")
@pytest.mark.parametrize("moment", ["drop_unused", "_erase", "write_manifests"])
def test_the_words_go_even_when_the_sync_that_erases_is_killed(tree: Any, moment: str) -> None:
    """At the call of a function; the next sync finds nothing changed in the tree, and yet has to erase."""
    for way, erase in WAYS.items():
        erase(tree, way)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    command = [sys.executable, "-c", KILLER, str(tree.root), moment]
    assert subprocess.run(command, env=environment, check=False).returncode == -9, (
        "it was never called"
    )
    tree.sync()
    tree.check()
    assert {way: traces(tree.kit, SECRET + way) for way in WAYS} == {way: [] for way in WAYS}
