"""What every hook begins with: the tree that its folder lies in, if the kit applies there."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from backend.schemas.config import Config
from backend.session.event import Event
from backend.session.journal import Journal
from backend.tree.config import ConfigError, load_config
from backend.tree.root import applicability, find_root


class Opened(NamedTuple):
    """The tree at hand."""

    root: Path
    config: Config
    journal: Journal


def open_tree(
    event: Event,
    name: str,
    *,
    started: float,
    verbose: bool,
    journal: list[Journal],
    keeps_record: bool,
) -> Opened | None:
    """The tree of ``event``; None where the kit does not apply. ``journal`` receives the run's as soon as there is a tree, so
    that a failure from then on is noted. Raises ``ConfigError`` for a broken config, but not in a folder that is dismissed.
    """
    folder = Path(event.cwd)
    root = find_root(folder)
    if root is None:
        return None
    own = Journal(root, name, started=started, log=verbose, keeps_record=keeps_record)
    journal.append(own)
    try:
        config = load_config(root)
    except ConfigError:
        if not applicability(folder, root, _readable(root)).applicable:
            return None
        raise
    own.log = verbose or config.log == "on"
    if not applicability(folder, root, config).applicable:
        return None
    return Opened(root, config, own)


def _readable(root: Path) -> Config:
    """What can be read of a broken config: a folder that it leaves out is not spoken to for its sake."""
    from backend.tree.config_faults import check_config

    try:
        return check_config(root).config
    except ConfigError:
        return Config(senior_root=str(root))
