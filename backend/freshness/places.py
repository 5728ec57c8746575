"""Where the freshness files of a senior root lie, and what the last walk over the tree found."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import msgspec

from backend.schemas.config import Config
from backend.tree.files import write_if_changed
from backend.tree.found import Place, Tree
from backend.tree.repos import Repo
from backend.tree.root import KIT_FOLDER
from backend.tree.sources import Choices, sources_path

SCHEMA_VERSION = "3"
"""Of ``index.sqlite``. Raised with each change of its tables or of what stands in them; an older index is made anew."""

TIE = "context-vigilance.txt"
"""The file in Chroma's folder that ties it to the index which filled it."""


def index_path(root: Path) -> Path:
    """The index of ``root``."""
    return root / KIT_FOLDER / "index.sqlite"


def chroma_path(root: Path, kit: str = KIT_FOLDER) -> Path:
    """Chroma's folder of ``root``; ``kit``: the folder that holds it."""
    return root / kit / "chroma"


def new_index_path(root: Path) -> Path:
    """The index that a rebuild makes beside the one in use."""
    return root / KIT_FOLDER / "index.sqlite.new"


def new_chroma_path(root: Path) -> Path:
    """Chroma's folder that a rebuild makes beside the one in use."""
    return root / KIT_FOLDER / "chroma.new"


def old_chroma_path(root: Path) -> Path:
    """Chroma's folder that a rebuild has put aside, for the moment until it is deleted."""
    return root / KIT_FOLDER / "chroma.old"


def manifest_path(root: Path, role: str) -> Path:
    """The manifest of one role."""
    return root / KIT_FOLDER / "manifests" / f"{role}.json"


def passed_over_path(root: Path) -> Path:
    """The list of files that were read and deliberately not indexed."""
    return root / KIT_FOLDER / "manifests" / "passed-over.json"


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """What the last full walk found, so that the next look lists only document folders. ``walked_at`` in epoch seconds.

    ``watched``: folders (by path) where a new repo, a new documents folder or a marker would appear, with their mtimes;
    ``left_out``: what the config says of folders that the walk leaves out.
    """

    walked_at: float
    sources_mtime: float
    watched: dict[str, float]
    left_out: list[str]
    places: list[Place]
    repos: dict[str, Repo]
    choices: Choices


def load_places(root: Path) -> Places | None:
    """The last walk's places; None when there was none."""
    try:
        return msgspec.json.decode(_path(root).read_bytes(), type=Places)
    except (OSError, msgspec.MsgspecError):
        return None


def still_hold(root: Path, config: Config, places: Places) -> bool:
    """Whether ``places`` are still all there is: neither ``sources.md`` nor the config nor a watched folder has changed."""
    return (
        places.sources_mtime == mtime_of(sources_path(root))
        and places.left_out == _left_out(config)
        and all(mtime_of(root / path) == mtime for path, mtime in places.watched.items())
    )


def save_places(
    root: Path, config: Config, tree: Tree, choices: Choices, *, walked_at: float
) -> None:
    """Keep what a full walk found at ``walked_at`` (epoch seconds)."""
    watched = {path: mtime_of(root / path) for path in tree.dismissed}
    for path in (*(place.path for place in tree.places), *tree.repos):
        for parent in PurePosixPath(path).parents:
            watched[parent.as_posix()] = mtime_of(root / parent)
    watched = {path: mtime for path, mtime in watched.items() if path != "."} | tree.around
    places = Places(
        walked_at=walked_at,
        sources_mtime=mtime_of(sources_path(root)),
        watched=dict(sorted(watched.items())),
        left_out=_left_out(config),
        places=tree.places,
        repos=tree.repos,
        choices=choices,
    )
    write_if_changed(_path(root), msgspec.json.format(msgspec.json.encode(places), indent=1))


def _path(root: Path) -> Path:
    return root / KIT_FOLDER / "manifests" / "places.json"


def _left_out(config: Config) -> list[str]:
    return sorted((*config.dismissed_paths, *config.discovery.skip_folders))


def mtime_of(path: Path) -> float:
    """Epoch seconds; 0 for what is not there."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
