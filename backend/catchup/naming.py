"""Name a group of documents by the words that set it apart: common in the group, rare elsewhere (c-TF-IDF).

The words are the documents' own, in their own spelling: tags, and phrases of titles and ledes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from backend.catchup.terms import Term, stems, terms_of
from backend.schemas.manifest import ManifestEntry

_TERMS = 3  # in a name
_LEAST_SHARE = 0.12  # of the group's documents that a term must be in
_LEAST_LIFT = 1.5  # how much commoner in the group than everywhere
_LEAST_GAIN = 0.05  # of the group's documents that a further term must add
_LEAST_COVERED = 0.3  # of the group's documents that bear a term of its name; fewer: it has no name
_LENGTHS = (
    1.0,
    1.3,
    1.45,
)  # what a term is worth by its words, three or more at most: a phrase says more


class Name(NamedTuple):
    """A group's name, ``""`` where no words set it apart; ``keys`` are those of the name's terms."""

    text: str = ""
    keys: frozenset[str] = frozenset()


class _Candidate(NamedTuple):
    key: str
    score: float
    bearers: frozenset[int]


def name_groups(groups: Sequence[Sequence[ManifestEntry]]) -> list[Name]:
    """Return a name for each group, such as ``Berth booking, Tides``; no two are the same."""
    read = [[terms_of(entry) for entry in group] for group in groups]
    everywhere = _weigh([document for group in read for document in group])
    total = sum(len(group) for group in groups)
    names: list[Name] = []
    for group, documents in zip(groups, read, strict=True):
        name = _name(group, documents, everywhere, total)
        if any(name.text == other.text for other in names):
            name = Name()
        names.append(name)
    return names


def bears(entry: ManifestEntry, name: Name) -> bool:
    """Say whether a document has one of the name's terms among its own."""
    return any(term.key in name.keys for term in terms_of(entry))


def _name(
    group: Sequence[ManifestEntry],
    documents: Sequence[Sequence[Term]],
    everywhere: dict[str, float],
    total: int,
) -> Name:
    candidates = _candidates(group, documents, everywhere, total)
    chosen: list[_Candidate] = []
    covered: set[int] = set()
    while candidates and len(chosen) < _TERMS:
        best = max(candidates, key=lambda one: (_gain(one, covered), one.key))
        gained = len(best.bearers - covered) / len(group)
        if not chosen or gained >= _LEAST_GAIN:
            chosen.append(best)
            covered |= best.bearers
        words = set(best.key.split("-"))
        candidates = [one for one in candidates if not words & set(one.key.split("-"))]
    if len(covered) < _LEAST_COVERED * len(group):
        return Name()
    text = ", ".join(_spelling(one.key, documents) for one in chosen)
    return Name(text, frozenset(one.key for one in chosen))


def _candidates(
    group: Sequence[ManifestEntry],
    documents: Sequence[Sequence[Term]],
    everywhere: dict[str, float],
    total: int,
) -> list[_Candidate]:
    here = _weigh(documents)
    bearers: dict[str, set[int]] = {}
    for number, document in enumerate(documents):
        for term in document:
            bearers.setdefault(term.key, set()).add(number)
    told = _told_by_the_repo(group)
    least = max(2, math.ceil(_LEAST_SHARE * len(group)))
    found = []
    for key, weight in here.items():
        lift = (weight / len(group)) / (everywhere[key] / total)
        if len(bearers[key]) < least or (lift < _LEAST_LIFT and len(group) < total):
            continue
        words = key.split("-")
        if told.issuperset(words):
            continue
        length = _LENGTHS[min(len(words), len(_LENGTHS)) - 1]
        score = weight / len(group) * math.log(max(lift, _LEAST_LIFT)) * length
        found.append(_Candidate(key, score, frozenset(bearers[key])))
    return found


def _told_by_the_repo(group: Sequence[ManifestEntry]) -> frozenset[str]:
    """Return the words of the repo's own name where nearly all documents are of one: it stands beside."""
    repo, count = Counter(entry.repo for entry in group).most_common(1)[0]
    return frozenset(stems(repo.rpartition("/")[2])) if count >= 0.8 * len(group) else frozenset()


def _gain(candidate: _Candidate, covered: set[int]) -> float:
    """Weigh a term by how many of its documents no earlier term of the name speaks for."""
    fresh = len(candidate.bearers - covered) / len(candidate.bearers)
    return candidate.score * (0.3 + 0.7 * fresh)


def _weigh(documents: Sequence[Sequence[Term]]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for document in documents:
        for term in document:
            weights[term.key] = weights.get(term.key, 0.0) + term.weight
    return weights


def _spelling(key: str, documents: Sequence[Sequence[Term]]) -> str:
    spellings = Counter(term.text for document in documents for term in document if term.key == key)
    return min(spellings, key=lambda text: (-spellings[text], text))
