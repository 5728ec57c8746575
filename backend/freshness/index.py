"""``index.sqlite``, read: every indexed document with its chunks, its vectors by content, and what Chroma still has to be told.

This file is the truth of the store. How it changes is in ``writable_index``, what tables it has in ``index_file``.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import msgspec
from msgspec import Struct

from backend.freshness.database import Database
from backend.freshness.notes import Notes
from backend.freshness.places import SCHEMA_VERSION, index_path
from backend.freshness.vectors import Vectors
from backend.schemas.manifest import ManifestEntry, PassedOver

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

READER_TRIES = 3
"""A reader that opens the file in the moment in which a writer opens or leaves it can meet an error that is over at once."""


class Known(Struct, frozen=True):
    """What the index remembers of a file it has read: ``mtime`` in epoch seconds, ``size`` in bytes."""

    role: str
    mtime: float
    size: int
    file_hash: str
    repo: str


class Index(Database):
    """An open ``index.sqlite``. Close it, or use it in ``with``."""

    @staticmethod
    def for_reading(path: Path) -> Index | None:
        """Open beside a possible writer, and see until the end what is committed now. None when there is no usable index yet.

        Not to be kept open for long: the writer waits for its readers before it overwrites erased text.
        """
        tries = ["mode=ro"] * READER_TRIES
        log = path.with_name(path.name + "-wal")
        if not os.access(path.parent, os.W_OK) or _is_empty(log):
            tries.append("mode=ro&immutable=1")  # no writer, and no room to note who reads
        for options in tries:
            try:
                uri = f"{path.absolute().as_uri()}?{options}"
                db = sqlite3.connect(uri, uri=True, timeout=5.0, isolation_level=None)
                db.execute("BEGIN")  # all that is read until the end is of one moment
                version = db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
            except sqlite3.Error:
                continue
            return Index(db) if version == (SCHEMA_VERSION,) else None
        return None

    def close(self) -> None:
        """Let go of the file."""
        self.db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def vectors(self) -> Vectors:
        """The vectors, by the hash of their text."""
        return Vectors(self.db)

    @property
    def notes(self) -> Notes:
        """What Chroma still has to be told."""
        return Notes(self.db)

    # --- what is known ---------------------------------------------------------------------------------------------

    def known(self) -> dict[str, Known]:
        """Every indexed document by path."""
        rows = self.db.execute("SELECT path, role, mtime, size, file_hash, repo FROM document")
        return {row[0]: Known(*row[1:]) for row in rows}

    def passed_over(self) -> dict[str, PassedOver]:
        """Every file that was read and deliberately not indexed, by path."""
        decode = msgspec.json.Decoder(PassedOver).decode
        return {
            path: decode(entry)
            for path, entry in self.db.execute("SELECT path, entry FROM passed_over")
        }

    def entries(self, role: str) -> Iterator[tuple[str, bytes]]:
        """Path and ManifestEntry (as JSON) of each document of ``role``, in order of path."""
        yield from self.db.execute(
            "SELECT path, entry FROM document WHERE role = ? ORDER BY path", (role,)
        )

    def entry(self, path: str) -> ManifestEntry | None:
        """The manifest entry of a document, None where it is not indexed."""
        row = self.db.execute("SELECT entry FROM document WHERE path = ?", (path,)).fetchone()
        return msgspec.json.decode(row[0], type=ManifestEntry) if row else None

    def chunk_count(self, role: str) -> int:
        """How many chunks the documents of ``role`` have."""
        query = "SELECT count(*) FROM chunk JOIN document d ON d.id = document WHERE d.role = ?"
        return int(self.db.execute(query, (role,)).fetchone()[0])

    def unreached(self) -> list[int]:
        """Chunks, by row, that Chroma holds but whose place its searches don't get to (``reach.unreached``)."""
        return msgspec.json.decode(self.fact("unreached") or "[]", type=list[int])

    def copies_of(self, path: str) -> list[str]:
        """Files that are passed over as copies of ``path``."""
        rows = self.db.execute(
            "SELECT path FROM passed_over WHERE copy_of = ? ORDER BY path", (path,)
        )
        return [row[0] for row in rows]

    def all_copies(self) -> dict[str, list[str]]:
        """For each document that has copies, their paths in order."""
        copies: dict[str, list[str]] = {}
        for path, home in self.db.execute(
            "SELECT path, copy_of FROM passed_over WHERE copy_of != '' ORDER BY path"
        ):
            copies.setdefault(home, []).append(path)
        return copies

    def undated(self) -> list[str]:
        """Documents whose date is git's or the ingest's."""
        return [
            row[0]
            for row in self.db.execute("SELECT path FROM document WHERE undated ORDER BY path")
        ]

    def preference(self, path: str) -> list[Any]:
        """What ``documents.copies.preference`` said of an indexed document."""
        row = self.db.execute("SELECT preference FROM document WHERE path = ?", (path,)).fetchone()
        return list(msgspec.json.decode(row[0]))

    def marked(self, marks: Iterable[str]) -> set[str]:
        """Paths of the indexed documents that carry any of ``marks``."""
        found: set[str] = set()
        for mark in marks:
            found.update(
                row[0] for row in self.db.execute("SELECT path FROM mark WHERE mark = ?", (mark,))
            )
        return found

    def marks(self, path: str) -> set[str]:
        """What an indexed document can be recognised by."""
        return {row[0] for row in self.db.execute("SELECT mark FROM mark WHERE path = ?", (path,))}


def held(root: Path) -> str:
    """The name of the embedder whose vectors the index below ``root`` has, empty where there is no index yet."""
    index = Index.for_reading(index_path(root))
    if index is None:
        return ""
    with index:
        return index.fact("embedder")


def is_readable(root: Path) -> bool:
    """Whether there is an index below ``root`` that can be opened."""
    index = Index.for_reading(index_path(root))
    if index is None:
        return False
    index.close()
    return True


def document_vectors(root: Path) -> dict[str, npt.NDArray[np.float32]]:
    """A vector for each indexed document below ``root``, by path; none where there is no index yet."""
    index = Index.for_reading(index_path(root))
    if index is None:
        return {}
    with index:
        return index.vectors.of_documents()


def _is_empty(path: Path) -> bool:
    """Whether a file holds nothing, or is not there."""
    try:
        return path.stat().st_size == 0
    except OSError:
        return True
