"""``ledger.sqlite``: the truth of the private collections. Every document with its vector, how far each transcript was read,
what Chroma still has to be told, and what was forgotten.

A batch of documents, and the offset it was read up to, change in one transaction: a kill at any moment leaves both or neither.
Of what was forgotten only random ids and a time remain. Unlike the index of the documents this file cannot be made again from
elsewhere (what is forgotten stands here alone), so that a damaged one is an error and never replaced in silence.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from backend.errors import CvError
from backend.freshness.database import Database
from backend.private.places import ledger_path
from backend.private.stored import Reached, Stored, bag_of

_VERSION = "1"
_READER_TAKES = 3_000
"""Milliseconds in which a search beside us should have ended."""

_SCHEMA = f"""
BEGIN;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE document (
    id TEXT PRIMARY KEY,
    role TEXT NOT NULL,
    session TEXT NOT NULL,
    file TEXT NOT NULL,             -- the transcript it was first read from
    generation INTEGER NOT NULL,    -- how often that had been rewritten by then
    timestamp INTEGER NOT NULL,     -- epoch seconds
    tool_use TEXT NOT NULL,         -- the id of a call that still waits for its result, else empty
    metadata BLOB NOT NULL,         -- what Chroma holds beside the text, as JSON
    text TEXT NOT NULL,             -- redacted
    words BLOB NOT NULL,            -- of the text, for the search: uint32 ids, then uint8, how often each occurs
    vector BLOB NOT NULL            -- float32
);
CREATE INDEX document_session ON document (session);
CREATE INDEX document_file ON document (file, role);
CREATE INDEX document_waits ON document (tool_use, session) WHERE tool_use != '';
CREATE TABLE progress (
    file TEXT NOT NULL,
    role TEXT NOT NULL,
    offset INTEGER NOT NULL,        -- bytes that were read
    mark TEXT NOT NULL,             -- tells whether those bytes are still the same
    turns INTEGER NOT NULL,         -- messages counted in them
    generation INTEGER NOT NULL,
    PRIMARY KEY (file, role)
) WITHOUT ROWID;
CREATE TABLE to_mirror (id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE forgotten_session (session TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE forgotten_document (id TEXT PRIMARY KEY) WITHOUT ROWID;
INSERT INTO meta VALUES ('schema', '{_VERSION}');
COMMIT;
"""


class Ledger(Database):
    """The open file; a context manager."""

    def __init__(self, db: sqlite3.Connection, path: Path, *, writes: bool) -> None:
        super().__init__(db)
        self._path, self._writes = path, writes

    @classmethod
    def for_writing(cls, root: Path) -> Ledger:
        """Open for the one writer (the caller holds the lock), made where there is none. Raises ``CvError`` for a damaged one."""
        path = ledger_path(root)
        db: sqlite3.Connection | None = None
        try:
            db = sqlite3.connect(path, timeout=10.0, isolation_level=None)
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA secure_delete = ON")  # erased text is overwritten, not only unlinked
            if not db.execute("SELECT 1 FROM sqlite_master").fetchone():
                db.executescript(_SCHEMA)
            version = db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
            if version != (_VERSION,):
                raise sqlite3.DatabaseError(f"version {version}, expected {_VERSION}")
        except sqlite3.Error as error:
            if db is not None:
                db.close()
            raise _damaged(path, error) from error
        return cls(db, path, writes=True)

    @classmethod
    def for_reading(cls, root: Path) -> Ledger | None:
        """Open beside a possible writer. None where nothing was ever taken in; raises ``CvError`` for a damaged file."""
        path = ledger_path(root)
        if not path.is_file():
            return None
        try:
            db = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=10.0, isolation_level=None
            )
            db.execute("BEGIN")  # all that is read until the end is of one moment
            db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
        except sqlite3.Error as error:
            if "no such table" in str(error):  # a first run is just making it
                return None
            raise _damaged(path, error) from error
        return cls(db, path, writes=False)

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            if self._writes and error is None:
                self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error as late:
            error = late
        finally:
            self.db.close()
        if isinstance(error, sqlite3.Error):
            passing = isinstance(error, sqlite3.OperationalError)
            raise (_failed if passing else _damaged)(self._path, error) from error

    # --- transcripts -------------------------------------------------------------------------------------------------

    def reached(self, file: str, role: str) -> Reached:
        """How far ``file`` was read for ``role``; from the start where it never was."""
        row = self.db.execute(
            "SELECT offset, mark, turns, generation FROM progress WHERE file = ? AND role = ?",
            (file, role),
        ).fetchone()
        return Reached(*row) if row else Reached()

    def set_reached(self, file: str, role: str, reached: Reached) -> None:
        """Remember how far ``file`` was read."""
        row = (file, role, reached.offset, reached.mark, reached.turns, reached.generation)
        self.db.execute("INSERT OR REPLACE INTO progress VALUES (?, ?, ?, ?, ?, ?)", row)

    # --- documents ---------------------------------------------------------------------------------------------------

    def find(self, document_id: str) -> Stored | None:
        """A document by its id."""
        return self._one("id = ?", (document_id,))

    def waiting(self, session: str, tool_use: str) -> Stored | None:
        """The tool call of ``session`` that waits for this result."""
        return self._one("tool_use = ? AND session = ?", (tool_use, session))

    def put(self, document: Stored) -> None:
        """Keep a document, in place of the one of its id, and note it for Chroma."""
        self.db.execute(
            "INSERT OR REPLACE INTO document VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                document.id,
                document.role,
                document.session,
                document.file,
                document.generation,
                document.timestamp,
                document.tool_use,
                msgspec.json.encode(document.metadata),
                document.text,
                bag_of(document.text),
                document.vector,
            ),
        )
        self.db.execute("INSERT OR IGNORE INTO to_mirror VALUES (?)", (document.id,))

    def drop_where(self, condition: str, values: Sequence[object]) -> int:
        """Drop the documents that meet an SQL condition, and have Chroma made anew without them. Returns how many."""
        self.db.execute(
            f"DELETE FROM to_mirror WHERE id IN (SELECT id FROM document WHERE {condition})", values
        )
        count = self.db.execute(f"DELETE FROM document WHERE {condition}", values).rowcount
        if count:
            self.set_fact("chroma", "")
        return count

    def bags(self, role: str) -> tuple[list[str], list[bytes]]:
        """The ids of a role's documents, and the words of each, as ``words`` in the schema says."""
        query = "SELECT id, words FROM document WHERE role = ? ORDER BY id"
        rows = self.db.execute(query, (role,)).fetchall()
        return [row[0] for row in rows], [row[1] for row in rows]

    def vectors(self, role: str) -> Iterator[tuple[str, bytes]]:
        """The id of each document of a role, and its vector."""
        yield from self.db.execute("SELECT id, vector FROM document WHERE role = ?", (role,))

    def count(self, role: str) -> int:
        """How many documents a role has."""
        query = "SELECT count(*) FROM document WHERE role = ?"
        return int(self.db.execute(query, (role,)).fetchone()[0])

    def empty(self) -> bool:
        """Whether there is no document at all."""
        return self.db.execute("SELECT 1 FROM document LIMIT 1").fetchone() is None

    def _one(self, condition: str, values: Sequence[object]) -> Stored | None:
        row = self.db.execute(f"{_SELECT} WHERE {condition} LIMIT 1", values).fetchone()
        return _stored(row) if row else None

    def _all(self, condition: str, values: Sequence[object]) -> Iterator[Stored]:
        yield from map(_stored, self.db.execute(f"{_SELECT} WHERE {condition}", values))

    # --- for Chroma --------------------------------------------------------------------------------------------------

    def to_mirror(self, limit: int) -> list[Stored]:
        """The next documents that Chroma has not heard of."""
        query = "id IN (SELECT id FROM to_mirror ORDER BY id LIMIT ?) ORDER BY id"
        return list(self._all(query, (limit,)))

    def mirrored(self, documents: Sequence[Stored]) -> None:
        """Chroma has these."""
        ids = [(document.id,) for document in documents]
        self.db.executemany("DELETE FROM to_mirror WHERE id = ?", ids)

    def mirror_everything(self) -> None:
        """Chroma is to be told of every document again."""
        self.db.execute("INSERT OR IGNORE INTO to_mirror SELECT id FROM document")

    def to_do(self) -> bool:
        """Whether Chroma has something to be told."""
        return self.db.execute("SELECT 1 FROM to_mirror LIMIT 1").fetchone() is not None

    # --- what was forgotten ------------------------------------------------------------------------------------------

    def forgotten_before(self) -> int:
        """Epoch seconds; what is older was forgotten, and is not read again."""
        return int(self.fact("forgotten_before") or 0)

    def is_forgotten(self, session: str) -> bool:
        """Whether the whole session was forgotten."""
        query = "SELECT 1 FROM forgotten_session WHERE session = ?"
        return self.db.execute(query, (session,)).fetchone() is not None

    def was_forgotten(self, document_id: str) -> bool:
        """Whether a document of this id was forgotten."""
        query = "SELECT 1 FROM forgotten_document WHERE id = ?"
        return self.db.execute(query, (document_id,)).fetchone() is not None

    def compact(self) -> None:
        """Write the file anew without what was deleted. Raises ``CvError`` when a reader keeps that from happening."""
        self.db.execute("VACUUM")
        self.db.execute(f"PRAGMA busy_timeout = {_READER_TAKES}")
        busy, *_ = self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise CvError(
                "another program is reading the private collections, so that their file could not be written anew; "
                "run the same 'cv forget' again"
            )


_SELECT = "SELECT id, role, session, file, generation, timestamp, tool_use, metadata, text, vector FROM document"


def _stored(row: Sequence[Any]) -> Stored:
    return Stored(
        **dict(zip(Stored.__struct_fields__, row, strict=True))
        | {"metadata": msgspec.json.decode(row[7])}
    )


def _failed(path: Path, error: sqlite3.Error) -> CvError:
    return CvError(
        f"{path}: {error}; nothing is lost. Is the disk full, or another program reading it? Then run the same again"
    )


def _damaged(path: Path, error: sqlite3.Error) -> CvError:
    return CvError(
        f"{path}: could not be used ({error}). It holds what was forgotten, so that it is not replaced in silence: try again, "
        "or start anew with 'cv forget --all-private'"
    )
