"""``cv status``: one screen that compares index and disk per repo; and ``cv config``, which says what is a default."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
import pytest

from backend.schemas.config import Config
from backend.session.journal import Record, write_record
from backend.tree.config_keys import KEYS


@pytest.fixture
def moment(steady: Any) -> Any:
    return lambda text: re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "MOMENT", steady(text))


def test_one_screen_with_all_there_can_be(tree: Any, cv: Any, moment: Any, snapshot: Any) -> None:
    for number in range(4):
        tree.document(f"barn/context-v/Hay-{number}.md", status="draft")
    tree.document("barn/context-v/Straw.md", status="Draft")
    tree.document("ferry/context-v/Old.md", status="Superseded")
    cv("sync")
    tree.document("ferry/context-v/New.md")
    tree.touch("ferry/context-v/Old.md", 1_700_000_000)
    tree.touch("ferry/context-v/specs/Timetable.md", 1_700_000_000)
    tree.delete("mill/changelog/2025-06-01_sails.md")
    with tree.path("mill/context-v/Huge.md").open("wb") as file:
        file.truncate(33 * 1024**2)
    cv("config", "set", "last_session_at", "2025-06-02T08:00:00Z")
    cv("config", "set", "nudge.muted_until", "2030-01-01T00:00:00Z")
    write_record(tree.root, "hook", Record(at=1_750_000_000, ms=41))
    write_record(
        tree.root, "sync", Record(at=1_750_000_000, ms=12_000, ok=False, error="disk is full")
    )
    done = cv("status")
    assert (done.code, done.err) == (0, "")
    assert moment(done.out) == snapshot
    assert done.out.count("\n") <= 24
    tree.delete("mill/context-v/Huge.md")


def test_only_repos_that_are_behind_are_named(tree: Any, cv: Any) -> None:
    assert "behind" not in cv("status").out
    tree.document("ferry/context-v/A.md")
    tree.document("ferry/changelog/2025-07-01_b.md")
    out = cv("status").out
    assert "fresh         no, behind by 2: run 'cv sync'" in out
    assert "ferry behind by 2: 2 new" in out
    assert "mill behind" not in out


def test_a_commit_of_others_in_a_nested_repo_shows_under_its_slug(tree: Any, cv: Any) -> None:
    tree.repo("ferry/boats")
    tree.document("ferry/boats/context-v/Hull.md")
    status = json.loads(cv("status", "--json").out)
    assert status["repos"] == {"ferry": {"changed": 0, "new": 1, "gone": 0}}


def test_json_keeps_its_keys_and_says_how_the_hook_went(tree: Any, cv: Any) -> None:
    assert json.loads(cv("status", "--json").out)["last_hook"] is None
    write_record(tree.root, "hook", Record(at=1_750_000_000, ms=41, ok=False, error="x"))
    status = json.loads(cv("status", "--json").out)
    assert status["last_hook"] == {"at": 1_750_000_000, "ms": 41, "ok": False, "error": "x"}
    synced = status["last_sync"]
    assert (synced["by"], synced["ok"]) == ("command", True), "cv init did it"
    write_record(tree.root, "sync", Record(at=1_750_000_000, ms=41, ok=False, error="x"))
    synced = json.loads(cv("status", "--json").out)["last_sync"]
    assert (synced["by"], synced["error"]) == ("hook", "x")
    assert re.search(r"\nlast sync +by a hook, 20.*, 41 ms, failed: x\n", cv("status").out)
    cv("sync")
    synced = json.loads(cv("status", "--json").out)["last_sync"]
    assert (synced["by"], synced["ok"]) == ("command", True)
    assert re.search(r"\nlast sync +20[-0-9]+ [0-9:]+, \d+ ms, ok\n", cv("status").out)
    assert status["documents"] == {"": 4}


def test_a_server_is_not_asked_and_not_vouched_for(tree: Any, cv: Any) -> None:
    for key, value in (("chroma.port", "9"), ("chroma.mode", "http")):  # port 9: nobody answers
        assert cv("config", "set", key, value).code == 0
    out = cv("status").out
    assert "fresh         yes, the index here; the server was not asked\n" in out
    assert re.search(r"server +.*localhost:9\b.* \(not asked here; 'cv doctor' asks it\)\n", out)


def test_long_lists_are_cut_and_say_so(tree: Any, cv: Any) -> None:
    for number in range(15):
        tree.document(f"repo-{number:02}/context-v/A.md", status=f"State {number}")
    out = cv("status").out
    assert "… and 3 repos more; --json lists all" in out
    cv("sync")
    assert re.search(r"by status +1 State 0, .*, 7 other; 4 without a status\n", cv("status").out)


# --- config ----------------------------------------------------------------------------------------------------------


def leaves(value: Any, prefix: str = "") -> set[str]:
    if not isinstance(value, dict) or not value:
        return {prefix.removesuffix(".")}
    return {leaf for key, below in value.items() for leaf in leaves(below, f"{prefix}{key}.")}


def test_every_key_is_listed_with_its_meaning(org: Any, cv: Any) -> None:
    cv("init", "--senior-root", str(org.root), "--yes", "--no-index")
    out = cv("config", "list").out
    known = leaves(msgspec.to_builtins(Config(senior_root="x")))
    assert known == KEYS.keys()
    for key, entry in KEYS.items():
        assert re.search(
            rf"(?m)^{re.escape(key)} = .*\n    {re.escape(entry.meaning)}; {re.escape(entry.expected)}$",
            out,
        )


def test_alone_it_lists_and_says_which_are_defaults(org: Any, cv: Any) -> None:
    cv("init", "--senior-root", str(org.root), "--yes", "--no-index")
    cv("config", "set", "kickoff", "off")
    done = cv("config")
    assert done.code == 0
    assert done.out == cv("config", "list").out
    assert 'kickoff = "off"\n' in done.out
    assert 'nudge.state = "on" (default)\n' in done.out
    assert cv("config", "--inline").out == done.out, "as /cv-config runs it"
