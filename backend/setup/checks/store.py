"""Checks of the store against itself and against the disk: index.sqlite, Chroma, the manifests, how far all are behind."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import msgspec

from backend.freshness.index import Index
from backend.freshness.manifest import load_cards
from backend.freshness.places import (
    SCHEMA_VERSION,
    chroma_path,
    index_path,
    manifest_path,
    passed_over_path,
)
from backend.freshness.status import Pending, unreadable
from backend.schemas.doctor import Finding
from backend.schemas.manifest import ManifestEntry, PassedOver
from backend.schemas.roles import ROLES
from backend.setup.checks import probe
from backend.setup.checks.comparison import Difference
from backend.setup.checks.damage import altered, torn
from backend.setup.checks.levels import note, ok, problem, warning
from backend.setup.checks.server import check_server
from backend.tree.config import load_config
from backend.tree.found import Tree
from backend.tree.quoting import quoted
from backend.tree.root import KIT_FOLDER, owner

SYNC = "run 'cv sync'"
REMAKE = "run 'cv doctor --fix': it is made again from the index, nothing is embedded anew"
REBUILD = "run 'cv doctor --fix': index and Chroma are made again from the documents"


def check_writable(root: Path) -> list[Finding]:
    """All that a sync writes may be written by the person who asks, also after somebody's ``sudo``."""
    kit = root / KIT_FOLDER
    written = (kit, kit / "manifests", index_path(root), chroma_path(root))
    below = chroma_path(root).glob("*") if os.access(chroma_path(root), os.R_OK) else ()
    barred = [path for path in (*written, *below) if path.exists() and not os.access(path, os.W_OK)]
    if not barred:
        return []
    return [
        problem(
            "store",
            f"{barred[0].name} may not be written by you (it belongs to {owner(barred[0])}): syncs fail, and answers come from "
            "what was indexed before",
            where=barred[0],
            todo=f'make it yours (sudo chown -R "$USER" {quoted(str(kit))}), or leave the syncs to its owner',
        )
    ]


def check_index(root: Path) -> list[Finding]:
    """``index.sqlite`` is there, whole, of this version, and every chunk in it has its vector."""
    path = index_path(root)
    if not path.is_file():
        return [
            warning(
                "store",
                "there is no index yet",
                where=path,
                todo=SYNC,
                fixable=True,
            )
        ]
    damage = _damage(path)
    if damage:
        return [_damaged(path, f"the index cannot be used: {damage}")]
    index = Index.for_reading(path)
    if index is None:  # it passed a moment ago: a writer has just replaced it
        return []
    with index:
        if changed := altered(index):
            return [_damaged(path, f"the index is damaged: {changed}")]
        chunks = sum(index.chunk_count(role) for role in ROLES)
        without = index.vectors.without()
        if without and not (index.fact("blank") or index.fact("new embedder")):  # none is to come
            return [
                _damaged(
                    path, f"the index is damaged: {without} of {chunks} chunks lack their vector"
                )
            ]
        # Of a server's, its own check tells.
        waiting = not index.notes.empty() and not index.fact("server")
        erased = not index.fact("compact")
    found = []
    if not erased:
        found.append(
            warning(
                "store",
                "what was deleted last can still be read in unused parts of index.sqlite: a sync could not write it anew",
                where=path,
                todo=SYNC,
                fixable=True,
            )
        )
    if without:
        found.append(
            warning(
                "store",
                f"{without} of {chunks} chunks have no vector yet",
                where=path,
                todo=SYNC,
                fixable=True,
            )
        )
    if waiting:
        found.append(
            note(
                "store",
                "Chroma has not been told of the newest changes yet: a sync was stopped before its end",
                where=path,
                todo=SYNC,
                fixable=True,
            )
        )
    return found or [ok("store", f"index.sqlite, {chunks} chunks")]


def _damaged(path: Path, what: str) -> Finding:
    return problem("store", what, where=path, todo=REBUILD, fixable=True)


