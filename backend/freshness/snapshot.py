"""What the last sync saw of the disk, so that "nothing has changed" costs a stat for each folder and file, and nothing else.

A folder's mtime moves when an entry comes, goes or is renamed, so known folders need not be listed again. Written at the end of a
sync that left nothing to do; removed before the next one changes anything. Missing or not true, the ordinary look decides.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from backend import __version__
from backend.errors import CvError
from backend.freshness.manifest import manifests_stamp
from backend.freshness.places import (
    SCHEMA_VERSION,
    chroma_path,
    index_path,
    load_places,
    mtime_of,
)
from backend.freshness.tie import token_of
from backend.schemas.config import Config
from backend.schemas.manifest import ManifestEntry
from backend.schemas.sync import RoleReport
from backend.tree.files import write_atomic
from backend.tree.found import Tree
from backend.tree.repos import head_commit
from backend.tree.root import KIT_FOLDER
from backend.tree.sources import sources_path

HANDOFF_KINDS = ("handoffs", "handoff")


class Seen(Struct, frozen=True, array_like=True):
    """A file as the sync saw it: epoch seconds, bytes; of a corpus document also what the delta goes by."""

    mtime: float
    size: int
    ingested_at: int = 0
    date: str = ""
    authors: tuple[str, ...] = ()


class Snapshot(Struct, frozen=True, kw_only=True):
    """``folders``: every folder that was listed or is watched for new ones, with its mtime (-1: it may have changed unseen).
    ``documents`` are the corpus's, ``others`` changelog entries and what was passed over; ``links`` those that were looked
    at, and where each leads ('' for nowhere). ``heads``: the commit of each repo that dates documents; ``chroma``: what ties
    its folder to the index; ``roles``: what a sync reports that has nothing to do.
    """

    config: bytes
    index: str
    manifests: str
    sources_mtime: float
    walked_at: float
    repos: tuple[str, ...]
    folders: dict[str, float]
    documents: dict[str, Seen]
    others: dict[str, Seen]
    links: dict[str, str]
    heads: dict[str, str]
    handoffs: dict[str, ManifestEntry]
    chroma: str
    roles: dict[str, RoleReport]


def load_snapshot(root: Path, config: Config) -> Snapshot | None:
    """The snapshot, where there is one and the disk is still as it says; None where a sync has to look."""
    path = _path(root)
    try:
        data = path.read_bytes() if path.is_file() else b""
        snapshot = msgspec.msgpack.decode(data, type=Snapshot)
    except (OSError, msgspec.MsgspecError):
        return None
    return snapshot if _holds(root, config, snapshot) else None


def forget_snapshot(root: Path) -> None:
    """Before anything changes: a sync that is killed must leave none behind. Raises ``CvError`` where it can't be removed."""
    try:
        _path(root).unlink(missing_ok=True)
    except OSError as error:
        raise CvError(f"{_path(root)}: could not be removed ({error.strerror})") from error


def save_snapshot(
    root: Path,
    config: Config,
    tree: Tree,
    cards: dict[str, dict[str, ManifestEntry]],
    roles: dict[str, RoleReport],
    *,
    heads: dict[str, str],
) -> None:
    """Keep what a sync saw that left nothing to do, once its index is closed."""
    places = load_places(root)
    if places is None or tree.unreadable:
        return
    corpus, _ = cards.values()
    snapshot = Snapshot(
        config=_fingerprint(config),
        index=_stamp(index_path(root)),
        manifests=manifests_stamp(root),
        sources_mtime=places.sources_mtime,
        walked_at=places.walked_at,
        repos=tuple(places.repos),
        folders={**places.watched, **tree.folders},
        documents={path: _seen(card) for path, card in corpus.items()},
        others={
            path: Seen(file.mtime, file.size)
            for path, file in tree.files.items()
            if path not in corpus
        },
        links=tree.links,
        heads=heads,
        handoffs={p: card for p, card in corpus.items() if is_handoff(card)},
        chroma=token_of(chroma_path(root)),
        roles={role: _at_rest(report) for role, report in roles.items()},
    )
    write_atomic(_path(root), msgspec.msgpack.encode(snapshot))


def is_handoff(card: ManifestEntry) -> bool:
    """Whether a document lies below a folder ``handoffs``."""
    return card.kind.casefold() in HANDOFF_KINDS


def _seen(card: ManifestEntry) -> Seen:
    return Seen(card.mtime, card.size, card.ingested_at, card.date, card.authors)


def _at_rest(report: RoleReport) -> RoleReport:
    unchanged = report.indexed + report.updated + report.unchanged
    return replace(report, indexed=0, updated=0, removed=0, embedded=0, unchanged=unchanged)


def _holds(root: Path, config: Config, snapshot: Snapshot) -> bool:
    top, stat = f"{root}{os.sep}", os.stat
    try:
        if (
            snapshot.config != _fingerprint(config)
            or snapshot.sources_mtime != mtime_of(sources_path(root))
            or snapshot.manifests != manifests_stamp(root)
            or snapshot.index != _stamp(index_path(root))
            or snapshot.chroma != token_of(chroma_path(root))
        ):
            return False
        for path, mtime in snapshot.folders.items():
            if stat(top + path).st_mtime != mtime:
                return False
        for files in (snapshot.documents, snapshot.others):
            for path, seen in files.items():
                found = stat(top + path)
                if found.st_mtime != seen.mtime or found.st_size != seen.size:
                    return False
    except OSError:  # gone
        return False
    return all(_leads(top + path) == aim for path, aim in snapshot.links.items()) and all(
        head_commit(root / repo) == head for repo, head in snapshot.heads.items()
    )


def _leads(link: str) -> str:
    real = os.path.realpath(link)
    return real if Path(real).exists() else ""


def _fingerprint(config: Config) -> bytes:
    """The parts of the config that a sync goes by, and what wrote the index."""
    return msgspec.json.encode(
        (
            __version__,
            SCHEMA_VERSION,
            config.collections,
            config.embedding,
            config.chroma,
            config.discovery,
            config.dismissed_paths,
        )
    )


def _stamp(path: Path) -> str:
    """Size and mtime of the index: another one in its place is not the one that this was taken with."""
    stat = path.stat()
    return f"{stat.st_size} {stat.st_mtime_ns}"


def _path(root: Path) -> Path:
    return root / KIT_FOLDER / "manifests" / "snapshot.msgpack"
