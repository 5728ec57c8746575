"""Name a group of documents by words that are its own: tags first, then words of its titles."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from backend.documents.lists import fold
from backend.schemas.manifest import ManifestEntry

_TERMS = 3  # words or tags in a name
_ENOUGH_TAGS = 2  # an author's tags name a theme better than words that happen to be in titles
_WORD = re.compile(r"[^\W\d_][\w'-]{2,}")
_LEAST_SHARE = 0.15  # of the group's documents that a term must be in
_LEAST_LIFT = 1.3  # how much commoner in the group than everywhere
_EMPTY_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        add adds all also and any are been but can did does each every for from get gets had has
        have how into its just long make makes may more new not now off one only our out over per
        read short some than that the their them then there these this through toward towards two
        use uses using was were what when where which who why will with without you your
        context document documents file files note notes
        """,
    )
)

_Read = Callable[[ManifestEntry], Iterable[tuple[str, str]]]  # comparing form and spelling


class _Term(NamedTuple):
    key: str
    text: str
    score: float


def name_groups(groups: Sequence[Sequence[ManifestEntry]]) -> list[str]:
    """Return a name for each group, such as ``Booking, Tides, berth``; no two are the same."""
    everyone = [entry for group in groups for entry in group]
    tags_of_all, words_of_all = _counts(everyone, _tags), _counts(everyone, _words)
    names: list[str] = []
    for group in groups:
        tags = _rank(group, _tags, tags_of_all, len(everyone))
        words = _rank(group, _words, words_of_all, len(everyone))
        names.append(_distinct_name(_choose(tags, words), group, names))
    return names


def _choose(tags: Sequence[_Term], words: Sequence[_Term]) -> list[str]:
    """Put tags first; words of titles only fill up where there are fewer than two tags."""
    chosen: list[_Term] = []
    for term in [*tags, *words] if len(tags) < _ENOUGH_TAGS else tags:
        if not any(_overlap(term.key, other.key) for other in chosen):
            chosen.append(term)
    return [term.text for term in chosen]


def _overlap(one: str, other: str) -> bool:
    return bool(set(_stems(one)) & set(_stems(other)))


def _stems(key: str) -> list[str]:
    return [part.rstrip("s") for part in key.split("-")]


def _distinct_name(terms: list[str], group: Sequence[ManifestEntry], taken: list[str]) -> str:
    for length in range(_TERMS, max(_TERMS, len(terms)) + 1):
        name = ", ".join(terms[:length])
        if name and name not in taken:
            return name
    base = ", ".join(terms[:_TERMS])
    repo = Counter(entry.repo for entry in group).most_common(1)[0][0]
    name = f"{base} in {repo}" if base else f"Various in {repo}"
    number = 2
    unique = name
    while unique in taken:
        unique, number = f"{name} ({number})", number + 1
    return unique


def _rank(
    group: Sequence[ManifestEntry], read: _Read, of_all: Counter[str], total: int
) -> list[_Term]:
    counts = _counts(group, read)
    spellings: dict[str, Counter[str]] = {}
    for entry in group:
        for key, text in read(entry):
            spellings.setdefault(key, Counter())[text] += 1
    least = max(2, math.ceil(_LEAST_SHARE * len(group)))
    terms = []
    for key, count in counts.items():
        lift = (count / len(group)) / (of_all[key] / total)
        if count >= least and (lift >= _LEAST_LIFT or len(group) == total):
            spelling = min(spellings[key], key=lambda text: (-spellings[key][text], text))
            terms.append(_Term(key, spelling, count * math.log(1 + lift)))
    return sorted(terms, key=lambda term: (-term.score, term.key))


def _counts(entries: Iterable[ManifestEntry], read: _Read) -> Counter[str]:
    counts: Counter[str] = Counter()
    for entry in entries:
        counts.update({key for key, _ in read(entry)})
    return counts


def _tags(entry: ManifestEntry) -> Iterable[tuple[str, str]]:
    return _keyed(entry.tags)


def _words(entry: ManifestEntry) -> Iterable[tuple[str, str]]:
    return _keyed(_WORD.findall(entry.title))


def _keyed(texts: Iterable[str]) -> Iterable[tuple[str, str]]:
    for text in texts:
        key = fold(text)
        if key and key not in _EMPTY_WORDS:
            yield key, text.strip()
