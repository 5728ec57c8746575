"""Digests of the synthetic organisation, made by the real catch-up room."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from backend.catchup.digest import make_digest
from backend.schemas.catchup import Digest
from backend.schemas.manifest import ManifestEntry
from backend.schemas.roles import CORPUS_ROLE
from backend.tree.window import parse_window

Cards = dict[str, dict[str, ManifestEntry]]
NOW = datetime(2026, 6, 15, 9, 30, tzinfo=UTC)


@pytest.fixture
def digest() -> Digest:
    """Two months of the whole organisation."""
    path = Path(__file__).parents[1] / "catchup" / "organisation.json"
    cards = msgspec.json.decode(path.read_bytes(), type=Cards)
    return make_digest(cards, parse_window("2m", NOW))


@pytest.fixture
def crowd_digest() -> Callable[..., Digest]:
    """Make the digest of so many documents, over four repos, seven tags and five months."""

    def make(count: int, max_files: int = 50) -> Digest:
        entries = {}
        for n in range(count):
            day = date(2026, 6, 15) - timedelta(days=n % 150)
            moment = int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())
            entries[f"repo-{n % 4}/context-v/specs/Doc-{n:04d}.md"] = ManifestEntry(
                mtime=float(moment),
                size=10,
                ingested_at=moment,
                hash="h",
                chunks=1,
                repo=f"repo-{n % 4}",
                kind="specs",
                title=f"Document {n}",
                date=day.isoformat(),
                modified_at=moment,
                date_from="document",
                lede=f"What document {n} is about, in a sentence that takes some room.",
                tags=(f"Topic {n % 7}",),
                authors=(f"Author {n % 3}",),
            )
        return make_digest({CORPUS_ROLE: entries}, parse_window("6m", NOW), max_files=max_files)

    return make
