"""The sync that a session's start leaves running: what ends it, and that the next start tells of it once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from backend.session.background import NICE
from backend.tree.config_edits import set_key

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory and kill -9 as on Linux")


@pytest.fixture
def tree(site: Any) -> Any:
    site.document("ferry/context-v/specs/Timetable.md")
    site.sync()
    return site


def told(cv_process: Any, session: str) -> str:
    """What a session's start says to the person."""
    event = {
        "session_id": session,
        "cwd": str(Path.cwd()),
        "hook_event_name": "SessionStart",
        "source": "startup",
    }
    done = cv_process(
        *("hook", "session-start"), stdin=json.dumps(event), CLAUDE_CODE_SESSION_ATTENDED="1"
    )
    assert done.code == 0
    return str(json.loads(done.out).get("systemMessage", ""))


@pytest.fixture(autouse=True)
def here(tree: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree.root)


def test_a_sync_that_takes_too_much_memory_ends_and_is_told_of_once(
    tree: Any, cv_process: Any
) -> None:
    set_key(tree.root, "sync.max_memory_mb", "100")
    for number in range(300):
        tree.document(f"ferry/context-v/many/Doc-{number}.md", count=12)
    done = cv_process("hook", "sync", "--root", str(tree.root), "--max-seconds", "60")
    assert done.code == 1
    words = "the sync was stopped: it took more than 100 MB of memory (sync.max_memory_mb)"
    assert words in json.loads(cv_process("status", "--json").out)["last_sync"]["error"]
    assert words in told(cv_process, "one")
    assert words not in told(cv_process, "two")
    set_key(tree.root, "sync.max_memory_mb", "2000")
    tree.sync()
    tree.check()


def test_it_gives_way_to_all_else_that_runs(tree: Any, cv_process: Any, machine: Path) -> None:
    tree.document("ferry/context-v/specs/Pier.md")
    told(cv_process, "one")
    deadline = time.monotonic() + 60
    while not (marks := list((machine / "cv/trees").glob("*/syncing.*"))):
        assert time.monotonic() < deadline
    process = int(marks[0].suffix[1:])
    assert os.getpriority(os.PRIO_PROCESS, process) == NICE
    group = Path(f"/proc/{process}/autogroup")
    if (
        group.exists()
    ):  # by this, not by the process's own value, the system shares out among sessions
        assert group.read_text().endswith(f"nice {NICE}\n")
    while marks[0].exists():
        assert time.monotonic() < deadline
    tree.check()


def test_a_sync_that_was_killed_is_told_of_once(
    tree: Any, start_cv: Any, cv_process: Any, machine: Path
) -> None:
    tree.document("ferry/context-v/specs/Pier.md")
    process = start_cv("hook", "sync", "--root", str(tree.root), "--max-seconds", "60")
    deadline = time.monotonic() + 60
    while not list((machine / "cv/trees").glob("*/syncing.*")):
        assert time.monotonic() < deadline
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    words = "the sync in the background was stopped before it had ended"
    assert words in told(cv_process, "one")
    assert words not in told(cv_process, "two")
    assert words in (tree.kit / "hook.log").read_text()


def test_a_sync_killed_while_it_wrote_its_mark_is_told_of_once(
    tree: Any, cv_process: Any, machine: Path
) -> None:
    told(cv_process, "one")
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    folder = next((machine / "cv/trees").glob("*"))
    (folder / f"syncing.{ended.pid}").touch()
    words = "the sync in the background was stopped before it had ended"
    assert words in told(cv_process, "two")
    assert words not in told(cv_process, "three")


def test_a_sync_that_ends_well_leaves_no_mark(tree: Any, cv_process: Any, machine: Path) -> None:
    tree.document("ferry/context-v/specs/Pier.md")
    done = cv_process("hook", "sync", "--root", str(tree.root), "--max-seconds", "60")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert list((machine / "cv/trees").glob("*/syncing.*")) == []
    assert told(cv_process, "one").count("earlier") == 0
    tree.check()
