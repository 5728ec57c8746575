"""The order of the candidates: three lexical views and meaning, four priors, then one step along the documents' own links.

Measured on the open part of the real tree's benchmark, with what each part is worth, by ``benchmarks/retrieval``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from backend.kickoff.lexical import Floats, Views, to_one
from backend.kickoff.nearness import Near

_SECONDS_A_DAY = 86_400

MEANING = 0.5
"""Weight of the vectors' leg against 1 for each lexical view."""

NEAR_SAME, NEAR_BELOW, NEAR_AROUND = 0.35, 0.2, 0.12
"""For a document of the repo at hand, of a repo nested in it, and of another one in the same top folder: 158 of 194 files that
people linked lie in the repo they worked in or below it. More would do no better there (0.4, 0.25, 0.15: within .006), and
worse for who stands in a wrong repo: there recall@20 of 53 tasks without names is .583 with these, .499 with those.
A repo that the task names counts like the one at hand."""

NEAR_UNKNOWN = 0.25
"""Where no repo is at hand: for the repo that most of the best documents come from, beside those that the task names."""

NEWS, NEWS_DAYS = 0.2, 14.0
"""For a document as new as the newest one, halved with every so many days."""

SPEAKS = 0.05
"""A document's share of the best possible match from which on the two priors above count in full; below it, in proportion, so
that where a document lies cannot stand in for what it says. Any value up to 0.2 changes recall by less than its noise."""

CHANGELOG = 0.3
"""Taken off a changelog entry: people load what was intended; 3 of 194 files that they linked are entries."""

LINKED, SEEDS, SEED_FLOOR = 0.3, 20, 40
"""For what the best ``SEEDS`` documents link to; a seed counts by how far it stands above the one at ``SEED_FLOOR``."""


class Ranked(Struct, frozen=True):
    """A document's place: ``row`` among the documents, its score, what each part gave to it, why it counts as near, which rows
    link to it, and its place in a reranker's own order (None: none was asked).
    """

    row: int
    score: float
    parts: dict[str, float] = field(default_factory=dict)
    near: Near = Near()
    linked_from: tuple[int, ...] = ()
    reranker: int | None = None


class Documents(Struct, frozen=True):
    """What is known of each document, a row each: its innermost ``repo``, the ``slug`` that it is listed under,
    ``modified_at`` (epoch), and whether it is a changelog entry.
    """

    repo: list[str]
    slug: list[str]
    modified_at: npt.NDArray[np.int64]
    changelog: npt.NDArray[np.bool_]


def rank(
    views: Views,
    similarity: Mapping[int, float],
    documents: Documents,
    *,
    repo: str | None,
    named: Sequence[str],
    now: float,
    links: Callable[[int], Sequence[int]],
    shown: npt.NDArray[np.bool_],
) -> list[Ranked]:
    """The documents that are ``shown``, best first; the others do not exist for the ranking.

    ``similarity``: cosine of the best chunk of each document that the vector search found.
    ``repo``: the innermost repo at hand, None where there is none; ``named``: repos that the task names.
    ``now``: epoch seconds. ``links``: rows that a row links to.
    """
    parts: dict[str, Floats] = {
        "chunk": views.chunk,
        "document": views.document,
        "card": views.card,
    }
    parts["meaning"] = MEANING * _meaning(similarity, len(documents.repo))
    weight = 3.0 + (MEANING if similarity else 0.0)
    parts = {name: scores / weight for name, scores in parts.items()}
    speaks = np.minimum(np.sum(list(parts.values()), axis=0) / SPEAKS, 1.0)
    age = _age_in_days(documents.modified_at, now, shown)
    parts["news"] = NEWS * np.exp2(-age / NEWS_DAYS) * speaks
    parts["changelog"] = -CHANGELOG * documents.changelog.astype(np.float64)
    score: Floats = np.where(shown, np.sum(list(parts.values()), axis=0), -np.inf)
    nearness = {other: _nearness(other, repo, named) for other in set(documents.repo)}
    if repo is None:
        for other, share in _common_repos(score, documents.repo).items():
            matches = Near(NEAR_UNKNOWN * share, "most" if share == 1 else "some")
            nearness[other] = max(nearness[other], matches, key=lambda near: near.worth)
    parts["near"] = np.array([nearness[other].worth for other in documents.repo]) * speaks
    score = score + parts["near"]
    parts["linked"], linked_from = _spread(score, links, shown)
    score = score + parts["linked"]
    return [
        Ranked(
            row,
            float(score[row]),
            {name: float(scores[row]) for name, scores in parts.items()},
            nearness[documents.repo[row]],
            tuple(linked_from.get(row, ())),
        )
        for row in np.argsort(-score, kind="stable").tolist()
        if shown[row]
    ]


