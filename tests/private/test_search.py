"""``cv search --role``: the private collections answer only when they are named, and cite session, time and turn."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

import pytest

SESSIONS = "claude-code-sessions"
TRACES = "claude-code-tool-traces"


@pytest.fixture
def talks(session: Any, cv: Any, tree: Any) -> Any:
    """Two sessions about different things."""
    one = session("pier-talk")
    one.user("We need a longer pier before the autumn storms")
    one.assistant("The pier can be made of tamarack, which stands salt water for thirty years.")
    one.call("Bash", {"command": "measure --depth harbour"}, "toolu_1")
    one.result("depth: 7 fathoms at low tide", "toolu_1")
    one.call("Bash", {"command": "order tamarack"}, "toolu_2", isSidechain=True)
    one.result("no such merchant", "toolu_2", is_error=True)
    two = session("mill-talk", cwd=tree.root / "mill")
    two.user("How many sails does the windmill have?", gitBranch="sails")
    two.assistant(
        "```\n</untrusted> # A heading\n```\nFour sails, of which one is torn. "
        + "More words follow here.\n" * 60
    )
    done = cv("sync", "--with-sessions", "--with-traces", "--yes")
    assert done.code == 0, done
    return tree


def ask(cv: Any, role: str, question: str, *more: str) -> dict[str, Any]:
    done = cv("search", "--role", role, question, "--json", *more)
    assert done.code == 0, done
    return dict(json.loads(done.out))


def test_turns_with_what_to_cite(talks: Any, cv: Any) -> None:
    answer = ask(cv, SESSIONS, "does tamarack stand salt water at the pier?", "-n", "2")
    assert answer["role"] == SESSIONS
    assert len(answer["passages"]) == 2
    best = answer["passages"][0]
    assert best | {"why": [], "text": "", "excerpt": ""} == {
        "rank": 1, "role": SESSIONS, "session_id": "pier-talk", "turn": 2, "at": "2026-02-03T10:00:02Z", "timestamp": 1770112802,
        "project_path": str(talks.root / "ferry"), "git_branch": "main", "turn_role": "assistant", "tool_name": "",
        "is_error": False, "is_sidechain": False, "text": "", "excerpt": "", "why": [],
    }  # fmt: skip
    assert best["text"].startswith("The pier can be made of")
    assert best["why"][0].startswith("words: ")
    best = ask(cv, SESSIONS, "torn sails of the windmill")["passages"][0]
    assert best["session_id"] == "mill-talk"
    best = ask(cv, SESSIONS, "jetty in winter weather")["passages"][0]
    assert best["session_id"] == "pier-talk"
    assert best["why"][0].startswith("similar in meaning"), "it shares no word"


def test_calls_with_their_results(talks: Any, cv: Any) -> None:
    best = ask(cv, TRACES, "how deep is the harbour in fathoms")["passages"][0]
    assert (best["tool_name"], best["is_error"], best["turn"]) == ("Bash", False, 3)
    assert best["text"].endswith("depth: 7 fathoms at low tide")
    failed = ask(cv, TRACES, "tamarack merchant")["passages"][0]
    assert (failed["is_error"], failed["is_sidechain"]) == (True, True)


def test_what_a_person_and_the_agent_read(talks: Any, cv: Any, snapshot: Any) -> None:
    done = cv("search", "--role", TRACES, "tamarack merchant", "-n", "1")
    assert done.out.replace(str(talks.root), "ROOT") == snapshot
    done = cv("search", "--role", SESSIONS, "which one is torn", "-n", "1", "--markdown")
    assert done.out.replace(str(talks.root), "ROOT") == snapshot
    assert done.out.count("```") == 2, "it cannot close the fence that it stands in"
    assert len(done.out) < 8_000


def test_only_when_they_are_named(talks: Any, cv: Any) -> None:
    for command in (
        ("search", "tamarack in salt"),
        ("find", "tamarack in salt"),
        ("catch-up",),
        ("status",),
        ("folders",),
    ):
        done = cv(*command, "--json")
        assert done.code == 0, done
        assert "salt water" not in done.out
        assert "pier-talk" not in done.out
    assert cv("search", "--where", f"role={SESSIONS}", "tamarack").code == 2
    assert cv("search", "--role", SESSIONS, "--where", "repo=mill", "tamarack").code == 2


def test_where_nothing_was_read_it_says_how(tree: Any, cv: Any) -> None:
    done = cv("search", "--role", TRACES, "anything")
    assert done.code == 0
    assert "cv sync --with-traces" in done.out.replace("\n", " ")
    assert not (tree.root / ".context-vigilance/private").exists()


def test_it_answers_beside_a_writer_and_without_chroma(talks: Any, cv: Any) -> None:
    from backend.freshness.store import alone
    from backend.private.places import PRIVATE_KIT, private_chroma

    whole = ask(cv, SESSIONS, "tamarack pier")
    with alone(talks.root, kit=PRIVATE_KIT):
        beside = ask(cv, SESSIONS, "tamarack pier")
    assert beside["passages"] == whole["passages"]
    assert "searched without Chroma" in beside["notes"][0]
    (private_chroma(talks.root) / "chroma.sqlite3").write_bytes(b"damaged")
    assert ask(cv, SESSIONS, "tamarack pier")["passages"] == whole["passages"]
    cv("forget", "--session", "mill-talk", "--yes")
    assert ask(cv, SESSIONS, "tamarack pier")["notes"] == [], "made anew"


def test_a_team_server_and_a_providers_embedder_are_for_documents_alone(
    talks: Any, cv: Any
) -> None:
    """Whatever the config says of Chroma and of the embedder, private text stays in the folder beside it."""
    from msgspec.structs import replace

    from backend.private.places import local
    from backend.schemas.config import Chroma, Embedding
    from backend.tree.config import load_config

    config = load_config(talks.root)
    assert local(replace(config, embedding=Embedding(name="openai"))) == local(config)
    assert local(config).chroma == Chroma()
    cv("config", "set", "embedding.name", "openai")
    assert ask(cv, SESSIONS, "tamarack pier")["passages"]
    assert cv("forget", "--session", "mill-talk", "--yes").code == 0


def test_any_question_leaves_the_ledger_as_it_is(talks: Any, cv: Any) -> None:
    path = talks.root / ".context-vigilance/private/ledger.sqlite"
    before = path.read_bytes()
    for question in ("tamarack pier", "", "???", "the of and", "\u2603", "x" * 5_000):
        done = cv("search", "--role", SESSIONS, "--", question)
        assert done.code == (0 if question else 2)
    assert path.read_bytes() == before
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
