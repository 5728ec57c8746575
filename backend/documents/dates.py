"""Days and moments as people write them in frontmatter and file names."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, timezone
from pathlib import PurePosixPath

from msgspec import Struct

# No document speaks of a day before the epoch; a year 206 or 20206 is a slip of the fingers.
FIRST_YEAR = 1970
# The longest real form (a JavaScript Date with its zone's name) has about 70 characters.
TEXT_LIMIT = 200

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s+)?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})"
_TIME = (
    r"(?:,?(?:\s+at)?[T\s]\s*(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,]\d+)?)?"
    r"(?!\d)(?!\s*[ap]\.?m)\s*(?:(?:gmt|utc)?\s*(?P<offset>[+-]\d{2}:?\d{2})|z\b|gmt|utc)?)?"
)
_END = r"(?=$|[\W_])"
# Compiled by ``re`` when first used, and kept there: a start's hook, which reads the dates of the documents that changed, seldom
# needs more than the first, and all of them take 2 of its 45 ms.
_FORMS = tuple(
    form + _END
    for form in (
        # 2026-03-09T14:05:00Z, 2026/3/9
        rf"{_YEAR}(?P<sep>[-/._])(?P<number>\d{{1,2}})(?P=sep){_DAY}{_TIME}",
        # 20260309
        r"(?P<year>\d{4})(?P<number>\d{2})(?P<day>\d{2})",
        # 9.3.2026, as in most of Europe
        r"(?P<day>\d{1,2})\.(?P<number>\d{1,2})\.(?P<year>\d{4})",
        # Mon Mar 09 2026 14:05:00 GMT-0500 (…), March 9th, 2026
        rf"{_WEEKDAY}{_MONTH}\s+{_DAY},?\s+{_YEAR}{_TIME}",
        # Mon, 09 Mar 2026 14:05:00 -0500
        rf"{_WEEKDAY}{_DAY}\s+(?:of\s+)?{_MONTH},?\s+{_YEAR}{_TIME}",
    )
)
# A month counts as its first day; it must stand alone. A year alone is no day for a digest.
_MONTH_FORMS = (rf"{_MONTH},?\s+{_YEAR}\s*", rf"{_YEAR}[-/](?P<number>\d{{1,2}})\s*")
_RANGE = (
    "\\s*(?:--+|\u2013|\u2014|\\.\\.+|\u2192|->|=>)\\s*"
    r"|\s+(?:to|until|till|through|-|/)\s+|(?<=\d-\d\d)/(?=\d{4}-)"
)
_IN_NAME = r"(?<!\d)(\d{4})([-_.])(\d{1,2})\2(\d{1,2})(?!\d)|(?<!\d)(\d{4})(\d{2})(\d{2})(?!\d)"


class Moment(Struct, frozen=True):
    """A day as written in its own zone, and its epoch second (of a plain day: 00:00 UTC)."""

    day: date
    epoch: int


def parse_date(value: object, *, now: datetime) -> tuple[str, int] | None:
    """Read a date in any form met in frontmatter: (ISO day, epoch seconds), None when it is none.

    A day or moment after ``now`` (aware; its own zone decides which day it is) counts as today. Not
    dates: None, empty, ``[]``, numbers, a year alone, ``YYYY-MM-DD``, ``2026-02-30``, and
    ``03/09/2026`` (nobody knows which is the month). A month alone is its first day, a range or
    list its last.
    """
    moment = read_moment(value)
    return None if moment is None else clamp(moment, now)


def read_moment(value: object) -> Moment | None:
    """Read a date as ``parse_date`` does, without asking whether it lies in the future."""
    if isinstance(value, datetime):
        return _moment_of(value)
    if isinstance(value, date):
        return _plain(value.year, value.month, value.day)
    if isinstance(value, (list, tuple)):
        found = [read_moment(item) for item in value[:20] if not isinstance(item, (list, tuple))]
        return next((moment for moment in reversed(found) if moment), None)
    return _read_text(value) if isinstance(value, str) else None


def clamp(moment: Moment, now: datetime) -> tuple[str, int]:
    """Give (ISO day, epoch seconds), what lies after ``now`` being moved to today."""
    today = now.date()
    if moment.day <= today and moment.epoch <= max(now.timestamp(), _midnight(today)):
        return moment.day.isoformat(), moment.epoch
    if moment.epoch <= now.timestamp() and moment.epoch != _midnight(moment.day):
        # The moment is past; only the calendar where it was written was a day ahead.
        return today.isoformat(), moment.epoch
    return min(moment.day, today).isoformat(), _midnight(min(moment.day, today))


def file_name_date(path: str) -> Moment | None:
    """Find the day in a file's name (``2026-03-09_01.md``); a slip as ``20206-05-02`` is none."""
    for match in re.finditer(_IN_NAME, PurePosixPath(path).name[:TEXT_LIMIT]):
        year, _, month, day, year8, month8, day8 = match.groups()
        moment = _plain(int(year or year8), int(month or month8), int(day or day8))
        if moment:
            return moment
    return None


def _read_text(text: str) -> Moment | None:
    text = " ".join(text.split()).strip("'\"`[](){}<> ")
    if not text or len(text) > TEXT_LIMIT or not re.search("[0-9]", text):
        return None
    parts = re.split(_RANGE, text, flags=re.IGNORECASE)
    if len(parts) > 1:
        ends = [_read_single(part.strip("'\"[] ")) for part in parts]
        if ends[0] and ends[-1]:
            return ends[-1]
    return _read_single(text)


def _read_single(text: str) -> Moment | None:
    for form in _FORMS:
        match = re.match(form, text, re.IGNORECASE)
        if match:
            return _from_match(match)
    for form in _MONTH_FORMS:
        match = re.fullmatch(form, text, re.IGNORECASE)
        if match:
            return _from_match(match)
    return None


def _from_match(match: re.Match[str]) -> Moment | None:
    part = match.groupdict()
    number = part.get("number")
    month = int(number) if number else _MONTHS.index(part["month"][:3].lower()) + 1
    plain = _plain(int(part["year"]), month, int(part.get("day") or 1))
    if plain is None or not part.get("hour"):
        return plain
    try:
        clock = time(int(part["hour"]), int(part["minute"]), int(part["second"] or 0))
        return _moment_of(datetime.combine(plain.day, clock, _zone(part["offset"])))
    except ValueError:  # 25:00 o'clock, or an offset beyond a day: the day itself is still good
        return plain


def _zone(offset: str | None) -> timezone:
    if not offset:
        return UTC
    digits = offset[1:].replace(":", "")
    ahead = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-ahead if offset[0] == "-" else ahead)


def _moment_of(value: datetime) -> Moment | None:
    plain = _plain(value.year, value.month, value.day)
    if plain is None:
        return None
    aware = value if value.tzinfo else value.replace(tzinfo=UTC)
    return Moment(plain.day, int(aware.timestamp()))


def _plain(year: int, month: int, day: int) -> Moment | None:
    if year < FIRST_YEAR:
        return None
    try:
        found = date(year, month, day)
    except ValueError:
        return None
    return Moment(found, _midnight(found))


def _midnight(day: date) -> int:
    return int(datetime.combine(day, time(), UTC).timestamp())
