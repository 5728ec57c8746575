"""What ``cv find`` and ``cv search`` answer, for the command line and the MCP server alike: first the disk is asked, then the
index.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date, datetime
from pathlib import Path

from backend.freshness.manifest import load_all_cards
from backend.freshness.places import load_places
from backend.freshness.refresh import refresh
from backend.freshness.sync import Progress, silent
from backend.kickoff.filters import Filter, read_filters, read_scope
from backend.schemas.config import Config
from backend.schemas.kickoff import Findings, Passages


def answer_find(
    root: Path,
    config: Config,
    task: str,
    *,
    folder: Path,
    now: datetime,
    limit: int,
    scope: str | None = None,
    as_of: date | None = None,
    without: Collection[str] = (),
    progress: Progress = silent,
) -> Findings:
    """The best ``limit`` files for ``task``, asked from ``folder``; ``scope`` as a person names it, ``progress`` is told
    how far a refresh is, the rest as of ``kickoff.find``. Raises ``UsageError`` for a scope that is unknown or ambiguous.
    """
    from backend.kickoff.find import find

    freshness = refresh(root, config, now=now, progress=progress)
    return find(
        root,
        config,
        task,
        folder=folder,
        now=now,
        limit=limit,
        scope=read_scope(root, scope) if scope is not None else None,
        as_of=as_of,
        without=without,
        fresh=freshness.fresh,
        notes=freshness.notes,
    )


def answer_search(
    root: Path,
    config: Config,
    question: str,
    *,
    now: datetime,
    limit: int,
    where: Sequence[str] = (),
    scope: str | None = None,
    role: str | None = None,
    progress: Progress = silent,
) -> Passages:
    """The best ``limit`` passages for ``question`` among the documents that pass ``where`` (``FIELD=VALUE`` each), lie in
    ``scope`` and are of ``role``; ``progress`` is told how far a refresh is. Raises ``UsageError`` for a filter or scope that
    cannot be read.
    """
    from backend.kickoff.search import search

    freshness = refresh(root, config, now=now, progress=progress)
    asked = (*where, f"role={role}") if role else tuple(where)
    places = load_places(root)
    repos = places.repos if places else ()
    filters = read_filters(asked, load_all_cards(root), repos, now) if asked else ()
    if scope is not None:
        filters += (Filter("repo", (read_scope(root, scope) or "",), (scope,)),)
    return search(
        root,
        config,
        question,
        now=now,
        limit=limit,
        filters=filters,
        fresh=freshness.fresh,
        notes=freshness.notes,
    )
