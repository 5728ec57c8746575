"""``kill -9`` at any moment: one run later the private store is what an undisturbed run makes, and what was to go is gone."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9 on Windows")

SESSIONS = "claude-code-sessions"
TRACES = "claude-code-tool-traces"
READ = ("sync", "--with-sessions", "--with-traces", "--yes")


@pytest.fixture
def killed(tree: Any, killed: Callable[..., int]) -> Callable[..., int]:
    """Run a command and kill it in this room or in the store; ``redaction`` only computes."""
    watched = r"/backend/(private/(?!redaction)|freshness/(store|records|erasing)\.py)"
    return partial(killed, watched=watched)


def talk(one: Any, start: int, count: int) -> None:
    for number in range(start, start + count):
        one.user(f"Question {number} of {one.session}")
        one.call("Bash", {"command": f"step {number}"}, f"toolu_{number}")
        one.result(f"Result {number}", f"toolu_{number}")


def check(documents: Any, sessions: dict[str, int], cv: Any) -> None:
    """The store holds exactly this many turns and whole calls of each session, in Chroma as in the ledger."""
    turns = {text for text, _ in documents(SESSIONS).values()}
    assert turns == {
        f"Question {n} of {name}" for name, count in sessions.items() for n in range(count)
    }
    calls = sorted((m["session_id"], text) for text, m in documents(TRACES).values())
    assert calls == sorted(
        (name, f"Bash\ncommand: step {n}\n\nresult:\nResult {n}")
        for name, count in sessions.items()
        for n in range(count)
    )
    report = json.loads(cv(*READ, "--json").out)["roles"]
    for role in (SESSIONS, TRACES):
        assert (report[role]["indexed"], report[role]["updated"], report[role]["removed"]) == (
            0,
            0,
            0,
        )
        assert report[role]["chunks"] == sum(sessions.values())


def test_a_kill_anywhere_in_a_run(session: Any, killed: Any, cv: Any, documents: Any) -> None:
    """Seeded. Each round adds to a transcript, more than a batch, and kills a run at a random line before one is left to end."""
    dice = random.Random(20260203)
    one, two = session("one"), session("two")
    talk(two, 0, 5)
    lines = killed(0, *READ)
    for step in range(2):
        talk(one, 110 * step, 110)
        assert killed(dice.randint(1, 2 * lines), *READ)
        assert cv("search", "--role", SESSIONS, "question", "--json").code == 0, "it still answers"
        assert cv(*READ).code == 0
        check(documents, {"one": 110 * (step + 1), "two": 5}, cv)


def test_a_kill_at_the_end_of_the_very_first_run(
    session: Any, killed: Any, cv: Any, documents: Any
) -> None:
    talk(session("one"), 0, 3)
    assert killed("tie_folder", *READ)
    assert cv(*READ).code == 0
    check(documents, {"one": 3}, cv)


@pytest.mark.parametrize("moment", ["compact", "discard"])
def test_a_kill_while_forgetting(
    session: Any, killed: Any, cv: Any, documents: Any, holding: Any, moment: str
) -> None:
    """Whichever command of the room comes next ends what was begun: the words are in no file."""
    talk(session("one"), 0, 3)
    talk(session("quincunx"), 0, 3)
    assert cv(*READ).code == 0
    assert killed(moment, "forget", "--session", "quincunx", "--yes")
    again = READ if moment != "compact" else ("forget", "--session", "quincunx", "--yes")
    assert cv(*again).code == 0
    assert holding("of quincunx") == []
    check(documents, {"one": 3}, cv)
