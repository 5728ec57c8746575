"""What ``cv catch-up`` answers."""

from __future__ import annotations

from msgspec import Struct

from backend.schemas.document import DateFrom
from backend.schemas.roles import CORPUS_ROLE


class DigestFile(Struct, frozen=True, kw_only=True):
    """One file in the digest."""

    source_path: str
    title: str
    date: str
    date_from: DateFrom
    lede: str = ""
    authors: tuple[str, ...] = ()
    role: str = CORPUS_ROLE


class DigestTag(Struct, frozen=True, kw_only=True):
    """A tag's files within a repo, newest first; ``latest`` is the newest file's day."""

    tag: str
    latest: str
    files: tuple[DigestFile, ...]


class DigestRepo(Struct, frozen=True, kw_only=True):
    """A repo's tags, the most recently active first."""

    repo: str
    latest: str
    tags: tuple[DigestTag, ...]


class Theme(Struct, frozen=True, kw_only=True):
    """A cluster of a wide window's files: ``name`` from their own words, ``repos`` slug -> count, its leading files."""

    number: int
    name: str
    count: int
    repos: dict[str, int]
    files: tuple[DigestFile, ...]


class Digest(Struct, frozen=True, kw_only=True):
    """What ``cv catch-up`` answers. ``since`` and ``until`` are days, both included.

    ``theme``: the number of the theme whose files alone these are; ``themes`` then holds that one.

    ``activity``: repo -> day -> distinct files of that day, also those beyond the cap.
    """

    since: str
    until: str
    window: str
    total_files: int
    shown_files: int
    truncated: bool
    message: str
    repos: tuple[DigestRepo, ...]
    themes: tuple[Theme, ...] = ()
    theme: int | None = None
    senior_root: str = ""
    notes: tuple[str, ...] = ()
    activity: dict[str, dict[str, int]] = {}
