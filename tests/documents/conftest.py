"""What the tests of this room share: a reader with a fixed moment, so that no test depends on today."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from backend.documents.document import read_document
from backend.schemas.document import Document
from backend.schemas.roles import CHANGELOG_ROLE, CORPUS_ROLE

NOW = datetime(2026, 8, 20, 10, 0, tzinfo=UTC)


@pytest.fixture(scope="session")
def now() -> datetime:
    """Give the moment at which the tests of this room are said to run: 20 August 2026, 10:00 UTC."""
    return NOW


@pytest.fixture(scope="session")
def read() -> Callable[..., Document]:
    """Give a function (text or bytes, path) -> Document; the role follows from the path, as in a tree."""

    def reader(data: bytes | str, path: str = "garden/context-v/specs/Hedge.md") -> Document:
        raw = data.encode() if isinstance(data, str) else data
        role = CHANGELOG_ROLE if "changelog" in path else CORPUS_ROLE
        return read_document(raw, path, role=role, now=NOW)

    return reader
