"""Bringing Chroma in line with the index. Interrupted anywhere, the next sync does what is left, from the index's own notes.

Here for the Chroma in the tree's own folder; ``telling`` does it for a team's server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import msgspec

from backend.freshness.erasing import lets_go_of_words
from backend.freshness.notes import StoredChunk, StoredDocument, metadata
from backend.freshness.places import chroma_path, new_chroma_path
from backend.freshness.reach import unreached
from backend.freshness.records import LocalStore, StoreError
from backend.freshness.store import alone, empty, opening
from backend.freshness.telling import tell
from backend.freshness.tie import in_line, names, new_token, tie
from backend.freshness.writable_index import WritableIndex
from backend.schemas.config import Config
from backend.schemas.roles import ROLES

BATCH = 500
"""Chunks in one upsert: a second or so of Chroma's time, which a kill can cost. Chroma alone, filled with 10,000 chunks: 176 MB
at the peak with batches of 1,000, 159 with 500, 154 with 250; 16.0, 16.6 and 17.9 s of CPU. Batches of 5,000 are no faster than
1,000, and take 150 MB more."""

Progress = Callable[[int, int], None]
"""Called with the number of documents done and the number of all."""


def mirror(
    root: Path,
    config: Config,
    index: WritableIndex,
    progress: Progress,
    *,
    seconds: float = float("inf"),
    asked: bool = False,
    check: bool = True,
) -> list[str]:
    """Tell Chroma what ``index`` has noted for it. Returns notes for the report. ``seconds``, ``asked``, ``check``: for a server,
    as in ``tell``.

    A store that is missing, foreign (another index wrote it) or refuses an operation is made anew from the index, vectors
    included: nothing is read or embedded again. Raises ``StoreError`` when that fails too.
    """
    if config.chroma.mode != "persistent":
        return tell(root, config, index, progress, seconds=seconds, asked=asked, check=check)
    if index.fact("server"):
        index.set_fact("server", "")
    whole = in_line(chroma_path(root), config, ROLES, index.fact)
    if whole and index.notes.empty() and not index.fact("erase"):
        if not index.fact("unreached"):
            _note_unreached(index, chroma_path(root))
        return []
    if whole:
        try:
            _update(root, config, index, progress)
            return []
        except StoreError as error:
            notes = [f"the Chroma store was made anew ({error})"]
    else:
        notes = ["the Chroma store was made anew"] if index.fact("chroma") else []
    try:
        _rebuild(root, config, index, progress)
    except StoreError:
        _rebuild(root, config, index, progress)
    return notes


def _update(root: Path, config: Config, index: WritableIndex, progress: Progress) -> None:
    folder, erase = chroma_path(root), index.fact("erase") != ""
    if erase and not lets_go_of_words(folder):
        raise StoreError("its full-text index keeps the words of deleted text")
    if index.fact("ended in Chroma") == "twice":
        raise StoreError("two syncs in a row ended in it without getting on")
    filling = _Filling(index, progress)
    with alone(root), _ending_noted(index):
        index.set_fact("unreached", "")
        # Here as below: one collection after the other, each in an opening of its own, since Chroma keeps the vectors of all that
        # it has touched in memory.
        for role in ROLES:
            with opening(folder, config, erase=erase and role == ROLES[-1]) as store:
                if ids := index.notes.to_drop(role):
                    store.delete(role, ids)
                    with index.transaction():
                        index.notes.dropped(ids)
                filling.fill(store, role)
                if store.count(role) != index.chunk_count(role):
                    raise StoreError("it did not hold what it should")
                store.settle([role])
        _note_unreached(index, folder)
    index.set_fact("erase", "")
    tie(folder, index.fact("chroma"))


@contextmanager
def _ending_noted(index: WritableIndex) -> Iterator[None]:
    """Until the block is left, ``index`` has a note that this process ended in it. Once is no reason to think ill of Chroma's
    folder: it may have been killed. Nor is it where a part has been done, since then the next sync has less to do.
    """
    index.set_fact("ended in Chroma", "twice" if index.fact("ended in Chroma") else "once")
    try:
        yield
    finally:
        index.set_fact("ended in Chroma", "")


def _note_unreached(index: WritableIndex, folder: Path) -> None:
    """Note in ``index`` which chunks Chroma's searches don't get to, so that they are searched there."""
    row = "SELECT id FROM chunk WHERE chroma_id = ?"
    found = [index.db.execute(row, (chroma_id,)).fetchone() for chroma_id in unreached(folder)]
    rows = sorted(number for (number,) in filter(None, found))
    index.set_fact("unreached", msgspec.json.encode(rows).decode())


def mirror_beside(root: Path, config: Config, index: WritableIndex, progress: Progress) -> None:
    """Fill a Chroma folder of its own from ``index``, beside the one in use. Raises ``StoreError``."""
    _rebuild(root, config, index, progress, beside=True)


def _rebuild(
    root: Path, config: Config, index: WritableIndex, progress: Progress, *, beside: bool = False
) -> None:
    with index.transaction():
        index.notes.everything()
        index.set_fact("chroma", "")
        index.set_fact("ended in Chroma", "")
        index.set_fact("unreached", "")
    folder = new_chroma_path(root) if beside else chroma_path(root)
    filling = _Filling(index, progress)
    with nullcontext() if beside else alone(root):
        empty(folder)  # of a collection that is only dropped, Chroma keeps rows and words
        for role in ROLES:
            with opening(folder, config, erase=False) as store:
                store.add(role)
                filling.fill(store, role)
                store.be_steady([role])
            with opening(folder, config, erase=role == ROLES[-1]) as store:
                store.purge([role])
                store.settle([role])
    index.set_fact("erase", "")
    _note_unreached(index, folder)
    token = new_token()
    tie(folder, token)
    index.set_fact("names", names(config, ROLES))
    index.set_fact("chroma", token)


class _Filling:
    """What ``index`` has noted for Chroma goes there, and is struck out batch by batch."""

    def __init__(self, index: WritableIndex, progress: Progress) -> None:
        self.index, self.progress = index, progress
        self.done, self.total = 0, len(index.notes.to_mirror())

    def fill(self, store: LocalStore, role: str) -> None:
        """Write the documents of a role."""
        notes = self.index.notes
        todo = notes.to_mirror_of(role)
        rows: list[tuple[StoredDocument, StoredChunk, Any]] = []
        read: list[int] = []
        for number in todo:
            document, chunks, vectors = notes.stored(number)
            rows += [
                (document, chunk, vector) for chunk, vector in zip(chunks, vectors, strict=True)
            ]
            read.append(number)
            if len(rows) >= BATCH or number == todo[-1]:
                _upsert(store, role, rows)
                with self.index.transaction():
                    notes.mirrored(read)
                    self.index.set_fact("ended in Chroma", "")
                self.done += len(read)
                rows.clear()
                read.clear()
                self.progress(self.done, self.total)


def _upsert(
    store: LocalStore, role: str, rows: list[tuple[StoredDocument, StoredChunk, Any]]
) -> None:
    import numpy as np

    if rows:
        store.upsert(
            role,
            [chunk.chroma_id for _, chunk, _ in rows],
            [chunk.text for _, chunk, _ in rows],
            np.stack([vector for _, _, vector in rows]),
            [metadata(document, chunk) for document, chunk, _ in rows],
        )
