"""Claude Code's transcripts on disk: finding them, and reading their lines from where the last run stopped.

A transcript is a ``.jsonl`` file that Claude Code appends to. Nothing in one may end a run, and memory stays bounded whatever
a line holds.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

LONGEST_LINE = 16 * 1024 * 1024
"""Bytes of a line that is still read. Pasted images make lines of some megabytes; a longer line is passed over, in pieces."""

_PIECE = 1024 * 1024
_SAMPLE = 1024


class RawLine(NamedTuple):
    """One line: its bytes, None where it is too long, and the offsets in bytes where it begins and where the next one does."""

    data: bytes | None
    start: int
    end: int


def transcripts_folder() -> Path:
    """Where Claude Code keeps transcripts: ``projects`` in ``CLAUDE_CONFIG_DIR``, else in ``~/.claude``."""
    chosen = os.environ.get("CLAUDE_CONFIG_DIR")
    base = Path(chosen).expanduser() if chosen else Path.home() / ".claude"
    return (base / "projects").absolute()


def find_transcripts(folder: Path) -> list[Path]:
    """Every transcript below ``folder``, in order of path; links are not followed."""
    found = []
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in names:
            path = Path(parent, name)
            if name.endswith(".jsonl") and not path.is_symlink() and path.is_file():
                found.append(path)
    return sorted(found)


def name_of(path: Path) -> str:
    """What a transcript is called in the ledger: its path, as text that can be stored whatever bytes are in it."""
    return str(path).encode("utf-8", "backslashreplace").decode()


def read_lines(file: BinaryIO, offset: int) -> Iterator[RawLine]:
    """The whole lines from ``offset`` on. A last line without its end is still being written and is left for the next run."""
    file.seek(offset)
    start = offset
    while line := file.readline(LONGEST_LINE):
        end = start + len(line)
        data: bytes | None = line
        if not line.endswith(b"\n"):
            if len(line) < LONGEST_LINE:
                return
            piece = data = None
            del line
            while piece is None or not piece.endswith(b"\n"):
                piece = file.readline(_PIECE)
                if not piece:
                    return
                end += len(piece)
        yield RawLine(data, start, end)
        start = end


def mark_at(file: BinaryIO, offset: int) -> str:
    """What tells later whether the first ``offset`` bytes are still those that were read: a hash of a sample at either end."""
    digest = hashlib.sha256()
    for start in (0, max(0, offset - _SAMPLE)):
        file.seek(start)
        digest.update(file.read(min(_SAMPLE, offset - start)))
    return digest.hexdigest()[:32]
