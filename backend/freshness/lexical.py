"""The lexical leg's part of ``index.sqlite``: for each document a row with the bags of words of its chunks and of its card.

A bag is two arrays, word ids and how often each occurs. A document's row changes with the document and with nothing else, so
that a sync costs what changed; a query reads all rows at once (some 10 ms for 1,000 documents), which at this size is as fast
as an inverted index and leaves no trace of a word that has been erased.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import PurePosixPath

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from backend.freshness.words import bag
from backend.schemas.document import Document
from backend.schemas.manifest import ManifestEntry

SCHEMA = """
CREATE TABLE bag (
    document INTEGER PRIMARY KEY,
    words BLOB NOT NULL,    -- uint32 word ids: of the card, of the extra words, then of each chunk
    counts BLOB NOT NULL,   -- uint8, how often each occurs
    sizes BLOB NOT NULL     -- uint32, how many entries each of these bags has
);
"""

_CARD = {"title": 3, "lede": 2, "tags": 2, "name": 2, "headings": 1, "folders": 1}
"""How often the words of a field count in the card. On 53 tasks of the real tree any weights between 1 and 5 do as well."""

_GENERIC = frozenset("context-v changelog changelogs src content apps sites packages docs".split())
"""Folder names that say nothing about a topic."""


class Bags(Struct, frozen=True):
    """Bags of words side by side: entry ``i`` says that bag ``unit[i]`` has word ``word[i]`` ``count[i]`` times;
    ``length`` is the number of words in each bag.
    """

    word: npt.NDArray[np.uint32]
    unit: npt.NDArray[np.int64]
    count: npt.NDArray[np.uint8]
    length: npt.NDArray[np.float64]


class Words(Struct, frozen=True):
    """All bags of the index. ``number`` is the id of each document, ``chunk_document`` the row in it of each chunk, and
    ``chunk_index`` which chunk of its document it is. ``card`` and ``extra`` have a bag a document.
    """

    number: npt.NDArray[np.int64]
    card: Bags
    extra: Bags
    chunk: Bags
    chunk_document: npt.NDArray[np.int64]
    chunk_index: npt.NDArray[np.int64]


def add(
    db: sqlite3.Connection, number: int, path: str, entry: ManifestEntry, document: Document
) -> None:
    """Take a document's words in."""
    bags = [_card(path, entry, document), _extra(path, entry)]
    bags += [
        bag(chunk.text.partition("\n")[2]) for chunk in document.chunks
    ]  # the first line repeats the title
    ids = np.fromiter((word for counts in bags for word in counts), np.uint32)
    counts = np.fromiter((min(n, 255) for counts in bags for n in counts.values()), np.uint8)
    sizes = np.fromiter(map(len, bags), np.uint32)
    row = (number, ids.tobytes(), counts.tobytes(), sizes.tobytes())
    db.execute("INSERT INTO bag VALUES (?, ?, ?, ?)", row)


def remove(db: sqlite3.Connection, number: int) -> None:
    """Drop a document's words."""
    db.execute("DELETE FROM bag WHERE document = ?", (number,))


def load(db: sqlite3.Connection) -> Words:
    """Every document's words, in order of their ids."""
    rows = db.execute("SELECT document, words, counts, sizes FROM bag ORDER BY document").fetchall()
    number = np.array([row[0] for row in rows], np.int64)
    word = np.frombuffer(b"".join(row[1] for row in rows), np.uint32)
    count = np.frombuffer(b"".join(row[2] for row in rows), np.uint8)
    size = np.frombuffer(b"".join(row[3] for row in rows), np.uint32).astype(np.int64)
    bags_a_document = np.fromiter((len(row[3]) // 4 for row in rows), np.int64, len(rows))
    first = np.cumsum(bags_a_document) - bags_a_document
    document = np.repeat(np.arange(len(rows)), bags_a_document)
    place = np.arange(len(size)) - np.repeat(
        first, bags_a_document
    )  # 0 the card, 1 extra, 2 … the chunks
    kind = np.repeat(np.minimum(place, 2), size)
    chunks = place >= 2
    unit = np.repeat(np.where(chunks, np.cumsum(chunks) - 1, document), size)

    def bags(which: int, units: int) -> Bags:
        mine = kind == which
        length = np.bincount(unit[mine], count[mine], units).astype(np.float64)
        return Bags(word[mine], unit[mine], count[mine], length)

    return Words(
        number=number,
        card=bags(0, len(rows)),
        extra=bags(1, len(rows)),
        chunk=bags(2, int(chunks.sum())),
        chunk_document=document[chunks],
        chunk_index=place[chunks] - 2,
    )


def _card(path: str, entry: ManifestEntry, document: Document) -> Counter[int]:
    """What stands on the outside of a document, each field with its weight."""
    fields = {
        "title": entry.title,
        "lede": entry.lede,
        "tags": " ".join(entry.tags),
        "name": PurePosixPath(path).stem,
        "headings": "\n".join(document.headings),
        "folders": " ".join(
            part for part in path.split("/")[:-1] if part.casefold() not in _GENERIC
        ),
    }
    card: Counter[int] = Counter()
    for field, weight in _CARD.items():
        for word, count in bag(fields[field]).items():
            card[word] += count * weight
    return card


def _extra(path: str, entry: ManifestEntry) -> Counter[int]:
    """What a document has beyond its chunks, for the view of it as a whole."""
    return bag(
        " \n ".join((entry.title, entry.lede, " ".join(entry.tags), PurePosixPath(path).stem))
    )
