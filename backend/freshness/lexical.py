"""The lexical leg's part of ``index.sqlite``: for each document a row with the bags of words of its chunks and of its card.

A bag is two arrays, word ids and how often each occurs. A document's row changes with the document and with nothing else, so
that a sync costs what changed; a query reads all rows at once (some 10 ms for 1,000 documents), which at this size is as fast
as an inverted index and leaves no trace of a word that has been erased.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import PurePosixPath
from typing import NamedTuple

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

_CHUNKS = 2
"""A document's first bag of a chunk comes after its card's and that of its extra words."""

_BLOCK = 1_000_000
"""Entries that are searched at once."""

_GENERIC = frozenset("context-v changelog changelogs src content apps sites packages docs".split())
"""Folder names that say nothing about a topic."""


class Hits(NamedTuple):
    """Where the words of a query occur in bags of one kind: which word (its place in the query), in which bag, how often."""

    word: npt.NDArray[np.int64]
    bag: npt.NDArray[np.int64]
    times: npt.NDArray[np.float64]


class Words(Struct, frozen=True):
    """All bags of the index, one after the other: of each document the card, the extra words, then its chunks.

    Five bytes an entry stay in memory; what an entry belongs to is looked up for those that a query hits. ``number`` is the id
    of each document; ``end`` says where each bag ends among the entries, ``document`` whose it is (a row), ``place`` which of its
    document it is. The three ``…_length`` are numbers of words, a bag each.
    """

    number: npt.NDArray[np.int64]
    word: npt.NDArray[np.uint32]
    count: npt.NDArray[np.uint8]
    end: npt.NDArray[np.int64]
    document: npt.NDArray[np.int64]
    place: npt.NDArray[np.int64]
    card_length: npt.NDArray[np.float64]
    extra_length: npt.NDArray[np.float64]
    chunk_length: npt.NDArray[np.float64]

    @property
    def chunk_document(self) -> npt.NDArray[np.int64]:
        """The row of the document of each chunk."""
        return self.document[self.place >= _CHUNKS]

    @property
    def chunk_index(self) -> npt.NDArray[np.int64]:
        """Which chunk of its document each chunk is."""
        return self.place[self.place >= _CHUNKS] - _CHUNKS

    def find(self, ids: npt.NDArray[np.uint32]) -> tuple[Hits, Hits, Hits]:
        """Every occurrence of ``ids`` (sorted), in cards and in extra words (the bag is the document's row), and in chunks."""
        at, which = self._entries(ids)
        bag = np.searchsorted(self.end, at, side="right")
        document, place = self.document[bag], self.place[bag]
        count = self.count[at].astype(np.float64)
        number = np.where(place < _CHUNKS, document, bag - _CHUNKS * (document + 1))
        kinds = (place == 0, place == 1, place >= _CHUNKS)
        card, extra, chunk = (Hits(which[kind], number[kind], count[kind]) for kind in kinds)
        return card, extra, chunk

    def _entries(
        self, ids: npt.NDArray[np.uint32]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        low = np.zeros(
            65536, bool
        )  # a sieve over 16 bits, several times faster than searching every word
        low[ids & 0xFFFF] = True
        found = []
        for start in range(0, len(self.word), _BLOCK):  # what is made on the way stays small
            block = self.word[start : start + _BLOCK]
            found.append(np.flatnonzero(low[block & np.uint32(0xFFFF)]) + start)
        at = np.concatenate(found) if found else np.zeros(0, np.int64)
        which = np.minimum(np.searchsorted(ids, self.word[at]), len(ids) - 1)
        real = ids[which] == self.word[at]
        return at[real], which[real]


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
    number, bags, word, count, sizes = [], [], bytearray(), bytearray(), bytearray()
    for row in db.execute("SELECT document, words, counts, sizes FROM bag ORDER BY document"):
        number.append(row[0])
        word += row[1]
        count += row[2]
        sizes += row[3]
        bags.append(len(row[3]) // 4)
    of_each = np.array(bags, np.int64)
    size = np.frombuffer(sizes, np.uint32).astype(np.int64)
    counts = np.frombuffer(count, np.uint8)
    end = np.cumsum(size)
    document = np.repeat(np.arange(len(of_each)), of_each)
    place = np.arange(len(size)) - np.repeat(np.cumsum(of_each) - of_each, of_each)
    length = np.zeros(len(size))
    filled = size > 0
    if filled.any():
        length[filled] = np.add.reduceat(counts, (end - size)[filled], dtype=np.int64)
    return Words(
        number=np.array(number, np.int64),
        word=np.frombuffer(word, np.uint32),
        count=counts,
        end=end,
        document=document,
        place=place,
        card_length=length[place == 0],
        extra_length=length[place == 1],
        chunk_length=length[place >= _CHUNKS],
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
