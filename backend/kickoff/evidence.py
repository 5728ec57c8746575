"""How far the corpus speaks of a task at all: evidence for a person's judgement, never a cut."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from backend.kickoff.lexical import Query, Views, rare, telling
from backend.kickoff.typed import typed
from backend.schemas.kickoff import Evidence
from backend.tree.listing import listed

_COVERS, _COVERS_LITTLE = 0.55, 0.34
"""Shares of the task's words (by rarity) in the best document. On two trees the 12 tasks that nothing is about stay below the
second, and 82 of 85 others above the first. A small corpus says few words, so that a document which fits may have few of the
task's: there meaning decides. With both, all 85 are called strong and all 12 none."""

_NAMES = 0.25
"""Share of the task's words (by rarity) on one document's card from which the evidence is not "none": a title, tag or heading
says what its document is about. The cards of the 12 tasks that nothing is about have .16 at most."""

_FIRST = 5
"""Files at the head of the list that should have the word which tells most of the task; where they don't, it is said."""

_SHOWN = 40
"""Characters of a word that are shown."""

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
    there = {word for word, has_it in zip(query.words, known.tolist(), strict=True) if has_it}
    missing = [one.written for one in typed(text) if there.isdisjoint(one.whole)]
    above_chance = (
        best_similarity - by_chance(chunks) if embedder == "static" and best_similarity else None
    )
    # However little one identifier says to the vectors: who has all words, a rare one among them, is about it.
    whole = coverage > 1 - 1e-9 and bool(rare(views).any())
    named = mass > 0 and views.on_card / mass >= _NAMES
    return Evidence(
        verdict="strong" if whole else _verdict(coverage, above_chance, named=named),
        coverage=round(coverage, 3),
        best_similarity=round(best_similarity, 3),
        missing_words=tuple(missing),
    )


def by_chance(chunks: int) -> float:
    """The cosine that the nearest of so many chunks has to a text that none of them is about."""
    return _CHANCE + _CHANCE_GROWS * math.sqrt(2 * math.log(max(chunks, 2)))


def _verdict(
    coverage: float, above_chance: float | None, *, named: bool
) -> Literal["strong", "weak", "none"]:
    """By the words, then up or down by the meaning; not "none" for what a document is ``named`` after."""
    level = (coverage >= _COVERS_LITTLE) + (coverage >= _COVERS)
    if above_chance is not None:
        level += (above_chance >= 0) + (above_chance >= _CLEARLY) - (above_chance < -_FAR_BELOW)
    return "strong" if level >= 2 else "weak" if level == 1 or named else "none"


def in_words(
    evidence: Evidence, asked: Literal["task", "question"], filters: str = ""
) -> list[str]:
    """What to tell a person about evidence that is not strong, for a ``task`` or a ``question``; ``filters``: what the documents
    had to have that it is of (``status=Draft``).
    """
    if evidence.verdict == "strong":
        return []
    share = f"the document that fits best has {_words(evidence.coverage, asked)}"
    if evidence.missing_words:
        among = f" with {filters}" if filters else ""
        share += f"; in no document{among}: {listed([*map(_shown, evidence.missing_words)], 8)}"
    if evidence.verdict == "none":
        return [f"nothing here seems to be about this: {share}"]
    doubt = "; little comes near it in meaning" if evidence.coverage >= _COVERS else ""
    return [f"weak matches only: {share}{doubt}"]


def _shown(word: str) -> str:
    """A word as a sentence can name it: where no blanks part words, one may be a whole page."""
    return word if len(word) <= _SHOWN else f"{word[: _SHOWN - 1]}…"


def _words(coverage: float, asked: str) -> str:
    percent = round(100 * coverage)
    if percent in (0, 100):
        return f"{'all' if percent else 'none'} of the {asked}'s words"
    return f"{percent}% of the {asked}'s words (rare ones count more)"


def not_among_first(
    query: Query, views: Views, text: str, order: Sequence[int], paths: Sequence[str]
) -> list[str]:
    """The rare word that weighs as much as all others of the task, where none of the first files has it though one further down
    does. ``order``: the rows in their order; ``paths``: the path of each row.
    """
    has: npt.NDArray[np.bool_] = np.greater(views.found[:, list(order)], 0)
    lacking = has.any(axis=1) & ~has[:, :_FIRST].any(axis=1)
    written = {word: one.written for one in typed(text) for word in one.whole}
    said = []
    for word in np.flatnonzero(telling(query, views, text) & lacking).tolist():
        place = int(has[word].argmax())
        said.append(
            f"none of the first {_FIRST} files has '{_shown(written[query.words[word]])}'; "
            f"{paths[order[place]]} has, at place {place + 1}"
        )
    return said
