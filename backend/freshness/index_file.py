"""The file ``index.sqlite``: its tables, and how its writer opens it, makes it anew and removes it.

Everything in it can be made again from the tree: a file of another version, or a damaged one, is replaced by an empty one.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from backend.errors import CvError
from backend.freshness import lexical
from backend.freshness.places import SCHEMA_VERSION

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
CREATE TABLE git_date (
    repo TEXT NOT NULL,
    file BLOB NOT NULL,     -- a hash of its path: git tells of all files, also those that are gone or private
    moment INTEGER NOT NULL,
    PRIMARY KEY (repo, file)
) WITHOUT ROWID;
CREATE TABLE git_head (repo TEXT PRIMARY KEY, head TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE to_drop (chroma_id TEXT PRIMARY KEY, role TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE to_mirror (document INTEGER PRIMARY KEY);
"""

_OTHER_VERSION = "another version"


def open_or_make(path: Path) -> tuple[sqlite3.Connection, str]:
    """Open the file at ``path`` for writing, made anew when absent, foreign or damaged; and what was wrong with the one that was
    replaced (``damaged``, ``of another version``), empty where none was. Raises ``CvError`` where another program or the folder
    is in the way.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        return _open(path), ""
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
            raise CvError(f"{path}: locked by another program; try again") from error
        if isinstance(error, sqlite3.OperationalError) and not is_damaged(error):
            raise CvError(
                f"{path}: could not be opened ({error}); is the folder writable?"
            ) from error
        replaced = "of another version" if str(error) == _OTHER_VERSION else "damaged"
    remove_index(path)
    return _open(path), replaced


def _open(path: Path) -> sqlite3.Connection:
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


def remove_index(path: Path) -> None:
    """Remove the file, and what SQLite keeps beside it."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def is_damaged(error: sqlite3.OperationalError) -> bool:
    """Whether the file itself is at fault, not its folder or the disk."""
    return any(
        word in str(error)
        for word in (
            "malformed",
            "no such table",
            "not a database",
            "no such column",
            "Could not decode",
        )
    )
