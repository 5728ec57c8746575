"""Vectors in ``index.sqlite``, by the hash of their text: what was embedded once is never embedded again."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

FLOAT = 4
"""Bytes of a number in a vector."""


class Vectors:
    """The table ``vector`` of an open index; and beside it ``new_vector``, while those of another embedder are being made."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db

    def missing(self, documents: Sequence[int]) -> dict[str, tuple[str, str]]:
        """Texts of the chunks of ``documents`` (by number) that have no vector yet, with their role, by hash."""
        query = (
            "SELECT c.text_hash, c.text, d.role FROM chunk c JOIN document d ON d.id = c.document "
            "WHERE c.document = ? AND NOT EXISTS (SELECT 1 FROM vector v WHERE v.text_hash = c.text_hash)"
        )
        return {
            h: (text, role)
            for number in documents
            for h, text, role in self.db.execute(query, (number,))
        }

    def put(self, text_hashes: Sequence[str], vectors: npt.NDArray[np.float32]) -> None:
        """Keep a vector (a row) for each hash."""
        rows = [(h, vector.tobytes()) for h, vector in zip(text_hashes, vectors, strict=True)]
        self.db.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?)", rows)

    def drop_unused(self) -> None:
        """Drop the vectors of text that is no longer in any chunk."""
        for table in ("vector", "new_vector") if self.renewing() else ("vector",):
            self.db.execute(
                f"DELETE FROM {table} WHERE text_hash NOT IN (SELECT text_hash FROM chunk)"
            )

    def without(self) -> int:
        """How many texts have no vector: none, since who adds chunks embeds them in the same transaction."""
        query = (
            "SELECT count(*) FROM (SELECT text_hash FROM chunk EXCEPT SELECT text_hash FROM vector)"
        )
        return int(self.db.execute(query).fetchone()[0])

    def length(self) -> int:
        """How many numbers a vector has; 0 where there is none."""
        row = self.db.execute("SELECT length(data) FROM vector LIMIT 1").fetchone()
        return row[0] // FLOAT if row else 0

    # --- another embedder's, made beside --------------------------------------------------------------------------

    def renewing(self) -> bool:
        """Whether vectors are being made beside those in use."""
        query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'new_vector'"
        return self.db.execute(query).fetchone() is not None

    def begin_new(self, *, keep: bool) -> None:
        """Begin vectors beside those in use, of which all that point somewhere count as made where ``keep`` says so."""
        self.drop_new()
        self.db.execute(
            "CREATE TABLE new_vector (text_hash TEXT NOT NULL UNIQUE, data BLOB NOT NULL)"
        )
        if keep:
            self.db.execute(
                "INSERT INTO new_vector SELECT * FROM vector WHERE data != zeroblob(length(data))"
            )

    def drop_new(self) -> None:
        """Drop what was made beside."""
        self.db.execute("DROP TABLE IF EXISTS new_vector")

    def lacking_new(self, limit: int) -> dict[str, str]:
        """Up to ``limit`` texts, by hash, that have no new vector yet."""
        query = (
            "SELECT DISTINCT text_hash FROM chunk c "
            "WHERE NOT EXISTS (SELECT 1 FROM new_vector n WHERE n.text_hash = c.text_hash) LIMIT ?"
        )
        found = {}
        for (text_hash,) in self.db.execute(query, (limit,)).fetchall():
            text = "SELECT text FROM chunk WHERE text_hash = ? LIMIT 1"
            found[text_hash] = self.db.execute(text, (text_hash,)).fetchone()[0]
        return found

    def put_new(self, text_hashes: Sequence[str], vectors: npt.NDArray[np.float32]) -> None:
        """Keep a new vector (a row) for each hash; not of text that has left the index since it was read."""
        rows = [(h, vector.tobytes()) for h, vector in zip(text_hashes, vectors, strict=True)]
        self.db.executemany(
            "INSERT OR REPLACE INTO new_vector SELECT ?1, ?2 "
            "WHERE EXISTS (SELECT 1 FROM chunk WHERE text_hash = ?1)",
            rows,
        )

    def counts(self) -> tuple[int, int]:
        """How many texts have a new vector, and how many texts there are."""
        all_texts = "SELECT count(DISTINCT text_hash) FROM chunk"
        made = f"{all_texts} WHERE text_hash IN (SELECT text_hash FROM new_vector)"
        total = self.db.execute(all_texts).fetchone()[0]
        return (self.db.execute(made).fetchone()[0] if self.renewing() else 0), total

    def take_place(self) -> None:
        """The new vectors are those in use from now on."""
        self.db.execute("DROP TABLE vector")
        self.db.execute("ALTER TABLE new_vector RENAME TO vector")

    # --- reading ----------------------------------------------------------------------------------------------------

    def of_documents(self) -> dict[str, npt.NDArray[np.float32]]:
        """For each document, by path, the mean of its chunks' vectors."""
        grouped: dict[str, list[bytes]] = {}
        for path, data in self.db.execute(
            "SELECT d.path, v.data FROM document d JOIN chunk c ON c.document = d.id "
            "JOIN vector v ON v.text_hash = c.text_hash ORDER BY d.id, c.idx"
        ):
            grouped.setdefault(path, []).append(data)
        return {path: matrix(parts).mean(axis=0) for path, parts in grouped.items()}


def matrix(rows: Sequence[bytes]) -> npt.NDArray[np.float32]:
    """Stored vectors as the rows of one array."""
    import numpy as np

    joined = np.frombuffer(b"".join(rows), np.float32)
    return joined.reshape(len(rows), -1) if rows else joined.reshape(0, 0)
