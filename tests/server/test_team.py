"""``cv mcp --as-chroma`` where the collections are on a team's Chroma server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the MCP SDK is an optional part")
import anyio

CORPUS = {"collection_name": "context-vigilance-corpus"}


def test_the_same_answers_as_from_the_folder(
    serve: Any, own_harbour: Any, cv: Callable[..., Any], team_server: Any
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
    for key, value in (("host", "127.0.0.1"), ("port", str(team_server.port)), ("mode", "http")):
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
