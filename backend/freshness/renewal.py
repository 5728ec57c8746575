"""Vectors of another embedder: made beside those in use, which serve until the new ones are all there.

A model makes some ten chunks a second, so that a large tree takes longer than one sync may. Each sync goes on with what the last
one left, batch by batch; the writer's lock is held only to put a batch down, so that other syncs take in what changes meanwhile.
The text comes from the index: no document is read for it.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from backend.errors import Busy, CvError
from backend.freshness.embedder import embedder_name, load_embedder
from backend.freshness.index import Index
from backend.freshness.mirror import mirror
from backend.freshness.places import index_path
from backend.freshness.writable_index import WritableIndex
from backend.schemas.config import Config
from backend.tree.lock import exclusive
from backend.tree.root import KIT_FOLDER

BATCH = 64
"""Texts embedded at once: what a kill can lose, and by how much a sync can take too long: some six seconds of a model."""

WRITER_WAITS = 60.0
"""Seconds for another sync, which takes in what has changed meanwhile, to let go of the index."""


class Standing(Struct, frozen=True):
    """How far the vectors of an embedder are: texts that have one, of all texts."""

    embedder: str
    made: int
    texts: int

    def __str__(self) -> str:
        return f"vectors of {self.embedder}: {self.made:,} of {self.texts:,} texts; the old ones serve until then"


def follow(index: WritableIndex, config: Config, root: Path) -> None:
    """Have vectors made beside where those of ``index`` are not the configured embedder's, and only there. Raises ``CvError``
    where that one can't be had; the index is then as it was.
    """
    wanted, held, being_made = (
        embedder_name(config.embedding),
        index.fact("embedder"),
        index.fact("new embedder"),
    )
    if not held or not index.vectors.length():
        with index.transaction():
            _settle(index, wanted)
            index.vectors.drop_new()
        return
    needed = wanted if held != wanted or index.fact("blank") else ""
    if being_made == needed:
        return
    if needed:
        load_embedder(config.embedding, root)
    with index.transaction():
        if needed:
            index.vectors.begin_new(keep=held == wanted)
        else:
            index.vectors.drop_new()
        index.set_fact("new embedder", needed)


def _settle(index: WritableIndex, embedder: str) -> None:
    """The vectors of ``index`` are those of ``embedder``; Chroma has to be made anew where they were another's."""
    if index.fact("embedder") != embedder or index.fact("blank"):
        index.set_fact("chroma", "")
    for fact, value in (("embedder", embedder), ("new embedder", ""), ("blank", "")):
        index.set_fact(fact, value)


def standing(root: Path, config: Config) -> Standing | None:
    """How far the vectors of the configured embedder are; None where they serve already, or nothing is indexed."""
    index = Index.for_reading(index_path(root))
    if index is None:
        return None
    with index:
        wanted, held, being_made = (
            embedder_name(config.embedding),
            index.fact("embedder"),
            index.fact("new embedder"),
        )
        if not held or (held == wanted != being_made):
            return None
        made, texts = index.vectors.counts()
    return Standing(config.embedding.name, made if being_made == wanted else 0, texts)


def renew(
    root: Path, config: Config, *, until: float, progress: Callable[[str, int, int], None]
) -> list[str]:
    """Make vectors until all are there or the monotonic clock says ``until``; then let them take the place of the old ones.

    Returns notes for the report. Raises ``CvError`` where the embedder fails.
    """
    try:
        with exclusive(root / KIT_FOLDER / "vectors.lock", seconds=0, busy="others make them"):
            return _renew(root, config, until, progress)
    except Busy:
        return [str(found)] if (found := standing(root, config)) else []
    except sqlite3.DatabaseError as error:
        reason = f"{index_path(root)}: {error}; can its folder be written to?"
        raise CvError(reason) from error


def _renew(
    root: Path, config: Config, until: float, progress: Callable[[str, int, int], None]
) -> list[str]:
    embedder = None
    while (now := standing(root, config)) is not None:
        texts = _lacking(root, config)
        if not texts:
            embedder = None  # its memory, before Chroma takes some
            notes = _swap(root, config, until, progress)
            if notes is not None:
                return notes
            continue
        if time.monotonic() > until:
            return [str(now)]
        progress("embedding", now.made, now.texts)
        embedder = embedder or load_embedder(config.embedding, root)
        vectors = embedder.embed(list(texts.values()))
        with _writing(root) as index:
            if index.fact("new embedder") != embedder.name:
                return []  # another sync went by another config meanwhile
            with index.transaction():
                index.vectors.put_new(list(texts), vectors)
    return []


def _lacking(root: Path, config: Config) -> dict[str, str]:
    index = Index.for_reading(index_path(root))
    if index is None:
        return {}
    with index:
        if index.fact("new embedder") != embedder_name(config.embedding):
            return {}
        return index.vectors.lacking_new(BATCH)


def _swap(
    root: Path, config: Config, until: float, progress: Callable[[str, int, int], None]
) -> list[str] | None:
    """Let the new vectors take the place of the old ones, and tell Chroma. None where some are lacking after all: of text that
    has come meanwhile.
    """
    with _writing(root) as index:
        wanted, before = embedder_name(config.embedding), index.fact("embedder")
        if index.fact("new embedder") != wanted:
            return []  # another sync went by another config meanwhile
        if index.vectors.lacking_new(1):
            return None
        with index.transaction():
            index.vectors.take_place()
            _settle(index, wanted)
        notes = mirror(
            root,
            config,
            index,
            lambda done, total: progress("storing", done, total),
            seconds=until - time.monotonic(),
        )
    if before == wanted:
        return notes
    return [f"the embedder changed from {before} to {wanted}: all vectors were made anew", *notes]


@contextmanager
def _writing(root: Path) -> Iterator[WritableIndex]:
    lock = root / KIT_FOLDER / "writer.lock"
    busy = "another sync of this tree is at work"
    with (
        exclusive(lock, seconds=WRITER_WAITS, busy=busy),
        WritableIndex.open(index_path(root)) as index,
    ):
        yield index
