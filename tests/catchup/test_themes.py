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
from backend.catchup.themes import (
    OTHER,
    make_themes,
    of_theme,
    pick_theme,
    wants_themes,
    with_themes,
)
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
        days = [file.date for file in cluster.theme.files]
        assert days == sorted(days, reverse=True), "the newest first"
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
    second = pick_theme(clusters, 2)
    digest = of_theme(make_digest(cards, window, paths=second.paths), second.theme)
    assert digest.total_files == second.theme.count
    assert [repo.repo for repo in digest.repos] == list(second.theme.repos)
    assert digest.theme == 2
    assert [theme.name for theme in digest.themes] == [second.theme.name]
    assert digest.message == f"Theme 2: {second.theme.count} files modified in the last 6 months."
    with pytest.raises(UsageError, match=rf"1 to {len(clusters)}; got 99"):
        pick_theme(clusters, 99)
    with pytest.raises(UsageError, match="--theme 1: this window has no themes"):
        pick_theme((), 1)


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


def test_themes_are_for_wide_or_full_windows(crowd: Callable[[int], Cards], now: datetime) -> None:
    def wanted(count: int, window: str, max_files: int = 50) -> bool:
        digest = make_digest(crowd(count), parse_window(window, now), max_files=max_files)
        return wants_themes(digest, 50)

    assert wanted(30, "3m")
    assert wanted(2000, "2w")
    assert not wanted(30, "2w")
    assert not wanted(5, "1y")
    # A theme is drilled into with a wider cap, and must be the same one then.
    assert wanted(2000, "2w", max_files=1000)
    assert not wanted(30, "2w", max_files=5)


@pytest.mark.parametrize("vectors", [[], [[1.0, 2.0]], [[0.0, 0.0]] * 5, [[1.0, 1.0]] * 40])
def test_degenerate_vectors_still_give_groups(vectors: list[list[float]]) -> None:
    groups = group(vectors).groups
    assert sorted(position for members in groups for position in members) == list(
        range(len(vectors))
    )


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(*[st.floats(-10, 10)] * 3), max_size=60))
def test_every_document_is_in_exactly_one_group(vectors: list[tuple[float, ...]]) -> None:
    groups, closeness = group(vectors)
    assert sorted(position for members in groups for position in members) == list(
        range(len(vectors))
    )
    assert closeness.shape == (len(vectors), len(groups))
    assert len(groups) <= 14
    assert len(vectors) < 2 or all(len(members) > 1 for members in groups)


def names(*groups: list[ManifestEntry]) -> list[str]:
    return [name.text for name in name_groups(groups)]


def test_a_name_is_of_tags_and_of_titles_own_phrases(card: Card) -> None:
    titled = [card(title=f"Mooring fees, season {n}") for n in range(4)]
    tagged = [card(title="", tags=("Wheels",) if n % 2 else ("water-mills",)) for n in range(4)]
    led = [card(title=f"{n}", lede=f"Frost alarms: {n} of them.") for n in range(4)]
    assert names(titled, tagged, led) == [
        "Mooring fees",
        "water-mills, Wheels",
        "Frost alarms",
    ]


def test_a_name_keeps_to_the_most_common_spelling_and_folds_the_rest(card: Card) -> None:
    fees = ["Mooring-Fees", "mooring fees", "Mooring fee", "mooring fees"]
    wheels = [card(title=f"Wheel {n}") for n in range(4)]
    assert names([card(title=title) for title in fees], wheels) == ["mooring fees", "Wheel"]


def test_a_further_term_speaks_for_documents_that_the_first_does_not(card: Card) -> None:
    berths = [card(title=f"Berth {n}", tags=("Harbour-Office",)) for n in range(5)]
    pilots = [card(title=f"Pilots {n}") for n in range(3)]
    others = [card(title=f"Frost {n}") for n in range(8)]
    assert names([*berths, *pilots], others)[0] == "Harbour-Office, Pilots"


@pytest.mark.parametrize(
    "title", ["", "2026-03-09", "What this is", "Implementation plan", "Notes on the document"]
)
def test_words_that_say_nothing_name_nothing(card: Card, title: str) -> None:
    tides = [card(title=f"Tides {n}") for n in range(5)]
    assert names([card(title=title) for _ in range(5)], tides) == ["", "Tides"]


def test_the_repos_own_name_is_no_news_beside_the_repo(card: Card) -> None:
    mill = [card(title=f"Water mill {n}", repo="valley/water-mill") for n in range(5)]
    assert names(mill, [card(title=f"Tides {n}") for n in range(5)]) == ["", "Tides"]


def test_no_two_names_are_the_same(card: Card) -> None:
    one = [card(title=f"Tides {n}") for n in range(5)]
    rest = [card(title=f"Frost {n}", tags=("Alarm",)) for n in range(20)]
    assert names(one, one, rest) == ["Tides", "", "Alarm"]


def test_what_has_no_name_joins_a_theme_by_its_words_or_is_other(card: Card, now: datetime) -> None:
    entries: dict[str, ManifestEntry] = {}
    vectors: dict[str, list[float]] = {}

    def add(name: str, count: int, title: str, *vector: float) -> None:
        for n in range(count):
            path = f"harbour/context-v/specs/{name}-{n}.md"
            entries[path] = card("2026-05-01", title=title)
            vectors[path] = [value + n / 1000 for value in vector]

    add("tide", 12, "Tide tables", 1, 0, 0)
    add("fee", 12, "Mooring fees", 0, 1, 0)
    add("bare", 11, "What this is", 0, 0, 1)
    add("stray", 1, "Tide tables once more", 0, 0, 1)
    window = parse_window("6m", now)
    clusters = make_themes({CORPUS_ROLE: entries}, window, vectors)
    assert {cluster.theme.name: cluster.theme.count for cluster in clusters} == {
        "Tide tables": 13,
        "Mooring fees": 12,
        OTHER: 11,
    }
    assert clusters[-1].theme.name == OTHER
