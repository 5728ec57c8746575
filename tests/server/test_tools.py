"""``cv mcp`` for an MCP client: its tools, what they answer, and what it says when a call makes no sense."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the MCP SDK is an optional part")
import anyio

HEAVY = {"chromadb", "numpy", "onnxruntime", "tokenizers", "rich", "yaml", "frontmatter"}


def test_the_tools_are_listed_before_anything_heavy_is_loaded(serve: Any, harbour: Any) -> None:
    async def look() -> None:
        async with serve(harbour.root, python=("-X", "importtime")) as session:
            tools = await session.tools()
            assert list(tools) == ["find", "search", "catch_up", "status"]
            assert loaded(session.log) & HEAVY == set()
            await session.call("find", task="mooring fees")
            assert {"chromadb", "numpy"} <= loaded(session.log)  # else this looks at nothing

    anyio.run(look)


def loaded(log: str) -> set[str]:
    lines = [line for line in log.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip().split(".")[0] for line in lines}


def test_the_tools_say_what_they_take_and_that_they_only_read(tools: Any) -> None:
    listed = tools.tools()
    assert set(listed) == set(CALLS)
    for tool in listed.values():
        assert tool.annotations.read_only_hint is True
        assert tool.annotations.open_world_hint is False
        assert tool.input_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema["type"] == "object"
        for argument in tool.input_schema["properties"].values():
            assert argument["description"]
    find = listed["find"].input_schema
    assert find["required"] == ["task"]
    assert find["properties"]["n_results"]["default"] == 20


CALLS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "find": (
        {"task": "fees of fishing boats", "n_results": 2, "scope": "berths"},
        ["find", "fees of fishing boats", "--n-results", "2", "--scope", "berths"],
    ),
    "search": (
        {"question": "who pays half in winter?", "where": ["kind=specs"], "n_results": 3},
        ["search", "who pays half in winter?", "--where", "kind=specs", "-n", "3"],
    ),
    "catch_up": (
        {"since": "2026-01-01", "max_files": 2, "alphabetical": True},
        ["catch-up", "--since", "2026-01-01", "--max-files", "2", "--alphabetical"],
    ),
    "status": ({}, ["status"]),
}


@pytest.mark.parametrize("tool", CALLS)
def test_an_answer_is_what_the_command_prints(
    tools: Any, harbour: Any, cv_json: Callable[..., Any], tool: str
) -> None:
    arguments, command = CALLS[tool]
    tools.tools()  # the client then checks each answer against the tool's schema
    reply = tools.call(tool, **arguments)

    assert reply.json == reply.data == cv_json(harbour.root, *command)
    assert "berths/context-v" in reply.text or tool == "status"


WRONG: list[tuple[str, dict[str, Any], list[str]]] = [
    ("find", {}, ["find: task: expected, but it is missing; it takes task"]),
    ("find", {"task": ""}, ['task: expected some text, got ""']),
    ("find", {"task": 3}, ["task: expected text, got 3;"]),
    (
        "find",
        {"task": "fees", "n_results": 0},
        ["n_results: expected a whole number, 1 or more, got 0"],
    ),
    (
        "find",
        {"task": "fees", "n_results": "few"},
        ["n_results: expected a whole number", 'got "few"'],
    ),
    ("find", {"task": "fees", "scope": ["a"]}, ['scope: expected text or null, got ["a"]']),
    ("find", {"task": "fees", "limit": 3}, ["limit: there is no such argument", "n_results"]),
    ("find", {"task": "fees", "scope": "nowhere"}, ["nowhere"]),
    ("search", {"question": "fees", "where": ["colour=red"]}, ["FIELD=VALUE", "colour=red"]),
    ("search", {"question": "fees", "where": [1]}, ["where: expected text in the list, got [1]"]),
    (
        "search",
        {"question": "fees", "role": "letters"},
        ["role: expected context-vigil", "letters"],
    ),
    ("search", {"question": "fees", "role": "claude-code-sessions"}, ["private", "not offered"]),
    ("catch_up", {"window": "soon"}, ["window expects", "'soon'", "use since YYYY-MM-DD"]),
    ("catch_up", {"theme": 99}, ["theme 99"]),
    ("status", {"verbose": True}, ["verbose"]),
    ("forget", {}, ["forget", "no such tool", "find, search, catch_up, status"]),
]


def test_a_call_that_makes_no_sense_is_answered_in_a_line(tools: Any) -> None:
    for tool, arguments, words in WRONG:
        reply = tools.call(tool, **arguments)
        assert reply.failed, (tool, arguments)
        assert "\n" not in reply.text
        assert "--" not in reply.text, "the options of the commands are not the tool's arguments"
        assert all(word in reply.text for word in words), reply.text
    assert tools.call("find", task="fees").json["candidates"]


def test_numbers_and_lists_may_come_as_text(tools: Any) -> None:
    reply = tools.call("search", question="fees", n_results="1", where='["kind=specs"]')
    assert len(reply.json["passages"]) == 1


def test_outside_a_tree_the_tools_are_there_and_say_what_to_do(
    serve: Any, harbour: Any, tmp_path: Path
) -> None:
    async def ask(*arguments: str) -> Any:
        async with serve(tmp_path, *arguments) as session:
            assert len(await session.tools()) == 4
            return await session.call("find", task="fees")

    reply = anyio.run(ask)
    assert reply.failed
    assert "no senior root here" in reply.text
    assert "cv init" in reply.text
    named = anyio.run(ask, "--root", str(harbour.root))
    assert named.json["senior_root"] == str(harbour.root)


@pytest.mark.parametrize("folder", ["no-such-folder", "."])
def test_a_named_root_that_is_none_ends_it_with_a_line(
    cv_process: Any, tmp_path: Path, folder: str
) -> None:
    named = tmp_path / folder
    done = cv_process("mcp", "--root", str(named), cwd=tmp_path)
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith(f"cv: --root {named}: no ")
    assert done.err.count("\n") == 1


def test_nothing_turns_it_on_by_itself() -> None:
    root = Path(__file__).resolve().parents[2]
    manifest = json.loads((root / ".claude-plugin/plugin.json").read_text("utf-8"))

    assert "mcpServers" not in manifest
    assert not (root / ".mcp.json").exists()
