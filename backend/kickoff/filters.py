"""Typed filters of ``cv search``: ``repo=ferry``, ``kind=specs``, ``since=2026-05-01`` and so on.

Several fields are ANDed, the same field twice is ORed. They are answered from the index's own cards and not by Chroma's
``where``, which knows no folder prefix, no part of a name and no folded spelling.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from msgspec import Struct

from backend.documents.lists import fold, fold_name
from backend.errors import UsageError
from backend.freshness.manifest import load_all_cards
from backend.freshness.places import load_places
from backend.schemas.manifest import ManifestEntry
from backend.schemas.roles import ROLES
from backend.tree.scope import in_scope, resolve_scope
from backend.tree.window import parse_since

FIELDS = ("repo", "kind", "status", "tag", "author", "owner", "since", "until", "role")

_NAMED = 8  # how many values a note names


class Card(Struct, frozen=True):
    """One document as filters see it."""

    path: str
    role: str
    entry: ManifestEntry


class Filter(Struct, frozen=True):
    """One field with the values that it may have, in comparing form; ``said`` is what the person wrote."""

    field: str
    values: tuple[str, ...]
    said: tuple[str, ...]

    def lets_through(self, card: Card) -> bool:
        """Whether the document has one of the values."""
        test = _TESTS[self.field]
        return any(test(card, value) for value in self.values)


def read_filters(
    texts: Iterable[str],
    cards: Mapping[str, Mapping[str, ManifestEntry]],
    repos: Iterable[str],
    now: datetime,
) -> tuple[Filter, ...]:
    """The filters that ``texts`` (``FIELD=VALUE``) ask for; ``cards`` by role, ``repos`` by path, resolve a repo's name.

    Raises ``UsageError`` naming the fields, the roles, the near repos, or the form of a day.
    """
    said: dict[str, list[str]] = {}
    for text in texts:
        field, equals, value = (part.strip() for part in text.partition("="))
        field = field.casefold()
        if not equals or field not in FIELDS or not value:
            raise UsageError(
                f"--where expects FIELD=VALUE with one of the fields {', '.join(FIELDS)}; got {text!r}"
            )
        said.setdefault(field, []).append(value)
    known = known_repos(cards, repos)
    paths = [path for by_path in cards.values() for path in by_path]
    return tuple(
        Filter(
            field,
            tuple(_comparable(field, value, known, paths, now) for value in values),
            tuple(values),
        )
        for field, values in said.items()
    )


def known_repos(cards: Mapping[str, Mapping[str, ManifestEntry]], repos: Iterable[str]) -> set[str]:
    """Everything that can be named as a repo: the slugs of the documents, and nested repos by path."""
    return {entry.repo for by_path in cards.values() for entry in by_path.values()} | set(repos)


def read_scope(root: Path, scope: str) -> str | None:
    """The repo or folder that ``--scope`` means in the tree of ``root``; None: all of it. Raises ``UsageError``."""
    cards = load_all_cards(root)
    places = load_places(root)
    paths = [path for by_path in cards.values() for path in by_path]
    return resolve_scope(scope, known_repos(cards, places.repos if places else ()), paths)


def described(filters: Sequence[Filter]) -> str:
    """What ``filters`` ask for, as a person wrote it: ``status=Draft and kind=specs or plans``."""
    return " and ".join(f"{one.field}={' or '.join(one.said)}" for one in filters)


def nothing_has(filters: Sequence[Filter], cards: Sequence[Card]) -> list[str]:
    """Notes for filters that leave no document: which field is to blame, and what values there are near it."""
    notes = []
    for one in filters:
        if any(one.lets_through(card) for card in cards):
            continue
        values = _values(one.field, cards)
        near = [
            value
            for said in one.said
            for value in difflib.get_close_matches(said, values, n=3, cutoff=0.65)
        ]
        shown = list(dict.fromkeys(near)) or values[:_NAMED]
        here = f"; there are: {', '.join(shown)}" if shown else ""
        notes.append(f"no document has {described([one])}{here}")
    if not notes:
        notes.append("no document passes all of the filters together")
    return notes


def _comparable(
    field: str, value: str, repos: set[str], paths: Sequence[str], now: datetime
) -> str:
    if field == "repo":
        try:
            return resolve_scope(value, repos, paths) or ""
        except UsageError as error:
            text = str(error).replace(f"--scope {value}", f"--where repo={value}", 1)
            raise UsageError(text) from None
    if field in ("since", "until"):
        return parse_since(value, now, option=f"--where {field}=").since.isoformat()
    if field == "role":
        if value not in ROLES:
            raise UsageError(f"--where role= expects one of {', '.join(ROLES)}; got {value!r}")
        return value
    return fold_name(value) if field in ("author", "owner") else fold(value)


def _in_repo(card: Card, scope: str) -> bool:
    return not scope or in_scope(card.path, card.entry.repo, scope)


def _has_tag(card: Card, tag: str) -> bool:
    return any(fold(own) == tag for own in card.entry.tags)


def _has_author(card: Card, name: str) -> bool:
    return any(name in fold_name(author) for author in card.entry.authors)


_TESTS: dict[str, Callable[[Card, str], bool]] = {
    "repo": _in_repo,
    "kind": lambda card, kind: fold(card.entry.kind) == kind,
    "status": lambda card, status: fold(card.entry.status) == status,
    "tag": _has_tag,
    "author": _has_author,
    "owner": lambda card, name: name in fold_name(card.entry.owner),
    "since": lambda card, day: card.entry.date >= day,
    "until": lambda card, day: card.entry.date <= day,
    "role": lambda card, role: card.role == role,
}


def _values(field: str, cards: Sequence[Card]) -> list[str]:
    """What documents have in ``field``, each once, the most common first; none where the values are no list to choose from."""
    counts: dict[str, int] = {}
    for card in cards:
        own: dict[str, tuple[str, ...]] = {
            "kind": (card.entry.kind,),
            "status": (card.entry.status,),
            "tag": card.entry.tags,
            "author": card.entry.authors,
            "owner": (card.entry.owner,),
        }
        for value in own.get(field, ()):
            if value:
                counts[value] = counts.get(value, 0) + 1
    return sorted(counts, key=lambda value: (-counts[value], value))