def _meaning(similarity: Mapping[int, float], documents: int) -> Floats:
    """From the least similar of those found (0) to the most similar (1)."""
    scores = np.zeros(documents)
    if similarity:
        least = min(similarity.values())
        for row, cosine in similarity.items():
            scores[row] = cosine - least
    return to_one(scores)


def _age_in_days(
    modified_at: npt.NDArray[np.int64], now: float, shown: npt.NDArray[np.bool_]
) -> Floats:
    """Age against the newest document: a tree that rested for a month still has its latest work as news."""
    newest = min(float(modified_at[shown].max(initial=0)), now)
    return np.asarray(np.maximum(newest - modified_at, 0) / _SECONDS_A_DAY)


def _nearness(repo: str, at_hand: str | None, named: Sequence[str]) -> Near:
    if repo in named:
        return Near(NEAR_SAME, "named", repo)
    if repo == at_hand:
        return Near(NEAR_SAME, "at hand", repo)
    homes = named if at_hand is None else (*named, at_hand)
    for home in homes:
        if home and repo.startswith(home + "/"):
            return Near(NEAR_BELOW, "below", home)
    if at_hand and repo and repo.split("/")[0] == at_hand.split("/")[0]:
        return Near(NEAR_AROUND, "beside", at_hand)
    return Near()


def _seeds(score: Floats) -> tuple[list[int], Floats]:
    order = np.argsort(-score, kind="stable")[: np.count_nonzero(np.isfinite(score))]
    floor = score[order[min(SEED_FLOOR, len(order) - 1)]] if len(order) else 0.0
    best = order[:SEEDS]
    return best.tolist(), to_one(np.maximum(score[best] - floor, 0))


def _common_repos(score: Floats, repos: list[str]) -> dict[str, float]:
    """How much of the best documents each repo that has any of them has, the one with most 1."""
    mass: Counter[str] = Counter()
    for row, weight in zip(*_seeds(score), strict=True):
        mass[repos[row]] += weight
    most = max(mass.values(), default=0.0)
    return {repo: weight / most for repo, weight in mass.items()} if most > 0 else {}


def _spread(
    score: Floats, links: Callable[[int], Sequence[int]], shown: npt.NDArray[np.bool_]
) -> tuple[Floats, dict[int, list[int]]]:
    gain = np.zeros(len(score))
    linked_from: dict[int, list[int]] = {}
    for row, weight in zip(*_seeds(score), strict=True):
        targets = [target for target in links(row) if shown[target]] if weight > 0 else []
        for target in targets:
            gain[target] += LINKED * weight / len(targets) ** 0.5
            linked_from.setdefault(target, []).append(row)
    return gain, linked_from


def explained(ranked: Ranked) -> dict[str, Any]:
    """The parts of a score that are not nothing, largest first, for ``cv why``."""
    parts = {name: round(value, 3) for name, value in ranked.parts.items() if abs(value) >= 0.0005}
    return dict(sorted(parts.items(), key=lambda part: -abs(part[1])))
