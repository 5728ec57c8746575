"""``cv find``: the files for a task, best first, each with the reasons for it. It proposes; a person picks."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, datetime
from pathlib import Path

from backend.kickoff.evidence import in_words, not_among_first
from backend.kickoff.library import Library
from backend.kickoff.opening import NO_DOCUMENTS, in_use, opened
from backend.kickoff.ranking import Ranking
from backend.schemas.config import Config
from backend.schemas.kickoff import Findings
from backend.tree.scope import in_scope

SHOWN = 20
"""Files proposed when nothing else is asked: measured, they hold nine of ten files that a person would load."""


def find(
    root: Path,
    config: Config,
    task: str,
    *,
    folder: Path,
    now: datetime,
    limit: int = SHOWN,
    scope: str | None = None,
    as_of: date | None = None,
    without: Collection[str] = (),
    fresh: bool = True,
    notes: tuple[str, ...] = (),
) -> Findings:
    """The best ``limit`` files for ``task``, asked by a person who works in ``folder``.

    ``scope``: only of this repo or below this folder (as ``resolve_scope`` gives it). ``as_of``: as if later documents did
    not exist, and ``without``: nor these (for measuring). ``fresh`` and ``notes`` are handed through from the refresh.
    """
    ready = opened(root, task)
    if isinstance(ready, str):
        return Findings(
            task=task, senior_root=str(root), fresh=fresh, candidates=(), notes=(*notes, ready)
        )
    index, query = ready
    with in_use(index):
        library = Library(root, config, index)
        if not fresh:
            without = library.gone().union(without)
        ranking = Ranking(
            library, query, task, folder=folder, now=now, as_of=as_of, without=without
        )
        inside = [
            r
            for r in ranking.ranked
            if scope is None or in_scope(library.paths[r.row], library.documents.slug[r.row], scope)
        ]
        ordered = ranking.second_opinion(inside)
        found = tuple(
            ranking.candidate(place, ranked) for place, ranked in enumerate(ordered[:limit], 1)
        )
        if found:
            order = [ranked.row for ranked in ordered]
            said = in_words(ranking.evidence, "task")
            said += not_among_first(query, ranking.views, task, order, library.paths)
        else:
            said = [_nothing(library, scope)]
        return Findings(
            task=task,
            senior_root=str(root),
            fresh=fresh,
            candidates=found,
            evidence=ranking.evidence,
            notes=(*notes, *library.notes, *said),
            handoff=ranking.handoff(),
        )


def _nothing(library: Library, scope: str | None) -> str:
    if not library.paths:
        return NO_DOCUMENTS
    return f"no document is indexed in {scope}" if scope else "no document is left to search in"
