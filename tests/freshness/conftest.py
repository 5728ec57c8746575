"""What the tests of this room share: a senior root that is synced, and what Chroma, index and manifests then hold."""

from __future__ import annotations

import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace
from organisation import KIT, Organisation

from backend.freshness.manifest import load_cards
from backend.freshness.places import passed_over_path
from backend.freshness.status import pending
from backend.freshness.sync import Options, sync
from backend.schemas.manifest import PassedOver
from backend.schemas.roles import CORPUS_ROLE, ROLES
from backend.schemas.sync import RoleReport, SyncReport
from backend.tree.config import create_config, load_config

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


class Site(Organisation):
    """An organisation that is set up. Every sync through it checks that no source file was touched."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        if not (root / KIT / "config.json").exists():
            create_config(root)

    @property
    def kit(self) -> Path:
        return self.root / KIT

    def sync(self, *, now: datetime = NOW, **options: Any) -> SyncReport:
        before = self.fingerprint()
        config = load_config(self.root)
        report = sync(self.root, config, now=now, options=Options(**options))
        assert self.fingerprint() == before, "a sync must not touch a source file"
        return report

    # --- what is in the store ----------------------------------------------------------------------------------------

    def records(self) -> dict[str, dict[str, tuple[str, dict[str, Any], tuple[float, ...]]]]:
        """Give all that Chroma holds: collection -> id -> (text, metadata, vector)."""
        import chromadb
        from chromadb.api.shared_system_client import SharedSystemClient

        SharedSystemClient.clear_system_cache()
        try:
            client = chromadb.PersistentClient(str(self.kit / "chroma"))
            found = {}
            for collection in client.list_collections():
                rows = collection.get(include=["documents", "metadatas", "embeddings"])
                found[collection.name] = {
                    chroma_id: (text, metadata, tuple(float(x) for x in vector))
                    for chroma_id, text, metadata, vector in zip(
                        rows["ids"],
                        rows["documents"],
                        rows["metadatas"],
                        rows["embeddings"],
                        strict=True,
                    )
                }
            return found
        finally:
            SharedSystemClient.clear_system_cache()

    def chunks(self, role: str = CORPUS_ROLE) -> dict[str, int]:
        """Give the number of chunks per source path, by reading Chroma's collection."""
        collection = load_config(self.root).collections.of(role)
        rows = self.records().get(collection, {}).values()
        return dict(
            sorted(Counter(str(metadata["source_path"]) for _, metadata, _ in rows).items())
        )

    def cards(self, role: str = CORPUS_ROLE) -> dict[str, Any]:
        return load_cards(self.root, role)

    def passed_over(self) -> dict[str, str]:
        """Give path -> reason of the files that are deliberately not in the store, ``copy of PATH`` for copies."""
        entries = msgspec.json.decode(
            passed_over_path(self.root).read_bytes(), type=dict[str, PassedOver]
        )
        return {
            path: f"copy of {e.copy_of}" if e.copy_of else e.reason for path, e in entries.items()
        }

    def check(self) -> None:
        """Chroma, index and manifests hold the same, each is sound, and nothing is left to do."""
        index = sqlite3.connect(self.kit / "index.sqlite")
        assert index.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert index.execute("SELECT count(*) FROM to_drop").fetchone() == (0,)
        assert index.execute("SELECT count(*) FROM to_mirror").fetchone() == (0,)
        chunks = {
            name: (text, np.frombuffer(vector, np.float32))
            for name, text, vector in index.execute(
                "SELECT chroma_id, text, data FROM chunk LEFT JOIN vector USING (text_hash)"
            )
        }
        unused = index.execute(
            "SELECT count(*) FROM vector WHERE text_hash NOT IN (SELECT text_hash FROM chunk)"
        )
        assert unused.fetchone() == (0,), "vectors of text that is gone"
        words = {row[0] for row in index.execute("SELECT document FROM bag")}
        assert words == {row[0] for row in index.execute("SELECT id FROM document")}
        index.close()
        chroma = sqlite3.connect(self.kit / "chroma/chroma.sqlite3")
        assert chroma.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        chroma.close()
        records = self.records()
        held = {name: record for rows in records.values() for name, record in rows.items()}
        assert held.keys() == chunks.keys(), "Chroma holds other chunks than the index"
        for name, (text, vector) in chunks.items():
            assert held[name][0] == text
            assert np.allclose(held[name][2], vector, atol=1e-4), f"{name} has another vector"
        for role in ROLES:
            cards = {path: card.chunks for path, card in self.cards(role).items()}
            assert cards == self.chunks(role), (
                f"the manifest of {role} says other chunks than Chroma holds"
            )
        waiting = pending(self.root, load_config(self.root))
        assert all(not (p.new or p.changed or p.gone) for p in waiting.values()), waiting

    def check_against_clean_build(self, folder: Path) -> None:
        """The store is the one that a first sync of the same tree makes: ids, texts, metadata and vectors."""
        shutil.rmtree(folder, ignore_errors=True)
        ignore = shutil.ignore_patterns("chroma", "manifests", "index.sqlite*", "*.lock")
        shutil.copytree(self.root, folder / self.root.name, symlinks=True, ignore=ignore)
        clean = Site(folder / self.root.name)
        clean.sync()
        assert differences(self.records(), clean.records()) == []
        for role in ROLES:
            assert _undated(self.cards(role)) == _undated(clean.cards(role))
        assert self.passed_over() == clean.passed_over()


def _undated(cards: dict[str, Any]) -> dict[str, Any]:
    return {path: replace(card, ingested_at=0) for path, card in cards.items()}


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Name the records in which two readings of Chroma differ; empty when they are the same store.

    Empty fields don't count, nor the moment of ingest (the real command line takes it from the clock), nor the last bit of
    a vector: what is in Chroma's log comes back as it was given, what is in its graph with its length made 1 again.
    """
    import numpy as np

    found = [name for name in before.keys() ^ after.keys()]
    for name in before.keys() & after.keys():
        found += before[name].keys() ^ after[name].keys()
        for chroma_id in before[name].keys() & after[name].keys():
            one, other = before[name][chroma_id], after[name][chroma_id]
            alike = one[0] == other[0] and _fields(one[1]) == _fields(other[1])
            if not (alike and np.allclose(one[2], other[2], atol=1e-6)):
                found.append(chroma_id)
    return sorted(found)


def _fields(metadata: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in metadata.items() if v is not None and k != "ingested_at"}


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """An empty senior root, set up; the path has a blank and a letter beyond ASCII."""
    return Site(tmp_path / "wörk tree")


@pytest.fixture
def counts() -> Callable[..., tuple[int, ...]]:
    """Give (indexed, updated, unchanged, removed, failed, embedded) of a report; of both roles unless one is named."""

    def count(report: SyncReport, role: str | None = None) -> tuple[int, ...]:
        parts: list[RoleReport] = [report.roles[role]] if role else list(report.roles.values())
        rows = [
            (p.indexed, p.updated, p.unchanged, p.removed, len(p.failed), p.embedded) for p in parts
        ]
        return tuple(sum(column) for column in zip(*rows, strict=True))

    return count


@pytest.fixture
def same() -> Callable[[Any, Any], bool]:
    """Give a function that says whether two readings of Chroma are the same store."""
    return lambda before, after: differences(before, after) == []
