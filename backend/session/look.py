"""The stat walk of a session's start: what differs on disk from what the last sync saw. No document is read whole."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from backend.catchup.nudge import Pending
from backend.freshness.manifest import (
    Stamp,
    load_cards,
    load_passed_over_stamps,
    load_role_stamps,
)
from backend.freshness.places import Places, index_path, load_places, still_hold
from backend.schemas.config import Config
from backend.schemas.manifest import ManifestEntry
from backend.schemas.roles import CHANGELOG_ROLE, CORPUS_ROLE
from backend.tree.discovery import FoundFile, Tree, look_at

WALK_SECONDS = 86_400
"""After a day a sync should walk the whole tree again, for document folders that are new."""

HEAD_BYTES = 4_096
"""Enough for any frontmatter that names a date."""

HEADS = 100
"""Changed documents of which the head is read. Where more changed at once (a clone, a checkout) every mtime is new and says
nothing: their cards are gone by until the sync has read them."""


class Look(NamedTuple):
    """What the walk found. ``changed`` counts documents that are new, different or gone; ``places`` None: never walked."""

    cards: Mapping[str, ManifestEntry]
    entries: int
    changed: int
    pending: Mapping[str, Pending]
    places: Places | None
    stale: bool


def look(root: Path, config: Config, *, now: datetime) -> Look:
    """Compare the known document folders with the manifests. ``stale``: a sync has something to do."""
    cards = load_cards(root, CORPUS_ROLE)
    others = load_role_stamps(root, CHANGELOG_ROLE)
    places = load_places(root)
    if places is None or not index_path(root).is_file():
        return Look(cards, len(others), 0, {}, None, stale=True)
    tree = look_at(root, config, places.places, places.repos, places.choices)
    known: dict[str, Stamp | ManifestEntry] = {
        **load_passed_over_stamps(root),
        **others,
        **cards,
    }
    different = [file for path, file in tree.files.items() if _differs(file, known.get(path))]
    gone = [path for path in known if path not in tree.files and not _hidden(path, tree)]
    walked_long_ago = not 0 <= now.timestamp() - places.walked_at < WALK_SECONDS
    changed = len(different) + len(gone)
    return Look(
        {path: card for path, card in cards.items() if path in tree.files} if gone else cards,
        len(others),
        changed,
        _pending(root, different, now),
        places,
        stale=changed > 0 or walked_long_ago or not still_hold(root, config, places),
    )


def _differs(file: FoundFile, known: Stamp | ManifestEntry | None) -> bool:
    return known is None or known.mtime != file.mtime or known.size != file.size


def _hidden(path: str, tree: Tree) -> bool:
    """Whether a file is only out of sight, since a folder above it can't be listed at the moment."""
    return any(not f or path == f or path.startswith(f + "/") for f in tree.unreadable)


def _pending(root: Path, different: list[FoundFile], now: datetime) -> dict[str, Pending]:
    files = [file for file in different if file.role == CORPUS_ROLE]
    if len(files) > HEADS:
        return {}
    return {file.path: Pending(file.mtime, _day(root, file.path, now)) for file in files}


def _day(root: Path, path: str, now: datetime) -> str:
    """The day that a document's frontmatter names in so many words; empty where it names none that is read here."""
    try:
        with (root / path).open("rb") as file:
            head = file.read(HEAD_BYTES).decode("utf-8-sig", "replace")
    except OSError:
        return ""
    if not head.startswith("---"):
        return ""
    from backend.documents.dates import parse_date
    from backend.documents.keys import DATE_ORDER, normal_key, split_key

    fields: dict[str, str] = {}
    for line in head.splitlines()[1:]:
        if line.startswith("---"):
            break
        if pair := split_key(line):
            fields.setdefault(normal_key(pair[0]), pair[1])
    days = (parse_date(fields.get(key), now=now) for key in DATE_ORDER if fields.get(key))
    return next((day[0] for day in days if day), "")
