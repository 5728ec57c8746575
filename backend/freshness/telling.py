"""Telling a team's Chroma server what has changed here: what ``mirror`` does for the folder of a tree.

Several machines write to one server, each from its own copy of the tree and without knowing of the others. The rule:
a machine tells the server of each document that has changed *in its own tree*, and removes what has left *its own tree*; the last
to do so is right. Only at a machine's first contact, when all its documents count as changed, a document stays as it is that the
server holds with a later date. All records of a document are those of one machine's version: who writes one removes what
another version had more. What is there already in the same version is not written again. So machines with the same commit
write each document once, and two with different commits never answer each other.

Nothing that is asked later depends on the server: the index holds all text and all vectors.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import msgspec

from backend.errors import Busy
from backend.freshness.guarded import ServerError, address, not_chosen
from backend.freshness.index import Index
from backend.freshness.notes import StoredChunk, StoredDocument, metadata
from backend.freshness.places import chroma_path, index_path
from backend.freshness.remote import RemoteStore, connected
from backend.freshness.store import discard
from backend.freshness.writable_index import WritableIndex
from backend.schemas.config import Config
from backend.schemas.roles import ROLES
from backend.tree.home import is_approved

BATCH = 200
"""Chunks in one request: a quarter of a second of the server's time, so that little is lost when it goes away."""

QUERY_SECONDS = 1.5
"""What a query lets the server cost that has to be told of changes first; the next sync tells the rest."""

Progress = Callable[[int, int], None]
"""Called with the number of documents done and the number of all."""

_Rows = list[tuple[str, StoredDocument, StoredChunk, Any]]


def tell(
    root: Path,
    config: Config,
    index: WritableIndex,
    progress: Progress,
    *,
    seconds: float,
    asked: bool = False,
    check: bool = True,
) -> list[str]:
    """Tell the server of ``config`` what ``index`` has noted for it. Returns notes for the report; never raises for the server.

    ``seconds``: stop after so long. ``asked``: a query waits, which says itself what it could not ask a server that came with
    the tree. ``check``: look whether the server still has its collections even if there is nothing to tell.
    """
    _leave_folder(root, index)
    where = _where(config, index)
    known, _, made = index.fact("server").partition("\n")
    if not is_approved(root, config.chroma):
        if known != where or not made:
            with index.transaction():
                index.notes.nothing()
                index.set_fact("server", "nobody")
        return (
            [] if asked else [f"{not_chosen(config.chroma)}. Questions are answered from the index"]
        )
    if known != where:
        made = ""
        with index.transaction():
            index.notes.all_again()
            index.set_fact("server", f"{where}\n")
    if made and not made.startswith(_FILLING) and index.notes.empty() and not check:
        return []
    seconds = min(seconds, QUERY_SECONDS) if asked else seconds
    follows = f"{address(config.chroma)}: more documents follow at the next sync ({{}})"
    if seconds <= 0:
        return [follows.format(len(index.notes.to_mirror()))]
    try:
        with connected(root, config, seconds=seconds, fills=True) as store:
            _tell(store, index, progress, where, made, until=time.monotonic() + seconds)
    except ServerError as error:
        if made and index.notes.empty():
            return [str(error)]
        return [f"{error}; what has changed here is kept for it and told at the next sync"]
    if left := len(index.notes.to_mirror()):
        return [follows.format(left)]
    return []


_FILLING = "filling "


def _tell(
    store: RemoteStore,
    index: WritableIndex,
    progress: Progress,
    where: str,
    made: str,
    *,
    until: float,
) -> None:
    there = " ".join(store.collection_id(role) for role in ROLES)
    if made.removeprefix(_FILLING) != there:  # another server, or collections that were made anew
        with index.transaction():
            index.notes.all_again()
            index.set_fact("server", f"{where}\n{_FILLING}{there}")
        made = _FILLING
    first = made.startswith(_FILLING)
    for role in ROLES:
        ids = index.notes.to_drop(role)
        if ids:
            store.delete(role, [store.id_there(chroma_id) for chroma_id in ids])
            with index.transaction():
                index.notes.dropped(ids)
    todo = index.notes.to_mirror()
    batch: dict[str, _Rows] = {role: [] for role in ROLES}
    done: list[int] = []
    for count, number in enumerate(todo, 1):
        document, chunks, vectors = index.notes.stored(number)
        batch[document.role] += [
            (_version(index.fact("embedder"), document, chunk), document, chunk, vector)
            for chunk, vector in zip(chunks, vectors, strict=True)
        ]
        done.append(number)
        if sum(map(len, batch.values())) >= BATCH or count == len(todo):
            for role, rows in batch.items():
                _write(store, role, rows, first=first)
                rows.clear()
            with index.transaction():
                index.notes.mirrored(done)
            done.clear()
            progress(count, len(todo))
            if time.monotonic() > until:
                return
    if first:
        index.set_fact("server", f"{where}\n{there}")


