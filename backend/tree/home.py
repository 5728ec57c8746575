"""The machine-wide home (``CV_HOME``): environments, the registry of senior roots, session states.

Nothing of it lies in a tree.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

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
