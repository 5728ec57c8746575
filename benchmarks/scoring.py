"""Scores of a ranking against the files that people linked, and how sure they are.

A task's gold is the set of files that a person linked from the task's own document. ``recall@k``: the share of them among the
first k. ``MRR``: one over the place of the first. ``nDCG@10``: each of them among the first ten counts 1 / log2(place + 1), over
the sum that the best possible order would have.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from math import log2
from statistics import fmean

Scores = dict[str, float]

MEASURES = ("recall@5", "recall@20", "nDCG@10", "MRR")


def score(ranked: Sequence[str], gold: set[str]) -> Scores:
    """The measures of one task. ``gold`` is not empty."""
    places = [place for place, path in enumerate(ranked, 1) if path in gold]
    ideal = sum(1 / log2(place + 1) for place in range(1, min(10, len(gold)) + 1))
    return {
        "recall@5": sum(place <= 5 for place in places) / len(gold),
        "recall@20": sum(place <= 20 for place in places) / len(gold),
        "nDCG@10": sum(1 / log2(place + 1) for place in places if place <= 10) / ideal,
        "MRR": 1 / places[0] if places else 0.0,
    }


def folded(ranked: Iterable[str], aliases: Mapping[str, str]) -> list[str]:
    """The ranking with each copy replaced by the file it is a copy of, every file once."""
    return list(dict.fromkeys(aliases.get(path, path) for path in ranked))


def means(scores: Sequence[Scores]) -> Scores:
    """The mean of each measure."""
    return (
        {measure: fmean(each[measure] for each in scores) for measure in MEASURES} if scores else {}
    )


def interval(
    values: Sequence[float], *, rounds: int = 2_000, share: float = 0.9
) -> tuple[float, float]:
    """Between which means ``share`` of the samples of as many tasks, drawn from these with putting back, lie."""
    dice = random.Random(5)
    drawn = sorted(fmean(dice.choices(values, k=len(values))) for _ in range(rounds))
    edge = (1 - share) / 2
    return drawn[int(edge * rounds)], drawn[min(rounds - 1, int((1 - edge) * rounds))]
