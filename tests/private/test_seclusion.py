"""No hook, no default and no other command reaches a transcript. How the code hangs together is shown in tests/test_imports.py;
here everything is run that could, beside a planted transcript, and then every byte of ours is searched.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from backend.tree.lock import exclusive

WORD = "quincunx-of-the-transcript"


@pytest.fixture
def planted(session: Any, tree: Any) -> Any:
    """A session of this very tree, of which every command could take in something."""
    one = session("3f0c2a52-0000-4000-8000-000000000001")
    one.user(f"Tell me of the {WORD}")
    one.assistant(f"The {WORD} is private.")
    one.call("Bash", {"command": f"cat {WORD}"}, "toolu_1")
    one.result(f"here is {WORD}", "toolu_1")
    return one


def settled(cv: Any, root: Path) -> Any:
    """A sync that has its turn, after the one that a hook has left running."""
    lock = root / ".context-vigilance/writer.lock"
    for _ in range(10):
        with exclusive(lock, seconds=60, busy="the hook's sync does not end"):
            pass
        done = cv("sync")
        if done.code != 4:
            break
    return done


def test_nothing_else_takes_in_a_byte_of_it(
    planted: Any, cv: Any, cv_process: Any, tree: Any, holding: Any
) -> None:
    def hook(name: str, event: str) -> Any:
        told = {
            "session_id": planted.session, "transcript_path": str(planted.path), "cwd": str(tree.root / "ferry"),
            "hook_event_name": event, "source": "startup", "prompt": "please mend the importer of the price lists",
            "tool_name": "Bash", "tool_input": {"command": "cv status"},
        }  # fmt: skip
        return cv_process("hook", name, stdin=json.dumps(told), cwd=tree.root / "ferry")

    for done in (
        hook("session-start", "SessionStart"),
        hook("user-prompt", "UserPromptSubmit"),
        hook("pre-tool-use", "PreToolUse"),
        cv_process("hook", "sync", stdin="{}"),
        settled(cv, tree.root),
        cv("sync", "--force-rebuild"),
        cv("find", "the timetable"),
        cv("search", "the timetable", "--json"),
        cv("search", "--role", "claude-code-sessions", "the timetable"),
        cv("init", "--senior-root", str(tree.root), "--yes"),
        cv("doctor", "--fix"),
        cv("status"),
        cv("catch-up"),
        cv("sync", "--with-sessions", "--with-traces"),  # without a yes
        cv("sync", "--with-sessions", "--dry-run"),
        cv("sync", "--yes"),
    ):
        assert done.code in (0, 1, 2), done
        assert WORD not in done.out + done.err
    assert holding(WORD) == []
    assert not (tree.root / ".context-vigilance/private").exists()
    assert (tree.root / ".context-vigilance/index.sqlite").exists(), "they did run"

    assert cv("sync", "--with-sessions", "--yes").code == 0
    assert holding(WORD), "and the search of the files finds what is there"


def test_the_status_says_how_much_there_is(planted: Any, cv: Any) -> None:
    cv("sync")
    assert "private" not in cv("status").out
    assert "private" not in json.loads(cv("status", "--json").out)
    cv("sync", "--with-sessions", "--with-traces", "--yes")
    said = (
        "private       on this machine only: 2 (claude-code-sessions), 1 (claude-code-tool-traces)"
    )
    assert said in cv("status").out.splitlines()
    held = json.loads(cv("status", "--json").out)["private"]
    assert held == {"claude-code-sessions": 2, "claude-code-tool-traces": 1}
    cv("forget", "--all-private", "--yes")
    assert "private" not in cv("status").out
    assert "private" not in json.loads(cv("status", "--json").out)


def test_the_status_stays_whole_beside_a_damaged_ledger(planted: Any, cv: Any, tree: Any) -> None:
    cv("sync", "--with-sessions", "--yes")
    (tree.root / ".context-vigilance/private/ledger.sqlite").write_bytes(b"no database" * 500)
    done = cv("status")
    assert done.code == 0
    assert "cv forget --all-private" in done.out


def test_the_agent_may_not_run_it_unasked(tmp_path: Path) -> None:
    """The PreToolUse hook that lets our read commands through leaves these to the person."""
    from backend.session.permission import is_own_read

    launcher = str(tmp_path / "cv")
    (tmp_path / "cv").touch(mode=0o755)
    for command in (
        "sync --with-sessions", "sync --with-traces --yes", "sync --with-sessions --dry-run", "sync --yes",
        "forget --all-private --yes", "forget --session x", "ingest --with-sessions --yes",
    ):  # fmt: skip
        assert not is_own_read({"command": f"{launcher} {command}"}, launcher=launcher), command
    assert is_own_read({"command": f"{launcher} status"}, launcher=launcher)
