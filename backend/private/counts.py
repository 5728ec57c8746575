"""How much the private collections hold, for ``cv status``. Nothing here reads a transcript, or leads to it."""

from __future__ import annotations

from pathlib import Path

from backend.private.ledger import Ledger
from backend.private.places import require_plain
from backend.schemas.private import PRIVATE_ROLES


def counts(root: Path) -> dict[str, int]:
    """The number of documents of each private role; empty where nothing was ever taken in. Raises ``CvError`` for a damaged
    ledger, and for a folder that is a link.
    """
    require_plain(root)
    ledger = Ledger.for_reading(root)
    if ledger is None:
        return {}
    with ledger:
        return {role: ledger.count(role) for role in PRIVATE_ROLES}
