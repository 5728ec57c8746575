"""Text that has left Chroma's folder is overwritten on disk as well: Chroma itself only lets go of the place it stood in."""

from __future__ import annotations

import os
import sqlite3
import struct
from contextlib import closing
from pathlib import Path

from backend.freshness.records import StoreError

_HEADER = struct.Struct("<i4Q")
_FLOAT = 4  # bytes

_DELETE = 3  # as Chroma's log names the operation
_FORGET_NAMES = f"""
UPDATE embeddings_queue SET id = '' WHERE operation = {_DELETE} AND seq_id <= (
    SELECT min(max_seq_id.seq_id) FROM max_seq_id JOIN segments ON segments.id = segment_id
    WHERE topic LIKE '%' || segments.collection
)"""
"""The newest record of a collection stays in Chroma's log: of a deletion that has been done, what was deleted."""


def keep_no_deleted_words(folder: Path) -> None:
    """From the next opening on, have Chroma's full-text index let go of the words of what is deleted. Raises ``StoreError``.

    Without this FTS5 only notes which rows are gone, and their trigrams stay, with their places, until it happens to merge them
    (SQLite's documentation of FTS5, section 6.10, ``secure-delete``). What was replaced before is not found any more: so it has
    to be set when a folder has been filled for the first time. Set in its table, since Python's own SQLite may be too old to
    know the option (3.42); Chroma brings a newer one.
    """
    database = folder / "chroma.sqlite3"
    query = (
        "INSERT OR IGNORE INTO embedding_fulltext_search_config (k, v) VALUES ('secure-delete', 1)"
    )
    try:
        with closing(sqlite3.connect(database)) as db, db:
            db.execute(query)
    except sqlite3.Error as error:
        raise StoreError(f"{database}: deleted words would stay in it ({error})") from error


def blank_unused_places(folder: Path) -> None:
    """Overwrite the places for vectors that are not in use: Chroma writes them as it found them in this process's memory, where
    the text of any file may stand that was read, a private one too. Raises ``StoreError``.

    ``header.bin`` (chroma-hnswlib, ``saveIndex``): an int32, then as uint64 an offset, how many places there are, how many are
    in use, and the bytes of each in ``data_level0.bin``; ``length.bin`` has a float for each (words of memory were seen in
    both). Files that don't look so are left alone.
    """
    for header in folder.glob("*/header.bin"):
        data = header
        try:
            _, _, places, used, each = _HEADER.unpack_from(header.read_bytes())
            for name, bytes_each in (("data_level0.bin", each), ("length.bin", _FLOAT)):
                data = header.with_name(name)
                if used * bytes_each < data.stat().st_size <= places * bytes_each:
                    _blank_from(data, used * bytes_each)
        except (OSError, struct.error) as error:
            raise StoreError(f"{data}: unused places could not be overwritten ({error})") from error


def _blank_from(data: Path, start: int) -> None:
    with data.open("r+b") as file:
        file.seek(start)
        rest = file.read()
        if any(rest):
            file.seek(start)
            file.write(bytes(len(rest)))


def erase_free_pages(folder: Path) -> None:
    """Write Chroma's database anew without its free pages, where deleted text stays readable, and without the names in its log;
    then put it in its place. Raises ``StoreError``.

    It costs .2 s of CPU for 10,000 chunks, whatever has changed. SQLite's ``secure_delete`` would cost by what has changed, but
    holds for one connection only, and Chroma's own has it off.
    """
    database = folder / "chroma.sqlite3"
    fresh = database.with_name("chroma.sqlite3.new")
    fresh.unlink(missing_ok=True)
    try:
        with closing(sqlite3.connect(database)) as db:
            db.execute("VACUUM INTO ?", (str(fresh),))
        with closing(sqlite3.connect(fresh)) as db, db:
            db.execute(_FORGET_NAMES)
        with fresh.open("rb") as file:
            os.fsync(file.fileno())
        fresh.replace(database)
    except (sqlite3.Error, OSError) as error:
        fresh.unlink(missing_ok=True)
        raise StoreError(f"{database}: deleted text could not be overwritten ({error})") from error
