"""``cv find`` and ``cv folders`` as they are typed."""

from __future__ import annotations

import json
from typing import Any

import pytest


def test_find_has_the_keys_of_the_contract(tree: Any, cv: Any) -> None:
    tree.document("ferry/context-v/handoffs/2025-08-01_Pier.md", day="2025-08-01")
    done = cv("find", "make the pier longer", "--json", cwd=tree.path("ferry"))
    assert done.code == 0
    found = json.loads(done.out)
    assert found.keys() >= {
        "task",
        "senior_root",
        "fresh",
        "candidates",
        "notes",
        "evidence",
        "handoff",
    }
    assert found["candidates"][0].keys() >= {
        "rank", "source_path", "absolute_path", "repo", "role", "kind", "title", "date", "lede", "excerpt",
        "heading", "status", "tags", "authors", "copies", "flags", "why",
    }  # fmt: skip
    assert found["candidates"][0]["source_path"] == "ferry/context-v/plans/Pier.md"
    assert found["handoff"]["source_path"] == "ferry/context-v/handoffs/2025-08-01_Pier.md"


def test_the_newest_handoff_is_named_to_people_and_agent(tree: Any, cv: Any) -> None:
    assert "newest handoff" not in cv("find", "pier").out
    tree.document("ferry/context-v/handoffs/2025-08-01_Pier.md", day="2025-08-01")
    line = "newest handoff: ferry/context-v/handoffs/2025-08-01_Pier.md (2025-08-01)\n"
    assert cv("find", "pier").out.endswith(line)
    assert line in cv("find", "pier", "--markdown").out
    assert "newest handoff" not in cv("find", "pier", cwd=tree.path("mill")).out


def test_scope_and_number(tree: Any, cv: Any) -> None:
    def paths(*options: str) -> list[str]:
        found = json.loads(cv("find", "the wharf and the wheel", "--json", *options).out)
        return [candidate["source_path"] for candidate in found["candidates"]]

    assert len(paths()) == 4
    assert len(paths("--n-results", "3")) == 3
    assert len(paths("--n-results", "3", "--max-files", "2")) == 2
    assert all(path.startswith("mill/") for path in paths("--scope", "MILL"))
    assert paths("--scope", "ferry/context-v/plans") == ["ferry/context-v/plans/Pier.md"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["find"], "Missing argument"),
        (["find", "x", "--scope", "mlil"], "--scope mlil is no repo"),
        (["find", "x", "--as-of", "soon"], "--as-of expects a day"),
        (["folders", "--scope", "mlil"], "--scope mlil is no repo"),
        (["folders", "mill"], "unexpected extra argument"),
    ],
)
def test_wrong_arguments(tree: Any, cv: Any, arguments: list[str], words: str) -> None:
    done = cv(*arguments)
    assert done.code == 2
    assert words in done.err


def test_folders(tree: Any, cv: Any, snapshot: Any) -> None:
    assert cv("folders").out == snapshot
    assert cv("folders", "--scope", "ferry").out == snapshot
    answer = json.loads(cv("folders", "--json").out)
    assert answer["documents"] == 4
    assert answer["folders"] == [
        {"path": "ferry/context-v/plans", "documents": 1},
        {"path": "ferry/context-v/specs", "documents": 1},
        {"path": "mill/changelog", "documents": 1},
        {"path": "mill/context-v/specs", "documents": 1},
    ]
