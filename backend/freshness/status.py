"""How index and disk compare, without changing either."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from msgspec import Struct

from backend.freshness.changes import out_of_sight
from backend.freshness.embedder import embedder_name
from backend.freshness.manifest import Stamp, load_cards, load_stamps
from backend.freshness.places import chroma_path, index_path
from backend.schemas import ROLES, Config, RoleStatus, Status
from backend.tree.config import unknown_keys
from backend.tree.discovery import discover
from backend.tree.root import applicability
from backend.tree.sources import choices, load_sources


class Pending(Struct, frozen=True):
    """Files that the next sync would read or remove, by path."""

    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()


def pending(
    root: Path, config: Config, *, now: datetime, roles: tuple[str, ...] = ROLES
) -> dict[str, Pending]:
    """For each role, how the disk differs from what the last sync saw. Raises ``CvError`` when ``sources.md`` is broken."""
    tree = discover(root, config, choices(load_sources(root)))
    stamps = load_stamps(root)
    found = {}
    for role in roles:
        files = {
            path: Stamp(file.mtime, file.size)
            for path, file in tree.files.items()
            if file.role == role
        }
        known = {path for path in load_cards(root, role)}
        found[role] = Pending(
            new=tuple(sorted(path for path in files if path not in stamps)),
            changed=tuple(
                sorted(
                    path
                    for path, stamp in files.items()
                    if path in stamps and stamps[path] != stamp
                )
            ),
            gone=tuple(
                sorted(
                    path for path in known - files.keys() if not out_of_sight(path, tree.unreadable)
                )
            ),
        )
    return found


def make_status(root: Path, config: Config, *, folder: Path, now: datetime) -> Status:
    """The status of ``root`` as seen from ``folder``."""
    applies = applicability(folder, root, config)
    behind = pending(root, config, now=now)
    roles = {}
    for role in ROLES:
        cards = load_cards(root, role)
        waiting = behind[role]
        roles[role] = RoleStatus(
            collection=getattr(config.collections, role.replace("-", "_")),
            documents=len(cards),
            chunks=sum(card.chunks for card in cards.values()),
            behind=len(waiting.new) + len(waiting.changed) + len(waiting.gone),
        )
    last = config.last_session_at
    return Status(
        senior_root=str(root),
        applicable=applies.applicable,
        reason=applies.reason,
        roles=roles,
        last_session_at=last.isoformat() if last else None,
        nudge=config.nudge,
        embedder=embedder_name(config.embedding),
        store_bytes=_bytes(index_path(root).parent.glob("index.sqlite*"))
        + _bytes(chroma_path(root).rglob("*")),
        notes=tuple(
            f"config.json: unknown key {key}; kept, without effect" for key in unknown_keys(root)
        ),
    )


def _bytes(paths: object) -> int:
    return sum(path.stat().st_size for path in paths if path.is_file())  # type: ignore[attr-defined]
