"""Whether a session's start should speak of what has changed, and in which words.

On the hook's path: standard library and msgspec only.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta, timezone
from typing import NamedTuple, Protocol

from backend.errors import UsageError
from backend.schemas.config import Config, Nudge

MUTE_CHOICES = ("mute-for-today", "mute-for-week")
_SECONDS_A_DAY = 86_400


class Card(Protocol):
    """What the delta goes by: a manifest's entry has it, and more."""

    @property
    def mtime(self) -> float:
        """Epoch seconds."""

    @property
    def ingested_at(self) -> int:
        """Epoch seconds."""

    @property
    def date(self) -> str:
        """The document's ISO day."""

    @property
    def authors(self) -> tuple[str, ...]:
        """As they are written."""


class Pending(NamedTuple):
    """A document that the stat walk found new or changed and that no sync has read yet.

    ``mtime`` is epoch seconds on disk; ``day`` the document's own ISO day if the caller read it.
    """

    mtime: float
    day: str = ""


class Delta(NamedTuple):
    """What changed since the last session.

    ``files``: changed corpus documents. ``days``: calendar days since that session, ``None`` when
    there never was one (``files`` is then the number of documents known). ``elapsed_days``: exact.
    ``since``: the day of that session, on the reader's clock.
    """

    files: int
    days: int | None
    elapsed_days: float = 0.0
    since: date | None = None


def delta(
    cards: Mapping[str, Card],
    config: Config,
    now: datetime,
    *,
    pending: Mapping[str, Pending] | None = None,
) -> Delta:
    """Count the corpus documents that changed since ``config.last_session_at``.

    ``cards`` are the corpus role's, ``now`` is aware and in the reader's zone. ``pending`` names
    documents that differ on disk from their card; they replace it. Documents all of whose authors
    match ``config.nudge.not_by`` don't count.
    """
    pending = pending or {}
    if config.last_session_at is None:
        return Delta(len(cards.keys() | pending.keys()), None)
    last = _aware(config.last_session_at, now)
    own = _own_documents(cards, config.nudge.not_by)
    since = last.timestamp()
    changed = {
        path
        for path, entry in cards.items()
        if (entry.mtime > since or entry.ingested_at > since)  # most aren't, whatever their day
        and path not in pending
        and _is_news(_day(entry.date), entry.mtime, entry.ingested_at, last, now)
    }
    changed |= {
        path for path, file in pending.items() if _is_pending_news(file, last=last, now=now)
    }
    elapsed = max(0.0, (now.timestamp() - last.timestamp()) / _SECONDS_A_DAY)
    day = _local_day(last, now)
    return Delta(len(changed - own), max(0, (now.date() - day).days), elapsed, day)


def should_nudge(change: Delta, nudge: Nudge, now: datetime) -> bool:
    """Say whether to speak: something changed, and long enough ago or enough of it.

    More than ``after_days`` (exactly that many is not enough) or at least ``after_files``; never
    when off, muted, at a first session ever, or when nothing changed.
    """
    if nudge.state != "on" or change.days is None or change.files == 0:
        return False
    if nudge.muted_until is not None:
        muted_until = _aware(nudge.muted_until, now)
        if now.timestamp() <= muted_until.timestamp():
            return False
    return change.elapsed_days > nudge.after_days or change.files >= nudge.after_files


def mute_until(choice: str, now: datetime) -> datetime:
    """Turn an answer to the nudge into the moment until which it stays quiet.

    ``mute-for-today``: the next midnight on the reader's clock; ``mute-for-week``: seven days on.
    Raises UsageError for anything else.
    """
    if choice == "mute-for-week":
        return now + timedelta(days=7)
    if choice == "mute-for-today":
        return _next_midnight(now)
    raise UsageError(
        f"Expected {' or '.join(MUTE_CHOICES)}; got {choice!r}. "
        "To silence the nudge for good: cv config nudge off."
    )


def nudge_text(change: Delta) -> str:
    """Word the nudge; at a first session ever, say what the kit is instead."""
    if change.days is None:
        count = f"{change.files:,} context-v document{_s(change.files)}"
        return (
            f"Context Vigilance keeps {count} of this tree indexed. It asks at the start which of "
            "them matter, finds them on request, and tells what has moved since your last session; "
            "/catch-up-2w shows the last two weeks."
        )
    have = "has" if change.files == 1 else "have"
    return (
        f"There {have} been {change.files} context-v update{_s(change.files)} "
        f"since your last session {_ago(change.days)}. "
        "Want a quick catch-up digest? Y / N / mute-for-today / mute-for-week."
    )


def _is_news(
    day: date | None, mtime: float, ingested_at: float, last: datetime, now: datetime
) -> bool:
    """Decide for one document, by its own day first.

    After a clone or a checkout every mtime and every ``ingested_at`` is recent, so an old day
    never counts. A later day counts unless this very content lay here before the last session
    (a day in the future, or another zone's). On the day of the last session itself only both
    clocks tell: a touch moves mtime alone, and text already there when the session began but
    stored just after moves ``ingested_at`` alone.
    """
    if day is None:
        return False
    last_day, since = _local_day(last, now), last.timestamp()
    if day > last_day:
        return max(mtime, ingested_at) > since
    return day == last_day and min(mtime, ingested_at) > since


def _is_pending_news(file: Pending, *, last: datetime, now: datetime) -> bool:
    day = _day(file.day) or datetime.fromtimestamp(file.mtime, now.tzinfo).date()
    return _is_news(day, file.mtime, file.mtime, last, now)


def _own_documents(cards: Mapping[str, Card], name: str) -> set[str]:
    if not name.strip():
        return set()
    from backend.documents.lists import fold_name  # only who configured it pays for the import

    part = fold_name(name)
    return {
        path
        for path, entry in cards.items()
        if entry.authors and all(part in fold_name(author) for author in entry.authors)
    }


def _next_midnight(now: datetime) -> datetime:
    midnight = datetime.combine(now.date() + timedelta(days=1), time())
    # ``datetime.now().astimezone()`` carries today's fixed offset; tomorrow's may differ.
    if isinstance(now.tzinfo, timezone) and now.tzinfo is not UTC:
        local = now.astimezone()
        if local.utcoffset() == now.utcoffset():
            return midnight.astimezone()
    return midnight.replace(tzinfo=now.tzinfo)


def _aware(moment: datetime, now: datetime) -> datetime:
    """Read a moment without a zone, as a person may write it into the config, on the own clock."""
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=now.tzinfo)


def _local_day(moment: datetime, now: datetime) -> date:
    return moment.astimezone(now.tzinfo).date()


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def _ago(days: int) -> str:
    return "today" if days == 0 else f"{days} day{_s(days)} ago"


def _s(count: int) -> str:
    return "" if count == 1 else "s"
