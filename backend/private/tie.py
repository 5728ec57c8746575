"""What ties the private Chroma folder to the ledger that filled it."""

from __future__ import annotations

from pathlib import Path

from backend.freshness import tie
from backend.private.ledger import Ledger
from backend.private.places import private_chroma
from backend.schemas.config import Config
from backend.schemas.private import PRIVATE_ROLES


def tie_folder(root: Path, config: Config, ledger: Ledger) -> None:
    """The folder holds what the ledger says, from now on."""
    token = tie.new_token()
    tie.tie(private_chroma(root), token)
    with ledger.transaction():
        ledger.set_fact("names", tie.names(config, PRIVATE_ROLES))
        ledger.set_fact("chroma", token)


def in_line(root: Path, config: Config, ledger: Ledger) -> bool:
    """Whether the folder is the one that the ledger knows, under the collections' names of the config."""
    return tie.in_line(private_chroma(root), config, PRIVATE_ROLES, ledger.fact)
