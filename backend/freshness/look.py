"""One look at the tree: into the folders that the last walk found, or a walk anew where that may have missed something."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from backend.freshness.changes import out_of_sight
from backend.freshness.places import load_places, save_places, still_hold
from backend.schemas.config import Config
from backend.tree.found import Tree
from backend.tree.sources import (
    SourcesError,
    add_places,
    choices,
    dangling,
    gone,
    gone_note,
    load_sources,
)
from backend.tree.walk import discover, look_at

WALK_AGAIN = 3600.0
"""Seconds after which a quick sync walks the whole tree again in any case. Before that it does when a folder has changed in which
a new repo, documents folder or marker would appear; what this misses is one that appears deep in folders without any."""


def is_recent(walked_at: float, now: datetime) -> bool:
    """Whether a walk at ``walked_at`` (epoch seconds) still says where documents lie."""
    return 0 <= now.timestamp() - walked_at < WALK_AGAIN


def look(root: Path, config: Config, *, now: datetime, quick: bool) -> tuple[Tree, list[str]]:
    """The tree as it is, and notes for the report; ``quick``: from the last walk's folders while those hold. A full walk also
    appends new folders to ``sources.md``. Raises ``CvError`` where that can't be read.
    """
    known = load_places(root) if quick else None
    if known is not None and is_recent(known.walked_at, now) and still_hold(root, config, known):
        return look_at(root, config, known.places, known.repos, known.choices), []
    sources = load_sources(root)
    chosen = choices(sources)
    tree = discover(root, config, chosen)
    notes = []
    try:
        new = add_places(root, sources, tree.places)
    except SourcesError as error:  # the list is right, only nothing can be added to it
        new = []
        notes.append(str(error))
    if new and sources:
        notes.append(
            f"sources.md: {len(new)} new: {', '.join(new[:5])}{' …' if len(new) > 5 else ''}"
        )
    if not quick:  # a query's answer is no place for it
        absent = [path for path in gone(root, sources) if not out_of_sight(path, tree.unreadable)]
        notes += gone_note(absent)
    notes += [
        f"sources.md: {path} is not there, so its 'include: false' leaves nothing out; is it misspelt?"
        for path in dangling(root, sources)
    ]
    notes += [
        f"{path or root}: could not be read; what the index has of it is kept"
        for path in tree.unreadable[:5]
    ]
    save_places(root, config, tree, chosen, walked_at=now.timestamp())
    return tree, notes
