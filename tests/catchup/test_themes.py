"""Themes: what many changed documents are about, the same at every call."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.catchup.clusters import group
from backend.catchup.digest import make_digest
from backend.catchup.naming import name_groups
from backend.catchup.themes import make_themes, theme_paths, wants_themes, with_themes
from backend.errors import UsageError
from backend.schemas.manifest import ManifestEntry
from backend.schemas.roles import CORPUS_ROLE
from backend.tree.window import parse_window

Card = Callable[..., ManifestEntry]
Cards = dict[str, dict[str, ManifestEntry]]
SUBJECTS = {
    "Booking": ("harbour", "How berths get reserved"),
    "Frost": ("orchard", "When blossoms freeze"),
    "Wheels": ("mill", "What grinds grain"),
}


@pytest.fixture
def subjects(card: Card) -> tuple[Cards, dict[str, list[float]]]:
    """Sixty documents on three subjects, told apart by tags, titles and the way vectors point."""
    chance = random.Random(7)
    entries: dict[str, ManifestEntry] = {}
    vectors: dict[str, list[float]] = {}
    for n in range(60):
        which = n % 3
        tag, (repo, title) = list(SUBJECTS.items())[which]
        path = f"{repo}/context-v/specs/{n:02d}.md"
        tags = (tag.lower() if n % 4 == 0 else tag, "Everyday")
        entries[path] = card("2026-05-01", repo=repo, title=f"{title} {n}", tags=tags)
        vectors[path] = [
            float(axis == which) * 3 + 1.0 + chance.uniform(-0.4, 0.4) for axis in range(8)
        ]
    return {CORPUS_ROLE: entries}, vectors


def test_each_subject_is_a_theme_with_its_own_name_repo_and_files(
    subjects: tuple[Cards, dict[str, list[float]]], now: datetime
) -> None:
    cards, vectors = subjects
    clusters = make_themes(cards, parse_window("6m", now), vectors)
    for cluster in clusters:
        assert len(cluster.theme.repos) == 1
        (repo,) = cluster.theme.repos
        assert cluster.theme.name.split(",")[0] in SUBJECTS
        assert SUBJECTS[cluster.theme.name.split(",")[0]][0] == repo
        assert all(path.startswith(repo) for path in cluster.paths)
        assert {file.source_path for file in cluster.theme.files} <= cluster.paths
    assert {repo for cluster in clusters for repo in cluster.theme.repos} == {
        "harbour",
        "orchard",
        "mill",
    }
    counts = [cluster.theme.count for cluster in clusters]
    assert sum(counts) == 60
    assert counts == sorted(counts, reverse=True)
    assert [cluster.theme.number for cluster in clusters] == list(range(1, len(clusters) + 1))
    assert "Everyday" not in " ".join(cluster.theme.name for cluster in clusters)


def test_the_order_of_the_input_decides_nothing(
    subjects: tuple[Cards, dict[str, list[float]]], now: datetime
) -> None:
    cards, vectors = subjects
    turned = {CORPUS_ROLE: dict(reversed(cards[CORPUS_ROLE].items()))}
    window = parse_window("6m", now)
    again = make_themes(turned, window, dict(reversed(vectors.items())))
    assert again == make_themes(cards, window, vectors)


def test_a_theme_can_be_drilled_into(
    subjects: tuple[Cards, dict[str, list[float]]], now: datetime
) -> None:
    cards, vectors = subjects
    window = parse_window("6m", now)
    clusters = make_themes(cards, window, vectors)
    digest = make_digest(cards, window, paths=theme_paths(clusters, 2))
    assert digest.total_files == clusters[1].theme.count
    assert [repo.repo for repo in digest.repos] == list(clusters[1].theme.repos)
    with pytest.raises(UsageError, match=rf"1 to {len(clusters)}; got 99"):
        theme_paths(clusters, 99)
    with pytest.raises(UsageError, match="none in this window"):
        theme_paths((), 1)


def test_filters_hold_for_themes_too(
    subjects: tuple[Cards, dict[str, list[float]]], now: datetime
) -> None:
    cards, vectors = subjects
    clusters = make_themes(cards, parse_window("6m", now), vectors, scope="mill")
    assert {repo for cluster in clusters for repo in cluster.theme.repos} == {"mill"}
    assert sum(cluster.theme.count for cluster in clusters) == 20


def test_files_without_a_vector_are_counted_in_a_note(
    subjects: tuple[Cards, dict[str, list[float]]], now: datetime
) -> None:
    cards, vectors = subjects
    del vectors["mill/context-v/specs/02.md"]
    window = parse_window("6m", now)
    digest = with_themes(make_digest(cards, window), make_themes(cards, window, vectors))
    assert sum(theme.count for theme in digest.themes) == 59
    assert digest.notes[-1].startswith("1 file is in no theme")


def test_themes_are_for_wide_or_cut_digests(crowd: Callable[[int], Cards], now: datetime) -> None:
    def wanted(count: int, window: str) -> bool:
        return wants_themes(make_digest(crowd(count), parse_window(window, now)))

    assert wanted(30, "3m")
    assert wanted(2000, "2w")
    assert not wanted(30, "2w")
    assert not wanted(5, "1y")


@pytest.mark.parametrize("vectors", [[], [[1.0, 2.0]], [[0.0, 0.0]] * 5, [[1.0, 1.0]] * 40])
def test_degenerate_vectors_still_give_groups(vectors: list[list[float]]) -> None:
    groups = group(vectors)
    assert sorted(position for members in groups for position in members) == list(
        range(len(vectors))
    )


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(*[st.floats(-10, 10)] * 3), max_size=60))
def test_every_document_is_in_exactly_one_group(vectors: list[tuple[float, ...]]) -> None:
    groups = group(vectors)
    assert sorted(position for members in groups for position in members) == list(
        range(len(vectors))
    )
    assert len(groups) <= 10
    assert len(vectors) < 2 or all(len(members) > 1 for members in groups)


def test_names_fall_back_to_titles_then_repos_and_never_repeat(card: Card) -> None:
    titled = [card(title=f"Mooring fees {n}", repo="harbour") for n in range(4)]
    bare = [card(title="", repo="orchard") for _ in range(4)]
    tagged = [card(title="", tags=("Wheels", "water-mills"), repo="mill") for _ in range(4)]
    assert name_groups([titled, bare, bare, tagged]) == [
        "fees, Mooring",
        "Various in orchard",
        "Various in orchard (2)",
        "water-mills, Wheels",
    ]
