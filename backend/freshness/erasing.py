"""Text that has left Chroma's folder is overwritten on disk as well: Chroma itself only lets go of the place it stood in."""

from __future__ import annotations

import os
import sqlite3
import struct
from contextlib import closing, suppress
from pathlib import Path

from backend.freshness.graph import DELETED, FLOAT, VERSION, Header
from backend.freshness.records import StoreError

_BLOCK = 1000  # places that are read at once

_DELETE = 3  # as Chroma's log names the operation
_FORGET_NAMES = f"""
UPDATE embeddings_queue SET id = '' WHERE operation = {_DELETE} AND seq_id <= (
    SELECT min(max_seq_id.seq_id) FROM max_seq_id JOIN segments ON segments.id = segment_id
    WHERE topic LIKE '%' || segments.collection HAVING count(*) = 2
)"""
"""The newest record of a collection stays in Chroma's log: of a deletion that both its segments have done, what was deleted."""

_SECURE_DELETE = (
    "INSERT OR REPLACE INTO embedding_fulltext_search_config (k, v) VALUES ('secure-delete', 1)",
    "INSERT INTO embedding_fulltext_search (embedding_fulltext_search, rank) VALUES ('secure-delete', 1)",
)
"""Into the option's table, since Python's own SQLite may be too old to know the option (3.42; Chroma brings a newer one); by the
command, since Apple's lets nobody write that table."""


def let_go_of_words(folder: Path) -> None:
    """From the next opening on, have Chroma's full-text index let go of the words of what is deleted, where that can be had.

    Without this FTS5 only notes which rows are gone, and their trigrams stay, with their places, until it happens to merge them
    (SQLite's documentation of FTS5, section 6.10, ``secure-delete``). What was replaced before is not found any more: so it has
    to be set when a folder has been filled for the first time.
    """
    for way in _SECURE_DELETE:
        if lets_go_of_words(folder):
            return
        with suppress(sqlite3.Error), closing(sqlite3.connect(folder / "chroma.sqlite3")) as db, db:
            db.execute(way)


def lets_go_of_words(folder: Path) -> bool:
    """Whether ``let_go_of_words`` has had its way: else a folder from which text is to go has to be filled anew."""
    query = "SELECT v FROM embedding_fulltext_search_config WHERE k = 'secure-delete'"
    try:
        with closing(sqlite3.connect(folder / "chroma.sqlite3")) as db:
            return bool(db.execute(query).fetchone() == (1,))
    except sqlite3.Error:
        return False


def blank_unused_places(folder: Path, *, erase: bool) -> None:
    """Overwrite the places for vectors that are not in use: Chroma writes them as it found them in this process's memory, where
    the text of any file may stand that was read, a private one too. ``erase``: also those of deleted vectors, which Chroma only
    marks (of a short text the words can be read back from its vector). Raises ``StoreError``.

    Words of memory were seen in both files that have them. Files that don't look as ``graph`` has it are left alone.
    """
    for path in folder.glob("*/header.bin"):
        data = path
        try:
            header = Header.read(path)
            if header.version != VERSION or not header.fits():
                continue
            used, each = header.used, header.each
            for name, bytes_each in (("data_level0.bin", each), ("length.bin", FLOAT)):
                data = path.with_name(name)
                size = data.stat().st_size
                if used * bytes_each < size <= header.places * bytes_each:
                    _blank_from(data, used * bytes_each)
                if erase and used * bytes_each <= size and bytes_each == each:
                    _blank_deleted(data, used, each, slice(header.vector_at, header.label_at))
        except (OSError, ValueError, struct.error) as error:
            raise StoreError(f"{data}: unused places could not be overwritten ({error})") from error


def _blank_from(data: Path, start: int) -> None:
    with data.open("r+b") as file:
        file.seek(start)
        rest = file.read()
        if any(rest):
            file.seek(start)
            file.write(bytes(len(rest)))


def _blank_deleted(data: Path, used: int, each: int, vector: slice) -> None:
    """Searches still pass through deleted places, so each gets the vector of a neighbour that is there, else none at all.

    A place begins with how many neighbours it has (uint16), the mark (a byte) and, from byte 4 on, their places (uint32).
    """
    with data.open("r+b") as file:

        def read(place: int) -> bytes:
            file.seek(place * each)
            return file.read(each)

        deleted: set[int] = set()
        for start in range(0, used, _BLOCK):
            marks = file.read(min(_BLOCK, used - start) * each)[2::each]
            deleted.update(start + i for i, mark in enumerate(marks) if mark & DELETED >> 16)
        for place in deleted:
            here = read(place)
            neighbours = struct.unpack_from(f"<{int.from_bytes(here[:2], 'little')}I", here, 4)
            near = next((n for n in neighbours if n < used and n not in deleted), None)
            other = bytes(each) if near is None else read(near)
            if here[vector] != other[vector]:
                file.seek(place * each + vector.start)
                file.write(other[vector])


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
            # For the new file's own pages, which SQLite would not clear before it fills them.
            db.execute("PRAGMA secure_delete = ON")
            with db:
                db.execute(_FORGET_NAMES)
            db.execute("VACUUM INTO ?", (str(fresh),))
        with fresh.open("rb") as file:
            os.fsync(file.fileno())
        fresh.replace(database)
    except (sqlite3.Error, OSError) as error:
        fresh.unlink(missing_ok=True)
        raise StoreError(f"{database}: deleted text could not be overwritten ({error})") from error
