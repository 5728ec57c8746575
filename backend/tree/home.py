"""The machine-wide home (``CV_HOME``): environments, the registry of senior roots, session states.

Nothing of it lies in a tree.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from backend.schemas.config import Embedding
from backend.tree.files import write_if_changed


def cv_home() -> Path:
    """The folder of all machine-wide state: ``CV_HOME``, else the platform's per-user data folder."""
    if home := os.environ.get("CV_HOME"):
        return Path(home)
    from platformdirs import user_data_dir

    return Path(user_data_dir("context-vigilance", appauthor=False))


def registered_roots() -> list[Path]:
    """The senior roots that were set up on this machine, oldest first; an unreadable registry counts as empty."""
    try:
        names = msgspec.json.decode((cv_home() / "roots.json").read_bytes(), type=list[str])
    except (OSError, msgspec.MsgspecError):
        return []
    return [Path(name) for name in names]


def register_root(root: Path) -> None:
    """Remember ``root`` for ``cv list-roots``; a second time changes nothing."""
    known = [str(path) for path in registered_roots()]
    if str(root) not in known:
        known.append(str(root))
        write_if_changed(cv_home() / "roots.json", msgspec.json.format(msgspec.json.encode(known)))


def approve_embedding(root: Path, embedding: Embedding) -> None:
    """Remember that a person on this machine chose ``embedding`` for ``root``, exactly as it is."""
    approved = _approved() | {str(root): embedding}
    write_if_changed(_approved_path(), msgspec.json.format(msgspec.json.encode(approved)))


def is_approved(root: Path, embedding: Embedding) -> bool:
    """Whether ``embedding`` may be used: it works on this machine alone, or a person here chose it for ``root``.

    A config can come with a cloned tree, and an embedder can be a server that documents and a key are sent to.
    """
    return embedding.name in ("static", "minilm") or _approved().get(str(root)) == embedding


def _approved() -> dict[str, Embedding]:
    try:
        return msgspec.json.decode(_approved_path().read_bytes(), type=dict[str, Embedding])
    except (OSError, msgspec.MsgspecError):
        return {}


def _approved_path() -> Path:
    return cv_home() / "embedders.json"
