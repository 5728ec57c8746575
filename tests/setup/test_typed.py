"""What reaches the command line from outside: control characters in arguments, a standard input that nobody closes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "arguments",
    [
        ("find", "--\x1b[31mred", "x"),
        ("\x1b]0;title\x07",),
        ("config", "get", "a\x1b[2Jb"),
        ("help", "\x9b31m"),
        ("nudge", "\u202eoff"),
    ],
)
def test_control_characters_of_an_argument_are_written_out(
    cv: Any, org: Any, arguments: tuple[str, ...]
) -> None:
    cv("init", "--senior-root", str(org.root), "--yes", "--no-index")
    done = cv(*arguments)

    assert done.code == 2
    assert "\\u" in done.err or "\\x" in done.err  # click's own way
    assert not [c for c in done.err if not c.isprintable() and c != "\n"]


def test_test_is_in_the_list_and_says_where_the_tests_are(cv: Any, org: Any) -> None:
    assert "  test " in cv("help").out
    done = cv("test", "-q", "tests/tree")
    assert (done.code, "bin/cv test" in done.err) == (2, True)


@pytest.mark.skipif(os.name == "nt", reason="a pipe that is held open")
def test_a_standard_input_that_stays_open_is_not_waited_for(org: Any, cv: Any) -> None:
    """A here-document is there at once; what holds the pipe open after it may stay for good. A command that waited for its end is
    killed, and says nothing.
    """
    org.repo("ferry")
    org.document("ferry/context-v/plans/Pier.md", title="A longer pier")
    cv("init", "--senior-root", str(org.root), "--yes")
    with subprocess.Popen(
        [sys.executable, "-P", "-s", "-m", "backend", "find", "--inline"], cwd=org.root,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8",
    ) as process:  # fmt: skip
        assert process.stdin
        assert process.stdout
        process.stdin.write("a longer pier\n")
        process.stdin.flush()
        watchdog = threading.Timer(60, process.kill)
        watchdog.start()
        said = process.stdout.read()
        process.wait()
        watchdog.cancel()

    assert process.returncode == 0
    assert "ferry/context-v/plans/Pier.md" in said


@pytest.mark.skipif(os.name == "nt", reason="a pseudo-terminal")
def test_nothing_is_read_from_a_terminal(org: Any) -> None:
    main, side = os.openpty()
    done = subprocess.run(
        [sys.executable, "-P", "-s", "-m", "backend", "find", "--inline"], cwd=org.root, stdin=side,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, encoding="utf-8", timeout=60,
    )  # fmt: skip
    os.close(main)
    os.close(side)

    assert done.returncode == 0
    assert "Missing argument" in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="a pseudo-terminal")
def test_a_first_index_shows_a_bar_with_an_estimate(org: Any) -> None:
    """On the terminal's standard error; what is said stays clean. The bar is looked at so often here that no machine is too fast
    for it. It is read beside the work: a terminal that nobody reads is full after some frames.
    """
    org.repo("ferry")
    for number in range(12):
        org.document(f"ferry/context-v/notes/Pier-{number}.md", count=3)
    often = (
        "from backend.__main__ import main\n"
        "from backend.render import progress\n"
        "progress._Bar.seconds = 0.01\n"
        "main()"
    )
    main, side = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-P", "-s", "-c", often, "init", "--senior-root", str(org.root), "--yes"],
        cwd=org.root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=side,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color"},
    ) as process:  # fmt: skip
        os.close(side)
        shown = b""
        with suppress(OSError):  # the terminal has been hung up
            while part := os.read(main, 1 << 16):
                shown += part
        said, _ = process.communicate(timeout=60)
    os.close(main)

    assert process.returncode == 0
    assert b"the first index takes a few seconds" in said
    assert re.search(rb"\d+/12 ", shown)
    assert re.search(rb"\d:\d\d:\d\d", shown)  # the estimate
    assert b"\x1b" not in said
