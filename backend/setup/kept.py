"""What CV_HOME/environments keeps per key: stamps, locks, notes for the next session; and which of it goes again.

Standard library only: the set-up runs before there is an environment.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from backend.setup.installer import clear, python_in, say

UNUSED_SECONDS = 30 * 24 * 3600  # an environment of other pins is removed when unused for this long


def is_ready(folder: Path) -> bool:
    """Tell whether the environment was finished and its Python still starts (the base Python may have gone)."""
    if not (folder / "ready").is_file():
        return False
    with contextlib.suppress(OSError):
        start = subprocess.run([python_in(folder), "-I", "-c", ""], capture_output=True)
        return start.returncode == 0
    return False


def stamp(folder: Path, version: str) -> None:
    """Write ``ready``: whole or not at all."""
    draft = folder / "ready.new"
    with draft.open("w", encoding="utf-8") as file:
        file.write(f"{version} {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())}\n")
        file.flush()
        os.fsync(file.fileno())
    draft.replace(folder / "ready")


def leave_note(folder: Path, message: str) -> None:
    """Leave what the next session's hook tells the user, once: the launcher prints the file as it is.

    Where it can't be written, nothing is left: the line on the terminal has to do.
    """
    answer = {
        "systemMessage": f"Context Vigilance: {message}",
        "hookSpecificOutput": {
            "hookEventName": "SessionStart",
            "additionalContext": "Context Vigilance is not set up on this machine: its commands do not work before the "
            "user has typed /cv-init and that has ended well. Do not install anything yourself.",
        },
    }
    draft = folder.with_suffix(".note.new")
    with contextlib.suppress(OSError):
        draft.write_text(json.dumps(answer) + "\n", "utf-8")
        draft.replace(folder.with_suffix(".note"))


def forget_notes(folder: Path) -> None:
    """Remove the notes: the environment is there, and a hook may speak anew should it break one day."""
    for suffix in (".note", ".said"):
        with contextlib.suppress(OSError):
            folder.with_suffix(suffix).unlink()


def prune(environments: Path, keep: Path) -> None:
    """Remove environments of other keys that nobody used for 30 days, going by their stamp's access and change time.

    The launcher reads the stamp at every use (access time, where the system keeps one) and touches it at every command.
    """
    for entry in environments.iterdir():
        if entry == keep or entry.suffix or not entry.is_dir() or entry.is_symlink():
            continue
        with contextlib.suppress(OSError):
            about = (entry / "ready").stat() if (entry / "ready").exists() else entry.stat()
            if time.time() - max(about.st_atime, about.st_mtime) > UNUSED_SECONDS:
                clear(entry)
                for suffix in (".log", ".said", ".note"):
                    entry.with_suffix(suffix).unlink(missing_ok=True)


@contextlib.contextmanager
def lock(path: Path) -> Iterator[IO[Any]]:
    """Hold ``path`` exclusively, waiting for another holder. The system frees it when the holders end, however they end."""
    with path.open("a+b") as file:
        if not _try_lock(file):
            say("another set-up is at work; waiting for it")
            while not _try_lock(file):
                time.sleep(0.2)
        yield file


def _try_lock(file: IO[Any]) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:  # a file system without locks: better unlocked than never
        return True
    return True
