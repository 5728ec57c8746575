"""What ``cv status`` answers."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from backend.schemas.config import Nudge
from backend.schemas.sync import Failure


class RoleStatus(Struct, frozen=True, kw_only=True):
    """One collection against the disk; ``behind`` counts documents changed, new or gone since the last sync."""

    collection: str
    documents: int
    chunks: int
    behind: int


class LastHook(Struct, frozen=True, kw_only=True):
    """How the newest session-start hook went: epoch seconds, milliseconds."""

    at: int
    ms: int
    ok: bool
    error: str = ""


class RepoBehind(Struct, frozen=True, kw_only=True):
    """How many documents of one repo differ on disk from what the last sync saw."""

    changed: int = 0
    new: int = 0
    gone: int = 0


SyncBy = Literal["hook", "command"]


class LastSync(Struct, frozen=True, kw_only=True):
    """How the newest sync went that a session's start left running (``by`` "hook") or a person asked for (``cv sync``,
    ``cv init``): epoch seconds, milliseconds. The refresh before an answer doesn't count.
    """

    at: int
    ms: int = 0
    ok: bool = True
    error: str = ""
    by: SyncBy = "hook"


class Status(Struct, frozen=True, kw_only=True):
    """What ``cv status`` answers. ``repos``: only those that are behind. ``documents``: status, as most documents of it spell
    it ('' for those that name none), to how many have it, both roles together. ``superseded``: documents that say they are
    superseded while nothing in the index takes their place. ``failed``: files that can't be read now. ``server``: where Chroma
    runs, '' for the tree's own folder. ``private``: how many documents each private collection holds, left out where they
    hold nothing.
    """

    senior_root: str
    applicable: bool
    reason: str
    roles: dict[str, RoleStatus]
    last_session_at: str | None
    nudge: Nudge
    embedder: str
    store_bytes: int
    last_hook: LastHook | UnsetType | None = UNSET
    last_sync: LastSync | None = None
    repos: dict[str, RepoBehind] = {}
    documents: dict[str, int] = {}
    superseded: tuple[str, ...] = ()
    failed: tuple[Failure, ...] = ()
    working_set: tuple[str, ...] = ()
    server: str = ""
    private: dict[str, int] | UnsetType = UNSET
    notes: tuple[str, ...] = ()
