"""``index.sqlite``, changed: by one writer at a time.

A document changes in one transaction, together with the note of what Chroma must drop and take in; so a kill at any moment leaves
the old document or the new one, and the note says what is left to do.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import msgspec

from backend.freshness import lexical
from backend.freshness.index import Index
from backend.freshness.index_file import open_or_make
from backend.schemas.document import Document
from backend.schemas.manifest import ManifestEntry, PassedOver


class WritableIndex(Index):
    """An index open for changes, each of which stands in a ``transaction``. ``replaced``: what was wrong with the file in whose
    place it is (``damaged``, ``of another version``), empty where there is nothing to say.
    """

    def __init__(self, connection: sqlite3.Connection, *, replaced: str = "") -> None:
        super().__init__(connection)
        self.replaced = replaced
        self._checkpointed = False

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open for the one writer (the caller holds the writer's lock); made anew when absent, foreign or damaged. Raises
        ``CvError`` as ``open_or_make``.
        """
        connection, replaced = open_or_make(path)
        return cls(connection, replaced=replaced)

    def close(self) -> None:
        """Let go of the file, with a checkpoint where there was none."""
        try:
            if not self._checkpointed:
                self.checkpoint()
        finally:
            super().close()

    def checkpoint(self) -> bool:
        """Bring what was written into the file itself, so that nothing that was replaced stays there or in the write-ahead log.
        False where a reader that does not go away keeps that from being done.
        """
        self._checkpointed = True  # it waits for readers, once
        busy, _, _ = self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not busy

    def compact(self) -> str:
        """After a document has been removed, write the file anew without it. Returns why that is left to the next sync, empty
        where it is done or there was nothing to do.

        SQLite's ``secure_delete`` overwrites what is deleted, but not the copies that stay behind when it moves rows from page to
        page: of 11,561 deleted documents it left title or text of 48 (with SQLite 3.40), and after this of none of 9,828. It
        costs .2 s of CPU for 10,000 chunks.
        """
        if not self.fact("compact"):
            self.checkpoint()
            return ""
        try:
            self.db.execute("VACUUM")
        except sqlite3.OperationalError as error:
            return f"what was deleted could not be overwritten in index.sqlite ({error}); the next sync tries again"
        if not self.checkpoint():
            return "another program has index.sqlite open: what was deleted from it goes for good with the first sync after that"
        self.set_fact("compact", "")
        return ""

    def put(
        self,
        path: str,
        role: str,
        document: Document,
        entry: ManifestEntry,
        *,
        file_hash: str,
        fields: dict[str, Any],
        marks: Sequence[str],
        preference: Sequence[Any],
        text_hashes: Sequence[str],
    ) -> int:
        """Take ``document`` in, in place of what was there, and note what Chroma has to do. Returns its number.

        ``marks`` and ``preference`` as ``documents.copies`` gives them; ``text_hashes``: one for each chunk, under which
        its vector is kept.
        """
        self.remove(path)
        encode = msgspec.json.encode
        row = {
            "path": path,
            "role": role,
            "mtime": entry.mtime,
            "size": entry.size,
            "file_hash": file_hash,
            "repo": entry.repo,
            "undated": entry.date_from in ("git", "ingest"),
            "preference": encode(preference),
            "entry": encode(entry),
            "fields": encode(fields),
            "links": encode(document.links),
        }
        names = ", ".join(row)
        cursor = self.db.execute(
            f"INSERT INTO document ({names}) VALUES ({', '.join('?' * len(row))})",
            tuple(row.values()),
        )
        number = cursor.lastrowid
        assert number is not None
        for chunk, text_hash in zip(document.chunks, text_hashes, strict=True):
            chroma_id = f"{entry.repo}::{path}::{chunk.index:04d}"
            self.db.execute(
                "INSERT INTO chunk (document, chroma_id, idx, heading, text, text_hash, start_line, end_line) "
                "VALUES (?,?,?,?,?,?,?,?)",
                (
                    number,
                    chroma_id,
                    chunk.index,
                    chunk.heading,
                    chunk.text,
                    text_hash,
                    chunk.start_line,
                    chunk.end_line,
                ),
            )
            self.db.execute(
                "DELETE FROM to_drop WHERE chroma_id = ? AND role = ?", (chroma_id, role)
            )
        lexical.add(self.db, number, path, entry, document)
        self.db.executemany(
            "INSERT OR IGNORE INTO mark VALUES (?, ?)", [(mark, path) for mark in marks]
        )
        self.db.execute("INSERT OR IGNORE INTO to_mirror VALUES (?)", (number,))
        return number

    def remove(self, path: str) -> bool:
        """Take a document out, or forget that a file was passed over. True when a document was there."""
        if self.db.execute("DELETE FROM passed_over WHERE path = ?", (path,)).rowcount:
            self.set_fact("compact", "due")
        row = self.db.execute("SELECT id, role FROM document WHERE path = ?", (path,)).fetchone()
        if row is None:
            return False
        number, role = row
        self.db.execute(
            "INSERT OR IGNORE INTO to_drop SELECT chroma_id, ? FROM chunk WHERE document = ?",
            (role, number),
        )
        lexical.remove(self.db, number)
        self.set_fact("erase", "due")  # in Chroma
        self.set_fact("compact", "due")  # here
        for statement in (
            "DELETE FROM chunk WHERE document = ?",
            "DELETE FROM to_mirror WHERE document = ?",
            "DELETE FROM document WHERE id = ?",
        ):
            self.db.execute(statement, (number,))
        self.db.execute("DELETE FROM mark WHERE path = ?", (path,))
        return True

    def pass_over(self, path: str, entry: PassedOver) -> bool:
        """Remember that a file is deliberately not indexed. True when a document of that path had to go for it."""
        was_there = self.remove(path)
        self.db.execute(
            "INSERT INTO passed_over VALUES (?, ?, ?)",
            (path, entry.copy_of, msgspec.json.encode(entry)),
        )
        return was_there

    def touch(self, path: str, mtime: float, size: int) -> bool:
        """A file has another mtime but the same bytes. False when the index has no document of that path."""
        entry = self.entry(path)
        if entry is None:
            return False
        entry = msgspec.structs.replace(entry, mtime=mtime, size=size)
        row = (mtime, size, msgspec.json.encode(entry), path)
        self.db.execute("UPDATE document SET mtime = ?, size = ?, entry = ? WHERE path = ?", row)
        return True

    def redate(self, path: str, entry: ManifestEntry) -> None:
        """A document whose date comes from outside (git) has another one; its text stays as it is."""
        self.db.execute(
            "UPDATE document SET entry = ? WHERE path = ?", (msgspec.json.encode(entry), path)
        )
        self.db.execute(
            "INSERT OR IGNORE INTO to_mirror SELECT id FROM document WHERE path = ?", (path,)
        )
