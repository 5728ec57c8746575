"""Where the freshness files of a senior root lie, and what the last walk over the tree found."""

from __future__ import annotations

from pathlib import Path

import msgspec

from backend.tree.discovery import Choices, Place, Tree
from backend.tree.files import write_if_changed
from backend.tree.repos import Repo
from backend.tree.root import KIT_FOLDER
from backend.tree.sources import sources_path


def index_path(root: Path) -> Path:
    """The index of ``root``."""
    return root / KIT_FOLDER / "index.sqlite"


def chroma_path(root: Path) -> Path:
    """Chroma's folder of ``root``."""
    return root / KIT_FOLDER / "chroma"


def manifest_path(root: Path, role: str) -> Path:
    """The manifest of one role."""
    return root / KIT_FOLDER / "manifests" / f"{role}.json"


def passed_over_path(root: Path) -> Path:
    """The list of files that were read and deliberately not indexed."""
    return root / KIT_FOLDER / "manifests" / "passed-over.json"


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """What the last full walk found, so that the next look lists only document folders. ``walked_at`` in epoch seconds."""

    walked_at: float
    sources_mtime: float
    places: list[Place]
    repos: dict[str, Repo]
    choices: Choices


def load_places(root: Path) -> Places | None:
    """The last walk's places; None when there was none, or when ``sources.md`` has been edited since."""
    try:
        places = msgspec.json.decode(_path(root).read_bytes(), type=Places)
    except (OSError, msgspec.MsgspecError):
        return None
    return places if places.sources_mtime == _sources_mtime(root) else None


def save_places(root: Path, tree: Tree, choices: Choices, *, walked_at: float) -> None:
    """Keep what a full walk found at ``walked_at`` (epoch seconds)."""
    places = Places(
        walked_at=walked_at,
        sources_mtime=_sources_mtime(root),
        places=tree.places,
        repos=tree.repos,
        choices=choices,
    )
    write_if_changed(_path(root), msgspec.json.format(msgspec.json.encode(places), indent=1))


def _path(root: Path) -> Path:
    return root / KIT_FOLDER / "manifests" / "places.json"


def _sources_mtime(root: Path) -> float:
    try:
        return sources_path(root).stat().st_mtime
    except OSError:
        return 0.0