def _write(store: RemoteStore, role: str, rows: _Rows, *, first: bool) -> None:
    import numpy as np

    if not rows:
        return
    held = {
        record.chroma_id: record
        for record in store.held(role, sorted({document.path for _, document, _, _ in rows}))
    }
    if first:
        later: dict[str, int] = {}
        for record in held.values():
            later[record.path] = max(later.get(record.path, 0), record.modified_at)
        rows = [row for row in rows if later.get(row[1].path, 0) <= row[1].entry.modified_at]
    ids = [store.id_there(chunk.chroma_id) for _, _, chunk, _ in rows]
    new = [
        (chroma_id, *row)
        for chroma_id, row in zip(ids, rows, strict=True)
        if chroma_id not in held or held[chroma_id].version != row[0]
    ]
    if new:
        store.upsert(
            role,
            [chroma_id for chroma_id, *_ in new],
            [chunk.text for _, _, _, chunk, _ in new],
            np.stack([vector for *_, vector in new]),
            [
                {**metadata(document, chunk), "version": version}
                for _, version, document, chunk, _ in new
            ],
        )
    written = {document.path for _, document, _, _ in rows}
    beyond = [i for i in held.keys() - set(ids) if held[i].path in written]
    if beyond:
        store.delete(role, sorted(beyond))


def _version(embedder: str, document: StoredDocument, chunk: StoredChunk) -> str:
    """What is the same on two machines when a chunk and its document say the same: all that is written, but for when that was."""
    fields = metadata(document, chunk)
    del fields["ingested_at"]
    if document.entry.date_from == "ingest":
        del fields["modified_at"]
    told = msgspec.json.encode((embedder, chunk.text, fields), order="sorted")
    return hashlib.sha256(told).hexdigest()[:32]


def _where(config: Config, index: Index) -> str:
    """Which collections of which server hold which vectors; with other words all documents have to be told."""
    chroma = config.chroma
    names = [config.collections.of(role) for role in ROLES]
    place = (address(chroma), chroma.tenant, chroma.database, names, index.fact("embedder"))
    return msgspec.json.encode(place).decode()


def _leave_folder(root: Path, index: WritableIndex) -> None:
    """What lies in the tree's own Chroma folder is of no use beside a server, and would keep text that is taken back."""
    if chroma_path(root).exists():
        with suppress(Busy):  # a reader of before the config changed; the next sync does it
            discard(root)
    if index.fact("chroma") or index.fact("erase"):
        with index.transaction():
            index.set_fact("chroma", "")
            index.set_fact("erase", "")


def carry_debts(root: Path, index: WritableIndex) -> None:
    """Note in ``index``, made beside the one in use, what the server has of the old one and the new does not have."""
    live = Index.for_reading(index_path(root))
    if live is None:
        return
    try:
        with live:
            old = live.db.execute(
                "SELECT c.chroma_id, d.role FROM chunk c JOIN document d ON d.id = c.document "
                "UNION SELECT chroma_id, role FROM to_drop"
            ).fetchall()
    except sqlite3.DatabaseError:  # damaged, perhaps the reason for the rebuild
        return
    with closing(index.db.cursor()) as cursor, index.transaction():
        cursor.executemany(
            "INSERT OR IGNORE INTO to_drop SELECT ?1, ?2 WHERE NOT EXISTS "
            "(SELECT 1 FROM chunk c JOIN document d ON d.id = c.document WHERE c.chroma_id = ?1 AND d.role = ?2)",
            old,
        )
