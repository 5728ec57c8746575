"""Damage that an SQLite file of ours can still be opened with: torn pages, and cells that no longer hold what was put there."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec

from backend.freshness.index import Index
from backend.freshness.vectors import FLOAT, matrix
from backend.schemas.manifest import ManifestEntry, PassedOver

BATCH = 2_000
"""Vectors at once: 3 MB."""

UNIT = 1e-4
"""How far from 1 a vector's length may be. 118,000 of both embedders that ship were within 2e-7; a server's may be rounder."""

_JSON = (
    ("document", "entry", ManifestEntry),
    ("document", "fields", dict),
    ("document", "links", list),
    ("document", "preference", list),
    ("passed_over", "entry", PassedOver),
)
"""Tables, their columns of JSON, and what is in it."""


def torn(path: Path) -> str:
    """What SQLite finds wrong with a database's pages, its indexes and its full text; empty when nothing is. It reads all of it,
    1.1 GB of Chroma's in 5 s: the quick check, in .7 s, passes over an index that lacks a row.
    """
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            answer = db.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.Error as error:
        return str(error)
    return "" if answer == ("ok",) else str(answer[0] if answer else "no answer").splitlines()[-1]


def altered(index: Index) -> str:
    """What in the cells of ``index`` is not what was written there, empty when nothing is: SQLite has no checksums. It takes half
    a second with 100,000 chunks.
    """
    return _texts(index) or _vectors(index) or _json(index)


def _texts(index: Index) -> str:
    """Every text has the hash that stands beside it."""
    rows = index.db.execute("SELECT text_hash, CAST(text AS BLOB) FROM chunk")
    wrong = sum(hashlib.sha256(text).hexdigest()[:32] != text_hash for text_hash, text in rows)
    return f"{wrong} of its texts are not as they were written" if wrong else ""


def _vectors(index: Index) -> str:
    """Every vector is one of numbers, and has the length 1, or 0 where the embedder knew no word."""
    import numpy as np

    for table in ("vector", "new_vector") if index.vectors.renewing() else ("vector",):
        lengths = index.db.execute(f"SELECT DISTINCT length(data) FROM {table}").fetchall()
        if len(lengths) > 1 or any(not length or length % FLOAT for (length,) in lengths):
            return "its vectors have not all the same number of dimensions"
        rows = index.db.execute(f"SELECT data FROM {table}")
        wrong = 0
        while batch := rows.fetchmany(BATCH):
            with np.errstate(all="ignore"):  # what it looks for
                length = np.linalg.norm(matrix([row[0] for row in batch]), axis=1)
            good = (length == 0) | (np.abs(length - 1) < UNIT)  # NaN is neither
            wrong += len(batch) - int(good.sum())
        if wrong:
            return f"{wrong} of its vectors are not as they were written"
    return ""


def _json(index: Index) -> str:
    """What stands there as JSON can be read."""
    for table, column, kind in _JSON:
        decode = msgspec.json.Decoder(kind).decode
        for (data,) in index.db.execute(f"SELECT {column} FROM {table}"):
            try:
                decode(data)
            except (msgspec.MsgspecError, TypeError, UnicodeError) as error:
                return f"what it knows of a document is not as it was written ({error})"
    return ""
