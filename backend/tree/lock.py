"""Locks between processes: one writer at a time, and readers beside each other. By portalocker, so on all three systems."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from backend.errors import Busy, CvError


@contextmanager
def exclusive(path: Path, *, seconds: float, busy: str) -> Iterator[None]:
    """Hold ``path`` alone for the length of the block.

    Waits up to ``seconds`` (0: not at all), then raises ``Busy`` with the message ``busy``. The system drops the lock when
    the process ends, however it ends; the empty file stays.
    """
    with _locked(path, shared=False, seconds=seconds, busy=busy):
        yield


@contextmanager
def shared(path: Path, *, seconds: float, busy: str) -> Iterator[None]:
    """Hold ``path`` together with other readers, never beside a writer. Otherwise like ``exclusive``."""
    with _locked(path, shared=True, seconds=seconds, busy=busy):
        yield


@contextmanager
def _locked(path: Path, *, shared: bool, seconds: float, busy: str) -> Iterator[None]:
    import portalocker

    flags = portalocker.LockFlags.SHARED if shared else portalocker.LockFlags.EXCLUSIVE
    lock = portalocker.Lock(
        path,
        mode="a",
        timeout=seconds,
        check_interval=0.02,
        fail_when_locked=seconds == 0,
        flags=flags | portalocker.LockFlags.NON_BLOCKING,
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except portalocker.exceptions.LockException as error:
        raise Busy(busy) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise CvError(
            f"{path}: the lock could not be taken ({reason}); is the folder writable?"
        ) from error
    try:
        yield
    finally:
        lock.release()
