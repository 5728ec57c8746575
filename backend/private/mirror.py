"""Bringing the private Chroma folder in line with the ledger.

The fact ``chroma`` names the folder that holds what the ledger says. It is taken back before anything is written and given
again at the end, so that after a kill, a repair or an erasure the folder is thrown away and filled anew: a minute at worst,
and no state in between has to be understood. Erased text is then in no file, whatever Chroma keeps in its logs and pages.
"""

from __future__ import annotations

from pathlib import Path

from backend.freshness.mirror import Progress
from backend.freshness.records import LocalStore, StoreError
from backend.freshness.store import discard, writing
from backend.private.ledger import Ledger
from backend.private.places import PRIVATE_KIT, local, private_chroma
from backend.private.stored import vector_of
from backend.private.tie import in_line, tie_folder
from backend.schemas.config import Config
from backend.schemas.private import PRIVATE_ROLES

BATCH = 500
"""Documents in one upsert: with texts of up to 20,000 characters some megabytes."""


def mirror(root: Path, config: Config, ledger: Ledger, progress: Progress) -> None:
    """Tell Chroma what the ledger has for it. Raises ``StoreError``, ``Busy``; the next run then makes the folder anew."""
    config = local(config)
    if ledger.empty():
        if private_chroma(root).exists():
            discard(root, kit=PRIVATE_KIT)
        return
    whole = in_line(root, config, ledger)
    if whole and not ledger.to_do():
        return
    ledger.set_fact("chroma", "")
    if whole:
        try:
            _add(root, config, ledger, progress)
        except StoreError:
            whole = False
    if not whole:
        _make_anew(root, config, ledger, progress)
    tie_folder(root, config, ledger)


def _add(root: Path, config: Config, ledger: Ledger, progress: Progress) -> None:
    with writing(root, config, erase=False, kit=PRIVATE_KIT) as store:
        _apply(store, ledger, progress)
        for role in PRIVATE_ROLES:
            if store.count(role) != ledger.count(role):
                raise StoreError("it did not hold what it should")
        store.settle(PRIVATE_ROLES)


def _make_anew(root: Path, config: Config, ledger: Ledger, progress: Progress) -> None:
    discard(root, kit=PRIVATE_KIT)
    with ledger.transaction():
        ledger.mirror_everything()
    with writing(root, config, erase=False, kit=PRIVATE_KIT) as store:
        for role in PRIVATE_ROLES:
            store.add(role)
        _apply(store, ledger, progress)
        store.be_steady(PRIVATE_ROLES)
    with writing(root, config, erase=True, kit=PRIVATE_KIT) as store:
        store.purge(PRIVATE_ROLES)
        store.settle(PRIVATE_ROLES)


def _apply(store: LocalStore, ledger: Ledger, progress: Progress) -> None:
    import numpy as np

    total = int(ledger.db.execute("SELECT count(*) FROM to_mirror").fetchone()[0])
    done = 0
    while batch := ledger.to_mirror(BATCH):
        for role in PRIVATE_ROLES:
            if rows := [document for document in batch if document.role == role]:
                store.upsert(
                    role,
                    [document.id for document in rows],
                    [document.text for document in rows],
                    np.stack([vector_of(document) for document in rows]),
                    [document.metadata for document in rows],
                )
        with ledger.transaction():
            ledger.mirrored(batch)
        done += len(batch)
        progress(done, total)
