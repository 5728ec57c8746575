"""``cv sync --with-sessions`` and ``--with-traces``: what is read, of whom, how it is asked for, and what comes of it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from backend.private.transcripts import Mark

SESSIONS = "claude-code-sessions"
TRACES = "claude-code-tool-traces"


def counts(result: Any, role: str) -> dict[str, Any]:
    assert result.code == 0, result
    return dict(json.loads(result.out)["roles"][role])


def test_a_document_for_each_turn_and_for_each_call(
    session: Any, cv: Any, documents: Any, tree: Any
) -> None:
    one = session()
    first = one.user("How does the ferry's timetable handle fog?")
    one.assistant([{"type": "thinking", "thinking": "a private thought"}])
    one.assistant("It doubles the crossing time.")
    call = one.call("Bash", {"command": "make timetable", "description": "Build it"}, "toolu_1")
    one.result("Error 2: no tide table", "toolu_1", is_error=True)

    done = cv("sync", "--with-sessions", "--with-traces", "--yes", "--json")
    assert counts(done, SESSIONS)["indexed"] == counts(done, SESSIONS)["chunks"] == 2
    assert counts(done, TRACES)["indexed"] == counts(done, TRACES)["chunks"] == 1
    assert counts(done, "context-vigilance-corpus")["indexed"] == 1, "the usual sync runs too"

    turns = documents(SESSIONS)
    text, metadata = turns[f"turn::{first}"]
    assert text == "How does the ferry's timetable handle fog?"
    assert metadata.items() >= {
        "session_id": "s1", "project_path": str(tree.root / "ferry"), "turn_role": "user", "git_branch": "main",
        "timestamp": 1770112801, "timestamp_iso": "2026-02-03T10:00:01Z", "turn": 1, "is_sidechain": False,
    }.items()  # fmt: skip
    assert {metadata["turn_role"] for _, metadata in turns.values()} == {"user", "assistant"}
    assert "a private thought" not in str(turns)

    ((number, (text, metadata)),) = documents(TRACES).items()
    assert number == f"call::{call}::00"
    assert (
        text
        == "Bash\ncommand: make timetable\ndescription: Build it\n\nresult:\nError 2: no tide table"
    )
    assert metadata.items() >= {"tool_name": "Bash", "is_error": True, "has_result": True}.items()


def test_only_what_is_asked_for_is_read(session: Any, cv: Any, documents: Any) -> None:
    one = session()
    one.user("Mend the pier")
    one.call("Read", {"file_path": "pier.md"}, "toolu_1")
    report = json.loads(cv("sync", "--with-traces", "--yes", "--json").out)
    assert TRACES in report["roles"]
    assert SESSIONS not in report["roles"]
    assert documents(SESSIONS) == {}
    assert counts(cv("sync", "--with-sessions", "--yes", "--json"), SESSIONS)["indexed"] == 1


def test_the_collections_are_called_as_the_config_says(
    session: Any, cv: Any, documents: Any
) -> None:
    session().user("Mend the pier")
    cv("config", "set", "collections.claude_code_sessions", "our-talks")
    cv("sync", "--with-sessions", "--yes")
    assert len(documents("our-talks")) == 1
    cv("config", "set", "collections.claude_code_sessions", "our-other-talks")
    cv("sync", "--with-sessions", "--yes")
    assert len(documents("our-other-talks")) == 1
    with pytest.raises(Exception, match="our-talks"):
        documents("our-talks")


def test_only_sessions_of_the_tree_that_are_not_dismissed(
    session: Any, cv: Any, documents: Any, tree: Any, tmp_path: Path
) -> None:
    (tree.root / "mill/deep").mkdir()
    (tree.root / "mill/.context-vigilance-skip").touch()
    (tree.root / "quay").mkdir()
    cv("config", "set", "dismissed_paths", '["quay"]')
    (tmp_path / "alias").symlink_to(tree.root / "ferry")
    session("a").user("inside")
    session("b", cwd=tree.root / "ferry/gone since").user("a folder that is gone")
    session("c", cwd=tmp_path / "alias").user("through a link")
    session("d", cwd=tree.root / "mill/deep").user("below a marker")
    session("e", cwd=tree.root / "quay").user("in a dismissed path")
    session("f", cwd=tmp_path / "elsewhere", folder=str(tree.root).replace("/", "-")).user(
        "outside"
    )
    session("g", cwd=tree.root / ".." / "elsewhere").user("out by dots")
    session("h", cwd=f"{tree.root}-two").user("a sibling whose name begins alike")
    for name, cwd in (
        ("i", "ferry"),
        ("j", ""),
        ("k", None),
        ("l", 7),
        ("m", "C:\\ferry"),
        ("n", ["x"]),
    ):
        session(name).user("no usable folder", cwd=cwd)

    moved = session("o")
    moved.user("begun inside")
    moved.user("went elsewhere", cwd=str(tmp_path))
    moved.user("came back")

    report = counts(cv("sync", "--with-sessions", "--yes", "--json"), SESSIONS)
    said = sorted(text for text, _ in documents(SESSIONS).values())
    assert said == [
        "a folder that is gone",
        "begun inside",
        "came back",
        "inside",
        "through a link",
    ]
    assert report["skipped"] == {"outside the tree, or dismissed": 12}


def test_every_line_that_may_come(session: Any, cv: Any, documents: Any) -> None:
    one = session()
    for kind in (
        "attachment",
        "atis-latch",
        "last-prompt",
        "api-request-blob",
        "system",
        "a-type-of-tomorrow",
    ):
        one.line(
            kind, content="not of the conversation", message={"role": "user", "content": "nor this"}
        )
    one.raw(
        json.dumps({"type": "summary", "summary": "not ours", "leafUuid": "x"}).encode() + b"\n"
    )
    one.raw(json.dumps({"type": "file-history-snapshot", "snapshot": {"a": 1}}).encode() + b"\n")
    one.user("put in by Claude Code", isMeta=True)
    one.user("What was said so far: the pier is longer.", isCompactSummary=True)
    one.assistant("A subagent's words", isSidechain=True)
    one.user([
        {"type": "text", "text": "See this"},
        {"type": "image", "source": {"type": "base64", "data": "iVBOR" * 50_000}},
    ])  # fmt: skip
    one.user([{"type": "image", "source": {"data": "xxxx"}}])
    one.user(["a bare text", {"type": "text"}, {"type": "text", "text": 5}, {}, None, 7])
    one.user({"type": "text", "text": "a block alone"})
    for odd in (None, 5, [], "", "  ", {"role": "user"}, {"content": {"a": {"b": 1}}}):
        one.line("user", message=odd)
    one.user(
        "odd marks", uuid=None, sessionId=5, timestamp="yesterday", gitBranch=[1], isSidechain="no"
    )
    one.user("far away", timestamp="9999-12-31T23:59:59Z")
    one.user("long ago", timestamp="0001-01-01T00:00:00Z")
    one.user("milliseconds", timestamp=1770112801000)
    one.user("half a pair: \ud83d, and a zero: \0.")
    one.raw(b'{"type":"user","sessionId":"s1","uuid":"bytes","cwd":' + json.dumps(one.cwd).encode())
    one.raw(b',"message":{"role":"user","content":"caf\xe9 \xff"}}\n')
    one.raw(
        b"\n  \nnull\n[1]\n{broken\n\x00\x01\x02\n"
        + b"[" * 100_000
        + b'\n{"a":'
        + b"[" * 100_000
        + b"\n"
    )
    one.user("and goes on")
    one.raw(
        b'{"type":"user","sessionId":"s1","message":{"role":"user","content":"the last line was cut'
    )

    report = counts(cv("sync", "--with-sessions", "--with-traces", "--yes", "--json"), SESSIONS)
    assert report["failed"] == []
    assert report["skipped"] == {"line of another type": 9, "line unreadable": 8}
    turns = documents(SESSIONS)
    assert {text for text, _ in turns.values()} == {
        "What was said so far: the pier is longer.", "A subagent's words", "See this\n\n[image]", "a bare text", "a block alone",
        "odd marks", "far away", "long ago", "milliseconds", "half a pair: ?, and a zero: .", "caf\ufffd \ufffd", "and goes on",
    }  # fmt: skip
    by_text = {text: metadata for text, metadata in turns.values()}
    assert by_text["What was said so far: the pier is longer."]["turn_role"] == "summary"
    assert by_text["A subagent's words"]["is_sidechain"] is True
    assert by_text["far away"]["timestamp"] <= time.time()
    assert by_text["long ago"]["timestamp"] == 0
    assert by_text["odd marks"]["session_id"] == "s1", "the file's name stands in"

    one.raw(b' in two"}}\n')
    one.user("the newest")
    assert counts(cv("sync", "--with-sessions", "--yes", "--json"), SESSIONS)["indexed"] == 1


def test_calls_of_every_form(session: Any, cv: Any, documents: Any) -> None:
    one = session()
    one.call("Deep", {"a": {"b": [1, {"c": None}, True]}, "d": "x\ny"}, "toolu_1")
    one.assistant(
        [{"type": "tool_use", "id": None, "name": 5, "input": "bare"}, {"type": "tool_use"}]
    )
    one.call("Shot", {}, "toolu_2")
    one.result(
        [{"type": "text", "text": "seen"}, {"type": "image", "source": {"data": "zzzz"}}, 5],
        "toolu_2",
    )
    one.assistant([
        {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "tides"}},
        {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [{"title": "Tides", "url": "x"}]},
    ])  # fmt: skip
    one.result("an answer to nothing", "toolu_unknown")
    one.call("Waits", {"for": "ever"}, "toolu_3")

    report = counts(cv("sync", "--with-traces", "--yes", "--json"), TRACES)
    assert report["skipped"] == {"result without its call": 1}
    calls = {text: metadata for text, metadata in documents(TRACES).values()}
    assert set(calls) == {
        "Deep\na: b: 1\nc: \nTrue\nd: x\ny", "unknown\nbare", "unknown\n", "Shot\n\n\nresult:\nseen\n[image]\n5",
        "web_search\nquery: tides\n\nresult:\ntitle: Tides\nurl: x", "Waits\nfor: ever",
    }  # fmt: skip
    assert calls["Waits\nfor: ever"]["has_result"] is False


def test_a_result_finds_its_call_in_a_later_run(session: Any, cv: Any, documents: Any) -> None:
    one, two = session("one"), session("two")
    one.call("Bash", {"command": "sleep"}, "toolu_same")
    two.call("Bash", {"command": "other"}, "toolu_same")
    cv("sync", "--with-traces", "--yes")
    one.result("slept well", "toolu_same")
    report = counts(cv("sync", "--with-traces", "--yes", "--json"), TRACES)
    assert (report["indexed"], report["updated"]) == (0, 1)
    assert {text for text, _ in documents(TRACES).values()} == {
        "Bash\ncommand: sleep\n\nresult:\nslept well",
        "Bash\ncommand: other",
    }


def test_each_run_reads_only_what_has_come(session: Any, cv: Any, documents: Any) -> None:
    one = session()
    one.user("the first")
    cv("sync", "--with-sessions", "--yes")
    plan = cv("sync", "--with-sessions", "--dry-run").out
    assert "Nothing new to read" in plan
    one.user("the second")
    assert "1 session (1 message," in cv("sync", "--with-sessions", "--dry-run").out
    report = counts(cv("sync", "--with-sessions", "--yes", "--json"), SESSIONS)
    assert (report["indexed"], report["unchanged"], report["chunks"]) == (1, 0, 2)
    assert {m["turn"] for _, m in documents(SESSIONS).values()} == {1, 2}


def test_a_transcript_that_was_written_anew(
    session: Any, cv: Any, documents: Any, holding: Any
) -> None:
    one = session()
    one.user("to stay")
    one.user("the word quincunx is to go")
    one.user("also to stay")
    cv("sync", "--with-sessions", "--yes")
    assert holding("quincunx")
    lines = one.path.read_bytes().splitlines(keepends=True)
    one.path.write_bytes(lines[0] + lines[2])
    one.user("new")
    report = counts(cv("sync", "--with-sessions", "--yes", "--json"), SESSIONS)
    assert (report["indexed"], report["unchanged"], report["removed"]) == (1, 2, 1)
    assert {t for t, _ in documents(SESSIONS).values()} == {"to stay", "also to stay", "new"}
    assert holding("quincunx") == []


def test_a_word_that_was_changed_in_the_middle(session: Any, cv: Any, holding: Any) -> None:
    """At the same length, in the same file: as an editor that takes a word out by hand leaves it."""
    one = session()
    for number in range(20):
        one.user(f"turn {number} of many, with the word {'quincunx' if number == 10 else 'pier'}")
    cv("sync", "--with-sessions", "--yes")
    with one.path.open("r+b") as file:
        file.seek(file.read().index(b"quincunx"))
        file.write(b"XXXXXXXX")
    report = counts(cv("sync", "--with-sessions", "--yes", "--json"), SESSIONS)
    assert (report["indexed"], report["updated"], report["unchanged"]) == (0, 1, 19)
    assert holding("quincunx") == []


def test_a_file_that_nobody_has_touched_is_not_read_again() -> None:
    """Any old file will do: its record says enough. One that was just written is hashed as a whole."""
    with Path(sys.executable).open("rb") as file:
        mark = Mark(file)
        known = mark.at(5_000)
        assert not mark.settles(known)
        record = known.partition(" ")[2]
        assert mark.fits(f"another-hash {record}", 5_000)
        assert mark.fits(f"{known.partition(' ')[0]} another record", 5_000)
        assert not mark.fits("another-hash another record", 5_000)


def test_a_file_of_this_moment_is_known_by_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"a" * 5_000)
    with path.open("rb") as file:
        known = Mark(file).at(4_000)
    path.write_bytes(b"a" * 2_000 + b"b" + b"a" * 2_999)
    with path.open("rb") as file:
        assert Mark(file).fits(known, 4_000) is False
        assert Mark(file).fits(Mark(file).at(4_000), 4_000)


def test_a_transcript_that_was_deleted_or_copied_changes_nothing(
    session: Any, cv: Any, documents: Any
) -> None:
    one = session("one")
    one.user("said once")
    cv("sync", "--with-sessions", "--yes")
    fork = session("fork")  # a resumed session repeats the lines of the old one under its own id
    fork.raw(one.path.read_bytes().replace(b'"sessionId": "one"', b'"sessionId": "fork"'))
    one.path.unlink()
    report = counts(cv("sync", "--with-sessions", "--yes", "--json"), SESSIONS)
    assert (report["indexed"], report["unchanged"], report["chunks"]) == (0, 1, 1)
    assert [m["session_id"] for _, m in documents(SESSIONS).values()] == ["one"]


PEAK = (
    "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:]); "
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr); sys.exit(done.returncode)"
)
"""Runs a command, and says what memory it took at most."""


@pytest.mark.skipif(sys.platform == "win32", reason="resource limits are POSIX")
def test_a_line_of_fifty_megabytes_costs_no_memory(
    session: Any, cv_process: Any, documents: Any
) -> None:
    one = session()
    one.user("before")
    with one.path.open("ab") as file:
        file.write(b'{"type":"user","uuid":"big","message":{"role":"user","content":"')
        for _ in range(50):
            file.write(b"spam" * 262_144)
        file.write(b'"}}\n')
    one.user("after")
    measured = (sys.executable, "-c", PEAK)
    done = cv_process("sync", "--with-sessions", "--yes", "--json", prefix=measured)
    assert counts(done, SESSIONS)["skipped"] == {"line too long": 1}
    assert {text for text, _ in documents(SESSIONS).values()} == {"before", "after"}
    unit = 1 if sys.platform == "darwin" else 1024
    peak = int(done.err.split()[-1]) * unit
    assert peak < 350e6, "no more than any sync: Chroma, and our embedder"


def test_a_long_text_is_cut_and_says_so(session: Any, cv: Any, documents: Any) -> None:
    one = session()
    one.user("word " * 5_000)
    one.call("Write", {"content": "line\n" * 4_000}, "toolu_1")
    one.result("row\n" * 5_000, "toolu_1")
    cv("sync", "--with-sessions", "--with-traces", "--yes")
    ((turn, _),) = documents(SESSIONS).values()
    assert turn.endswith("[… 5000 characters more]")
    assert len(turn) < 20_100
    ((call, _),) = documents(TRACES).values()
    assert call.count("characters more]") == 2
    assert len(call) < 16_200


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a file's name is valid Unicode")
def test_a_name_in_bytes(claude: Path, tree: Any, cv: Any, documents: Any) -> None:
    import msgspec

    folder = os.fsencode(claude) + b"/-caf\xe9"
    os.mkdir(folder)  # noqa: PTH102 - a Path takes no bytes
    line = {"type": "user", "uuid": "u", "cwd": str(tree.root), "message": {"content": "hello"}}
    with open(folder + b"/s\xff.jsonl", "wb") as file:  # noqa: PTH123
        file.write(msgspec.json.encode(line) + b"\n")
    assert counts(cv("sync", "--with-sessions", "--yes", "--json"), SESSIONS)["indexed"] == 1
    ((_, metadata),) = documents(SESSIONS).values()
    assert metadata["session_id"] == "s\\udcff"


# --- asking ------------------------------------------------------------------------------------------------------------


def test_it_says_what_it_will_read_and_refuses_where_nobody_can_be_asked(
    session: Any, cv: Any, tree: Any, claude: Path, stored_files: Any
) -> None:
    session("a").user("hello")
    session("b").user("good evening")
    done = cv("sync", "--with-sessions")
    assert done.code == 2
    assert "what was said, of 2 sessions (2 messages, 1 KB), since 2026-02-03" in done.out
    assert str(claude) in done.out
    assert str(tree.root / "ferry") in done.out
    assert "--yes" in done.err
    assert not (tree.root / ".context-vigilance/private").exists()
    assert not (tree.root / ".context-vigilance/index.sqlite").exists(), "nor was anything synced"
    assert cv("sync", "--with-traces", "--json").code == 2


def test_with_nothing_new_to_read_nothing_is_asked_and_the_usual_sync_runs(
    session: Any, cv: Any, tree: Any
) -> None:
    never = cv("sync", "--with-sessions", "--json")
    assert never.code == 0
    assert "Nothing new to read" in never.err
    assert json.loads(never.out)["roles"]["context-vigilance-corpus"]["indexed"] == 1
    assert not (tree.root / ".context-vigilance/private").exists()
    one = session()
    one.user("hello")
    assert cv("sync", "--with-sessions", "--yes").code == 0
    again = cv("sync", "--with-sessions")
    assert (again.code, again.err) == (0, "")
    assert "Nothing new to read" in again.out
    assert "1 unchanged" in again.out
    assert "claude-code-sessions: 0 indexed, 0 updated, 0 unchanged" in again.out
    one.user("and more")
    assert cv("sync", "--with-sessions").code == 2, "that is asked for"


def test_where_nothing_is_new_the_report_is_whole_and_chroma_gets_what_it_lacks(
    session: Any, cv: Any, tree: Any, documents: Any
) -> None:
    zero = counts(cv("sync", "--with-sessions", "--with-traces", "--json"), TRACES)
    assert (zero["indexed"], zero["chunks"]) == (0, 0)
    session().user("hello")
    assert cv("sync", "--with-sessions", "--yes").code == 0
    shutil.rmtree(tree.root / ".context-vigilance/private/chroma")
    again = counts(cv("sync", "--with-sessions", "--json"), SESSIONS)
    assert (again["indexed"], again["chunks"]) == (0, 1)
    assert len(documents(SESSIONS)) == 1


def test_a_dry_run_reads_nothing(session: Any, cv: Any, tree: Any, holding: Any) -> None:
    session().user("the word quincunx")
    done = cv("sync", "--with-sessions", "--with-traces", "--dry-run")
    assert done.code == 0
    assert "1 session (1 message," in done.out
    assert not (tree.root / ".context-vigilance/private").exists()
    done = cv("sync", "--with-sessions", "--dry-run", "--json")
    assert "context-vigilance-corpus" in json.loads(done.out), "standard output is for JSON alone"
    assert holding("quincunx") == []


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX")
@pytest.mark.parametrize(("answer", "stored"), [("y", 1), ("", 0)])
def test_it_asks_on_a_terminal(
    session: Any, tree: Any, documents: Any, answer: str, stored: int
) -> None:
    import pty

    session().user("hello")
    ours, theirs = pty.openpty()
    os.write(ours, answer.encode() + b"\n")
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-P", "-s", "-m", "backend", "sync", "--with-sessions"],
        cwd=tree.root, env={**os.environ, "PYTHONPATH": str(root)}, stdin=theirs, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    os.close(ours)
    os.close(theirs)
    assert done.returncode == 0, done
    assert "Read it? [y/N]" in done.stdout
    assert ("Nothing was read" in done.stdout) == (stored == 0)
    assert (len(documents(SESSIONS)) if stored else 0) == stored
    assert (tree.root / ".context-vigilance/private").exists() == bool(stored)


def test_no_transcripts_at_all(tree: Any, cv: Any, machine: Path) -> None:
    done = cv("sync", "--with-sessions", "--dry-run")
    assert done.code == 0
    assert f"Nothing new to read: no session of a project under {tree.root}" in done.out
    assert str(machine / ".claude/projects") in done.out, (
        "the default where CLAUDE_CONFIG_DIR is not set"
    )


def test_the_private_folder_is_the_owners_alone_and_stays_out_of_git(
    session: Any, cv: Any, tree: Any
) -> None:
    session().user("hello")
    cv("sync", "--with-sessions", "--yes")
    folder = tree.root / ".context-vigilance/private"
    assert (folder / ".gitignore").read_text().endswith("*\n")
    if os.name != "nt":
        assert folder.stat().st_mode & 0o777 == 0o700


def test_a_link_in_place_of_the_folder_is_refused(
    session: Any, cv: Any, tree: Any, tmp_path: Path
) -> None:
    session().user("hello")
    (tmp_path / "trap").mkdir()
    (tree.root / ".context-vigilance/private").symlink_to(tmp_path / "trap")
    done = cv("sync", "--with-sessions", "--yes")
    assert done.code == 1
    assert "is a link" in done.err
    assert list((tmp_path / "trap").iterdir()) == []


@pytest.mark.parametrize(
    "name",
    ["ledger.sqlite", "ledger.sqlite-wal", "chroma/chroma.sqlite3", "chroma/deep/length.bin", "chroma/deep", "chroma"],
)  # fmt: skip
@pytest.mark.parametrize("command", [("sync", "--with-sessions"), ("forget", "--all-private")])
def test_a_link_anywhere_below_the_folder_is_refused(
    session: Any, cv: Any, tree: Any, tmp_path: Path, name: str, command: tuple[str, ...]
) -> None:
    session().user("hello quincunx")
    trap = tmp_path / "trap"
    trap.touch()
    link = tree.root / ".context-vigilance/private" / name
    link.parent.mkdir(parents=True)
    link.symlink_to(trap)
    done = cv(*command, "--yes")
    assert done.code == 1
    assert f"{link}: is a link" in done.err
    assert trap.read_bytes() == b""


@pytest.mark.parametrize("repo", [".", ".context-vigilance", ".context-vigilance/private"])
def test_a_folder_that_git_tracks_is_refused(
    session: Any, cv: Any, tree: Any, holding: Any, repo: str
) -> None:
    session().user("hello quincunx")
    folder = tree.root / ".context-vigilance/private"
    folder.mkdir()
    (folder / "ledger.sqlite").touch()
    git = ("git", "-C", str(tree.root / repo))
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "-f", str(folder / "ledger.sqlite")], check=True)
    for arguments in (("--yes",), ("--dry-run",)):
        done = cv("sync", "--with-sessions", *arguments)
        assert done.code == 1
        assert "git tracks a file in it" in done.err
    assert holding("quincunx") == []
    line = re.search(r"'(git -C .*?)', commit that", done.err)
    assert line
    subprocess.run(line[1], shell=True, check=True)
    assert cv("sync", "--with-sessions", "--yes").code == 0
    listed = subprocess.run(
        [*git, "status", "--porcelain", "-uall", "--", str(folder)], capture_output=True, text=True
    )
    assert "ledger" not in listed.stdout, "nor will git add it from now on"


def test_what_the_public_store_does_leaves_the_private_one_alone(
    session: Any, cv: Any, tree: Any, documents: Any
) -> None:
    session().user("hello")
    cv("sync", "--with-sessions", "--yes")
    before = documents(SESSIONS)
    cv("sync", "--force-rebuild")
    (tree.root / ".context-vigilance/chroma/chroma.sqlite3").write_bytes(b"not a database")
    cv("sync")
    cv("doctor", "--fix")
    assert documents(SESSIONS) == before
