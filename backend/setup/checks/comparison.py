"""Chroma compared with the index that it was filled from: which chunks it has, their texts, vectors and fields."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from backend.freshness.embedder import embedder_name, load_embedder
from backend.freshness.index import Index
from backend.freshness.notes import StoredChunk, StoredDocument, metadata
from backend.freshness.places import index_path
from backend.freshness.vectors import matrix
from backend.schemas.config import Config
from backend.schemas.manifest import ManifestEntry

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MOST = 15_000
"""Chunks of a collection that are read from Chroma, which takes some 3 s; of a larger one these are drawn by lot."""

BATCH = 500
"""Chunks in one read. With 2,000 it takes no less time and 30 MB more."""

VOTES = 100
"""Texts that are embedded again at most, to see whose vector is right."""

CLOSE = 1e-5
"""How far apart two numbers of a vector may be: Chroma gives back what is in its graph with its length made 1 again."""


class Difference(Struct, frozen=True):
    """How Chroma differs from the index, in numbers of chunks; ``compared`` were all of it, of ``chunks`` in both.

    ``lacking`` in Chroma; ``beyond``: in Chroma alone; ``texts``, ``vectors``: Chroma's is another; ``of_index``: another vector
    too, but the index's is the wrong one; ``fields``: what a chunk carries beside text and vector is another.
    """

    lacking: int = 0
    beyond: int = 0
    texts: int = 0
    vectors: int = 0
    of_index: int = 0
    fields: int = 0
    compared: int = 0
    chunks: int = 0

    def found(self) -> int:
        """How many differences there are."""
        ours = self.of_index + self.fields
        return self.lacking + self.beyond + self.texts + self.vectors + ours


class _Row(Struct):
    """A chunk as the index has it."""

    text: str
    fields: dict[str, Any]
    vector: npt.NDArray[np.float32]


class _Pair(Struct):
    """A text, and its vector in the index and in Chroma."""

    text: str
    ours: npt.NDArray[np.float32]
    theirs: npt.NDArray[np.float32]


def compare(root: Path, config: Config, index: Index, collection: Any, role: str) -> Difference:
    """Compare Chroma's ``collection`` with the chunks of ``role``, which were embedded as ``config`` says. What Chroma has not
    been told of yet is left out. Raises what Chroma raises.
    """
    import numpy as np

    expected, waiting = _told(index, role), _not_told(index, role)
    stored = set(collection.get(include=[])["ids"])
    both = sorted(expected & stored)
    # The same ones until the index changes, so that 'doctor --fix' finds what 'doctor' found.
    lot = random.Random(index_path(root).stat().st_mtime_ns)
    drawn = lot.sample(both, MOST) if len(both) > MOST else both
    texts = fields = 0
    unlike: list[_Pair] = []
    for start in range(0, len(drawn), BATCH):
        ids = drawn[start : start + BATCH]
        rows = _rows(index, ids)
        found = collection.get(ids=ids, include=["documents", "metadatas", "embeddings"])
        texts += sum(
            text != rows[i].text for i, text in zip(found["ids"], found["documents"], strict=True)
        )
        fields += sum(
            _given(one) != _given(rows[i].fields)
            for i, one in zip(found["ids"], found["metadatas"], strict=True)
        )
        ours = np.stack([rows[i].vector for i in found["ids"]])
        theirs = np.asarray(found["embeddings"], np.float32)
        for place in np.flatnonzero(_unlike(ours, theirs)):
            text = rows[found["ids"][place]].text
            unlike.append(_Pair(text, ours[place], theirs[place]))
    of_index = len(unlike) if _index_is_wrong(root, config, index, unlike[:VOTES]) else 0
    return Difference(
        lacking=len(expected - stored),
        beyond=len(stored - expected - waiting),
        texts=texts,
        vectors=len(unlike) - of_index,
        of_index=of_index,
        fields=fields,
        compared=len(drawn),
        chunks=len(both),
    )


def _told(index: Index, role: str) -> set[str]:
    """The chunks that Chroma must have as the index has them."""
    rows = index.db.execute(
        "SELECT c.chroma_id FROM chunk c JOIN document d ON d.id = c.document "
        "WHERE d.role = ? AND d.id NOT IN (SELECT document FROM to_mirror)",
        (role,),
    )
    return {row[0] for row in rows}


def _not_told(index: Index, role: str) -> set[str]:
    """Those that Chroma may have, or have in another way, until it is told of them."""
    rows = index.db.execute(
        "SELECT c.chroma_id FROM to_mirror t JOIN chunk c ON c.document = t.document "
        "UNION SELECT chroma_id FROM to_drop WHERE role = ?",
        (role,),
    )
    return {row[0] for row in rows}


def _rows(index: Index, ids: Sequence[str]) -> dict[str, _Row]:
    found = {}
    documents: dict[int, StoredDocument] = {}
    for number, chroma_id, idx, heading, text, data in index.db.execute(
        "SELECT c.document, c.chroma_id, c.idx, c.heading, c.text, v.data FROM json_each(?) j "
        "JOIN chunk c ON c.chroma_id = j.value JOIN vector v ON v.text_hash = c.text_hash",
        (msgspec.json.encode(ids).decode(),),
    ):
        if number not in documents:
            documents[number] = _document(index, number)
        fields = metadata(documents[number], StoredChunk(chroma_id, idx, heading, text))
        found[chroma_id] = _Row(text, fields, matrix([data])[0])
    return found


def _document(index: Index, number: int) -> StoredDocument:
    query = "SELECT path, role, entry, fields FROM document WHERE id = ?"
    path, role, entry, fields = index.db.execute(query, (number,)).fetchone()
    card = msgspec.json.decode(entry, type=ManifestEntry)
    return StoredDocument(path, role, card, msgspec.json.decode(fields))


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    """Without what says nothing, which Chroma does not keep."""
    return {key: value for key, value in fields.items() if value is not None}


def _index_is_wrong(root: Path, config: Config, index: Index, unlike: Sequence[_Pair]) -> bool:
    """Whether, where two vectors differ, it is the index's that is not its text's.

    The embedder that ships inside is asked; for another, which may take a minute or cost money, a vector of zeros is taken for
    the wrong one, since all other damage to an index's vector shows in its length (``damage.altered``).
    """
    import numpy as np

    embedding = config.embedding
    if embedding.name != "static" or embedder_name(embedding) != index.fact("embedder"):
        return any(pair.theirs.any() and not pair.ours.any() for pair in unlike)
    if not unlike:
        return False
    again = load_embedder(embedding, root).embed([pair.text for pair in unlike])
    return bool(_unlike(np.stack([pair.ours for pair in unlike]), again).any())


def _unlike(
    ours: npt.NDArray[np.float32], theirs: npt.NDArray[np.float32]
) -> npt.NDArray[np.bool_]:
    """Which rows of two arrays are not the same vector."""
    import numpy as np

    if ours.shape != theirs.shape:
        return np.ones(len(ours), np.bool_)
    apart: npt.NDArray[np.bool_] = ~(np.abs(ours - theirs) <= CLOSE).all(axis=1)  # NaN is not close
    return apart
