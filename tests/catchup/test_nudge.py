"""When a session's start speaks of changes, in which words, and for how long it can be muted."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.catchup.nudge import Delta, Pending, delta, mute_until, nudge_text, should_nudge
from backend.errors import UsageError
from backend.schemas.config import Config, Nudge
from backend.schemas.manifest import ManifestEntry

Card = Callable[..., ManifestEntry]
VIENNA = ZoneInfo("Europe/Vienna")
LAST = datetime(2026, 6, 10, 14, 0, tzinfo=VIENNA)
NOW = datetime(2026, 6, 15, 9, 0, tzinfo=VIENNA)


def config(last: datetime | None = LAST, **nudge: object) -> Config:
    return Config(senior_root="/tree", last_session_at=last, nudge=Nudge(**nudge))


def moment(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=VIENNA).timestamp()


@pytest.mark.parametrize(
    ("case", "day", "mtime", "ingested_at", "counts"),
    [
        ("edited two days later", "2026-06-12", "2026-06-12T08:00", "2026-06-12T08:01", True),
        ("edited long before", "2026-05-01", "2026-05-01T08:00", "2026-05-01T08:01", False),
        ("an old document after a clone", "2026-05-01", "2026-06-15T08:00", "2026-06-15T08:00", 0),
        ("a colleague's, pulled later", "2026-06-12", "2026-06-14T08:00", "2026-06-14T08:01", True),
        ("same day, before the session", "2026-06-10", "2026-06-10T13:00", "2026-06-10T13:01", 0),
        ("same day, after the session", "2026-06-10", "2026-06-10T15:00", "2026-06-10T15:01", True),
        ("same day, stored just after it", "2026-06-10", "2026-06-10T13:59", "2026-06-10T14:01", 0),
        ("same day, touched after it", "2026-06-10", "2026-06-10T15:00", "2026-06-10T09:00", 0),
        ("a future day known before", "2031-01-01", "2026-06-01T08:00", "2026-06-01T08:00", False),
        ("a future day written since", "2031-01-01", "2026-06-12T08:00", "2026-06-12T08:00", True),
        ("kept its old mtime when copied", "2026-06-12", "2026-01-01T08:00", "2026-06-13T08:00", 1),
    ],
)
def test_what_counts_as_changed_since_the_last_session(
    card: Card, case: str, day: str, mtime: str, ingested_at: str, counts: bool
) -> None:
    entry = card(day, mtime=moment(mtime), ingested_at=int(moment(ingested_at)))
    assert delta({"a.md": entry}, config(), NOW).files == int(counts), case


def test_days_are_calendar_days_of_the_reader(card: Card) -> None:
    late = datetime(2026, 6, 14, 23, 0, tzinfo=VIENNA)
    change = delta({}, config(late), datetime(2026, 6, 15, 1, 0, tzinfo=VIENNA))
    assert change.days == 1
    assert change.elapsed_days == pytest.approx(2 / 24)


def test_the_last_session_may_be_in_another_zone(card: Card) -> None:
    # 23:30 on the 10th in New York is 05:30 on the 11th in Vienna.
    last = datetime(2026, 6, 10, 23, 30, tzinfo=ZoneInfo("America/New_York"))
    before = card("2026-06-11", mtime=moment("2026-06-11T05:00"), ingested_at=1)
    after = card("2026-06-12", mtime=moment("2026-06-12T05:00"), ingested_at=1)
    change = delta({"seen.md": before, "new.md": after}, config(last), NOW)
    assert (change.files, change.days) == (1, 4)


def test_a_moment_without_a_zone_is_read_on_the_own_clock(card: Card) -> None:
    entry = card("2026-06-12", mtime=moment("2026-06-12T08:00"))
    naive = datetime(2026, 6, 10, 14, 0)
    assert delta({"a.md": entry}, config(naive), NOW) == delta({"a.md": entry}, config(), NOW)
    assert not should_nudge(Delta(9, 9, 9.0), Nudge(muted_until=datetime(2026, 6, 16)), NOW)


def test_documents_not_yet_synced_count_by_what_is_known(card: Card) -> None:
    old = card("2026-05-01", mtime=moment("2026-05-01T08:00"))
    on_disk = moment("2026-06-14T18:00")
    change = delta(
        {"known.md": old, "quiet.md": old},
        config(),
        NOW,
        pending={
            "known.md": Pending(on_disk, "2026-06-14"),
            "new.md": Pending(on_disk),
            "old-but-touched.md": Pending(on_disk, "2026-05-01"),
        },
    )
    assert change.files == 2


def test_own_documents_can_be_left_out(card: Card) -> None:
    cards = {
        "mine.md": card("2026-06-12", authors=("Zoë Lindqvist",)),
        "ours.md": card("2026-06-12", authors=("Zoe Lindqvist", "Marek Nowák")),
        "nobodys.md": card("2026-06-12"),
    }
    assert delta(cards, config(), NOW).files == 3
    assert delta(cards, config(not_by="zoe lind"), NOW).files == 2


def test_a_first_session_ever_says_what_the_kit_is(card: Card) -> None:
    cards = {f"{n}.md": card() for n in range(4000)}
    change = delta(cards, config(last=None), NOW)
    assert change.days is None
    assert not should_nudge(change, Nudge(), NOW)
    text = nudge_text(change)
    assert "4,000 context-v documents" in text
    assert "updates" not in text


@pytest.mark.parametrize(
    ("change", "nudge", "speaks"),
    [
        (Delta(1, 3, 3.0), Nudge(), False),
        (Delta(1, 3, 3.01), Nudge(), True),
        (Delta(4, 0, 0.1), Nudge(), False),
        (Delta(5, 0, 0.1), Nudge(), True),
        (Delta(0, 90, 90.0), Nudge(), False),
        (Delta(9, 9, 9.0), Nudge(state="off"), False),
        (Delta(9, 9, 9.0), Nudge(muted_until=NOW + timedelta(minutes=1)), False),
        (Delta(9, 9, 9.0), Nudge(muted_until=NOW), False),
        (Delta(9, 9, 9.0), Nudge(muted_until=NOW - timedelta(minutes=1)), True),
        (Delta(1, 1, 0.6), Nudge(after_days=0.5), True),
        (Delta(2, 1, 0.6), Nudge(after_files=2), True),
    ],
)
def test_when_it_speaks(change: Delta, nudge: Nudge, speaks: bool) -> None:
    assert should_nudge(change, nudge, NOW) is speaks


@pytest.mark.parametrize(
    ("change", "start"),
    [
        (Delta(7, 4), "There have been 7 context-v updates since your last session 4 days ago. "),
        (Delta(7, 1), "There have been 7 context-v updates since your last session 1 day ago. "),
        (Delta(7, 0), "There have been 7 context-v updates since your last session today. "),
        (Delta(1, 4), "There has been 1 context-v update since your last session 4 days ago. "),
    ],
)
def test_the_words(change: Delta, start: str) -> None:
    ask = "Want a quick catch-up digest? Y / N / mute-for-today / mute-for-week."
    assert nudge_text(change) == start + ask


@pytest.mark.parametrize(
    ("zone", "now", "midnight"),
    [
        ("Europe/Vienna", "2026-06-15T09:00", "2026-06-16T00:00+02:00"),
        ("Europe/Vienna", "2026-03-28T23:59", "2026-03-29T00:00+01:00"),
        ("Europe/Vienna", "2026-03-29T01:00", "2026-03-30T00:00+02:00"),
        ("Europe/Vienna", "2026-10-25T01:00", "2026-10-26T00:00+01:00"),
        ("America/New_York", "2026-11-01T00:30", "2026-11-02T00:00-05:00"),
        ("Australia/Lord_Howe", "2026-04-05T01:00", "2026-04-06T00:00+10:30"),
        # Midnight itself does not exist here: the day starts at 01:00.
        ("Africa/Cairo", "2026-04-23T12:00", "2026-04-24T01:00+03:00"),
        ("UTC", "2026-12-31T23:00", "2027-01-01T00:00+00:00"),
    ],
)
def test_mute_for_today_ends_at_the_next_local_midnight(zone: str, now: str, midnight: str) -> None:
    here = datetime.fromisoformat(now).replace(tzinfo=ZoneInfo(zone))
    until = mute_until("mute-for-today", here)
    assert until.timestamp() == datetime.fromisoformat(midnight).timestamp()


@pytest.mark.skipif(sys.platform == "win32", reason="TZ names zones on POSIX only")
def test_mute_for_today_knows_the_next_days_offset_even_from_a_fixed_one() -> None:
    # datetime.now().astimezone() yields a fixed offset; the clocks change in the coming night.
    code = (
        "from datetime import datetime, timedelta, timezone\n"
        "from backend.catchup.nudge import mute_until\n"
        "now = datetime(2026, 3, 29, 1, 0, tzinfo=timezone(timedelta(hours=1)))\n"
        "print(mute_until('mute-for-today', now).isoformat())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"TZ": "Europe/Vienna", "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "2026-03-30T00:00:00+02:00"


def test_mute_for_week_is_seven_days() -> None:
    assert mute_until("mute-for-week", NOW) == datetime(2026, 6, 22, 9, 0, tzinfo=VIENNA)


def test_another_answer_is_refused() -> None:
    with pytest.raises(UsageError, match="mute-for-today or mute-for-week; got 'later'"):
        mute_until("later", NOW)


@given(
    now=st.datetimes(
        min_value=datetime(2000, 1, 1),
        max_value=datetime(2037, 12, 30),
        timezones=st.sampled_from([VIENNA, ZoneInfo("Africa/Cairo"), ZoneInfo("Asia/Tokyo")]),
        allow_imaginary=False,
    )
)
def test_a_mute_is_always_in_force_now_and_never_past_a_long_day(now: datetime) -> None:
    until = mute_until("mute-for-today", now)
    assert 0 < until.timestamp() - now.timestamp() <= 25 * 3600
    assert not should_nudge(Delta(9, 9, 9.0), Nudge(muted_until=until), now)
    later = datetime.fromtimestamp(until.timestamp() + 1, UTC).astimezone(now.tzinfo)
    assert should_nudge(Delta(9, 9, 9.0), Nudge(muted_until=until), later)


def test_the_hook_pays_for_nothing_heavy() -> None:
    code = (
        "import sys, backend.catchup.nudge, backend.render.inert\n"
        "heavy = {'numpy', 'chromadb', 'click', 'rich', 'yaml', 'onnxruntime', 'jinja2'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"
