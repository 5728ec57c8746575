"""Writing our own files so that a reader, or a crash, never meets half of one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from backend.errors import Busy, CvError

LITTLE_ROOM = 50 * 1024**2
"""Bytes free on a disk, below which an error may come from that: SQLite may then say "disk I/O error", and Chroma "Error in
compaction".
"""


def write_atomic(path: Path, data: bytes) -> None:
    """Put ``data`` at ``path`` in one step: a temporary file beside it, flushed to disk, then renamed over it.

    Raises ``CvError`` with the system's reason when the folder cannot be written; the old file then stays as it was.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True) if temporary.parent.is_dir() else None
        reason = error.strerror or str(error)
        raise CvError(f"{path}: could not be written ({reason}); the file is as it was") from error


def write_if_changed(path: Path, data: bytes) -> bool:
    """Like ``write_atomic``, but leave a file alone that already holds ``data``. True when it was written."""
    try:
        if path.read_bytes() == data:
            return False
    except OSError:
        pass
    write_atomic(path, data)
    return True


def free_bytes(folder: Path) -> int | None:
    """Free space on the disk that holds ``folder``; None where it can't be told."""
    import shutil  # not for a hook

    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None


@contextmanager
def naming_room(folder: Path) -> Iterator[None]:
    """Let a ``CvError`` of the block say how little room there is on the disk of ``folder``, where that may be its reason."""
    try:
        yield
    except Busy:
        raise
    except CvError as error:
        free = free_bytes(folder)
        if free is None or free >= LITTLE_ROOM:
            raise
        room = f"only {free / 1024**2:.1f} MB are free on this disk: make room, then run it again"
        raise type(error)(f"{error}; {room}") from error
