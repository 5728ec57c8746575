"""Which documents a window and its filters pick, newest first."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import NamedTuple

from backend.documents.lists import fold_name
from backend.schemas.manifest import ManifestEntry
from backend.tree.scope import in_scope, resolve_scope
from backend.tree.window import Window

Cards = Mapping[str, Mapping[str, ManifestEntry]]


class Filters(NamedTuple):
    """What narrows a digest; an empty one lets everything through.

    ``by_author``, ``owner``, ``not_by``: part of a name, whatever its case and accents.
    ``paths``: only these, when a theme is drilled into.
    """

    scope: str | None = None
    by_author: str | None = None
    owner: str | None = None
    not_by: str | None = None
    paths: Collection[str] | None = None


class Picked(NamedTuple):
    """One document: its path, role and card, and the day it stands under (never after today)."""

    path: str
    role: str
    entry: ManifestEntry
    day: date
    is_future: bool


def pick(
    cards_by_role: Cards, window: Window, filters: Filters, repos: Collection[str]
) -> tuple[list[Picked], Picked | None]:
    """Pick the documents whose day lies in the window, newest first, ties by path.

    The second result is the newest document before the window that passes the filters, for the
    words of an empty digest. Raises UsageError for an unknown or ambiguous scope.
    """
    scope = None
    if filters.scope is not None:
        known = {entry.repo for cards in cards_by_role.values() for entry in cards.values()}
        every_path = [path for cards in cards_by_role.values() for path in cards]
        scope = resolve_scope(filters.scope, known | set(repos), every_path)
    inside: dict[str, Picked] = {}
    before: Picked | None = None
    for role, cards in cards_by_role.items():
        for path, entry in cards.items():
            if path in inside or not _passes(path, entry, scope, filters):
                continue
            own = card_day(entry)
            file = Picked(path, role, entry, min(own, window.until), own > window.until)
            if file.day >= window.since:
                inside[path] = file
            elif before is None or (file.day, path) > (before.day, before.path):
                before = file
    return sorted(inside.values(), key=newest_first), before


def newest_first(file: Picked) -> tuple[int, str]:
    """Sort key: the later day first, then the path."""
    return (-file.day.toordinal(), file.path)


def card_day(entry: ManifestEntry) -> date:
    """Read a card's day; where its text is not one, the day of ``modified_at`` in UTC."""
    try:
        return date.fromisoformat(entry.date[:10])
    except ValueError:
        return datetime.fromtimestamp(entry.modified_at, UTC).date()


def _passes(path: str, entry: ManifestEntry, scope: str | None, filters: Filters) -> bool:
    if filters.paths is not None and path not in filters.paths:
        return False
    if scope is not None and not in_scope(path, entry.repo, scope):
        return False
    if filters.by_author and not any(_has(name, filters.by_author) for name in entry.authors):
        return False
    if filters.owner and not _has(entry.owner, filters.owner):
        return False
    if filters.not_by and entry.authors:
        return not all(_has(name, filters.not_by) for name in entry.authors)
    return True


def _has(name: str, part: str) -> bool:
    return _folded(part) in _folded(name)


@lru_cache(maxsize=4096)  # a tree has few authors and many documents
def _folded(name: str) -> str:
    return fold_name(name)
