"""``manifests/<role>.json``: what is in the store, with a card of each document.

Written from the index; read by the hook and the digest.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec.structs import replace

from backend.freshness.places import manifest_path, passed_over_path
from backend.schemas.manifest import ManifestEntry
from backend.schemas.roles import ROLES
from backend.tree.files import write_if_changed

if TYPE_CHECKING:
    from backend.freshness.index import Index

T = TypeVar("T")


class Stamp(msgspec.Struct, frozen=True):
    """The part of a manifest's entry that tells whether its file has changed: a document's has the ``repo``, that of a file that
    was passed over the ``role``.
    """

    mtime: float
    size: int
    repo: str = ""
    role: str = ""


def load_cards(root: Path, role: str) -> dict[str, ManifestEntry]:
    """The manifest of ``role``: path to entry. Empty where there is none yet, or where it cannot be read."""
    return _load(manifest_path(root, role), ManifestEntry)


def load_all_cards(root: Path) -> dict[str, dict[str, ManifestEntry]]:
    """The manifests of both roles, by role."""
    return {role: load_cards(root, role) for role in ROLES}


def load_stamps(root: Path) -> dict[str, Stamp]:
    """Stamps of every file that the index has dealt with; nothing else of the manifests is decoded."""
    stamps: dict[str, Stamp] = {}
    for role in ROLES:
        stamps |= load_role_stamps(root, role)
    return stamps | load_passed_over_stamps(root)


def load_role_stamps(root: Path, role: str) -> dict[str, Stamp]:
    """Stamps of the documents of one role."""
    return _load(manifest_path(root, role), Stamp)


def load_passed_over_stamps(root: Path) -> dict[str, Stamp]:
    """Stamps of the files that were read and deliberately not indexed."""
    return _load(passed_over_path(root), Stamp)


def write_manifests(root: Path, index: Index) -> None:
    """Write the manifests anew from ``index``: the documents that Chroma has, nothing that it still lacks."""
    unfinished = index.notes.unfinished()
    copies = index.all_copies()
    for role in ROLES:
        lines = []
        for path, entry in index.entries(role):
            if path in unfinished:
                continue
            if path in copies:
                card = msgspec.json.decode(entry, type=ManifestEntry)
                entry = msgspec.json.encode(replace(card, copies=tuple(copies[path])))
            lines.append(msgspec.json.encode(path) + b": " + entry)
        write_if_changed(manifest_path(root, role), b"{\n" + b",\n".join(lines) + b"\n}\n")
    passed = index.passed_over()
    lines = [
        msgspec.json.encode(path) + b": " + msgspec.json.encode(passed[path])
        for path in sorted(passed)
    ]
    write_if_changed(passed_over_path(root), b"{\n" + b",\n".join(lines) + b"\n}\n")


def manifests_stamp(root: Path) -> str:
    """What tells that the manifests are those that were written: size and mtime of each, '' for one that is missing."""
    stamps = []
    for path in (*(manifest_path(root, role) for role in ROLES), passed_over_path(root)):
        try:
            stat = path.stat()
        except OSError:
            stamps.append("")
        else:
            stamps.append(f"{stat.st_size} {stat.st_mtime_ns}")
    return ", ".join(stamps)


def _load(path: Path, entry: type[T]) -> dict[str, T]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, entry])  # type: ignore[valid-type]
    except (OSError, msgspec.MsgspecError):
        return {}
