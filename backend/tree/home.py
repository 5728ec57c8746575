"""The machine-wide home (``CV_HOME``): environments, the registry of senior roots, session states.

Nothing of it lies in a tree.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec

from backend.errors import CvError
from backend.schemas.config import Chroma, Embedding, Reranker
from backend.tree.files import write_if_changed
from backend.tree.lock import exclusive
from backend.tree.root import KIT_FOLDER

Choice = Embedding | Chroma | Reranker
"""The parts of a config that can send documents, or a key, to another program."""

_APPROVED = {Embedding: "embedders.json", Chroma: "servers.json", Reranker: "rerankers.json"}
"""Where it is remembered which of them a person chose."""

_DISKS = frozenset(("/media", "/mnt", "/run/media", "/Volumes"))
"""Folders of Linux and macOS that hold disks, each by its name or by its user's and its own."""

_LOCK_SECONDS = 0.5
"""How long to wait for whoever writes the list of roots: a file of a few lines, so that ten at once have written it by then."""


def cv_home() -> Path:
    """The folder of all machine-wide state: ``CV_HOME``, else the platform's per-user data folder."""
    if home := os.environ.get("CV_HOME"):
        return Path(home)
    from platformdirs import user_data_dir

    return Path(user_data_dir("context-vigilance", appauthor=False))


def read_roots() -> list[Path]:
    """The senior roots that were set up on this machine, oldest first. Raises ``CvError`` for a list that can't be read."""
    path = _roots_path()
    try:
        names = msgspec.json.decode(path.read_bytes(), type=list[str])
    except FileNotFoundError:
        return []
    except OSError as error:
        raise CvError(
            f"{path}: the list of senior roots could not be read ({error.strerror}); it is as it was"
        ) from error
    except msgspec.MsgspecError as error:
        raise CvError(
            f"{path}: expected a JSON list of paths, the senior roots of this machine ({error}); mend it, or delete it: each "
            "tree gets its entry again by any command in it"
        ) from error
    return [Path(name) for name in names]


def registered_roots() -> list[Path]:
    """The same where one that can't be read counts as empty; nothing is to be written from it."""
    try:
        return read_roots()
    except CvError:
        return []


def register_root(root: Path) -> None:
    """Remember ``root`` for ``cv list-roots``; a second time only reads. Raises ``CvError`` where the list can't be read or
    written, ``Busy`` where others have it for too long; it is then as it was.
    """
    if root not in read_roots():
        with _roots_alone() as known:
            if root not in known:
                _write_roots([*known, root])


def unregister_roots(roots: Collection[Path]) -> None:
    """Take ``roots`` out of ``cv list-roots``; nothing of them is touched. Raises as ``register_root`` does."""
    if not set(roots).isdisjoint(read_roots()):
        with _roots_alone() as known:
            _write_roots([root for root in known if root not in roots])


def standing(root: Path) -> Literal["set up", "gone", "away"]:
    """Whether a root that was set up still is: ``gone`` is one of which this is certain (moved, deleted, or taken out),
    ``away`` one that can come back: its disk may not be connected, or may not be read now.

    Certain is what is missing in a folder that holds another folder: the root itself, or the one above it. One without may be
    where a disk belongs, or a home that is locked (ecryptfs leaves a note and links in it); and where systems put their disks,
    one that is missing may be one that is not connected.
    """
    try:
        (root / KIT_FOLDER / "config.json").stat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError:
        return "away"
    else:
        return "set up"
    folder = root if root.is_dir() else root.parent
    if folder != root and not _DISKS.isdisjoint((str(folder), str(folder.parent))):
        return "away"
    try:
        others = any(entry.is_dir() and not entry.is_symlink() for entry in folder.iterdir())
        return "gone" if others else "away"
    except OSError:
        return "away"


def _roots_path() -> Path:
    return cv_home() / "roots.json"


@contextmanager
def _roots_alone() -> Iterator[list[Path]]:
    """What the list holds, which nobody else of us writes within the block."""
    busy = f"{_roots_path()}: another program of ours is writing it; try again"
    with exclusive(_roots_path().with_suffix(".lock"), seconds=_LOCK_SECONDS, busy=busy):
        yield read_roots()


def _write_roots(roots: list[Path]) -> None:
    data = msgspec.json.encode([str(root) for root in roots])
    write_if_changed(_roots_path(), msgspec.json.format(data))


def approve(root: Path, choice: Choice) -> None:
    """Remember that a person on this machine chose ``choice`` for ``root``, exactly as it is."""
    chosen = _approved(type(choice)) | {str(root): choice}
    path = _approved_path(type(choice))
    write_if_changed(path, msgspec.json.format(msgspec.json.encode(chosen)))


def is_approved(root: Path, choice: Choice) -> bool:
    """Whether ``choice`` may be used: it works on this machine alone, or a person here chose exactly it for ``root``.

    A config can come with a cloned tree, and what it names can be a server that documents and a key are sent to.
    """
    return stays_here(choice) or is_chosen(root, choice)


def is_chosen(root: Path, choice: Choice) -> bool:
    """Whether a person on this machine chose exactly ``choice`` for ``root``."""
    return chosen(root, type(choice)) == choice


def chosen(root: Path, kind: type[Choice]) -> Choice | None:
    """What a person on this machine chose for ``root`` last, of one kind."""
    return _approved(kind).get(str(root))


def stays_here(choice: Choice) -> bool:
    """Whether ``choice`` sends nothing to another program."""
    if isinstance(choice, Embedding):
        return choice.name in ("static", "minilm")
    if isinstance(choice, Reranker):
        return choice.name == "off"
    return choice.mode == "persistent"


def _approved(kind: type[Choice]) -> dict[str, Choice]:
    try:
        return msgspec.json.decode(_approved_path(kind).read_bytes(), type=dict[str, kind])  # type: ignore[valid-type]
    except (OSError, msgspec.MsgspecError):
        return {}


def _approved_path(kind: type[Choice]) -> Path:
    return cv_home() / _APPROVED[kind]
