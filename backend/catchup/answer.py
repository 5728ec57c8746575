"""What ``cv catch-up`` answers, for the command line and the MCP server alike: first the disk is asked, then the cards."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from backend.catchup.digest import make_digest
from backend.catchup.themes import (
    Cluster,
    make_themes,
    of_theme,
    pick_theme,
    wants_themes,
    with_themes,
)
from backend.freshness.index import document_vectors
from backend.freshness.manifest import load_all_cards
from backend.freshness.places import load_places
from backend.freshness.refresh import refresh
from backend.freshness.sync import Progress, silent
from backend.schemas.catchup import Digest
from backend.schemas.config import Config
from backend.tree.window import make_window


def answer_catch_up(
    root: Path,
    config: Config,
    *,
    now: datetime,
    window: str | None = None,
    since: str | None = None,
    scope: str | None = None,
    by_author: str | None = None,
    owner: str | None = None,
    not_by: str | None = None,
    max_files: int | None = None,
    alphabetical: bool = False,
    theme: int | None = None,
    progress: Progress = silent,
) -> Digest:
    """The digest, with themes where the window is wide, or only the files of its ``theme``. What is None stands as the config
    has it; ``progress`` is told how far a refresh is; the rest as of ``make_digest``. Raises ``UsageError`` for arguments that
    make no sense.
    """
    chosen = make_window(window or (None if since else config.catch_up.window), since, now)
    freshness = refresh(root, config, now=now, progress=progress)
    cards = load_all_cards(root)
    places = load_places(root)
    filters: dict[str, Any] = {
        "scope": scope,
        "repos": list(places.repos) if places else [],
        "by_author": by_author,
        "owner": owner,
        "not_by": not_by,
    }
    shape: dict[str, Any] = {
        "max_files": config.catch_up.max_files if max_files is None else max_files,
        "alphabetical": alphabetical,
    }
    digest = make_digest(cards, chosen, **filters, **shape)
    themes: tuple[Cluster, ...] = ()
    if wants_themes(digest, config.catch_up.max_files):
        themes = make_themes(cards, chosen, document_vectors(root), **filters)
        digest = with_themes(digest, themes) if themes else digest
    if theme is not None:
        picked = pick_theme(themes, theme)
        digest = make_digest(cards, chosen, **filters, **shape, paths=picked.paths)
        digest = of_theme(digest, picked.theme)
    notes = (*digest.notes, *freshness.notes)
    return replace(digest, notes=notes, senior_root=str(root))
