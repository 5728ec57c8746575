"""How index and disk compare, without changing either."""

from __future__ import annotations

import os
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from backend.freshness.changes import Noted, differences
from backend.freshness.embedder import embedder_name
from backend.freshness.guarded import address
from backend.freshness.index import Index, is_readable
from backend.freshness.manifest import load_all_cards, load_passed_over_stamps, load_role_stamps
from backend.freshness.places import chroma_path, index_path
from backend.freshness.renewal import standing
from backend.schemas.config import Config
from backend.schemas.manifest import ManifestEntry
from backend.schemas.roles import ROLES
from backend.schemas.status import RepoBehind, RoleStatus, Status
from backend.schemas.sync import Failure
from backend.tree.config_edits import unknown_keys
from backend.tree.found import FoundFile, Tree
from backend.tree.home import is_approved
from backend.tree.root import applicability
from backend.tree.sources import choices, load_sources
from backend.tree.walk import discover

_SUPERSEDED = re.compile(r"\bsuperseded\b", re.IGNORECASE)


class Pending(Struct, frozen=True):
    """Files that the next sync would read or remove, by path."""

    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.new) + len(self.changed) + len(self.gone)


def pending(root: Path, config: Config, *, roles: tuple[str, ...] = ROLES) -> dict[str, Pending]:
    """For each role, how the disk differs from what the last sync saw. Raises ``CvError`` when ``sources.md`` is broken."""
    return compare(root, discover(root, config, choices(load_sources(root))), roles)


def compare(root: Path, tree: Tree, roles: tuple[str, ...] = ROLES) -> dict[str, Pending]:
    """For each role, how ``tree`` differs from what the last sync saw."""
    documents = {role: load_role_stamps(root, role) for role in ROLES}
    noted = {
        path: Noted(stamp.role, stamp.mtime, stamp.size)
        for path, stamp in load_passed_over_stamps(root).items()
    }
    for role, stamps in documents.items():
        noted |= {path: Noted(role, s.mtime, s.size, s.repo) for path, s in stamps.items()}
    found = differences(tree, noted, roles)

    def of(role: str, files: Iterable[FoundFile]) -> tuple[str, ...]:
        return tuple(sorted(file.path for file in files if file.role == role))

    return {
        role: Pending(
            new=of(role, found.new),
            changed=of(role, found.changed),
            gone=tuple(path for path in found.gone if path in documents[role]),
        )
        for role in roles
    }


def make_status(root: Path, config: Config, *, folder: Path) -> Status:
    """The status of ``root`` as seen from ``folder``; what the hooks did is for others to add. Raises ``CvError`` when
    ``sources.md`` is broken.
    """
    applies = applicability(folder, root, config)
    tree = discover(root, config, choices(load_sources(root)))
    behind = compare(root, tree)
    cards = load_all_cards(root)
    superseded, notes = _from_index(root, config, indexed=any(cards.values()))
    last = config.last_session_at
    return Status(
        senior_root=str(root),
        applicable=applies.applicable,
        reason=applies.reason,
        roles={
            role: RoleStatus(
                collection=config.collections.of(role),
                documents=len(cards[role]),
                chunks=sum(card.chunks for card in cards[role].values()),
                behind=len(behind[role]),
            )
            for role in ROLES
        },
        last_session_at=last.isoformat() if last else None,
        nudge=config.nudge,
        embedder=embedder_name(config.embedding),
        store_bytes=_bytes(index_path(root).parent.glob("index.sqlite*"))
        + _bytes(Path(f, name) for f, _, names in os.walk(chroma_path(root)) for name in names),
        repos=_by_repo(tree, cards, behind),
        documents=_by_status(cards),
        superseded=tuple(superseded),
        failed=tuple(unreadable(root, tree, behind)),
        server=_server(root, config),
        notes=(
            *(
                f"config.json: unknown key {key}; kept, without effect"
                for key in unknown_keys(root)
            ),
            *notes,
        ),
    )


