"""What ``--scope`` finds, and what it says when it finds nothing or too much."""

from __future__ import annotations

import pytest

from backend.errors import UsageError
from backend.tree.scope import in_scope, resolve_scope

REPOS = {"bay-labs", "bay-labs/memo-press", "clients/acme/site", "clients/beta/site", "Gärten"}
PATHS = [
    "bay-labs/memo-press/context-v/specs/A.md",
    "bay-labs/context-v/plans/B.md",
    "clients/acme/site/context-v/specs/C.md",
    "clients/beta/site/context-v/specs/D.md",
    "Gärten/context-v/notes/E.md",
    "context-v/specs/F.md",
]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("bay-labs", "bay-labs"),
        ("Bay-Labs", "bay-labs"),
        ("bay-labs/", "bay-labs"),
        ("./bay-labs", "bay-labs"),
        ("bay-labs/memo-press", "bay-labs/memo-press"),
        ("memo-press", "bay-labs/memo-press"),
        ("MEMO-PRESS", "bay-labs/memo-press"),
        ("acme/site", "clients/acme/site"),
        ("clients", "clients"),
        ("clients\\beta\\site", "clients/beta/site"),
        ("bay-labs/context-v/plans", "bay-labs/context-v/plans"),
        ("notes", "Gärten/context-v/notes"),
        ("ga\u0308rten", "Gärten"),
        (".", None),
    ],
)
def test_a_scope_is_a_repo_a_nested_repo_or_a_folder(asked: str, found: str | None) -> None:
    assert resolve_scope(asked, REPOS, PATHS) == found


def test_a_repo_wins_over_a_folder_of_the_same_name() -> None:
    paths = [*PATHS, "other/memo-press/x.md"]
    assert resolve_scope("memo-press", REPOS, paths) == "bay-labs/memo-press"


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ("site", ["clients/acme/site", "clients/beta/site"]),
        ("specs", ["bay-labs/memo-press/context-v/specs", "clients/acme/site/context-v/specs"]),
    ],
)
def test_an_ambiguous_one_lists_what_it_could_mean(asked: str, named: list[str]) -> None:
    with pytest.raises(UsageError, match="could mean") as error:
        resolve_scope(asked, REPOS, [path for path in PATHS if not path.startswith("context-v")])
    assert all(name in str(error.value) for name in named)


def test_places_that_differ_by_case_only_need_the_exact_spelling() -> None:
    assert resolve_scope("Lab", {"lab", "Lab"}, []) == "Lab"
    with pytest.raises(UsageError, match="Lab, lab"):
        resolve_scope("LAB", {"lab", "Lab"}, [])


def test_an_unknown_one_lists_the_near_ones() -> None:
    with pytest.raises(UsageError, match="Near it: bay-labs/memo-press"):
        resolve_scope("memo-prass", REPOS, PATHS)


def test_an_unknown_one_with_nothing_near_lists_the_repos() -> None:
    with pytest.raises(UsageError, match="Repos: Gärten, bay-labs"):
        resolve_scope("zzzzzz", REPOS, PATHS)
    with pytest.raises(UsageError, match="no repos"):
        resolve_scope("zzzzzz", [], [])


def test_a_scope_does_not_leak_into_a_folder_with_the_same_beginning() -> None:
    assert in_scope("bay-labs/context-v/B.md", "bay-labs", "bay-labs")
    assert not in_scope("bay-labs-old/context-v/B.md", "bay-labs-old", "bay-labs")
    assert in_scope("context-v/F.md", "acme", "acme")
