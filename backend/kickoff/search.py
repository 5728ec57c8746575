"""``cv search``: the passages that answer a question, with the lines to cite. Chunks, where ``find`` gives files.

A question is about what is written, wherever and whenever: neither the repo at hand nor recency counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from backend.freshness.words import words
from backend.kickoff.evidence import in_words, weigh
from backend.kickoff.excerpt import best_lines
from backend.kickoff.filters import Card, Filter, described, nothing_has
from backend.kickoff.flags import Flagger
from backend.kickoff.hits import Hit, chosen, own_text
from backend.kickoff.lexical import (
    Floats,
    Query,
    Views,
    coverage,
    score,
    score_chunks,
    telling,
    to_one,
)
from backend.kickoff.library import Library
from backend.kickoff.opening import NO_DOCUMENTS, in_use, opened
from backend.kickoff.rank import MEANING
from backend.kickoff.typed import typed
from backend.schemas.config import Config
from backend.schemas.kickoff import Passage, Passages
from backend.tree.listing import listed

SHOWN = 5
"""Passages given when nothing else is asked."""

CARD = 0.5
"""Weight of a document's card (title, lede, tags, name, headings) for each of its chunks, against 1 for the chunk's own words.
Of 30 questions on a small tree 29 have their passage in the first three with 0.5, 27 or 28 without the card; on 53 tasks of the
real tree and 32 of the sample anything from 0.25 to 0.75 does as well. The weight of meaning is ``find``'s."""

COVERS = 1.0
"""Weight of the square of a chunk's ``coverage`` by rarity: what is asked for by its name comes before what says the common words
often. Of 120 identifiers that one chunk of two trees has, it comes first for 119 (85 without this and ``TELLS``); of 120 pairs
of a word that one chunk has with a common one beside it, for 100 (56). Beyond 1 the 30 questions get worse."""

TELLS = 2.0
"""For a chunk that has the one rare word which weighs as much as all others of the question (``telling``): as much as a chunk can
have of all the rest. The words of a question in a sentence weigh more alike, so that there this changes nothing."""


def search(
    root: Path,
    config: Config,
    question: str,
    *,
    now: datetime,
    limit: int = SHOWN,
    filters: Sequence[Filter] = (),
    fresh: bool = True,
    notes: tuple[str, ...] = (),
) -> Passages:
    """The best ``limit`` passages for ``question`` among the documents that pass ``filters``.

    ``fresh`` and ``notes`` are handed through from the refresh.
    """
    ready = opened(root, question)
    if isinstance(ready, str):
        return Passages(
            question=question,
            senior_root=str(root),
            fresh=fresh,
            passages=(),
            notes=(*notes, ready),
        )
    index, query = ready
    with in_use(index):
        library = Library(root, config, index)
        cards = _cards(library) if filters else []
        shown = library.shown(None, () if fresh else library.gone())
        for row, card in enumerate(cards):
            shown[row] = all(one.lets_through(card) for one in filters)
        views = score(library.words, query, shown)
        near = library.nearest_chunks(question, shown)
        ranked = rank_chunks(library, query, question, views, near, shown)
        hits = chosen(library, ranked, limit)
        evidence = weigh(
            query,
            views,
            question,
            best_similarity=max(near.values(), default=0.0),
            chunks=int(shown[library.words.chunk_document].sum()),
            embedder=config.embedding.name,
        )
        if not shown.any():  # then no word was looked up
            evidence = replace(evidence, missing_words=())
        if hits:
            said = in_words(evidence, "question", described(filters))
        elif not library.paths:
            said = [NO_DOCUMENTS]
        else:
            said = nothing_has(filters, cards) if not shown.any() else ["no passage matches"]
        flagger = Flagger(library, now, np.ones(len(library.paths), bool))
        said_how = _Reasons(query, views, question)
        return Passages(
            question=question,
            senior_root=str(root),
            fresh=fresh,
            passages=tuple(
                _passage(library, flagger, said_how, place, hit)
                for place, hit in enumerate(hits, 1)
            ),
            evidence=evidence,
            notes=(*notes, *library.notes, *said),
        )


def _cards(library: Library) -> list[Card]:
    return [
        Card(path, library.roles[row], library.entry(row)) for row, path in enumerate(library.paths)
    ]


def rank_chunks(
    library: Library,
    query: Query,
    question: str,
    views: Views,
    near: dict[tuple[int, int], float],
    shown: npt.NDArray[np.bool_],
) -> list[Hit]:
    """Chunks that share a word with ``query`` or are near it in meaning, best first, of the rows that are ``shown``."""
    document = library.words.chunk_document
    own = to_one(score_chunks(library.words, query) * shown[document])
    lexical: Floats = own + CARD * to_one(views.card)[document]
    first = np.searchsorted(document, np.arange(len(library.paths)))
    number_of = {(row, index): int(first[row]) + index for row, index in near}
    meaning = np.zeros(len(document))
    if near:
        least = min(near.values())
        for key, cosine in near.items():
            meaning[number_of[key]] = cosine - least
    known = views.rarity * np.any(views.found > 0, axis=1)
    total = lexical + MEANING * to_one(meaning)
    total += COVERS * coverage(library.words, query, known) ** 2
    total += TELLS * coverage(library.words, query, telling(query, views, question).astype(float))
    cosines = {number_of[key]: cosine for key, cosine in near.items()}
    chosen = np.zeros(len(document), bool)
    chosen[own > 0] = True
    chosen[list(cosines)] = True
    at = np.flatnonzero(chosen & shown[document])
    return [
        Hit(
            row=int(document[number]),
            index=int(library.words.chunk_index[number]),
            number=number,
            score=float(total[number]),
            cosine=cosines.get(number),
        )
        for number in at[np.argsort(-total[at], kind="stable")].tolist()
    ]


class _Reasons:
    """Why a passage was chosen, in words."""

    def __init__(self, query: Query, views: Views, question: str) -> None:
        self.typed = typed(question)
        self.rarity = dict(zip(query.words, views.rarity.tolist(), strict=True))

    def of(self, heading: str, body: str, title: str, cosine: float | None) -> tuple[str, ...]:
        reasons = []
        found = self.rarity.keys() & set(words(f"{heading}\n{body}"))
        said = [
            (-max(self.rarity.get(word, 0.0) for word in (*one.whole, *one.parts)), name)
            for one in self.typed
            if (name := one.found(found))
        ]
        if said:
            reasons.append(f"words: {listed([name for _, name in sorted(said)], 6)}")
        if self.rarity.keys() & set(words(title)):
            reasons.append("title")
        if cosine is not None:
            reasons.append(f"similar in meaning ({cosine:.2f})")
        return tuple(reasons)


def _passage(
    library: Library, flagger: Flagger, reasons: _Reasons, place: int, hit: Hit
) -> Passage:
    path = library.paths[hit.row]
    entry = library.entry(hit.row)
    chunk = library.chunk(hit.row, hit.index)
    text = own_text(chunk, entry) or entry.lede
    return Passage(
        rank=place,
        source_path=path,
        absolute_path=str(library.root / path),
        repo=entry.repo,
        role=library.roles[hit.row],
        kind=entry.kind,
        title=entry.title,
        date=entry.date,
        date_from=entry.date_from,
        status=entry.status,
        heading=chunk.heading,
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        text=text,
        excerpt=best_lines(text, reasons.rarity),
        flags=flagger.flags(hit.row, entry),
        why=reasons.of(chunk.heading, chunk.body, entry.title, hit.cosine),
    )
