"""Chroma, behind one seam: opened for queries or for the one writer, in a folder of the tree or on a team's server.

Several processes must not use a folder at once without a lock (two writers corrupt it, a reader beside a writer can too), and
a client that lives longer than an operation reads stale vectors. So each use takes the lock, opens the store anew, and lets
go of both at its end. A server needs no lock of ours; it is written to by ``telling``.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from backend.errors import CvError
from backend.freshness.clients import folder_client, is_panic
from backend.freshness.erasing import blank_unused_places, erase_free_pages, let_go_of_words
from backend.freshness.graph import damage
from backend.freshness.places import chroma_path
from backend.freshness.records import LocalStore, Store, StoreError
from backend.freshness.remote import connected
from backend.schemas.config import Config
from backend.tree.lock import exclusive, shared
from backend.tree.root import KIT_FOLDER

__all__ = [
    "LocalStore",
    "Store",
    "StoreError",
    "alone",
    "discard",
    "empty",
    "opening",
    "reading",
    "writing",
]

_READER_WAITS = 2.0
_WRITER_WAITS = 60.0
"""Seconds until the lock counts as taken, or a server as silent: a reader has another way to answer, a writer should get its
turn."""


@contextmanager
def reading(
    root: Path, config: Config, *, kit: str = KIT_FOLDER, seconds: float = _READER_WAITS
) -> Iterator[Store]:
    """Chroma for queries, beside other readers. Raises ``Busy`` while a writer is at it, ``CvError`` when it can't be opened.

    ``kit``: the folder of ``root`` that holds Chroma and its lock; the private collections have one of their own, and are never
    on a server. ``seconds``: how long to wait for the writer, or for all that the server has to answer.
    """
    if config.chroma.mode != "persistent" and kit == KIT_FOLDER:
        with connected(root, config, seconds=seconds) as remote:
            yield remote
        return
    lock = shared(_lock_path(root, kit), seconds=seconds, busy="Chroma is being written to")
    with lock, _open(chroma_path(root, kit), config) as store:
        yield store


@contextmanager
def writing(
    root: Path, config: Config, *, erase: bool, kit: str = KIT_FOLDER
) -> Iterator[LocalStore]:
    """Chroma in its folder for the one writer, alone; ``erase`` as for ``opening``, ``kit`` as for ``reading``."""
    with alone(root, kit=kit), opening(chroma_path(root, kit), config, erase=erase) as store:
        yield store


@contextmanager
def opening(folder: Path, config: Config, *, erase: bool) -> Iterator[LocalStore]:
    """Chroma in a folder where nobody else is: the caller holds it ``alone``, or nobody reads it yet. ``erase``: text that has
    been deleted from it, in this block or before, is overwritten on disk as well.
    """
    with _open(folder, config) as store:
        yield store
    blank_unused_places(folder, erase=erase)
    let_go_of_words(folder)
    if erase:
        erase_free_pages(folder)


def alone(root: Path, *, kit: str = KIT_FOLDER) -> AbstractContextManager[None]:
    """The lock that keeps every reader and writer of Chroma away. Raises ``Busy`` when readers don't let go of it."""
    return exclusive(
        _lock_path(root, kit), seconds=_WRITER_WAITS, busy="Chroma is in use by another program"
    )


def discard(root: Path, *, kit: str = KIT_FOLDER) -> None:
    """Delete the whole store: one that is damaged cannot even be opened. The index makes it anew. Raises as ``empty`` does."""
    with alone(root, kit=kit):
        empty(chroma_path(root, kit))


def empty(folder: Path) -> None:
    """Delete a folder of Chroma's. Raises ``StoreError`` where something of it stays: it must not be filled over."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        raise StoreError(f"{folder} could not be deleted: is it open in another program?")


@contextmanager
def _open(folder: Path, config: Config) -> Iterator[LocalStore]:
    if wrong := damage(folder, links=True):  # Chroma would not say so, but end this process
        raise StoreError(f"Chroma at {wrong}")
    try:
        with folder_client(folder) as client:
            yield LocalStore(client, config)
    except (CvError, OSError, sqlite3.Error):  # ours: Chroma's own database work is not Python's
        raise
    except BaseException as error:  # Chroma's own errors have no common base
        if not (isinstance(error, Exception) or is_panic(error)):
            raise
        raise StoreError(f"Chroma at {folder}: {error}") from error


def _lock_path(root: Path, kit: str) -> Path:
    return root / kit / "chroma.lock"
