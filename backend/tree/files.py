"""Writing our own files so that a reader, or a crash, never meets half of one."""

from __future__ import annotations

import os
from pathlib import Path

from backend.errors import CvError


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
