"""``manifests/<role>.json`` and ``manifests/passed-over.json``: what the index holds, and what it deliberately doesn't."""

from __future__ import annotations

from msgspec import Struct

from backend.schemas.document import DateFrom, Problem


class ManifestEntry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One document that is in the store, with the card that digest and delta read without opening Chroma."""

    mtime: float
    size: int
    ingested_at: int
    hash: str
    chunks: int
    repo: str
    kind: str
    title: str
    date: str
    modified_at: int
    date_from: DateFrom
    lede: str = ""
    status: str = ""
    tags: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    owner: str = ""
    copies: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


class PassedOver(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One file that was read and is deliberately not in the store: a copy, private, unpublished."""

    mtime: float
    size: int
    role: str
    reason: str
    copy_of: str = ""
