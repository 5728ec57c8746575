"""What a session's start looks at: what differs on disk from what the last sync saw. No document is read whole."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from backend.catchup.nudge import Card, Pending
from backend.freshness.manifest import (
    Stamp,
    load_cards,
    load_passed_over_stamps,
    load_role_stamps,
)
from backend.freshness.places import chroma_path, index_path, load_places, still_hold
from backend.freshness.snapshot import is_handoff, load_snapshot
from backend.freshness.tie import token_of
from backend.schemas.config import Config
from backend.schemas.manifest import ManifestEntry
from backend.schemas.roles import CHANGELOG_ROLE, CORPUS_ROLE
from backend.tree.found import FoundFile, Tree

WALK_SECONDS = 86_400
"""After a day a sync should walk the whole tree again, for document folders that are new."""

HEAD_BYTES = 4_096
"""Enough for any frontmatter that names a date."""

HEADS = 100
"""Changed documents of which the head is read. Where more changed at once (a clone, a checkout) every mtime is new and says
nothing: their cards are gone by until the sync has read them."""


class Look(NamedTuple):
    """What there is. ``changed`` counts documents that are new, different or gone; ``repos`` None: never walked."""

    cards: Mapping[str, Card]
    entries: int
    handoffs: Mapping[str, ManifestEntry]
    repos: Collection[str] | None
    changed: int = 0
    pending: Mapping[str, Pending] = {}
    stale: bool = False


def look(root: Path, config: Config, *, now: datetime) -> Look:
    """What is known of the tree, and how the disk differs from it. ``stale``: a sync has something to do."""
    seen = load_snapshot(root, config)
    if seen is None:
        return _compare(root, config, now=now)
    entries = seen.roles[CHANGELOG_ROLE].unchanged
    stale = not 0 <= now.timestamp() - seen.walked_at < WALK_SECONDS
    return Look(seen.documents, entries, seen.handoffs, seen.repos, stale=stale)


def _compare(root: Path, config: Config, *, now: datetime) -> Look:
    """Compare the known document folders with the manifests."""
    cards = load_cards(root, CORPUS_ROLE)
    others = load_role_stamps(root, CHANGELOG_ROLE)
    places = load_places(root)
    if places is None or not index_path(root).is_file():
        return Look(cards, len(others), _handoffs(cards), None, stale=True)
    from backend.tree.walk import look_at

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
    if gone:
        cards = {path: card for path, card in cards.items() if path in tree.files}
    return Look(
        cards,
        len(others),
        _handoffs(cards),
        places.repos,
        changed,
        _pending(root, different, now),
        stale=changed > 0
        or walked_long_ago
        or not still_hold(root, config, places)
        or (config.chroma.mode == "persistent" and token_of(chroma_path(root)) == "none")
        or _lacks_vectors(root, config),
    )


def _lacks_vectors(root: Path, config: Config) -> bool:
    """Whether another embedder's vectors are still to be made: each session's sync goes on with them. Asked of the file itself,
    so that a hook loads nothing of the index.
    """
    import sqlite3
    from contextlib import closing

    from backend.freshness.embedder import embedder_name

    query = "SELECT key, value FROM meta WHERE key IN ('embedder', 'new embedder')"
    uri = f"{index_path(root).absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as db:
            facts = dict(db.execute(query).fetchall())
    except sqlite3.Error:
        return False
    return facts.get("embedder") != embedder_name(config.embedding) or bool(
        facts.get("new embedder")
    )


def _handoffs(cards: Mapping[str, ManifestEntry]) -> dict[str, ManifestEntry]:
    return {path: card for path, card in cards.items() if is_handoff(card)}


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
