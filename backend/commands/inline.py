"""``--inline``: commands as Claude Code's slash commands call them."""

from __future__ import annotations

import io
import os
import re
import shlex
import sys
import threading
from contextlib import suppress

from backend.render.inert import NO_TAGS

INLINE = "--inline"
"""For Claude Code's slash commands, which a failing command would abort: the arguments come on standard input, the message of
an error goes to standard output, and the exit code is 0."""


def typed(seconds: float = 3.0) -> str:
    """What standard input holds, which a here-document gives at once; nothing on a terminal, and what came so far after
    ``seconds`` from somebody who holds it open.
    """
    if sys.stdin is None or sys.stdin.isatty():
        return ""
    try:
        source = sys.stdin.fileno()
    except OSError:  # not a file: a test's text
        return sys.stdin.read()
    parts: list[bytes] = []

    def read() -> None:
        # Past sys.stdin, whose lock would be held when Python ends.
        while part := os.read(source, 1 << 16):
            parts.append(part)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(seconds)
    return b"".join(parts).decode("utf-8", "surrogateescape")


def inline_arguments(
    arguments: list[str], text: str, *, windows: bool = os.name == "nt"
) -> list[str]:
    """What a person typed after a slash command, as arguments: one text for a search, one path for a folder, words (with
    quotes) otherwise. On Windows a backslash separates folders and escapes nothing.
    """
    text = re.sub(r"(?<!\S)\\!", "!", text.strip())  # Claude Code hands "!word" over as "\!word"
    if not text:
        return []
    command = arguments[:1]
    if command in (["find"], ["search"]):
        return ["--", text]
    if command in (["dismiss"], ["undismiss"]) and not text.startswith(("-", "'", '"')):
        return ["--", text]  # a folder's name may hold blanks
    words = shlex.shlex(text, posix=True, punctuation_chars=False)
    words.whitespace_split = True
    words.commenters = ""
    words.escape = "" if windows else words.escape
    try:
        return list(words)
    except ValueError:  # an apostrophe, say
        return text.split()


def print_between_tags(text: str) -> None:
    """Print for the agent, who is shown it between two tags: none of it may close them. What can't be written is not, since
    nothing may fail here.
    """
    try:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # a Windows code page lacks most signs
        sys.stdout.write(text.translate(NO_TAGS))
        sys.stdout.flush()
    except (OSError, ValueError):
        nobody_reads()


def nobody_reads() -> None:
    """Let what is still to be written to standard output, which Python tries at its end, go nowhere."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
