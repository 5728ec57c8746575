"""A synthetic organisation as its manifests tell of it, and crowds of documents made on request."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import msgspec
import pytest

from backend.schemas.manifest import ManifestEntry
from backend.schemas.roles import CORPUS_ROLE

Cards = dict[str, dict[str, ManifestEntry]]


@pytest.fixture
def now() -> datetime:
    """A Monday morning in Vienna."""
    return datetime(2026, 6, 15, 9, 30, tzinfo=ZoneInfo("Europe/Vienna"))


@pytest.fixture
def cards() -> Cards:
    """Harbour, orchard, mill and the root's own documents, with every oddity a digest can meet."""
    path = Path(__file__).parent / "organisation.json"
    return msgspec.json.decode(path.read_bytes(), type=Cards)


@pytest.fixture
def card() -> Callable[..., ManifestEntry]:
    """Make one card; fields by name."""

    def make(day: str = "2026-06-10", **fields: object) -> ManifestEntry:
        moment = datetime.fromisoformat(day[:10]).replace(tzinfo=UTC).timestamp()
        plain: dict[str, object] = {
            "mtime": moment,
            "size": 10,
            "ingested_at": int(moment),
            "hash": "h",
            "chunks": 1,
            "repo": "harbour",
            "kind": "specs",
            "title": "A title",
            "date": day,
            "modified_at": int(moment),
            "date_from": "document",
        }
        return msgspec.convert(plain | fields, ManifestEntry)

    return make


@pytest.fixture
def crowd(card: Callable[..., ManifestEntry]) -> Callable[[int], Cards]:
    """Make a number of documents over four repos and seven tags, one or more a day back in time."""

    def make(count: int) -> Cards:
        last = date(2026, 6, 15)
        return {
            CORPUS_ROLE: {
                f"repo-{n % 4}/context-v/specs/Doc-{n:04d}.md": card(
                    (last - timedelta(days=n % 150)).isoformat(),
                    repo=f"repo-{n % 4}",
                    title=f"Document {n}",
                    lede=f"What document {n} is about.",
                    tags=(f"Topic {n % 7}",),
                )
                for n in range(count)
            }
        }

    return make
