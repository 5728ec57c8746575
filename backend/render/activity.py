"""The picture of activity: how many files moved when, as bars per repo."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import date, timedelta
from typing import NamedTuple

from backend.render.counts import counted
from backend.schemas.catchup import Digest

MOST_BARS = 62  # side by side on a phone they are still some four pixels wide
MOST_REPOS = 20  # the least active ones beyond share a row
HEIGHT = 28  # units of the drawing; the page scales it
_LEAST_HEIGHT = 3.0  # so that one file beside fifty is still seen
_SIZES = ((1, "day"), (7, "week"), (30, "30 days"), (91, "quarter"), (365, "year"))


class Bar(NamedTuple):
    """One column: place and size in the drawing, and what a pointer over it reads."""

    x: int
    y: float
    height: float
    label: str


class Row(NamedTuple):
    """A repo's bars, its number of files and the busiest stretch in words."""

    repo: str
    total: int
    bars: tuple[Bar, ...]
    summary: str


class Activity(NamedTuple):
    """All rows on one scale. ``bars``: the width in columns, ``unit``: what a column stands for."""

    since: str
    until: str
    unit: str
    bars: int
    rows: tuple[Row, ...]


def draw_activity(digest: Digest) -> Activity | None:
    """Lay out the bars, the most active repo first; ``None`` when nothing happened."""
    if not digest.activity:
        return None
    until = date.fromisoformat(digest.until)
    first = min(day for days in digest.activity.values() for day in days)
    # A window that opens long before its first file would be mostly empty.
    since = max(date.fromisoformat(digest.since), date.fromisoformat(first) - timedelta(days=30))
    size, unit = _column((until - since).days + 1)
    columns = -(-((until - since).days + 1) // size)
    counts = {
        repo: _count(days, until, size, columns) for repo, days in _most_active(digest).items()
    }
    highest = max(max(bins.values()) for bins in counts.values())
    rows = tuple(_row(repo, bins, highest, until, size, columns) for repo, bins in counts.items())
    return Activity(since.isoformat(), digest.until, unit, columns, rows)


def _column(days: int) -> tuple[int, str]:
    for size, unit in _SIZES:
        if days <= size * MOST_BARS:
            return size, unit
    size = -(-days // MOST_BARS)
    return size, f"{size} days"


def _most_active(digest: Digest) -> dict[str, Mapping[str, int]]:
    order = sorted(digest.activity, key=lambda repo: (-sum(digest.activity[repo].values()), repo))
    if len(order) <= MOST_REPOS:
        return {repo: digest.activity[repo] for repo in order}
    rows: dict[str, Mapping[str, int]] = {
        repo: digest.activity[repo] for repo in order[: MOST_REPOS - 1]
    }
    rest: Counter[str] = Counter()
    for repo in order[MOST_REPOS - 1 :]:
        rest.update(digest.activity[repo])
    rows[f"{len(order) - MOST_REPOS + 1} more repos"] = rest
    return rows


def _count(days: Mapping[str, int], until: date, size: int, columns: int) -> Counter[int]:
    bins: Counter[int] = Counter()
    for day, count in days.items():
        bins[columns - 1 - (until - date.fromisoformat(day)).days // size] += count
    return bins


def _row(repo: str, bins: Counter[int], highest: int, until: date, size: int, columns: int) -> Row:
    bars = []
    for position, count in sorted(bins.items()):
        height = max(_LEAST_HEIGHT, round(HEIGHT * count / highest, 1))
        label = f"{_stretch(position, until, size, columns)}: {counted(count, 'file')}"
        bars.append(Bar(position, round(HEIGHT - height, 1), height, label))
    total = sum(bins.values())
    busiest = max(bins, key=lambda position: (bins[position], position))
    when = _stretch(busiest, until, size, columns)
    summary = f"{counted(total, 'file')}, most of them {when} ({bins[busiest]})"
    return Row(repo, total, tuple(bars), summary)


def _stretch(position: int, until: date, size: int, columns: int) -> str:
    last = until - timedelta(days=(columns - 1 - position) * size)
    if size == 1:
        return last.isoformat()
    return f"{last - timedelta(days=size - 1)} to {last}"
