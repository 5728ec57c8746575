"""``last_session_at``: moved by a real session start, without making that start wait for a slow import."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from backend.errors import CvError
from backend.tree.config import change_config, config_path, rewrite_config

WAIT_SECONDS = 0.5
"""Others hold the lock for some milliseconds."""


def move_last_session(root: Path, moment: datetime) -> None:
    """Write ``moment``. A config that can't be written costs a second nudge, no more."""

    def change(raw: dict[str, Any]) -> None:
        text = moment.astimezone(UTC).isoformat(timespec="seconds")
        raw["last_session_at"] = text.replace("+00:00", "Z")

    with suppress(CvError, OSError):
        if os.name == "nt":
            change_config(root, change)
        else:
            with _flock(config_path(root).with_name("config.lock")):
                rewrite_config(root, change)


@contextmanager
def _flock(path: Path) -> Iterator[None]:
    """The lock of ``change_config``, as portalocker takes it on POSIX systems (flock), without its 30 ms of import."""
    import fcntl
    import time

    with path.open("a") as file:
        end = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.005)
        yield
