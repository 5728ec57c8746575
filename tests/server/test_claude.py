"""The server in the real Claude Code, turned on as docs/mcp.md says, with a scripted model."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the MCP SDK is an optional part")
sys.path.append(str(Path(__file__).resolve().parents[1] / "plugin"))  # the tests are no package

from host import Host, find_program  # type: ignore[import-not-found]
from model import Model, Use  # type: ignore[import-not-found]

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def claude(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A person's machine with Claude Code, and without the plugin."""
    program, reason = find_program(tmp_path_factory.mktemp("npm"))
    if reason:
        pytest.skip(reason)
    model = Model()
    yield Host(program, tmp_path_factory.mktemp("machine"), model)
    model.close()


def add(claude: Any, harbour: Any, name: str, *arguments: str) -> None:
    """Register the server for the tree's root, with ``claude mcp add``."""
    variables = {"PYTHONPATH": str(ROOT), "CV_HOME": os.environ["CV_HOME"]}
    options = [word for key, value in variables.items() for word in ("-e", f"{key}={value}")]
    command = [sys.executable, "-P", "-s", "-m", "backend", "mcp", *arguments]
    claude.run("mcp", "add", name, *options, "--", *command, cwd=harbour.root)


def ask(claude: Any, harbour: Any, use: Any) -> str:
    """What the model is told, the result of its one tool call among it."""
    claude.model.script(use, "done")
    said = claude.prompt("go on", "--allowedTools", use.tool, cwd=harbour.root)
    assert len(said) == 2, said
    return str(said[1])


def test_the_model_asks_find_and_is_answered(claude: Any, harbour: Any) -> None:
    add(claude, harbour, "context-vigilance")
    task = {"task": "what do fishing boats pay", "n_results": 1}
    said = ask(claude, harbour, Use("mcp__context-vigilance__find", task))

    answer = json.JSONDecoder().raw_decode(said, said.rindex('{"task":'))[0]
    assert answer["candidates"][0]["source_path"] == "berths/context-v/specs/Mooring-Fees.md"
    assert "Connected" in claude.run("mcp", "list", cwd=harbour.root)


def test_a_skill_written_for_chroma_mcp_goes_on(claude: Any, harbour: Any) -> None:
    add(claude, harbour, "chroma", "--as-chroma")
    query = {
        "collection_name": "context-vigilance-corpus",
        "query_texts": ["fishing boats pay half in winter"],
        "n_results": 1,
    }
    said = ask(claude, harbour, Use("mcp__chroma__chroma_query_documents", query))

    answer = json.JSONDecoder().raw_decode(said, said.rindex('{"ids":'))[0]
    assert answer["ids"] == [["berths::berths/context-v/specs/Mooring-Fees.md::0001"]]


def test_without_being_turned_on_there_is_no_server(claude: Any, harbour: Any) -> None:
    assert "context-vigilance" not in claude.run("mcp", "list", cwd=harbour.root / "lights")
