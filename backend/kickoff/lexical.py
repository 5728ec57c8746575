"""Scoring bags of words: BM25 over chunks, over whole documents, and over cards."""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from backend.freshness.lexical import Hits, Words
from backend.freshness.words import surfaces, word_id, words

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_K1, _B = 1.2, 0.75
"""BM25's customary saturation and length constants; flat between 0.9 and 2.5, 0.6 and 0.9 on the real tree's 53 tasks."""

_RARE = 0.02
"""Share of the documents up to which a word counts as rare; a word of one document always does."""

_BEST_CHUNKS = 3
"""A document's chunk score is the sum of its three best: the best one alone, or all of them, lose .02 to .04 of recall@5."""


class Query(Struct, frozen=True):
    """The words of a task: sorted ids, how often each was said (twice counts no more than that), and the words themselves."""

    ids: npt.NDArray[np.uint32]
    weight: Floats
    words: list[str]

    @classmethod
    def of(cls, text: str) -> Query | None:
        """None when ``text`` has no word that says anything."""
        asked = Counter(words(text))
        by_id = {word_id(word): word for word in asked}
        ids = np.array(sorted(by_id), np.uint32)
        if not len(ids):
            return None
        said = [by_id[int(i)] for i in ids]
        return cls(ids, np.minimum(np.array([asked[word] for word in said], np.float64), 2.0), said)


class Views(Struct, frozen=True):
    """Scores a document: each view's from 0 to 1, the card's only as high as cards speak of the task at all. ``best`` is the row
    of its best chunk (-1: none matched), ``found`` how often each word of the query (a row) occurs in each document (a column),
    ``rarity`` the words' inverse document frequency, ``on_card`` the weight (by rarity) of the words on the card that has most.
    """

    chunk: Floats
    document: Floats
    card: Floats
    best: Ints
    found: Floats
    rarity: Floats
    on_card: float


def score(words: Words, query: Query, shown: npt.NDArray[np.bool_]) -> Views:
    """How well each document matches ``query``, in three views that each see what the others miss.

    Documents that are not ``shown`` score nothing and set no scale.
    """
    documents = len(words.number)
    chunk_document = words.chunk_document
    in_card, in_extra, in_chunk = words.find(query.ids)
    by_chunk, best = _best_chunks(
        _bm25(in_chunk, query, words.chunk_length), chunk_document, documents
    )
    found = np.zeros((len(query.ids), documents))
    np.add.at(found, (in_chunk.word, chunk_document[in_chunk.bag]), in_chunk.times)
    np.add.at(found, (in_extra.word, in_extra.bag), in_extra.times)
    found[:, ~shown] = 0
    which, where = np.nonzero(found)
    length = np.bincount(chunk_document, words.chunk_length, documents) + words.extra_length
    by_document = _bm25(Hits(which, where, found[which, where]), query, length)
    by_card = _bm25(in_card, query, words.card_length)
    rarity = _rarity(documents, (found > 0).sum(axis=1))
    on_card = np.zeros_like(found)
    on_card[in_card.word, in_card.bag] = 1
    on_card[:, ~shown] = 0
    most = float((rarity @ on_card).max(initial=0.0))
    return Views(
        chunk=to_one(by_chunk * shown),
        document=to_one(by_document * shown),
        card=to_one(by_card * shown) * _share(rarity, most, found),
        best=best,
        found=found,
        rarity=rarity,
        on_card=most,
    )


def _share(rarity: Floats, on_card: float, found: Floats) -> float:
    """How much of the task (by rarity of its words) the best card has, ``on_card``, of what the best document has; at most 1.

    A card is a few words. A task that uses a document's own names finds them all there; one without any names meets single
    words by accident, and as the best card it could find the document would count as much as one that fits. Measured with
    every wording, with and without a repo at hand, on both trees: recall@5 +.005 to +.028, recall@20 -.004 to +.040, and no
    worse than before on nearly all halves of the tasks.
    """
    best = float((rarity @ np.greater(found, 0)).max(initial=0.0))
    return min(on_card / best, 1.0) if best > 0 else 1.0


def score_chunks(words: Words, query: Query) -> Floats:
    """How well each chunk matches ``query``: BM25 over the chunks alone, unbounded."""
    return _bm25(words.find(query.ids)[2], query, words.chunk_length)


def coverage(words: Words, query: Query, weight: Floats) -> Floats:
    """For each chunk, how much (from 0 to 1) it has of ``query``'s words, each with its ``weight``.

    Unlike BM25 it does not rise with how often a chunk says a word, so that one which says the rare word once is told from one
    that says the common word often.
    """
    which, chunk, _ = words.find(query.ids)[2]  # each word once for each chunk that has it
    share = np.bincount(chunk, weight[which], len(words.chunk_length)).astype(np.float64)
    whole = float(weight.sum())
    return np.minimum(share / whole, 1.0) if whole > 0 else share


def rare(views: Views) -> npt.NDArray[np.bool_]:
    """Which words of the query few documents have, and at least one does."""
    having = (views.found > 0).sum(axis=1)
    return np.asarray((having > 0) & (having <= max(_RARE * views.found.shape[1], 1)))


def telling(query: Query, views: Views, text: str) -> npt.NDArray[np.bool_]:
    """Which words of ``text`` (``query``, taken apart) are rare and weigh at least as much as all others of it together that any
    document has: mostly none or one. Of a compound only the whole counts, not its parts.
    """
    whole = surfaces(text)
    own = np.array([word in whole for word in query.words], bool)
    weight = views.rarity * (own & np.any(views.found > 0, axis=1))
    return np.asarray(rare(views) & (weight > 0) & (2 * weight >= weight.sum()))


def to_one(scores: Floats) -> Floats:
    """Divided by the largest, so that views whose scales differ can be added."""
    largest = scores.max(initial=0.0)
    return scores / largest if largest > 0 else scores


def _bm25(hits: Hits, query: Query, length: Floats) -> Floats:
    which, unit, count = hits
    rarity = _rarity(len(length), np.bincount(which, minlength=len(query.ids))) * query.weight
    mean = max(float(length.mean()) if len(length) else 1.0, 1.0)
    gain = rarity[which] * count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * length[unit] / mean))
    return np.bincount(unit, gain, len(length)).astype(np.float64)


def _rarity(units: int, having: npt.NDArray[np.integer]) -> Floats:
    """Inverse document frequency as BM25 has it, never below zero."""
    return np.asarray(np.log(1 + (units - having + 0.5) / (having + 0.5)), np.float64)


def _best_chunks(scores: Floats, document: Ints, documents: int) -> tuple[Floats, Ints]:
    at = np.flatnonzero(scores > 0)
    at = at[np.lexsort((-scores[at], document[at]))]
    owner = document[at]
    first = np.ones(len(owner), bool)
    first[1:] = owner[1:] != owner[:-1]
    start = np.maximum.accumulate(np.where(first, np.arange(len(owner)), 0))
    keep = np.arange(len(owner)) - start < _BEST_CHUNKS
    best = np.full(documents, -1)
    best[owner[first]] = at[first]
    sums = np.bincount(owner[keep], scores[at[keep]], documents)
    return sums.astype(np.float64), best.astype(np.int64)
