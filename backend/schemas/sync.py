"""What ``cv sync`` answers."""

from __future__ import annotations

from msgspec import Struct


class Failure(Struct, frozen=True):
    """A file that could not be indexed; it is tried again at the next sync."""

    path: str
    reason: str


class RoleReport(Struct, frozen=True, kw_only=True):
    """What a sync did for one role: documents by outcome, ``chunks`` now in the store, ``embedded`` chunks computed now."""

    indexed: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    failed: tuple[Failure, ...] = ()
    skipped: dict[str, int] = {}
    chunks: int = 0
    embedded: int = 0


class SyncReport(Struct, frozen=True, kw_only=True):
    """What ``cv sync`` did."""

    roles: dict[str, RoleReport]
    seconds: float
    embedder: str
    notes: tuple[str, ...] = ()
