"""What ties the private Chroma folder to the ledger that filled it."""

from __future__ import annotations

import uuid
from pathlib import Path

from backend.private.ledger import Ledger
from backend.private.places import private_chroma
from backend.schemas.config import Config
from backend.schemas.private import PRIVATE_ROLES

_TOKEN_FILE = "context-vigilance.txt"


def tie(root: Path, config: Config, ledger: Ledger) -> None:
    """The folder holds what the ledger says, from now on."""
    token = uuid.uuid4().hex
    (private_chroma(root) / _TOKEN_FILE).write_text(token)
    with ledger.transaction():
        ledger.set_fact("names", _names(config))
        ledger.set_fact("chroma", token)


def in_line(root: Path, config: Config, ledger: Ledger) -> bool:
    """Whether the folder is the one that the ledger knows, under the collections' names of the config."""
    token = ledger.fact("chroma")
    try:
        tied = (private_chroma(root) / _TOKEN_FILE).read_text()
    except OSError:
        return False
    return token == tied != "" and ledger.fact("names") == _names(config)


def _names(config: Config) -> str:
    """How the config calls the collections; a name holds no blank."""
    return " ".join(getattr(config.collections, role.replace("-", "_")) for role in PRIVATE_ROLES)
