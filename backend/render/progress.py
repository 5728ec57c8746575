"""How far long work has come, on standard error: a bar on a terminal, elsewhere a line now and then. Short work shows nothing."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress

BAR_SECONDS = 0.5
"""After so long a bar appears, and it moves as often. A refresh that finds little to do is over by then."""

LINE_SECONDS = 10.0
"""Between two lines where there is no terminal: enough for who waits to know that it lives, and a minute's work is six lines."""

_AMOUNTS = {
    "reading": "documents read",
    "storing": "documents stored",
    "embedding": "texts embedded",
    "transcripts": "transcripts read",
}


@contextmanager
def shown(
    stream: TextIO | None = None, *, seconds: float | None = None
) -> Iterator[Callable[[str, int, int], None]]:
    """Within the block, what is handed to it is shown on ``stream`` (standard error): a step, how much of it is done, and how
    much there is. A step without an amount is a remark, which is shown at once. ``seconds``: between two looks at how far it is.

    What can't be shown (who read it has gone, the terminal was hung up, its encoding lacks a sign) is not, and the work goes on.
    """
    stream = stream or sys.stderr
    if stream is None:  # a program without standard streams
        yield lambda step, done, total: None
        return
    display = _Bar(stream) if stream.isatty() else _Lines(stream)
    seconds = display.seconds if seconds is None else seconds
    over = threading.Event()

    def take(step: str, done: int, total: int) -> None:
        with suppress(OSError, ValueError):
            display.take(step, done, total)

    def watch() -> None:
        while not over.wait(seconds):
            with suppress(OSError, ValueError):
                display.show()

    # In a thread of its own, since a model's batch or Chroma can take a minute in which nothing is handed over.
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield take
    finally:
        over.set()
        watcher.join()
        with suppress(OSError, ValueError):
            display.close()


def line(step: str, done: int, total: int) -> str:
    """How far it is, in a line: ``… 1,200 of 3,085 documents read``."""
    if not step:
        return "… still at work"
    return f"… {done:,} of {total:,} {_AMOUNTS.get(step, step)}"


class _Lines:
    """Where there is no terminal: lines."""

    seconds = LINE_SECONDS

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.reached = ("", 0, 0)

    def take(self, step: str, done: int, total: int) -> None:
        if total:
            self.reached = (step, done, total)
        else:
            self.say(step)

    def show(self) -> None:
        self.say(line(*self.reached))

    def say(self, text: str) -> None:
        print(text, file=self.stream, flush=True)

    def close(self) -> None:
        pass


class _Bar:
    """On a terminal: a bar for each step, which is gone at the end."""

    seconds = BAR_SECONDS

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.steps: dict[str, tuple[int, int]] = {}
        self.bar: Progress | None = None
        self.tasks: dict[str, Any] = {}

    def take(self, step: str, done: int, total: int) -> None:
        if total:
            self.steps[step] = (done, total)
        elif self.bar is None:
            print(step, file=self.stream, flush=True)
        else:
            self.bar.console.print(step, markup=False, highlight=False)

    def show(self) -> None:
        steps = dict(self.steps)
        if steps and self.bar is None:
            self.bar = _empty_bar(self.stream)
            self.bar.start()
        for step, (done, total) in steps.items():
            assert self.bar is not None
            if step not in self.tasks:
                self.tasks[step] = self.bar.add_task(step, total=total)
            self.bar.update(self.tasks[step], completed=done, total=total)
        if self.bar is not None:
            self.bar.refresh()

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()


def _empty_bar(stream: TextIO) -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description:>11}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    # Refreshed by show() alone: a thread of rich's own would end with a traceback where the terminal is gone.
    console = Console(file=stream)
    return Progress(*columns, console=console, transient=True, auto_refresh=False)
