"""What Chroma still has to be told: notes in ``index.sqlite``, written with a change and struck out when it has arrived there."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from backend.freshness.vectors import matrix
from backend.schemas.manifest import ManifestEntry

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class StoredChunk(Struct, frozen=True):
    """A chunk as it goes to Chroma."""

    chroma_id: str
    idx: int
    heading: str
    text: str


class StoredDocument(Struct, frozen=True):
    """A document as it goes to Chroma."""

    path: str
    role: str
    entry: ManifestEntry
    fields: dict[str, Any]


def metadata(document: StoredDocument, chunk: StoredChunk) -> dict[str, Any]:
    """What a chunk carries in Chroma. Every key is always given, None where there is nothing: an upsert merges, so that a
    key left out would keep its old value.
    """
    return {
        "source_path": document.path,
        "source_repo_slug": document.entry.repo,
        "role": document.role,
        "kind": document.entry.kind,
        "chunk_index": chunk.idx,
        "heading": chunk.heading or None,
        "modified_at": document.entry.modified_at,
        "ingested_at": document.entry.ingested_at,
        **document.fields,
    }


class Notes:
    """The tables ``to_drop`` (ids) and ``to_mirror`` (documents, by number) of an open index."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db

    def empty(self) -> bool:
        """Whether Chroma has been told everything."""
        query = "SELECT EXISTS (SELECT 1 FROM to_drop) OR EXISTS (SELECT 1 FROM to_mirror)"
        return not self.db.execute(query).fetchone()[0]

    def to_drop(self, role: str) -> list[str]:
        """Ids of chunks that must leave the role's collection."""
        rows = self.db.execute("SELECT chroma_id FROM to_drop WHERE role = ?", (role,))
        return [row[0] for row in rows]

    def dropped(self, chroma_ids: Sequence[str]) -> None:
        """Strike out what has left."""
        self.db.executemany("DELETE FROM to_drop WHERE chroma_id = ?", [(i,) for i in chroma_ids])

    def to_mirror(self) -> list[int]:
        """Documents that must be written to Chroma."""
        rows = self.db.execute("SELECT document FROM to_mirror ORDER BY document")
        return [row[0] for row in rows]

    def to_mirror_of(self, role: str) -> list[int]:
        """Those of a role."""
        rows = self.db.execute(
            "SELECT t.document FROM to_mirror t JOIN document d ON d.id = t.document "
            "WHERE d.role = ? ORDER BY t.document",
            (role,),
        )
        return [row[0] for row in rows]

    def unfinished(self) -> set[str]:
        """Paths of documents that queries don't find as they should yet. None where Chroma is on a server: for what that lacks
        there is the index.
        """
        query = "SELECT 1 FROM meta WHERE key = 'server' AND value != ''"
        if self.db.execute(query).fetchone():
            return set()
        rows = self.db.execute("SELECT path FROM to_mirror JOIN document ON id = document")
        return {row[0] for row in rows}

    def mirrored(self, documents: Sequence[int]) -> None:
        """Strike out what has been written."""
        self.db.executemany("DELETE FROM to_mirror WHERE document = ?", [(d,) for d in documents])

    def all_again(self) -> None:
        """Note that every document has to go to Chroma, beside what is to leave it."""
        self.db.execute("INSERT OR IGNORE INTO to_mirror SELECT id FROM document")

    def nothing(self) -> None:
        """Strike out everything: there is nobody to tell."""
        self.db.execute("DELETE FROM to_drop")
        self.db.execute("DELETE FROM to_mirror")

    def everything(self) -> None:
        """Note that all has to go to Chroma anew, and that nothing is left to drop there."""
        self.db.execute("DELETE FROM to_drop")
        self.all_again()

    def stored(
        self, number: int
    ) -> tuple[StoredDocument, list[StoredChunk], npt.NDArray[np.float32]]:
        """A document with its chunks and their vectors (a row each)."""
        path, role, entry, fields = self.db.execute(
            "SELECT path, role, entry, fields FROM document WHERE id = ?", (number,)
        ).fetchone()
        rows = self.db.execute(
            "SELECT chroma_id, idx, heading, text, data FROM chunk c "
            "JOIN vector v ON v.text_hash = c.text_hash WHERE document = ? ORDER BY idx",
            (number,),
        ).fetchall()
        card = msgspec.json.decode(entry, type=ManifestEntry)
        document = StoredDocument(path, role, card, msgspec.json.decode(fields))
        return document, [StoredChunk(*row[:4]) for row in rows], matrix([row[4] for row in rows])
