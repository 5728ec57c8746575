"""``cv why``: why a file is or isn't indexed, and why it ranks where it does for a task."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from msgspec.structs import replace

from backend.errors import UsageError
from backend.freshness.index import Index
from backend.freshness.places import index_path
from backend.kickoff.lexical import Query
from backend.kickoff.library import Library
from backend.kickoff.membership import membership
from backend.kickoff.named_file import find_file
from backend.kickoff.opening import no_word
from backend.kickoff.rank import explained
from backend.kickoff.ranking import Ranking
from backend.schemas.config import Config
from backend.schemas.kickoff import Placement, Why


def why(
    root: Path,
    config: Config,
    file: str,
    *,
    task: str = "",
    folder: Path,
    now: datetime,
    notes: Sequence[str] = (),
) -> Why:
    """Why ``file``, as a person in ``folder`` calls it, is or isn't indexed; with ``task`` also where it ranks for it.

    A copy is placed as the document that it is a copy of. Raises ``UsageError`` for a folder, an ambiguous name, or a task
    without a word.
    """
    path = find_file(root, folder, file)
    found = replace(membership(root, config, path), notes=tuple(notes))
    home = found.home or (path if found.indexed else "")
    if not task or not home:
        return found
    query = Query.of(task)
    if query is None:
        raise UsageError(no_word(task))
    index = Index.for_reading(index_path(root))
    if index is None:
        return found
    with index:
        library = Library(root, config, index)
        if home not in library.row_of:
            return found
        ranking = Ranking(library, query, task, folder=folder, now=now)
        placement = place(ranking, task, library.row_of[home])
        return replace(found, placement=placement, notes=(*found.notes, *library.notes))


def place(ranking: Ranking, task: str, row: int) -> Placement:
    """Where the document at ``row`` stands in a ranking, with each part of its score."""
    library = ranking.library
    number, ranked = next(
        (number, ranked)
        for number, ranked in enumerate(ranking.second_opinion(ranking.ranked), 1)
        if ranked.row == row
    )
    chunk = ranking.best_chunk(row)
    return Placement(
        task=task,
        rank=number,
        documents=len(ranking.ranked),
        score=round(ranked.score, 3),
        parts=explained(ranked),
        reasons=ranking.reasons(ranked),
        words_found=ranking.words_found(row),
        words_missing=ranking.words_missing(row),
        similarity=round(ranking.nearest[row][0], 3) if row in ranking.nearest else None,
        heading=chunk.heading,
        excerpt=ranking.excerpt(row, chunk),
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        links_to=tuple(library.paths[target] for target in library.links(row)),
        linked_from=tuple(library.paths[origin] for origin in ranked.linked_from),
        reranker=ranked.reranker,
    )