def _from_index(root: Path, config: Config, *, indexed: bool) -> tuple[list[str], list[str]]:
    """What only the index knows: the documents of ``superseded_alone``, and notes. ``indexed``: by the manifests there must be
    one.
    """
    try:
        superseded, unfinished = superseded_alone(root), standing(root, config)
        readable = not indexed or is_readable(root)
    except (sqlite3.DatabaseError, msgspec.MsgspecError):
        superseded, unfinished, readable = [], None, False
    notes = [str(unfinished)] if unfinished else []
    if not readable:
        notes.append(
            "the index is missing, damaged, or of another version: the next sync or question makes it again from your documents"
        )
    return superseded, notes


def _server(root: Path, config: Config) -> str:
    """The server that Chroma runs on, and what there is to know of it without asking it."""
    chroma = config.chroma
    if chroma.mode == "persistent":
        return ""
    if not is_approved(root, chroma):
        return f"{address(chroma)}, not used: nobody on this machine has chosen it"
    index = Index.for_reading(index_path(root))
    if index is None:
        return address(chroma)
    waiting = 0
    with index, suppress(sqlite3.DatabaseError):  # damaged, which a note says
        waiting = len(index.notes.to_mirror())
    return address(chroma) + (f", still to be told of documents: {waiting}" if waiting else "")


def unreadable(root: Path, tree: Tree, behind: Mapping[str, Pending]) -> list[Failure]:
    """Of the files that the next sync would read, those that it can't: a failed file stays among them, since nothing is noted
    of it. Also the folders that can't be listed.
    """
    from backend.freshness.intake import LARGEST_FILE

    failed = [Failure(path or ".", "the folder can't be read") for path in tree.unreadable]
    for part in behind.values():
        for path in (*part.new, *part.changed):
            if tree.files[path].size > LARGEST_FILE:
                failed.append(Failure(path, f"larger than {LARGEST_FILE // 1024**2} MB"))
                continue
            try:
                with (root / path).open("rb"):
                    pass
            except FileNotFoundError:
                continue  # gone since the walk
            except OSError as error:
                failed.append(Failure(path, error.strerror or str(error)))
    return failed


def superseded_alone(root: Path) -> list[str]:
    """Documents whose status says superseded while no document of the index is named as what took their place, neither by
    themselves nor by that document (``supersedes``). By path; nothing where there is no index yet.
    """
    index = Index.for_reading(index_path(root))
    if index is None:
        return []
    with index:
        rows = index.db.execute("SELECT path, entry, fields FROM document ORDER BY path").fetchall()
    decode = msgspec.json.decode
    fields = {path: decode(data) for path, _, data in rows}
    stems = {_stem(path) for path in fields}
    taken = {_stem(name) for each in fields.values() for name in each["fm_supersedes"] or ()}
    return [
        path
        for path, entry, _ in rows
        if _SUPERSEDED.search(decode(entry, type=ManifestEntry).status)
        and _stem(path) not in taken
        and not any(_stem(name) in stems for name in fields[path]["fm_superseded_by"] or ())
    ]


def _stem(name: str) -> str:
    """The file name that a path or a link says, folded and without ``.md``: what links are resolved by in the last resort."""
    name = name.strip("[] ").partition("|")[0].partition("#")[0]
    return name.rsplit("/", 1)[-1].casefold().removesuffix(".md")


def _by_repo(
    tree: Tree, cards: Mapping[str, Mapping[str, ManifestEntry]], behind: Mapping[str, Pending]
) -> dict[str, RepoBehind]:
    counts: dict[str, Counter[str]] = {}
    for role, part in behind.items():
        for word, paths in (("changed", part.changed), ("new", part.new), ("gone", part.gone)):
            for path in paths:
                repo = tree.files[path].repo if path in tree.files else cards[role][path].repo
                counts.setdefault(repo, Counter())[word] += 1
    return {repo: RepoBehind(**counts[repo]) for repo in sorted(counts)}


def _by_status(cards: Mapping[str, Mapping[str, ManifestEntry]]) -> dict[str, int]:
    spellings: dict[str, Counter[str]] = {}
    for part in cards.values():
        for card in part.values():
            spellings.setdefault(card.status.casefold(), Counter())[card.status] += 1
    most = sorted(spellings, key=lambda folded: (-spellings[folded].total(), folded))
    return {spellings[f].most_common(1)[0][0]: spellings[f].total() for f in most}


def _bytes(paths: Iterable[Path]) -> int:
    total = 0
    for path in paths:
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:  # gone since it was listed: a sync is at work
            continue
    return total
