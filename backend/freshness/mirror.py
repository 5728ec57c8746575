"""Bringing Chroma in line with the index. Interrupted anywhere, the next sync does what is left, from the index's own notes.

Here for the Chroma in the tree's own folder; ``telling`` does it for a team's server.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from backend.freshness.index import Index
from backend.freshness.notes import StoredChunk, StoredDocument, metadata
from backend.freshness.places import chroma_path, new_chroma_path
from backend.freshness.records import LocalStore, StoreError
from backend.freshness.store import discard, writing
from backend.freshness.telling import tell
from backend.freshness.tie import in_line, names, tie
from backend.schemas.config import Config
from backend.schemas.roles import ROLES

BATCH = 1000
"""Chunks in one upsert: a second or two of Chroma's time, which a kill can cost. Batches of 5,000 are no faster and take 150 MB
more at the peak (10,230 chunks, in turns: 13.6-14.7 s of CPU either way; 240 against 390 MB)."""

Progress = Callable[[int, int], None]
"""Called with the number of documents done and the number of all."""


def mirror(
    root: Path,
    config: Config,
    index: Index,
    progress: Progress,
    *,
    seconds: float = float("inf"),
    asked: bool = False,
    check: bool = True,
) -> list[str]:
    """Tell Chroma what ``index`` has noted for it. Returns notes for the report. ``seconds``, ``asked``, ``check``: for a server,
    as in ``tell``.

    A store that is missing, foreign (another index wrote it) or refuses an operation is made anew from the index, vectors
    included: nothing is read or embedded again. Raises ``StoreError`` when that fails too.
    """
    if config.chroma.mode != "persistent":
        return tell(root, config, index, progress, seconds=seconds, asked=asked, check=check)
    if index.fact("server"):
        index.set_fact("server", "")
    whole = in_line(chroma_path(root), config, ROLES, index.fact)
    if whole and index.notes.empty() and not index.fact("erase"):
        return []
    if whole:
        try:
            _update(root, config, index, progress)
            return []
        except StoreError as error:
            notes = [f"the Chroma store was made anew ({error})"]
    else:
        notes = ["the Chroma store was made anew"] if index.fact("chroma") else []
    try:
        _rebuild(root, config, index, progress)
    except StoreError:
        discard(root)
        _rebuild(root, config, index, progress)
    return notes


def _update(root: Path, config: Config, index: Index, progress: Progress) -> None:
    with writing(root, config, erase=index.fact("erase") != "") as store:
        _apply(store, index, progress)
        for role in ROLES:
            if store.count(role) != index.chunk_count(role):
                raise StoreError("it did not hold what it should")
        store.settle(ROLES)
    index.set_fact("erase", "")
    tie(chroma_path(root), index.fact("chroma"))


def mirror_beside(root: Path, config: Config, index: Index, progress: Progress) -> None:
    """Fill a Chroma folder of its own from ``index``, beside the one in use. Raises ``StoreError``."""
    _rebuild(root, config, index, progress, beside=True)


def _rebuild(
    root: Path, config: Config, index: Index, progress: Progress, *, beside: bool = False
) -> None:
    with index.transaction():
        index.notes.everything()
        index.set_fact("chroma", "")
    with writing(root, config, erase=False, beside=beside) as store:
        for name in index.fact("names").split():  # as the config called them before
            store.drop(name)
        for role in ROLES:
            store.reset(role)
        _apply(store, index, progress)
        store.be_steady(ROLES)
    with writing(root, config, erase=True, beside=beside) as store:
        store.purge(ROLES)
        store.settle(ROLES)
    index.set_fact("erase", "")
    token = uuid.uuid4().hex
    tie(new_chroma_path(root) if beside else chroma_path(root), token)
    index.set_fact("names", names(config, ROLES))
    index.set_fact("chroma", token)


def _apply(store: LocalStore, index: Index, progress: Progress) -> None:
    for role in ROLES:
        if ids := index.notes.to_drop(role):
            store.delete(role, ids)
            with index.transaction():
                index.notes.dropped(ids)
    todo = index.notes.to_mirror()
    batch: dict[str, list[tuple[StoredDocument, StoredChunk, Any]]] = {role: [] for role in ROLES}
    done: list[int] = []
    for count, number in enumerate(todo, 1):
        document, chunks, vectors = index.notes.stored(number)
        batch[document.role] += [
            (document, chunk, vector) for chunk, vector in zip(chunks, vectors, strict=True)
        ]
        done.append(number)
        if sum(map(len, batch.values())) >= BATCH or count == len(todo):
            for role, rows in batch.items():
                _upsert(store, role, rows)
                rows.clear()
            with index.transaction():
                index.notes.mirrored(done)
            done.clear()
            progress(count, len(todo))


def _upsert(
    store: LocalStore, role: str, rows: list[tuple[StoredDocument, StoredChunk, Any]]
) -> None:
    import numpy as np

    if rows:
        store.upsert(
            role,
            [chunk.chroma_id for _, chunk, _ in rows],
            [chunk.text for _, chunk, _ in rows],
            np.stack([vector for _, _, vector in rows]),
            [metadata(document, chunk) for document, chunk, _ in rows],
        )
