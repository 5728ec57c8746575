"""``--force-rebuild``: a new index and a new Chroma folder are made beside those in use, and take their place at the end.

Until then every query is answered from the old ones. A kill before the swap leaves them as they were; one in the middle of it
leaves the new index with the old Chroma folder, which are not tied to each other, so that the next sync makes Chroma anew.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from backend.freshness.index import Index
from backend.freshness.index_file import is_damaged, remove_index
from backend.freshness.manifest import load_all_cards
from backend.freshness.mirror import mirror, mirror_beside
from backend.freshness.places import (
    chroma_path,
    index_path,
    new_chroma_path,
    new_index_path,
    old_chroma_path,
)
from backend.freshness.store import alone
from backend.freshness.telling import carry_debts
from backend.freshness.writable_index import WritableIndex
from backend.schemas.config import Config
from backend.schemas.roles import ROLES

Entered = dict[tuple[str, str], int]
"""When each document (path, and hash of its body) was first indexed: an index that is made anew is no news."""


def first_indexed(root: Path) -> Entered:
    """When each document was first indexed, by the manifests: they are there also where the index itself can't be read."""
    cards = [card for part in load_all_cards(root).values() for card in part.items()]
    return {(path, card.hash): card.ingested_at for path, card in cards}


def begin(root: Path, roles: tuple[str, ...]) -> None:
    """Make the index beside: empty, or for some ``roles`` only a copy of the one in use without their documents."""
    clear(root)
    live = Index.for_reading(index_path(root))
    if live is None:
        return
    try:
        with live:
            if set(roles) != set(ROLES):
                with closing(sqlite3.connect(new_index_path(root))) as copy:
                    live.db.backup(copy)
            else:
                with WritableIndex.open(new_index_path(root)) as index:  # should git fail now
                    dates = live.db.execute("SELECT repo, file, moment FROM git_date")
                    index.db.executemany("INSERT INTO git_date VALUES (?, ?, ?)", dates)
    except sqlite3.DatabaseError:  # damaged: a reason to rebuild, with nothing to copy
        clear(root)
        return
    if set(roles) != set(ROLES):
        with WritableIndex.open(new_index_path(root)) as index:
            _forget(index, roles)


def _forget(index: WritableIndex, roles: tuple[str, ...]) -> None:
    known = index.known() | index.passed_over()
    with index.transaction():
        for path, entry in known.items():
            if entry.role in roles:
                index.remove(path)
        index.vectors.drop_unused()
        index.set_fact("chroma", "")


def take_place(
    root: Path, config: Config, index: WritableIndex, progress: Callable[[int, int], None]
) -> list[str]:
    """Fill Chroma's new folder from ``index``, the one made beside; then swap both. ``index`` is then the one in use.

    Where Chroma is on a server only the index is swapped, and the server is told of everything. Returns notes for the report.
    """
    if config.chroma.mode != "persistent":
        carry_debts(root, index)
        live = _swapped_index(root, index)
        index.close()
        index.db = live.db
        clear(root)
        return mirror(root, config, index, progress)
    mirror_beside(root, config, index, progress)
    with alone(root):
        live = _swapped_index(root, index)
        chroma, old = chroma_path(root), old_chroma_path(root)
        if chroma.exists():
            chroma.rename(old)
        new_chroma_path(root).rename(chroma)
    index.close()
    index.db = live.db
    clear(root)
    return []


def _swapped_index(root: Path, index: WritableIndex) -> WritableIndex:
    """The index in use, with all that ``index`` holds.

    It is overwritten in one transaction of SQLite's rather than by renaming a file over it, since its write-ahead log has
    readers: they keep what they see, and the next ones see the new.
    """
    path = index_path(root)
    try:
        live = WritableIndex.open(path)
        index.db.backup(live.db)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError) and not is_damaged(error):
            raise  # the disk is full, say: the index in use is as it was
        remove_index(path)  # damaged, so that it has no readers
        live = WritableIndex.open(path)
        index.db.backup(live.db)
    return live


def clear(root: Path) -> None:
    """Remove what a rebuild, finished or killed, has left beside the files in use. Only for who holds the writer's lock."""
    remove_index(new_index_path(root))
    for folder in (new_chroma_path(root), old_chroma_path(root)):
        if folder.exists():
            shutil.rmtree(folder, ignore_errors=True)
