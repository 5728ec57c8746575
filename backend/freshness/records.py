"""The collections of an open Chroma and the records in them, wherever it runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from backend.errors import CvError
from backend.freshness.embedder import chroma_function
from backend.schemas.config import Config

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

UPSERT_LIMIT = 5000
"""Records a call. Chroma refuses more than 5,461 (SQLite's variables)."""

_GRAPH = {"max_neighbors": 32, "ef_construction": 200, "ef_search": 10_000}
"""How thoroughly Chroma's graph of the vectors is built (neighbours, effort) and searched. With its own values (16, 100, 100) one
in ten of the 100 nearest of 10,000 chunks is wrong, two in five of 80,000, and other ones after each rebuild. Against the exact
answer, for 100 titles on a real tree and 40 on a synthetic one, many of whose chunks are nearly alike: share of the 100 nearest
that is right, mean and least; median time of a query; processor time of the build.

===============  ==========================  ===========================
built, searched  9,726 chunks                82,022 chunks
===============  ==========================  ===========================
16, 100, 100     .899   .50    1 ms   2.9 s  .581  .31    2 ms    78 s
16, 100, 1,000   .995   .94    2 ms
16, 100, 10,000  .9998  .99    5 ms          .985  .92   91 ms
32, 200, 100     .929   .68    2 ms   3.8 s  .680  .49    3 ms   161 s
32, 200, 1,000   .997   .97    5 ms          .955  .88   11 ms
32, 200, 10,000  .9999  .99    6 ms          .997  .97   97 ms
48, 400, 10,000  1.     1.     5 ms   6.4 s
===============  ==========================  ===========================
"""

_BULK = {"sync_threshold": 1000, "batch_size": 100}
_STEADY = {"sync_threshold": 1, "batch_size": 1}
"""How many records Chroma keeps in its log before the vectors are written and the log is purged. A bulk load wants a high number
(these are Chroma's own; much higher ones build the vectors' graph again from the log, at half the speed). Afterwards the
lowest: readers have nothing to replay, and of what was written only the newest record stays in the log (with
3 and 2, text that was added and deleted again was still found there)."""

_PAUSES = (0.1, 0.4, 1.0, 3.0)
"""Seconds between the tries of an operation that met a locked database."""


class StoreError(CvError):
    """Chroma refused an operation, or its folder is damaged."""


class Store:
    """An open Chroma, valid within the block that opened it. ``limit``: records in one call."""

    limit = UPSERT_LIMIT

    def __init__(self, client: Any, config: Config) -> None:
        self._client = client
        self._config = config

    def name(self, role: str) -> str:
        """How the config calls the role's collection."""
        return self._config.collections.of(role)

    def _collection(self, role: str) -> Any:
        return self._client.get_or_create_collection(
            self.name(role),
            embedding_function=chroma_function(self._config.embedding),
            configuration={"hnsw": {"space": "cosine", **_GRAPH, **_BULK}},
        )

    def upsert(
        self,
        role: str,
        ids: Sequence[str],
        texts: Sequence[str],
        vectors: npt.NDArray[np.float32],
        metadatas: Sequence[dict[str, Any]],
    ) -> None:
        """Write records, a row of ``vectors`` each. Keys that a metadata leaves out keep their old value."""
        collection = self._collection(role)
        if collection.count() == 1:
            # Of a record that is alone Chroma 1.5.9 keeps the old vector: its graph has nothing to link the new one to.
            alone = set(collection.get(include=[])["ids"]) & set(ids)
            if alone:
                _patiently(collection.delete, ids=list(alone))
        for start in range(0, len(ids), self.limit):
            part = slice(start, start + self.limit)
            _patiently(
                collection.upsert,
                ids=list(ids[part]),
                documents=list(texts[part]),
                embeddings=vectors[part],
                metadatas=list(metadatas[part]),
            )

    def delete(self, role: str, ids: Sequence[str]) -> None:
        """Delete records; ids that are not there don't matter."""
        collection = self._collection(role)
        for start in range(0, len(ids), self.limit):
            _patiently(collection.delete, ids=list(ids[start : start + self.limit]))

    def ids(self, role: str) -> set[str]:
        """The ids of all records of a role."""
        return set(self._collection(role).get(include=[])["ids"])

    def count(self, role: str) -> int:
        """How many records a role has."""
        return int(self._collection(role).count())

    def query(
        self, role: str, vector: npt.NDArray[np.float32], limit: int
    ) -> list[tuple[str, float]]:
        """The ``limit`` nearest chunks: id and cosine similarity, nearest first."""
        collection = self._collection(role)
        found = collection.query(query_embeddings=[vector], n_results=limit, include=["distances"])
        return [(i, 1.0 - d) for i, d in zip(found["ids"][0], found["distances"][0], strict=True)]

    def names(self) -> list[str]:
        """The collections that there are, in Chroma's order."""
        return [str(collection.name) for collection in self._client.list_collections()]

    def to_read(self, role: str) -> Any:
        """The role's collection itself, for reads of Chroma's own kind; it is not made where there is none. Raises what Chroma
        raises, here and in use.
        """
        function = chroma_function(self._config.embedding)
        return self._client.get_collection(self.name(role), embedding_function=function)


class LocalStore(Store):
    """A Chroma in a folder of this tree, which is ours alone: it may be emptied, and its log is kept short."""

    def add(self, role: str) -> None:
        """Make the role's collection, also where nothing will be written to it."""
        self._collection(role)

    def be_steady(self, roles: Sequence[str]) -> None:
        """End a bulk load. It takes effect when the store is opened again."""
        for role in roles:
            _patiently(self._collection(role).modify, configuration={"hnsw": _STEADY})

    def purge(self, roles: Sequence[str]) -> None:
        """Write the vectors and purge the log: a record is written again, since that is what sets it off."""
        for role in roles:
            collection = self._collection(role)
            first = collection.get(limit=1, include=["documents", "metadatas", "embeddings"])
            if first["ids"]:
                parts = ("ids", "documents", "metadatas", "embeddings")
                _patiently(collection.upsert, **{part: first[part] for part in parts})

    def settle(self, roles: Sequence[str]) -> None:
        """Leave nothing for readers to write: every collection is counted and searched once."""
        for role in roles:
            collection = self._collection(role)
            if collection.count():
                first = collection.get(limit=1, include=["embeddings"])["embeddings"]
                collection.query(query_embeddings=[first[0]], n_results=1, include=[])


def _patiently(operation: Callable[..., object], **arguments: Any) -> None:
    """Call an operation that may be repeated. Chroma's own threads can be writing at the same moment (after a large upsert they
    purge its log), and then it refuses at once, "database is locked", instead of waiting.
    """
    for pause in _PAUSES:
        try:
            operation(**arguments)
            return
        except Exception as error:  # Chroma's own errors have no common base
            if "database is locked" not in str(error):
                raise
        time.sleep(pause)
    operation(**arguments)
