"""``cv mcp --as-chroma`` where the collections are on a team's Chroma server."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the MCP SDK is an optional part")
import anyio

CORPUS = {"collection_name": "context-vigilance-corpus"}


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """The port of a real ``chroma run``."""
    program = shutil.which("chroma", path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip("this environment has no chroma program")
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        number = int(free.getsockname()[1])
    where = ["--path", str(tmp_path / "server"), "--host", "127.0.0.1", "--port", str(number)]
    process = subprocess.Popen(
        [program, "run", *where],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        end = time.monotonic() + 60
        while not listens(number):
            assert process.poll() is None, "chroma run ended by itself"
            assert time.monotonic() < end, "chroma run does not listen"
        yield number
    finally:
        process.kill()
        process.wait()


def listens(number: int) -> bool:
    with closing(socket.socket()) as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", number)) == 0


def test_the_same_answers_as_from_the_folder(
    serve: Any, own_harbour: Any, cv: Callable[..., Any], port: int
) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("chroma_get_collection_count", CORPUS),
        ("chroma_query_documents", {**CORPUS, "query_texts": ["fees in winter"], "n_results": 2}),
        ("chroma_get_documents", {**CORPUS, "where": {"kind": "specs"}, "limit": 9, "offset": 0}),
        ("chroma_get_documents", {**CORPUS, "where": {"kind": "plans"}}),
    ]

    async def ask() -> list[Any]:
        async with serve(own_harbour.root, "--as-chroma") as session:
            peek = await session.call("chroma_peek_collection", **CORPUS, limit=1)
            assert len(peek.json["ids"]) == 1
            names = await session.call("chroma_list_collections")
            replies = [(await session.call(tool, **given)).json for tool, given in calls]
            return [sorted(names.texts), *map(in_order, replies)]

    in_the_folder = anyio.run(ask)
    for key, value in (("host", "127.0.0.1"), ("port", str(port)), ("mode", "http")):
        assert cv("config", "set", f"chroma.{key}", value, cwd=own_harbour.root).code == 0
    assert cv("sync", cwd=own_harbour.root).code == 0

    assert anyio.run(ask) == in_the_folder


def in_order(answer: Any) -> Any:
    """Records without what a server keeps for itself, in one order; Chroma promises none."""
    if not isinstance(answer, dict):
        return answer
    nested = isinstance(answer["ids"][0], list)
    ids, documents = (answer[key][0] if nested else answer[key] for key in ("ids", "documents"))
    return sorted(zip(ids, documents, strict=True))
