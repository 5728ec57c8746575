"""How far the corpus speaks of a task at all: evidence for a person's judgement, never a cut."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import numpy.typing as npt

from backend.freshness.words import surfaces
from backend.kickoff.lexical import Query, Views
from backend.schemas.kickoff import Evidence

_COVERS, _COVERS_LITTLE = 0.55, 0.34
"""Shares of the task's words (by rarity) in the best document. On two trees the 12 tasks that nothing is about stay below the
second, and 82 of 85 others above the first. A small corpus says few words, so that a document which fits may have few of the
task's: there meaning decides. With both, all 85 are called strong and all 12 none."""

_CHANCE, _CHANCE_GROWS = 0.10, 0.10
"""What the nearest of n chunks reaches by chance: the largest of n draws grows with sqrt(2 ln n). Off-topic tasks reach .32 of
18 chunks, .48 of 3,085 and .52 of 14,322 (48 on three trees; the line stays just above them)."""

_CLEARLY, _FAR_BELOW = 0.15, 0.12
"""So far above that line a document is about the task whatever its words; so far below, it shares its words by accident, as
most do with a short task of everyday words. Of 138 wordings of 85 tasks on topic the lowest lies .09 below."""


def weigh(
    query: Query, views: Views, text: str, *, best_similarity: float, chunks: int, embedder: str
) -> Evidence:
    """The evidence for ``text`` (``query``, taken apart), whose nearest of ``chunks`` chunks has this cosine (0: no vectors).

    ``embedder``: its name in the config; the cosines of others than "static" have another scale and are not judged by.
    """
    has: npt.NDArray[np.bool_] = np.greater(views.found, 0)
    known = np.any(has, axis=1)
    mass = float(views.rarity.sum())
    coverage = float((views.rarity @ has).max(initial=0.0)) / mass if mass else 0.0
    surface = surfaces(text)
    missing = [
        surface.get(word, word)
        for word, there in zip(query.words, known.tolist(), strict=True)
        if not there
    ]
    above_chance = (
        best_similarity - by_chance(chunks) if embedder == "static" and best_similarity else None
    )
    return Evidence(
        verdict=_verdict(coverage, above_chance),
        coverage=round(coverage, 3),
        best_similarity=round(best_similarity, 3),
        missing_words=tuple(missing),
    )


def by_chance(chunks: int) -> float:
    """The cosine that the nearest of so many chunks has to a text that none of them is about."""
    return _CHANCE + _CHANCE_GROWS * math.sqrt(2 * math.log(max(chunks, 2)))


def _verdict(coverage: float, above_chance: float | None) -> Literal["strong", "weak", "none"]:
    """By the words, then up or down by the meaning."""
    level = (coverage >= _COVERS_LITTLE) + (coverage >= _COVERS)
    if above_chance is not None:
        level += (above_chance >= 0) + (above_chance >= _CLEARLY) - (above_chance < -_FAR_BELOW)
    return "strong" if level >= 2 else "weak" if level == 1 else "none"


def in_words(evidence: Evidence) -> list[str]:
    """What to tell a person about evidence that is not strong."""
    if evidence.verdict == "strong":
        return []
    missing = (
        f"; in no document: {', '.join(evidence.missing_words[:8])}"
        if evidence.missing_words
        else ""
    )
    share = f"the best document has {evidence.coverage:.0%} of the task's words{missing}"
    if evidence.verdict == "none":
        return [f"nothing here seems to be about this: {share}"]
    return [f"weak matches only: {share}"]
