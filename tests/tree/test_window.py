"""What a person may type after ``--window`` and ``--since``, and what they get."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors import UsageError
from backend.tree.window import make_window, parse_since, parse_window


def at(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(hour=12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "today", "since", "label"),
    [
        ("2w", "2026-06-15", "2026-06-01", "last 2 weeks"),
        ("10d", "2026-06-15", "2026-06-05", "last 10 days"),
        ("1d", "2026-03-01", "2026-02-28", "last day"),
        ("1m", "2026-06-15", "2026-05-15", "last month"),
        ("3m", "2026-02-10", "2025-11-10", "last 3 months"),
        ("6m", "2026-06-15", "2025-12-15", "last 6 months"),
        ("1y", "2026-06-15", "2025-06-15", "last year"),
        ("1m", "2026-03-31", "2026-02-28", "last month"),
        ("1m", "2024-03-31", "2024-02-29", "last month"),
        ("6m", "2026-08-31", "2026-02-28", "last 6 months"),
        ("1y", "2024-02-29", "2023-02-28", "last year"),
        (" 2W ", "2026-06-15", "2026-06-01", "last 2 weeks"),
    ],
)
def test_a_window_reaches_back_from_today(text: str, today: str, since: str, label: str) -> None:
    window = parse_window(text, at(today))
    assert (window.since.isoformat(), window.until.isoformat()) == (since, today)
    assert window.label == label


def test_labels_fit_the_sentences() -> None:
    assert parse_window("6m", at("2026-06-15")).phrase == "in the last 6 months"
    assert parse_since("2026-05-01", at("2026-06-15")).phrase == "since 2026-05-01"


@pytest.mark.parametrize("text", ["", "2", "w", "0w", "-1m", "2x", "1.5m", "two weeks", "99999d"])
def test_another_form_is_refused_with_the_allowed_ones(text: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_window(text, at("2026-06-15"))
    assert repr(text) in str(error.value)
    assert "10d, 2w, 6m, 1y" in str(error.value)


def test_a_window_before_the_calendar_is_refused() -> None:
    with pytest.raises(UsageError, match="before year 1"):
        parse_window("9999y", at("2026-06-15"))


@pytest.mark.parametrize("text", ["", "yesterday", "20260501", "1 May"])
def test_since_wants_a_calendar_day(text: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_since(text, at("2026-06-15"))
    assert "YYYY-MM-DD" in str(error.value)
    assert repr(text) in str(error.value)
    assert "--window 2w" in str(error.value)


def test_an_option_beside_which_there_is_no_window_does_not_name_it() -> None:
    with pytest.raises(UsageError, match=r"--where since= expects a day as YYYY") as error:
        parse_since("lately", at("2026-06-15"), option="--where since=")
    assert "--window" not in str(error.value)


@pytest.mark.parametrize("text", ["2026-13-01", "2026-02-30", "2025-11-31"])
def test_a_day_that_the_calendar_lacks_is_said_to_be_one(text: str) -> None:
    with pytest.raises(UsageError, match=f"--since {text}: the calendar has no such day"):
        parse_since(text, at("2026-06-15"))


def test_since_may_be_today_but_not_tomorrow() -> None:
    assert parse_since("2026-06-15", at("2026-06-15")).since == date(2026, 6, 15)
    with pytest.raises(UsageError, match="today is 2026-06-15"):
        parse_since("2026-06-16", at("2026-06-15"))


def test_today_is_the_readers_day() -> None:
    moment = datetime(2026, 6, 15, 23, 30, tzinfo=UTC)
    assert parse_window("1d", moment).until == date(2026, 6, 15)
    vienna = moment.astimezone(ZoneInfo("Europe/Vienna"))
    assert parse_window("1d", vienna).until == date(2026, 6, 16)


def test_one_of_both_is_needed_and_not_both() -> None:
    assert make_window("2w", None, at("2026-06-15")).label == "last 2 weeks"
    assert make_window(None, "2026-05-01", at("2026-06-15")).label == "since 2026-05-01"
    with pytest.raises(UsageError, match="not both; got --window 2w and --since 2026-05-01"):
        make_window("2w", "2026-05-01", at("2026-06-15"))
    with pytest.raises(UsageError, match="neither was given"):
        make_window(None, None, at("2026-06-15"))


@given(
    today=st.dates(min_value=date(1900, 1, 1)),
    count=st.integers(min_value=1, max_value=400),
    unit=st.sampled_from("dwmy"),
)
def test_windows_are_calendar_arithmetic(today: date, count: int, unit: str) -> None:
    now = datetime(today.year, today.month, today.day, 12, tzinfo=UTC)
    window = parse_window(f"{count}{unit}", now)
    assert window.until == today
    assert window.since < today
    if unit in "dw":
        assert today - window.since == timedelta(days=count * (7 if unit == "w" else 1))
    else:
        months = count * (12 if unit == "y" else 1)
        back = (today.year - window.since.year) * 12 + today.month - window.since.month
        assert back == months
        tomorrow = window.since + timedelta(days=1)
        assert window.since.day == today.day or (window.since.day < today.day and tomorrow.day == 1)
        longer = parse_window(f"{count + 1}{unit}", now)
        assert longer.since < window.since
