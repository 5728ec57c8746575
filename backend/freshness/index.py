"""``index.sqlite``: every indexed document with its chunks, its vectors by content, and what Chroma still has to be told.

This file is the truth of the store. A document changes in it in one transaction, together with the note of what Chroma must
drop and take in; so a kill at any moment leaves the old document or the new one, and the note says what is left to do.
Everything can be made again from the tree: a file of another version, or a damaged one, is replaced by an empty one.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from backend.errors import CvError
from backend.freshness import lexical
from backend.freshness.database import Database
from backend.freshness.notes import Notes
from backend.freshness.places import SCHEMA_VERSION, index_path
from backend.freshness.vectors import Vectors
from backend.schemas.document import Document
from backend.schemas.manifest import ManifestEntry, PassedOver

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

READER_TRIES = 3
"""A reader that opens the file in the moment in which a writer opens or leaves it can meet an error that is over at once."""

_OTHER_VERSION = "another version"

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE document (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    mtime REAL NOT NULL,
    size INTEGER NOT NULL,
    file_hash TEXT NOT NULL,
    repo TEXT NOT NULL,
    undated INTEGER NOT NULL,   -- 1: its date is git's or the ingest's, so it can change while the file does not
    preference BLOB NOT NULL,   -- what decides which of several copies is the home, as JSON
    entry BLOB NOT NULL,    -- ManifestEntry as JSON
    fields BLOB NOT NULL,   -- the lifted frontmatter (fm_*) as JSON, for Chroma's metadata
    links BLOB NOT NULL     -- link targets as JSON
);
CREATE TABLE chunk (
    id INTEGER PRIMARY KEY,
    document INTEGER NOT NULL,
    chroma_id TEXT NOT NULL,
    idx INTEGER NOT NULL,
    heading TEXT NOT NULL,
    text_hash TEXT NOT NULL,
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    text TEXT NOT NULL      -- last, so that the columns before it are read without it
);
CREATE INDEX chunk_document ON chunk(document, idx);
CREATE INDEX chunk_text ON chunk(text_hash);
CREATE UNIQUE INDEX chunk_chroma ON chunk(chroma_id);
CREATE TABLE vector (text_hash TEXT NOT NULL UNIQUE, data BLOB NOT NULL);   -- with row ids: the index of hashes stays small
CREATE TABLE mark (mark TEXT NOT NULL, path TEXT NOT NULL, PRIMARY KEY (mark, path)) WITHOUT ROWID;
CREATE INDEX mark_path ON mark(path);
CREATE TABLE passed_over (path TEXT PRIMARY KEY, copy_of TEXT NOT NULL, entry BLOB NOT NULL) WITHOUT ROWID;
CREATE INDEX passed_over_home ON passed_over(copy_of);
CREATE TABLE git_date (repo TEXT NOT NULL, path TEXT NOT NULL, moment INTEGER NOT NULL, PRIMARY KEY (repo, path)) WITHOUT ROWID;
CREATE TABLE git_head (repo TEXT PRIMARY KEY, head TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE to_drop (chroma_id TEXT PRIMARY KEY, role TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE to_mirror (document INTEGER PRIMARY KEY);
"""


class Known(Struct, frozen=True):
    """What the index remembers of a file it has read: ``mtime`` in epoch seconds, ``size`` in bytes."""

    role: str
    mtime: float
    size: int
    file_hash: str
    repo: str


class Index(Database):
    """An open ``index.sqlite``. Close it, or use it in ``with``. ``replaced``: what was wrong with the one in whose place it is
    (``damaged``, ``of another version``), empty where there is nothing to say.
    """

    def __init__(self, connection: sqlite3.Connection, *, writes: bool, replaced: str = "") -> None:
        super().__init__(connection)
        self._writes = writes
        self._checkpointed = False
        self.replaced = replaced

    @classmethod
    def for_writing(cls, path: Path) -> Index:
        """Open for the one writer (the caller holds the writer's lock); made anew when absent, foreign or damaged."""
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            return cls(_open_for_writing(path), writes=True)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
                raise CvError(f"{path}: locked by another program; try again") from error
            if isinstance(error, sqlite3.OperationalError) and not is_damaged(error):
                raise CvError(
                    f"{path}: could not be opened ({error}); is the folder writable?"
                ) from error
            replaced = "of another version" if str(error) == _OTHER_VERSION else "damaged"
        remove_index(path)
        return cls(_open_for_writing(path), writes=True, replaced=replaced)

    @classmethod
    def for_reading(cls, path: Path) -> Index | None:
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
            return cls(db, writes=False) if version == (SCHEMA_VERSION,) else None
        return None

    def close(self) -> None:
        """Let go of the file; after writing, with a checkpoint where there was none."""
        try:
            if self._writes and not self._checkpointed:
                self.checkpoint()
        finally:
            self.db.close()

    def checkpoint(self) -> bool:
        """Bring what was written into the file itself, so that nothing that was replaced stays there or in the write-ahead log.
        False where a reader that does not go away keeps that from being done.
        """
        self._checkpointed = True  # it waits for readers, once
        busy, _, _ = self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not busy

    def __enter__(self) -> Index:
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

    # --- changing a document ---------------------------------------------------------------------------------------

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
        self.db.execute("DELETE FROM passed_over WHERE path = ?", (path,))
        row = self.db.execute("SELECT id, role FROM document WHERE path = ?", (path,)).fetchone()
        if row is None:
            return False
        number, role = row
        self.db.execute(
            "INSERT OR IGNORE INTO to_drop SELECT chroma_id, ? FROM chunk WHERE document = ?",
            (role, number),
        )
        lexical.remove(self.db, number)
        self.set_fact("erase", "due")
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


def _open_for_writing(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=10.0, isolation_level=None)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA secure_delete = ON")  # erased text is overwritten, not only unlinked
        tables = {
            row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
        if not tables:
            db.executescript(
                f"BEGIN; {_SCHEMA} {lexical.SCHEMA} INSERT INTO meta VALUES ('schema', '{SCHEMA_VERSION}'); COMMIT;"
            )
        elif db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone() != (
            SCHEMA_VERSION,
        ):
            raise sqlite3.DatabaseError(_OTHER_VERSION)
    except BaseException:
        db.close()
        raise
    return db


def _is_empty(path: Path) -> bool:
    """Whether a file holds nothing, or is not there."""
    try:
        return path.stat().st_size == 0
    except OSError:
        return True


def remove_index(path: Path) -> None:
    """Remove the file, and what SQLite keeps beside it."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def is_damaged(error: sqlite3.OperationalError) -> bool:
    """Whether the file itself is at fault, not its folder or the disk."""
    return any(
        word in str(error)
        for word in ("malformed", "no such table", "not a database", "no such column")
    )
