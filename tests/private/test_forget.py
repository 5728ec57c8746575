"""``cv forget``: what is forgotten is in no file any more, and stays forgotten."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from backend.private.places import the_writer
from backend.private.sync import ingest
from backend.tree.config import load_config

SESSIONS = "claude-code-sessions"
TRACES = "claude-code-tool-traces"
READ = ("sync", "--with-sessions", "--with-traces", "--yes", "--json")


@pytest.fixture
def two(session: Any, cv: Any) -> Any:
    """Two sessions, an old one and a newer one, both taken in. Each speaks a word of its own."""
    old, new = session("old"), session("new")
    old.day, new.day = "2026-01-05", "2026-02-10"
    for one, word in ((old, "quincunx"), (new, "zeugma")):
        one.user(f"tell of the {word}")
        one.call("Grep", {"pattern": f"{word}-call"}, "toolu_1")
        one.result(f"{word}-result", "toolu_1")
    done = cv(*READ)
    assert done.code == 0, done
    return old, new


def texts(documents: Any) -> set[str]:
    found = {**documents(SESSIONS), **documents(TRACES)}
    return {text for text, _ in found.values()}


def test_a_forgotten_session_is_in_no_file_and_stays_forgotten(
    two: Any, cv: Any, documents: Any, holding: Any
) -> None:
    old, new = two
    assert holding("quincunx")
    done = cv("forget", "--session", "old", "--yes", "--json")
    assert done.code == 0, done
    assert json.loads(done.out) | {"senior_root": ""} == {
        "senior_root": "", "what": "session old", "sessions": 1, "documents": {SESSIONS: 1, TRACES: 1}, "notes": [],
    }  # fmt: skip
    assert holding("quincunx") == []
    assert "quincunx" in old.path.read_text(), "Claude Code's own file is not ours to touch"
    assert len(texts(documents)) == 2

    old.user("and more of the quincunx")
    new.user("and more of the zeugma")
    report = json.loads(cv(*READ).out)["roles"][SESSIONS]
    assert (report["indexed"], report["skipped"]) == (1, {"message forgotten": 1})
    assert holding("quincunx") == []


def test_what_was_forgotten_stays_so_when_a_fork_or_a_rewritten_file_brings_it_again(
    two: Any, cv: Any, session: Any, holding: Any
) -> None:
    old, _ = two
    cv("forget", "--session", "old", "--yes")
    fork = session("fork")
    fork.raw(old.path.read_bytes().replace(b'"sessionId": "old"', b'"sessionId": "fork"'))
    fork.user("a new turn")
    old.path.write_bytes(old.path.read_bytes().replace(b"tell of", b"speak of"))
    report = json.loads(cv(*READ).out)["roles"][SESSIONS]
    assert report["indexed"] == 1
    assert holding("quincunx") == []


def test_what_is_older_than_a_day(two: Any, cv: Any, documents: Any, holding: Any) -> None:
    old, _ = two
    done = cv("forget", "--before", "2026-02-10", "--yes")
    assert (
        "everything before 2026-02-10 00:00 UTC: 1 turn (claude-code-sessions), 1 tool call"
        in done.out
    )
    assert holding("quincunx") == []
    assert len(texts(documents)) == 2
    old.user("an old word of the quincunx, written late")
    old.day = "2026-02-11"
    old.user("a new word")
    cv(*READ)
    assert holding("quincunx") == []
    assert "a new word" in texts(documents)


def test_everything(two: Any, cv: Any, documents: Any, holding: Any, tree: Any) -> None:
    old, _ = two
    done = cv("forget", "--all-private", "--yes")
    assert done.code == 0, done
    for word in ("quincunx", "zeugma", old.path.name, '"project_path"'):
        assert holding(word) == []
    assert not (tree.root / ".context-vigilance/private/chroma").exists()
    report = json.loads(cv(*READ).out)["roles"]
    assert report[SESSIONS]["indexed"] == report[TRACES]["indexed"] == 0


def test_again_after_everything_was_forgotten(two: Any, cv: Any, documents: Any, tree: Any) -> None:
    _, new = two
    cv("forget", "--all-private", "--yes")
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    new.day = tomorrow.date().isoformat()
    new.user("from now on")
    ingest(tree.root, load_config(tree.root), (SESSIONS,), now=tomorrow + timedelta(days=1))
    assert texts(documents) == {"from now on"}


def test_what_makes_no_sense_erases_nothing(two: Any, cv: Any, documents: Any) -> None:
    for arguments in (
        (),
        ("--session", "old", "--all-private"),
        ("--before", "2026-02-10", "--session", "old"),
        ("--session", " "),
        ("--before", "soon"),
        ("--before", "2999-01-01"),
    ):
        assert cv("forget", *arguments, "--yes").code == 2, arguments
    assert len(texts(documents)) == 4


def test_it_says_what_goes_and_refuses_where_nobody_can_be_asked(
    two: Any, cv: Any, documents: Any
) -> None:
    done = cv("forget", "--all-private")
    assert done.code == 2
    assert "To erase, for good: everything in the private collections: 2 turns" in done.out
    assert "--yes" in done.err
    assert len(texts(documents)) == 4


def test_an_unknown_session_and_an_empty_place(
    tree: Any, two: Any, cv: Any, documents: Any
) -> None:
    for arguments in (("--yes",), (), ("--yes", "--json")):
        done = cv("forget", "--session", "unknown", *arguments)
        assert (done.code, done.out) == (1, "")
        assert "no such session in the private collections: unknown. Nothing was erased" in done.err
        assert "cv search --role claude-code-sessions" in done.err, "how to see which there are"
    assert len(texts(documents)) == 4


def test_the_same_session_may_be_forgotten_again(two: Any, cv: Any) -> None:
    assert cv("forget", "--session", "old", "--yes").code == 0
    assert cv("forget", "--session", "old", "--yes").code == 0, "it ends what a kill cut off"


def test_a_day_that_is_none_gets_a_hint_that_fits(two: Any, cv: Any) -> None:
    for text in ("yesterday", "2w", "2026-02-31"):
        done = cv("forget", "--before", text, "--yes")
        assert done.code == 2
        assert f"--before expects a day as YYYY-MM-DD, such as 2026-05-01; got '{text}'" in done.err
        assert "--window" not in done.err


def test_a_reader_of_the_ledger_keeps_nothing_in_chroma(
    two: Any, cv: Any, tree: Any, holding: Any
) -> None:
    reader = sqlite3.connect(tree.root / ".context-vigilance/private/ledger.sqlite")
    with closing(reader):
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM document").fetchone()
        done = cv("forget", "--session", "old", "--yes")
        assert done.code == 1
        assert "run the same 'cv forget' again" in done.err
        assert not any("/chroma/" in name for name in holding("quincunx"))
    assert cv("forget", "--session", "old", "--yes").code == 0
    assert holding("quincunx") == []


def test_nothing_was_ever_read(tree: Any, cv: Any) -> None:
    done = cv("forget", "--all-private", "--yes")
    assert done.code == 0
    assert "there is nothing to forget" in done.out
    assert not (tree.root / ".context-vigilance/private").exists()
    done = cv("forget", "--session", "some", "--yes")
    assert done.code == 1
    assert "no such session: some; nothing of any transcript was ever taken in here" in done.err


def test_a_damaged_ledger_is_never_replaced_in_silence(
    two: Any, cv: Any, tree: Any, holding: Any
) -> None:
    ledger = tree.root / ".context-vigilance/private/ledger.sqlite"
    ledger.write_bytes(b"no database, quincunx" * 500)
    for command in (
        READ,
        ("forget", "--session", "old", "--yes"),
        ("search", "--role", SESSIONS, "x"),
    ):
        done = cv(*command)
        assert done.code == 1
        assert "cv forget --all-private" in done.err
    assert cv("forget", "--all-private", "--yes").code == 0
    assert holding("quincunx") == []
    report = json.loads(cv(*READ).out)["roles"]
    assert report[SESSIONS]["indexed"] == 0, "what was there before stays forgotten"


def test_a_second_writer_is_sent_away(two: Any, cv: Any, tree: Any) -> None:
    with the_writer(tree.root):
        assert cv("forget", "--session", "old", "--yes").code == 4
        assert cv(*READ).code == 4
