"""Chroma, behind one seam: the only module that imports it.

Several processes must not use a persistent client at once without a lock (two writers corrupt it, a reader beside a writer
can too), and a client that lives longer than an operation reads stale vectors. So each use takes the lock, opens the store
anew, and lets go of both at its end.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.errors import CvError
from backend.freshness.embedder import chroma_function
from backend.freshness.places import chroma_path, new_chroma_path
from backend.schemas.config import Config
from backend.tree.lock import exclusive, shared
from backend.tree.root import KIT_FOLDER

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

UPSERT_LIMIT = 5000
"""Records a call. Chroma refuses more than 5,461 (SQLite's variables)."""

_BULK = {"sync_threshold": 1000, "batch_size": 100}
_STEADY = {"sync_threshold": 1, "batch_size": 1}
"""How many records Chroma keeps in its log before the vectors are written and the log is purged. A bulk load wants a high number
(these are Chroma's own; much higher ones build the vectors' graph again from the log, at half the speed). Afterwards the
lowest: readers have nothing to replay, and of what was written only the newest record stays in the log (with
3 and 2, text that was added and deleted again was still found there)."""

_HEADER = struct.Struct("<i4Q")

_PAUSES = (0.1, 0.4, 1.0, 3.0)
"""Seconds between the tries of an operation that met a locked database."""

_READER_WAITS = 2.0
_WRITER_WAITS = 60.0
"""Seconds until the lock counts as taken: a reader has another way to answer, a writer should get its turn."""


class Store:
    """An open Chroma, valid within ``reading`` or ``writing``."""

    def __init__(self, client: Any, config: Config) -> None:
        self._client = client
        self._config = config

    def _name(self, role: str) -> str:
        return str(getattr(self._config.collections, role.replace("-", "_")))

    def _collection(self, role: str) -> Any:
        return self._client.get_or_create_collection(
            self._name(role),
            embedding_function=chroma_function(self._config.embedding),
            configuration={"hnsw": {"space": "cosine", **_BULK}},
        )

    def reset(self, role: str) -> None:
        """Make the role's collection anew, empty."""
        self.drop(self._name(role))
        self._collection(role)

    def drop(self, name: str) -> None:
        """Delete a collection; one that is not there doesn't matter."""
        if name in {collection.name for collection in self._client.list_collections()}:
            self._client.delete_collection(name)

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
        for start in range(0, len(ids), UPSERT_LIMIT):
            part = slice(start, start + UPSERT_LIMIT)
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
        for start in range(0, len(ids), UPSERT_LIMIT):
            _patiently(collection.delete, ids=list(ids[start : start + UPSERT_LIMIT]))

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


@contextmanager
def reading(root: Path, config: Config) -> Iterator[Store]:
    """Chroma for queries, beside other readers. Raises ``Busy`` while a writer is at it, ``CvError`` when it can't be opened."""
    lock = shared(_lock_path(root), seconds=_READER_WAITS, busy="Chroma is being written to")
    with lock, _open(chroma_path(root), config) as store:
        yield store


@contextmanager
def writing(root: Path, config: Config, *, erase: bool, beside: bool = False) -> Iterator[Store]:
    """Chroma for the one writer, alone. ``erase``: text that the block deletes is overwritten on disk as well; ``beside``: the
    folder that a rebuild fills, which nobody reads, so that the one in use goes on answering.
    """
    folder = new_chroma_path(root) if beside else chroma_path(root)
    with nullcontext() if beside else alone(root):
        with _open(folder, config) as store:
            yield store
        _blank(folder)
        if erase:
            _erase(folder)


def alone(root: Path) -> AbstractContextManager[None]:
    """The lock that keeps every reader and writer of Chroma away. Raises ``Busy`` when readers don't let go of it."""
    return exclusive(
        _lock_path(root), seconds=_WRITER_WAITS, busy="Chroma is in use by another program"
    )


def discard(root: Path) -> None:
    """Delete the whole store: one that is damaged cannot even be opened. The index makes it anew."""
    with alone(root):
        shutil.rmtree(chroma_path(root), ignore_errors=True)


def _blank(folder: Path) -> None:
    """Overwrite the places for vectors that are not in use: Chroma writes them as it found them in this process's memory, where
    the text of any file may stand that was read, a private one too.

    ``header.bin`` (chroma-hnswlib, ``saveIndex``): an int32, then as uint64 an offset, how many places there are, how many are
    in use, and the bytes of each. Files that don't look so are left alone.
    """
    for header in folder.glob("*/header.bin"):
        data = header.with_name("data_level0.bin")
        try:
            _, _, places, used, each = _HEADER.unpack_from(header.read_bytes())
            size = data.stat().st_size
            if used * each < size <= places * each:
                with data.open("r+b") as file:
                    file.seek(used * each)
                    if any(file.read()):
                        file.seek(used * each)
                        file.write(bytes(size - used * each))
        except (OSError, struct.error) as error:
            raise StoreError(f"{data}: unused places could not be overwritten ({error})") from error


def _erase(folder: Path) -> None:
    """Write Chroma's database anew without its free pages, where deleted text stays readable; then put it in its place."""
    database = folder / "chroma.sqlite3"
    fresh = database.with_name("chroma.sqlite3.new")
    fresh.unlink(missing_ok=True)
    try:
        with closing(sqlite3.connect(database)) as db:
            db.execute("VACUUM INTO ?", (str(fresh),))
        with fresh.open("rb") as file:
            os.fsync(file.fileno())
        fresh.replace(database)
    except (sqlite3.Error, OSError) as error:
        fresh.unlink(missing_ok=True)
        raise StoreError(f"{database}: deleted text could not be overwritten ({error})") from error


@contextmanager
def _open(folder: Path, config: Config) -> Iterator[Store]:
    os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")
    import chromadb
    from chromadb.api.shared_system_client import SharedSystemClient
    from chromadb.config import Settings

    SharedSystemClient.clear_system_cache()
    try:
        settings = Settings(anonymized_telemetry=False)
        client = chromadb.PersistentClient(str(folder), settings=settings)
        yield Store(client, config)
    except (CvError, OSError, sqlite3.Error):  # ours: Chroma's own database work is not Python's
        raise
    except Exception as error:  # Chroma's own errors have no common base
        raise StoreError(f"Chroma at {folder}: {error}") from error
    finally:
        SharedSystemClient.clear_system_cache()


class StoreError(CvError):
    """Chroma refused an operation, or its folder is damaged."""


def _lock_path(root: Path) -> Path:
    return root / KIT_FOLDER / "chroma.lock"
