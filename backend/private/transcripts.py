"""Claude Code's transcripts on disk: finding them, and reading their lines from where the last run stopped.

A transcript is a ``.jsonl`` file that Claude Code appends to. Nothing in one may end a run, and memory stays bounded whatever
a line holds.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

LONGEST_LINE = 16 * 1024 * 1024
"""Bytes of a line that is still read. Pasted images make lines of some megabytes; a longer line is passed over, in pieces."""

_PIECE = 1024 * 1024
_SETTLED = 2 * 10**9
"""Nanoseconds after which two changes of a file have two times, on the coarsest of file systems."""


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


class Mark:
    """What tells later whether the first bytes of a transcript are still those that were read: a hash of them all, and what the
    file's record says of it, by which one that nobody has touched since need not be read again.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._stamp = _stamp(os.fstat(file.fileno()))
        self._restart()

    def at(self, offset: int) -> str:
        """The mark of the first ``offset`` bytes. Moves the file's position."""
        return f"{self._hash(offset)} {self._stamp}".strip()

    def fits(self, mark: str, offset: int) -> bool:
        """Whether ``mark`` is the one of the first ``offset`` bytes."""
        known, _, stamp = mark.partition(" ")
        return (self._stamp != "" and stamp == self._stamp) or known == self._hash(offset)

    def settles(self, mark: str) -> bool:
        """Whether ``mark`` lacks the file's record as it is, by which the next run need not read it."""
        return self._stamp != "" and mark.partition(" ")[2] != self._stamp

    def _restart(self) -> None:
        self._digest, self._reached = hashlib.blake2b(digest_size=16), 0

    def _hash(self, offset: int) -> str:
        if offset < self._reached:
            self._restart()
        self._file.seek(self._reached)
        while piece := self._file.read(min(_PIECE, offset - self._reached)):
            self._digest.update(piece)
            self._reached += len(piece)
        return self._digest.hexdigest()


def _stamp(record: os.stat_result) -> str:
    """Inode, size and the times of a file; nothing while it may still change within one tick of the clock."""
    if time.time_ns() - max(record.st_mtime_ns, record.st_ctime_ns) < _SETTLED:
        return ""
    return f"{record.st_ino} {record.st_size} {record.st_mtime_ns} {record.st_ctime_ns}"
