"""What the walk over the tree finds: documents and the folders that hold them, with the role, kind and repo that these give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from pathlib import Path

from msgspec import Struct, field

from backend.schemas.roles import CHANGELOG_ROLE, CORPUS_ROLE
from backend.tree.repos import Repo, repo_slug

_CORPUS_FOLDER = "context-v"


class FoundFile(Struct, frozen=True):
    """A document on disk: ``mtime`` in epoch seconds, ``size`` in bytes; ``repo`` is the slug, ``kind`` the folder it is in."""

    path: str
    role: str
    kind: str
    repo: str
    mtime: float
    size: int


class Place(Struct, frozen=True):
    """A folder that holds documents of one role: where the walk found the name ``context-v`` or ``changelog``."""

    path: str
    role: str


class Tree(Struct):
    """What the walk found. ``skipped`` counts files (or links, or folders) per role and reason; ``unreadable`` lists folders
    that could not be listed: what was known below them is not gone, only out of sight. ``dismissed``: folders with a marker.
    ``folders``: those of documents that were listed, with their mtimes (-1 for one that had only just changed), ``around``:
    other folders in which a new documents folder would show; ``links``: those that were looked at, and where each leads ('' for
    nowhere).
    """

    files: dict[str, FoundFile] = field(default_factory=dict)
    repos: dict[str, Repo] = field(default_factory=dict)
    places: list[Place] = field(default_factory=list)
    skipped: dict[str, Counter[str]] = field(
        default_factory=lambda: {r: Counter() for r in (CORPUS_ROLE, CHANGELOG_ROLE)}
    )
    unreadable: list[str] = field(default_factory=list)
    dismissed: list[str] = field(default_factory=list)
    folders: dict[str, float] = field(default_factory=dict)
    around: dict[str, float] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)

    def slug(self, path: str, root: Path) -> str:
        """The slug of the repo that ``path`` belongs to."""
        return slug_of(path, self.repos, root)


def role_of(name: str) -> str | None:
    """The role that a folder's name announces, or None: ``context-v``; ``changelog``, ``changelogs``, ``changelog--code``."""
    folded = name.casefold()
    if folded == _CORPUS_FOLDER:
        return CORPUS_ROLE
    if folded in ("changelog", "changelogs") or folded.startswith("changelog--"):
        return CHANGELOG_ROLE
    return None


def documents_folder(path: Path) -> Path | None:
    """The documents folder that ``path`` is or lies in, where nothing of ours is ever written."""
    return next((each for each in (path, *path.parents) if role_of(each.name)), None)


def kind_of(path: str, place: Place) -> str:
    """The kind of a document: the folder right below ``context-v`` it is in (``specs``, ``plans`` …), ``context-v`` for one
    that lies directly in it, ``changelog`` for every entry.
    """
    if place.role == CHANGELOG_ROLE:
        return "changelog"
    below = path[len(place.path) + 1 :].split("/")
    return below[0] if len(below) > 1 else _CORPUS_FOLDER


def slug_of(path: str, repos: Container[str], root: Path) -> str:
    """The slug of the repo of ``repos`` that ``path`` belongs to; documents of the root itself stand under its own name."""
    first = path.split("/", 1)[0]
    if role_of(first) is not None and first not in repos:
        return root.name
    return repo_slug(path, repos, root.name)