def _damage(path: Path) -> str:
    """What is wrong with the file, empty when nothing is."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            version = db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
            if version != (SCHEMA_VERSION,):
                return "it is of another version"
    except sqlite3.Error as error:
        return str(error)
    return torn(path)


def check_chroma(root: Path) -> list[Finding]:
    """Chroma can be opened and searched, and holds exactly the chunks of the index; a server, at least those."""
    config = load_config(root)
    if config.chroma.mode != "persistent":
        return check_server(root, config)
    path = chroma_path(root)
    index = Index.for_reading(index_path(root))
    if index is None:  # said by the check of the index
        return []
    with index:
        beside = len(index.unreached())
        chunks = sum(index.chunk_count(role) for role in ROLES)
    if not (path / "chroma.sqlite3").is_file():
        return [
            warning(
                "store",
                "there is no Chroma store; searches go by words only",
                where=path,
                todo=REMAKE,
                fixable=True,
            )
        ]
    answer = probe.ask(root)
    if answer.busy:
        return [
            note(
                "store",
                "Chroma is being written to by a sync, so it was not looked at",
                where=path,
                todo="run 'cv doctor' again when it has ended",
            )
        ]
    if answer.error:
        return [
            problem(
                "store",
                f"Chroma cannot be used: {answer.error}",
                where=path,
                todo=REMAKE,
                fixable=True,
            )
        ]
    found = _differences(root, list(answer.differences.values()))
    if not beside or found[0].level != "ok":
        return found
    return [
        note(
            "store",
            f"Chroma's graph of vectors does not lead to {beside} of {chunks} chunks, which happens where many are nearly "
            "alike or many have been deleted; questions find them in the index",
            where=path,
            todo="nothing: only another program that asks Chroma itself misses them",
        )
    ]


def _differences(root: Path, parts: list[Difference]) -> list[Finding]:
    def total(count: str) -> int:
        return sum(getattr(part, count) for part in parts)

    compared, chunks = total("compared"), total("chunks")
    looked = f" ({compared} of {chunks} chunks compared)" if compared < chunks else ""
    kinds = {
        "lacking": "chunks lacking",
        "beyond": "too many",
        "texts": "other texts",
        "vectors": "other vectors",
    }
    counts = [f"{total(count)} {words}" for count, words in kinds.items() if total(count)]
    found = []
    if counts:
        what = f"Chroma differs from the index: {', '.join(counts)}{looked}"
        where = chroma_path(root)
        found.append(problem("store", what, where=where, todo=REMAKE, fixable=True))
    if wrong := total("of_index"):
        what = f"the index is damaged: {wrong} of its vectors are not those of their texts{looked}"
        found.append(_damaged(index_path(root), what))
    if fields := total("fields"):
        what = (
            f"index and Chroma differ in what {fields} chunks carry beside text and vector, and which of them is right can't be "
            f"told{looked}"
        )
        found.append(_damaged(index_path(root), what))
    return found or [ok("store", f"Chroma opens, and holds what the index holds{looked}")]


def check_manifests(root: Path) -> list[Finding]:
    """The manifests can be read and list what the index holds."""
    files = {manifest_path(root, role): ManifestEntry for role in ROLES}
    broken = [
        problem(
            "store",
            f"the manifest cannot be read ({error}): digest and hooks take it for empty",
            where=path,
            todo=f"{SYNC}: it is written again from the index",
            fixable=True,
        )
        for path, entry in {**files, passed_over_path(root): PassedOver}.items()
        if (error := _unreadable(path, entry))
    ]
    index = Index.for_reading(index_path(root))
    if broken or index is None:
        return broken
    with index:
        unfinished = index.notes.unfinished()
        known = {path: entry.role for path, entry in index.known().items()}
    differing = {
        role: len(
            {p for p, r in known.items() if r == role and p not in unfinished}
            ^ load_cards(root, role).keys()
        )
        for role in ROLES
    }
    return [
        warning(
            "store",
            f"manifest and index differ in {count} documents",
            where=manifest_path(root, role),
            todo=f"{SYNC}: it is written again from the index",
            fixable=True,
        )
        for role, count in differing.items()
        if count
    ] or [ok("store", f"manifests, {len(known)} documents")]


def _unreadable(path: Path, entry: type[object]) -> str:
    try:
        msgspec.json.decode(path.read_bytes(), type=dict[str, entry])  # type: ignore[valid-type]
    except FileNotFoundError:
        return ""
    except (OSError, msgspec.MsgspecError) as error:
        return str(error)
    return ""


def check_freshness(root: Path, tree: Tree, behind: Mapping[str, Pending]) -> list[Finding]:
    """Index and disk are the same; files that can't be read are named."""
    failed = unreadable(root, tree, behind)
    found = [
        warning(
            "documents",
            f"not indexed: {failure.reason}",
            where=failure.path,
            todo="make it readable; the next sync tries again",
        )
        for failure in failed
    ]
    names = {failure.path for failure in failed}
    count = {
        word: sum(len(set(paths) - names) for paths in lists)
        for word, lists in (
            ("changed", [part.changed for part in behind.values()]),
            ("new", [part.new for part in behind.values()]),
            ("gone", [part.gone for part in behind.values()]),
        )
    }
    if sum(count.values()):
        words = ", ".join(f"{number} {word}" for word, number in count.items() if number)
        found.append(
            note(
                "store",
                f"behind the disk by {sum(count.values())}: {words}",
                todo=f"{SYNC}; every session and every query does it too",
                fixable=True,
            )
        )
    return found or [ok("store", "nothing on disk is newer")]
