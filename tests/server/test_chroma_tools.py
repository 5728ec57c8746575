"""``cv mcp --as-chroma`` for a skill that was written for chroma-mcp: names, arguments and the shapes of its answers.

What is pinned here was seen of chroma-mcp 0.2.6 on a copy of the same collections (docs/mcp.md).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the MCP SDK is an optional part")
import anyio

CORPUS = "context-vigilance-corpus"
CHANGELOG = "changelog-corpus"

# Tool -> argument -> its default; an argument that has to be given has none.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "chroma_list_collections": {"limit": None, "offset": None},
    "chroma_peek_collection": {"collection_name": ..., "limit": 5},
    "chroma_get_collection_info": {"collection_name": ...},
    "chroma_get_collection_count": {"collection_name": ...},
    "chroma_query_documents": {
        "collection_name": ...,
        "query_texts": ...,
        "n_results": 5,
        "where": None,
        "where_document": None,
        "include": ["documents", "metadatas", "distances"],
    },
    "chroma_get_documents": {
        "collection_name": ...,
        "ids": None,
        "where": None,
        "where_document": None,
        "include": ["documents", "metadatas"],
        "limit": None,
        "offset": None,
    },
}


@pytest.fixture
def ask(chroma_tools: Any) -> Callable[..., list[Any]]:
    """Make calls, (tool without ``chroma_``, arguments) each; their replies."""
    return lambda *calls: [chroma_tools.call(f"chroma_{tool}", **given) for tool, given in calls]


def query(*texts: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "query_documents", {"collection_name": CORPUS, "query_texts": list(texts), **more}


def get(**more: Any) -> tuple[str, dict[str, Any]]:
    return "get_documents", {"collection_name": CORPUS, **more}


def test_the_read_only_tools_and_no_others(chroma_tools: Any) -> None:
    tools = chroma_tools.tools()
    takes = {
        name: {
            argument: ... if argument in tool.input_schema.get("required", []) else said["default"]
            for argument, said in tool.input_schema["properties"].items()
        }
        for name, tool in tools.items()
    }
    assert takes == ARGUMENTS
    assert all(tool.annotations.read_only_hint for tool in tools.values())
    assert all(tool.output_schema is None for tool in tools.values())


def test_collections_are_called_as_the_config_calls_them(
    ask: Any, serve: Any, own_harbour: Any, cv: Any
) -> None:
    whole, first, second, none = ask(
        ("list_collections", {}),
        ("list_collections", {"limit": 1}),
        ("list_collections", {"limit": 1, "offset": 1}),
        ("list_collections", {"offset": 2}),
    )
    assert sorted(whole.texts) == [CHANGELOG, CORPUS]  # a block each
    assert first.texts + second.texts == whole.texts
    assert none.texts == ["__NO_COLLECTIONS_FOUND__"]
    assert whole.data is None

    cv("config", "set", "collections.changelog_corpus", "ship-log", cwd=own_harbour.root)

    async def live() -> Any:
        async with serve(own_harbour.root, "--as-chroma") as session:
            return await session.call("chroma_list_collections")

    assert sorted(anyio.run(live).texts) == [CORPUS, "ship-log"]


def test_a_query_answers_a_list_for_each_text(ask: Any) -> None:
    one, two, bare = ask(
        query("fishing boats pay half in winter"),
        query("lanterns burn in fog", "which berth is free", n_results=2),
        query("fees", include=[], n_results=1),
    )
    found = one.json
    assert list(found) == [
        "ids", "embeddings", "documents", "uris", "included", "data", "metadatas", "distances"
    ]  # fmt: skip
    assert found["included"] == ["documents", "metadatas", "distances"]
    assert found["embeddings"] is found["uris"] is found["data"] is None
    assert found["ids"][0][0] == "berths::berths/context-v/specs/Mooring-Fees.md::0001"
    assert found["documents"][0][0].startswith("[Mooring fees]\n## Discounts")
    assert found["metadatas"][0][0]["source_repo_slug"] == "berths"
    assert found["distances"][0] == sorted(found["distances"][0])
    assert found["distances"][0][0] < 0.5
    assert len(found["ids"][0]) == 4  # the collection has no more
    assert [len(ids) for ids in two.json["ids"]] == [2, 2]
    assert "Lantern-Schedule" in two.json["ids"][0][0]
    assert "Berth-Board" in two.json["ids"][1][0]
    assert bare.json["documents"] is bare.json["metadatas"] is bare.json["distances"] is None


def test_filters_are_chromas_own(ask: Any) -> None:
    day = 1768867200  # 2026-01-20, 00:00 UTC
    replies = ask(
        query("harbour", where={"kind": "specs"}),
        query("harbour", where={"modified_at": {"$gte": day}}),
        query("harbour", where={"$and": [{"kind": "specs"}, {"source_repo_slug": "berths"}]}),
        query("harbour", where_document={"$contains": "council"}),
        query("harbour", where='{"kind": "plans"}'),
        query("harbour", where={"kind": "letters"}),
        get(where_document={"$regex": "[Ff]og"}),
        get(where={"fm_tags": {"$contains": "fees"}}),
    )
    ids = [
        {id.split("/")[-1] for id in (reply.json["ids"][0] if n < 6 else reply.json["ids"])}
        for n, reply in enumerate(replies)
    ]
    fees = {"Mooring-Fees.md::0000", "Mooring-Fees.md::0001"}
    assert ids == [
        {*fees, "Lantern-Schedule.md::0000"},
        {*fees, "Berth-Board.md::0000"},
        fees,
        {"Mooring-Fees.md::0001"},
        {"Berth-Board.md::0000"},
        set(),
        {"Lantern-Schedule.md::0000"},
        fees,
    ]


def test_documents_by_id_and_page_by_page(ask: Any) -> None:
    id = "lights::lights/context-v/specs/Lantern-Schedule.md::0000"
    one, none, first, second = ask(
        get(ids=[id]), get(ids=["nobody"]), get(limit=2), get(limit=2, offset=2)
    )
    found = one.json
    assert list(found) == [
        "ids",
        "embeddings",
        "documents",
        "uris",
        "included",
        "data",
        "metadatas",
    ]
    assert found["ids"] == [id]
    assert found["documents"] == [
        "[Lantern schedule]\n## When lanterns burn\n\nFrom dusk to dawn, longer in fog."
    ]
    assert found["included"] == ["documents", "metadatas"]
    assert none.json["ids"] == none.json["documents"] == none.json["metadatas"] == []
    assert len({*first.json["ids"], *second.json["ids"]}) == 4


def test_count_peek_and_info(ask: Any) -> None:
    count, peek, info = ask(
        ("get_collection_count", {"collection_name": CHANGELOG}),
        ("peek_collection", {"collection_name": CORPUS, "limit": 2}),
        ("get_collection_info", {"collection_name": CHANGELOG}),
    )
    assert count.text == "1"
    assert len(peek.json["ids"]) == len(peek.json["documents"]) == 2
    assert peek.json["embeddings"].startswith("[[")  # vectors as text
    assert list(info.json) == ["name", "count", "sample_documents"]
    assert info.json["name"] == CHANGELOG
    assert info.json["count"] == len(info.json["sample_documents"]["ids"]) == 1


WRONG: list[tuple[tuple[str, dict[str, Any]], list[str]]] = [
    (query("x", n_results=0), ["Failed to query documents from collection", "results 0"]),
    (query("x", where={}), ["exactly one operator"]),
    (query("x", where={"modified_at": {"$gt": "2026"}}), ["$gt", "2026"]),
    (query("x", include=["colour"]), ["include", "colour"]),
    (query(), ["The 'query_texts' list cannot be empty."]),
    (("query_documents", {"collection_name": CORPUS}), ["query_texts", "missing"]),
    (("query_documents", {"collection_name": CORPUS, "query_texts": 5}), ["query_texts: expected a list", "got 5"]),
    (get(ids=[]), ["Failed to get documents", "non-empty"]),
    (get(limit="few"), ["limit: expected", "few"]),
    (("delete_collection", {"collection_name": CORPUS}), ["no such tool"]),
    (("add_documents", {"collection_name": CORPUS, "documents": ["x"], "ids": ["x"]}), ["no such"]),
    *(
        ((tool, {"collection_name": name, **more}), [f"[{name}] does not exist", CORPUS, CHANGELOG])
        for name in ("letters", "claude-code-sessions", "claude-code-tool-traces")
        for tool, more in (
            ("peek_collection", {}),
            ("get_collection_info", {}),
            ("get_collection_count", {}),
            ("get_documents", {}),
            ("query_documents", {"query_texts": ["x"]}),
        )
    ),
]  # fmt: skip


def test_a_call_that_makes_no_sense_is_answered_in_a_line(ask: Any) -> None:
    for reply, (given, words) in zip(ask(*(call for call, _ in WRONG)), WRONG, strict=True):
        assert reply.failed, given
        assert "\n" not in reply.text
        assert all(word in reply.text for word in words), reply.text


def test_where_there_is_no_index_it_says_so_or_makes_one(serve: Any, org: Any, cv: Any) -> None:
    org.document("lights/context-v/specs/Lamp-Oil.md", "## Oil\n\nWhale oil is out of use.")
    cv("init", "--senior-root", str(org.root), "--yes", "--no-index")

    async def live() -> Any:
        async with serve(org.root, "--as-chroma") as session:
            return await session.call("chroma_query_documents", **query("oil")[1])

    assert len(anyio.run(live).json["ids"][0]) == 1
