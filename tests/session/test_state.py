"""The files by which parallel hooks agree, and their end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from backend.session.state import (
    KEEP_SESSIONS,
    SessionState,
    before_clear,
    claim,
    load_state,
    prune_sessions,
    save_state,
)

NOW = 1_800_000_000.0


def test_of_many_processes_one_gets_the_claim(tmp_path: Path) -> None:
    code = "import sys, pathlib; from backend.session.state import claim as c; print(c(pathlib.Path(sys.argv[1]), 'startup'))"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    processes = [
        subprocess.Popen(
            [sys.executable, "-P", "-c", code, str(tmp_path)],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(8)
    ]
    assert sorted(process.communicate()[0].strip() for process in processes) == ["False"] * 7 + [
        "True"
    ]


def test_a_claim_can_be_had_again_when_its_round_is_over(tmp_path: Path) -> None:
    assert claim(tmp_path, "compact")
    assert not claim(tmp_path, "compact")
    assert claim(tmp_path, "compact-2")
    for path in tmp_path.iterdir():
        os.utime(path, (1, 1))
    assert claim(tmp_path, "compact")
    assert not claim(tmp_path, "compact")
    for _ in range(3):
        for path in tmp_path.iterdir():
            os.utime(path, (1, 1))
        assert claim(tmp_path, "compact")
    assert len(list(tmp_path.glob("claim-compact.*"))) <= 2


def test_a_claim_that_cannot_be_written_is_granted(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert claim(tmp_path / "file" / "folder", "startup")


def keep(session: str, *, at: float, **fields: str) -> None:
    save_state(session, SessionState(root="/tree", updated_at=int(at), **fields))
    os.utime(Path(os.environ["CV_HOME"]) / "sessions" / session, (at, at))


def test_old_sessions_are_forgotten_once_a_day() -> None:
    keep("fresh", at=NOW - 86_400)
    keep("old", at=NOW - 40 * 86_400)
    prune_sessions(now=NOW)
    assert load_state("fresh") is not None
    assert load_state("old") is None

    keep("old", at=NOW - 40 * 86_400)
    prune_sessions(now=NOW + 3_600)
    assert load_state("old") is not None
    prune_sessions(now=NOW + 90_000)
    assert load_state("old") is None


def test_the_number_of_sessions_is_bounded() -> None:
    for number in range(KEEP_SESSIONS + 3):
        keep(f"s{number}", at=NOW - number)
    prune_sessions(now=NOW)

    assert load_state(f"s{KEEP_SESSIONS - 1}") is not None
    assert load_state(f"s{KEEP_SESSIONS}") is None


def test_the_session_before_a_clear_is_the_one_of_the_same_process_and_folder() -> None:
    keep("a", at=NOW - 10, folder="/tree/x", host="41")
    keep("b", at=NOW - 5, folder="/tree/x", host="42")
    keep("c", at=NOW - 1, folder="/tree/y", host="41")

    found = before_clear(Path("/tree"), "/tree/x", "41", now=NOW)
    assert found is not None
    assert found.host == "41"
    assert before_clear(Path("/tree"), "/tree/x", "43", now=NOW) is None
    newest = before_clear(Path("/tree"), "/tree/x", "", now=NOW)
    assert newest is not None
    assert newest.host == "42"
    assert before_clear(Path("/tree"), "/tree/x", "", now=NOW + 86_400) is None
