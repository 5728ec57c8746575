"""People write dates in many ways; each is the day they meant, or none, and never an error."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.documents.dates import file_name_date, parse_date

NINTH = 1_773_014_400  # 2026-03-09T00:00:00Z
NOW = datetime(2026, 8, 20, 10, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "written",
    [
        "2026-03-09",
        "'2026-03-09'",
        " 2026-3-9 ",
        "2026/03/09",
        "2026.03.09",
        "20260309",
        "9.3.2026",
        "[2026-03-09]",
        "March 9, 2026",
        "Mar 9th 2026",
        "9 March 2026",
        "Monday, 9 March 2026",
        "2026-03-09 (second draft)",
        "2026-03-09T25:00",
        "March 9, 2026 2:05 PM",
        "2026-03-01--2026-03-09",
        "2026-03-01 to 2026-03-09",
        "2026-03-01/2026-03-09",
        "2026-03-01 \u2013 2026-03-09",
        "March 1, 2026 - March 9, 2026",
        date(2026, 3, 9),
        datetime(2026, 3, 9),
        ["2026-03-01", "2026-03-09"],
    ],
)
def test_a_plain_day_is_its_midnight_in_utc(written: object) -> None:
    assert parse_date(written, now=NOW) == ("2026-03-09", NINTH)


@pytest.mark.parametrize(
    ("written", "hours", "minutes"),
    [
        ("2026-03-09T14:05:00.000Z", 14, 5),
        ("'2026-03-09T14:05:00Z'", 14, 5),
        ("2026-03-09 14:05", 14, 5),
        ("2026-03-09T23:30:00-05:00", 28, 30),
        ("2026-03-09T00:30:00+0200", -2, 30),
        ("Mon Mar 09 2026 14:05:00 GMT-0500 (Central Daylight Time)", 19, 5),
        ("Mon, 09 Mar 2026 14:05:00 -0500", 19, 5),
        (datetime(2026, 3, 9, 23, 30, tzinfo=timezone(timedelta(hours=-5))), 28, 30),
    ],
)
def test_a_moment_keeps_the_day_of_its_own_zone(written: object, hours: int, minutes: int) -> None:
    assert parse_date(written, now=NOW) == ("2026-03-09", NINTH + hours * 3600 + minutes * 60)


@pytest.mark.parametrize("written", ["March 2026", "Mar. 2026", "2026-03", "2026/3"])
def test_a_month_counts_as_its_first_day(written: str) -> None:
    assert parse_date(written, now=NOW) == ("2026-03-01", NINTH - 8 * 86_400)


@pytest.mark.parametrize(
    "written",
    [
        None,
        "",
        "''",
        "[]",
        [],
        {},
        {"from": "2026-03-01"},
        3,
        20260309,
        1.5,
        True,
        "2026",
        "YYYY-MM-DD",
        "{{date}}",
        "2026-02-30",
        "2026-13-01",
        "206-05-02",
        "20206-05-02",
        "0206-05-02",
        "03/09/2026",
        "soon",
        "TBD (after 2026-05-01)",
        "Q1 2026",
        "2026-03-09" * 100,
    ],
)
def test_what_names_no_day_is_no_date(written: object) -> None:
    assert parse_date(written, now=NOW) is None


def test_the_future_counts_as_today() -> None:
    today = ("2026-08-20", int(datetime(2026, 8, 20, tzinfo=UTC).timestamp()))
    assert parse_date("2026-08-20", now=NOW) == today
    assert parse_date("2027-01-01", now=NOW) == today
    assert parse_date("2026-08-20T10:00:01Z", now=NOW) == today
    assert parse_date("9999-12-31T23:59:59-12:00", now=NOW) == today


def test_today_is_the_day_where_the_reader_is() -> None:
    auckland = datetime(2026, 8, 21, 0, 30, tzinfo=timezone(timedelta(hours=12)))
    assert parse_date("2026-08-21", now=auckland) == ("2026-08-21", 1_787_270_400)
    hawaii = datetime(2026, 8, 19, 23, 0, tzinfo=timezone(timedelta(hours=-10)))
    assert parse_date("2026-08-20", now=hawaii) == ("2026-08-19", 1_787_097_600)


def test_a_past_moment_written_further_east_keeps_its_second() -> None:
    written = datetime(2026, 8, 21, 1, 0, tzinfo=timezone(timedelta(hours=16)))  # 09:00 UTC
    assert parse_date(written, now=NOW) == ("2026-08-20", int(written.timestamp()))


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("garden/changelog/2026-03-09_01.md", date(2026, 3, 9)),
        ("changelog/2026-03-09.md", date(2026, 3, 9)),
        ("changelog/2026-03-09_02_Gate-Opens-2027.md", date(2026, 3, 9)),
        ("changelog/Release 2026.3.9.md", date(2026, 3, 9)),
        ("changelog/20260309-gate.md", date(2026, 3, 9)),
        ("changelog/2026-02-30_then_2026-03-09.md", date(2026, 3, 9)),
    ],
)
def test_a_file_name_may_hold_the_day(path: str, day: date) -> None:
    moment = file_name_date(path)
    assert moment is not None
    assert moment.day == day


@pytest.mark.parametrize(
    "path",
    ["plans/20206-05-02_Slip.md", "2026-03-09/entry.md", "v0.2.0.md", "0.2.2.md", "x.md", ""],
)
def test_a_file_name_without_a_day_has_none(path: str) -> None:
    assert file_name_date(path) is None


@given(st.dates(min_value=date(1970, 1, 1), max_value=date(2026, 8, 20)))
def test_every_iso_day_comes_back_as_it_was(day: date) -> None:
    found = parse_date(day.isoformat(), now=NOW)
    assert found == (day.isoformat(), (day - date(1970, 1, 1)).days * 86_400)
    assert parse_date(day, now=NOW) == found


@given(
    st.text()
    | st.from_regex(r"[0-9]{1,5}[-/. ][0-9]{1,3}[-/. ][0-9]{1,5}([T ][0-9:.+Z-]{1,16})?")
    | st.datetimes(timezones=st.none() | st.timezones())
    | st.dates()
    | st.integers()
    | st.lists(st.text())
)
def test_no_value_raises_and_no_date_lies_in_the_future(value: object) -> None:
    found = parse_date(value, now=NOW)
    if found is not None:
        day, epoch = found
        assert "1970-01-01" <= day <= "2026-08-20"
        assert epoch <= NOW.timestamp()
