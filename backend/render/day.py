"""A document's day as people and agent read it: marked where it is not the document's own."""

from __future__ import annotations

from backend.schemas.document import DateFrom

_SOFT = {"git": " (git)", "ingest": " (indexed)"}


def marked_day(day: str, date_from: DateFrom) -> str:
    """Return ``day``, marked where it is git's or that of the first indexing; nothing for a document without one."""
    return day + _SOFT.get(date_from, "") if day else ""
