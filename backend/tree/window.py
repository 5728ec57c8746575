"""How far back a digest looks: ``2w``, ``10d``, ``6m``, ``1y``, or since a day."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import NamedTuple

from backend.errors import UsageError

FORMS = "a number and d, w, m or y (10d, 2w, 6m, 1y)"
_WINDOW = re.compile(r"\s*([0-9]{1,4})\s*([dwmy])\s*", re.IGNORECASE)
_DAY = re.compile(r"\s*([0-9]{4}-[0-9]{2}-[0-9]{2})\s*")
_UNITS = {"d": "day", "w": "week", "m": "month", "y": "year"}


class Window(NamedTuple):
    """A stretch of days, ``since`` and ``until`` both included; ``until`` is today.

    ``label`` reads ``last 6 months`` or ``since 2026-05-01``.
    """

    since: date
    until: date
    label: str

    @property
    def phrase(self) -> str:
        """The label as it follows ``modified`` or ``dated``: ``in the last 6 months``, ``since 2026-05-01``."""
        return self.label if self.label.startswith("since ") else f"in the {self.label}"


def make_window(window: str | None, since: str | None, now: datetime) -> Window:
    """Read ``--window`` or ``--since``.

    ``now`` is aware and in the reader's own zone: its day is the window's last one.
    Raises UsageError when neither or both are given, or one cannot be read.
    """
    if window is not None and since is not None:
        raise UsageError(
            f"Expected --window or --since, not both; got --window {window} and --since {since}."
        )
    if since is not None:
        return parse_since(since, now)
    if window is not None:
        return parse_window(window, now)
    raise UsageError(f"Expected --window ({FORMS}) or --since YYYY-MM-DD; neither was given.")


def is_window(text: str) -> bool:
    """Say whether the text is a length such as ``2w``, whatever its letter's case."""
    match = _WINDOW.fullmatch(text)
    return match is not None and int(match[1]) > 0


def parse_window(text: str, now: datetime) -> Window:
    """Read a length such as ``2w``: days, weeks, calendar months or calendar years back from today.

    A month too short for the day clamps: one month before 31 March is 28 (or 29) February.
    Raises UsageError for any other form.
    """
    match = _WINDOW.fullmatch(text)
    if match is None or not is_window(text):
        raise UsageError(
            f"--window expects {FORMS}, one or more; got {text!r}. "
            "For a fixed start use --since YYYY-MM-DD."
        )
    count, unit = int(match[1]), match[2].lower()
    today = now.date()
    try:
        since = _back(today, count, unit)
    except (ValueError, OverflowError):
        raise UsageError(
            f"--window {text.strip()} reaches back before year 1. Give a shorter one, such as 1y."
        ) from None
    name = _UNITS[unit]
    return Window(since, today, f"last {name}" if count == 1 else f"last {count} {name}s")


def parse_since(text: str, now: datetime, option: str = "--since") -> Window:
    """Read a first day such as ``2026-05-01``; ``option`` is what an error calls it.

    Raises UsageError when it is not a calendar day or lies after today.
    """
    match = _DAY.fullmatch(text)
    if match is None:
        length = " For a length use --window 2w." if option == "--since" else ""
        raise UsageError(
            f"{option} expects a day as YYYY-MM-DD, such as 2026-05-01; got {text!r}.{length}"
        )
    try:
        since = date.fromisoformat(match[1])
    except ValueError:
        raise UsageError(f"{option} {match[1]}: the calendar has no such day.") from None
    today = now.date()
    if since > today:
        raise UsageError(
            f"{option} {since} lies in the future; today is {today}. Give today or an earlier day."
        )
    return Window(since, today, f"since {since}")


def _back(day: date, count: int, unit: str) -> date:
    if unit in "dw":
        return day - timedelta(days=count * (7 if unit == "w" else 1))
    import calendar  # only who looks months back pays for it: the hooks read windows too

    months = day.year * 12 + (day.month - 1) - count * (12 if unit == "y" else 1)
    year, month = divmod(months, 12)
    if year < 1:
        raise ValueError(year)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))
