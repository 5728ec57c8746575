"""Vectors in ``index.sqlite``, by the hash of their text: what was embedded once is never embedded again."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Vectors:
    """The table ``vector`` of an open index."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db

    def missing(self, documents: Sequence[int] | None = None) -> dict[str, tuple[str, str]]:
        """Texts of chunks (with their role) that have no vector yet, by hash; of ``documents`` (by number), or of all.

        Each sync asks it of all chunks, so that it is remembered when none is missing: whoever adds chunks embeds them in
        the same transaction, and only ``drop_all`` leaves chunks without vectors.
        """
        if documents is None:
            if self.db.execute("SELECT 1 FROM meta WHERE key = 'vectors'").fetchone():
                return {}
            query = "SELECT text_hash FROM chunk EXCEPT SELECT text_hash FROM vector"
            hashes = [row[0] for row in self.db.execute(query)]
            if not hashes:
                self.db.execute("INSERT INTO meta VALUES ('vectors', 'whole')")
            where, keys = "c.text_hash = ?", [(h,) for h in hashes]
        else:
            without = "NOT EXISTS (SELECT 1 FROM vector v WHERE v.text_hash = c.text_hash)"
            where, keys = f"c.document = ? AND {without}", [(number,) for number in documents]
        query = (
            "SELECT c.text_hash, c.text, d.role FROM chunk c JOIN document d ON d.id = c.document "
            f"WHERE {where}"
        )
        return {h: (text, role) for key in keys for h, text, role in self.db.execute(query, key)}

    def put(self, text_hashes: Sequence[str], vectors: npt.NDArray[np.float32]) -> None:
        """Keep a vector (a row) for each hash."""
        rows = [(h, vector.tobytes()) for h, vector in zip(text_hashes, vectors, strict=True)]
        self.db.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?)", rows)

    def drop_unused(self) -> None:
        """Drop the vectors of text that is no longer in any chunk."""
        self.db.execute("DELETE FROM vector WHERE text_hash NOT IN (SELECT text_hash FROM chunk)")

    def drop_all(self) -> None:
        """Drop every vector: they are to come from another embedder."""
        self.db.execute("DELETE FROM vector")
        self.db.execute("DELETE FROM meta WHERE key = 'vectors'")

    def of_chunks(self) -> tuple[list[str], npt.NDArray[np.float32]]:
        """The Chroma id of every chunk, and its vector (a row)."""
        rows = self.db.execute(
            "SELECT c.chroma_id, v.data FROM chunk c JOIN vector v ON v.text_hash = c.text_hash "
            "ORDER BY c.id"
        ).fetchall()
        return [row[0] for row in rows], matrix([row[1] for row in rows])

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
