"""What a shell completes: keys and values of the config, repos, commands for help, files. It stays quick and never complains."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("chromadb", "numpy", "onnxruntime", "tokenizers", "rich", "yaml")


@pytest.fixture
def complete(org: Any, cv_process: Any) -> Callable[[str], list[str]]:
    """What bash would offer for a line, as ``value``; a line's last word is the one that was begun."""

    def run(line: str) -> list[str]:
        number = len(line.split(" ")) - 1
        done = cv_process(_CV_COMPLETE="bash_complete", COMP_WORDS=line, COMP_CWORD=str(number))
        assert (done.code, done.err) == (0, "")
        return done.out.split()

    return run


def test_keys_and_their_values(complete: Any) -> None:
    assert complete("cv config get catch_up.") == [
        "plain,catch_up.window",
        "plain,catch_up.max_files",
    ]
    assert complete("cv config unset kick") == ["plain,kickoff"]
    assert complete("cv config set kickoff o") == ["plain,on", "plain,off"]
    assert complete("cv config set chroma.ssl ") == ["plain,true", "plain,false"]
    assert complete("cv config set chroma.mode h") == ["plain,http"]
    assert complete("cv config set embedding.name ") == ["plain,static", "plain,minilm"]
    for free in ("catch_up.window", "sync.max_seconds", "no.such.key"):
        assert complete(f"cv config set {free} ") == []


def test_repos(tree: Any, complete: Any) -> None:
    for command in ("find", "search", "folders", "catch-up"):
        assert complete(f"cv {command} --scope ") == ["plain,ferry", "plain,mill"]
    assert complete("cv catch-up m") == ["plain,mill"]


@pytest.mark.parametrize("damage", ["nothing is set up", "no manifests", "broken manifests"])
def test_where_no_repo_is_known_there_is_none_and_no_error(
    org: Any, cv: Any, complete: Any, damage: str
) -> None:
    org.document("ferry/context-v/specs/Timetable.md")
    if damage != "nothing is set up":
        cv("init", "--senior-root", str(org.root), "--yes", "--no-index")
    if damage == "broken manifests":
        org.write(".context-vigilance/manifests/context-vigilance-corpus.json", "{")
        org.write(".context-vigilance/config.json", "{")
    assert complete("cv find --scope ") == []


def test_topics_of_help_and_files(complete: Any) -> None:
    assert complete("cv help fo") == ["plain,folders", "plain,forget"]
    assert complete("cv help config u") == ["plain,unset"]
    assert complete("cv help nonsense u") == []
    assert complete("cv why ferry/c") == ["file,ferry/c"]


def test_it_loads_nothing_heavy(tree: Any) -> None:
    code = (
        "import sys, atexit\n"
        f"atexit.register(lambda: print([n for n in {HEAVY} if n in sys.modules], file=sys.stderr))\n"
        "from backend.cli import cli\n"
        "cli.main(args=[], prog_name='cv')\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-s", "-c", code],
        cwd=tree.root,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "_CV_COMPLETE": "bash_complete",
            "COMP_WORDS": "cv find --scope ",
            "COMP_CWORD": "3",
        },
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.stdout.split(), done.stderr) == (["plain,ferry", "plain,mill"], "[]\n")
