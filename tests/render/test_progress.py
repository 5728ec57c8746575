"""How far long work has come, on standard error: what is shown, where, and that short work shows nothing."""

from __future__ import annotations

import errno
import io
import threading
from typing import Any

import pytest

from backend.render.progress import line, shown


class Stream(io.StringIO):
    """Standard error, of which a test can wait for some words."""

    def __init__(self, awaited: str, *, terminal: bool = False) -> None:
        super().__init__()
        self.awaited, self.terminal = awaited, terminal
        self.came = threading.Event()

    def isatty(self) -> bool:
        return self.terminal

    def write(self, text: str) -> int:
        written = super().write(text)
        if self.awaited in self.getvalue():
            self.came.set()
        return written


@pytest.mark.parametrize(
    ("reached", "says"),
    [
        (("reading", 1200, 3085), "… 1,200 of 3,085 documents read"),
        (("storing", 7, 8), "… 7 of 8 documents stored"),
        (("embedding", 64, 2332), "… 64 of 2,332 texts embedded"),
        (("transcripts", 3, 9), "… 3 of 9 transcripts read"),
        (("", 0, 0), "… still at work"),
    ],
)
def test_a_line_says_what_is_done_of_how_much(reached: tuple[str, int, int], says: str) -> None:
    assert line(*reached) == says


def test_without_a_terminal_lines_say_how_far_it_is() -> None:
    stream = Stream("… 1,200 of 3,085 documents read\n")
    with shown(stream, seconds=0.001) as progress:
        progress("reading", 1200, 3085)
        assert stream.came.wait(30)
    assert "\x1b" not in stream.getvalue()


def test_a_sign_of_life_comes_before_anything_is_counted() -> None:
    stream = Stream("… still at work\n")
    with shown(stream, seconds=0.001):
        assert stream.came.wait(30)


def test_a_terminal_gets_a_bar_that_is_gone_at_the_end() -> None:
    stream = Stream("1200/3085", terminal=True)
    with shown(stream, seconds=0.001) as progress:
        progress("reading", 1200, 3085)
        assert stream.came.wait(30)
    assert "\x1b[2K" in stream.getvalue(), "the line of the bar is erased"


@pytest.mark.parametrize("terminal", [False, True])
def test_short_work_shows_nothing(terminal: bool) -> None:
    stream = Stream("", terminal=terminal)
    with shown(stream) as progress:
        progress("reading", 1, 1)
        progress("storing", 1, 1)
    assert stream.getvalue() == ""


@pytest.mark.parametrize("terminal", [False, True])
def test_a_remark_is_shown_at_once(terminal: bool) -> None:
    stream = Stream("", terminal=terminal)
    with shown(stream) as progress:
        progress("the index was damaged", 0, 0)
        assert stream.getvalue() == "the index was damaged\n"


def test_a_remark_beside_a_bar() -> None:
    stream = Stream("3/9", terminal=True)
    with shown(stream, seconds=0.001) as progress:
        progress("reading", 3, 9)
        assert stream.came.wait(30)
        progress("the index was [damaged]", 0, 0)
    assert "the index was [damaged]" in stream.getvalue()


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize(
    "error",
    [OSError(errno.EIO, "hung up"), UnicodeEncodeError("cp1252", "…", 0, 1, "no such sign")],
)
def test_what_cannot_be_shown_does_no_harm(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, error: Exception
) -> None:
    class Gone(Stream):
        def write(self, text: str) -> int:
            self.came.set()
            raise error

    ends: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", ends.append)
    stream = Gone("", terminal=terminal)
    with shown(stream, seconds=0.001) as progress:
        progress("the index was damaged", 0, 0)
        stream.came.clear()
        progress("reading", 1, 2)
        assert stream.came.wait(30)
        progress("and again", 0, 0)
        result = "done"
    assert (result, ends) == ("done", [])
