"""What a session remembers, in ``CV_HOME/sessions/<session>/``: never in the tree, never from the transcript.

``state.json`` holds the kickoff's outcome and the confirmed working set; ``settled`` is there once the first real prompt has been
dealt with; ``claim-…`` say which events were handled. All are made in one step, since two hooks may run at the same moment.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from backend.session.event import session_folder, sessions_folder

Kickoff = Literal["open", "asked", "user-drives", "no-context", "files"]

KEEP_DAYS = 30
KEEP_SESSIONS = 500
"""Sessions kept, whichever bound is met first. Claude Code itself keeps transcripts for 30 days by default."""

PARALLEL_SECONDS = 10.0
"""Two hooks of one event start together and may take as long as their time limit; after that an event is another one."""


class SessionState(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One session. ``files`` are relative to ``root``; ``host`` is Claude Code's process, which outlives a ``/clear``."""

    root: str
    folder: str = ""
    host: str = ""
    kickoff: Kickoff = "open"
    files: tuple[str, ...] = ()
    updated_at: int = 0


def load_state(session_id: str) -> SessionState | None:
    """The state of a session; None where nothing is known of it."""
    return _load(Path(session_folder(session_id)))


def save_state(session_id: str, state: SessionState) -> None:
    """Replace the state in one step. Raises ``OSError``."""
    replace_file(Path(session_folder(session_id)) / "state.json", msgspec.json.encode(state))


def create_once(path: Path) -> bool | None:
    """Create an empty file. True: made here; False: it was there; None: it can't be made."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(exist_ok=False)
    except FileExistsError:
        return False
    except OSError:
        return None
    return True


def replace_file(path: Path, data: bytes) -> None:
    """Put ``data`` at ``path`` in one step, without the wait for the disk: what a crash takes is no loss. Raises ``OSError``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    temporary.write_bytes(data)
    temporary.replace(path)


def claim(folder: Path, name: str, *, seconds: float = PARALLEL_SECONDS) -> bool:
    """Take an event that may come again: True for exactly one of the processes that ask within ``seconds``.

    Each round has a file of its own, ``claim-<name>.<round>``: the newest one's age says whether its round is over, and whoever
    makes the next file has the next round. True too where no file can be made: rather twice than never.
    """
    rounds = sorted(
        int(path.suffix[1:])
        for path in folder.glob(f"claim-{name}.*")
        if path.suffix[1:].isdecimal()
    )
    newest = rounds[-1] if rounds else 0
    if newest:
        with suppress(OSError):
            age = time.time() - (folder / f"claim-{name}.{newest}").stat().st_mtime
            if 0 <= age < seconds:
                return False
    made = create_once(folder / f"claim-{name}.{newest + 1}")
    if made:
        for old in rounds[:-1]:  # the last round's stays, for those who look at this moment
            (folder / f"claim-{name}.{old}").unlink(missing_ok=True)
    return made is not False


def before_clear(root: Path, folder: str, host: str, *, now: float) -> SessionState | None:
    """The state of the session that a ``/clear`` has ended: it gets a new ID, and nothing names the old one.

    The same Claude Code process tells (``CLAUDE_PID``, newer releases); without it, the newest session of the same folder from
    the last half day: its working set is only offered, so a wrong guess costs a line.
    """
    found: list[SessionState] = []
    for path in _newest_sessions(50):
        state = _load(path)
        if state is None or state.root != str(root) or state.folder != folder:
            continue
        if host and state.host == host:
            return state
        if not host and now - state.updated_at < 43_200:
            found.append(state)
    return found[0] if found else None


def prune_sessions(*, now: float) -> None:
    """Once a day, forget sessions that are older than 30 days or beyond the newest 500."""
    stamp = Path(sessions_folder()) / "pruned"
    with suppress(OSError):
        if now - stamp.stat().st_mtime < 86_400:
            return
    with suppress(OSError):
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.touch()
        os.utime(stamp, (now, now))
        for place, path in enumerate(_newest_sessions(None)):
            if place >= KEEP_SESSIONS or now - path.stat().st_mtime > KEEP_DAYS * 86_400:
                for file in path.iterdir():
                    file.unlink()
                path.rmdir()


def _newest_sessions(limit: int | None) -> list[Path]:
    try:
        with os.scandir(sessions_folder()) as listing:
            found = [(entry.stat().st_mtime, entry.path) for entry in listing if entry.is_dir()]
    except OSError:
        return []
    return [Path(path) for _, path in sorted(found, reverse=True)[:limit]]


def _load(folder: Path) -> SessionState | None:
    try:
        return msgspec.json.decode((folder / "state.json").read_bytes(), type=SessionState)
    except (OSError, msgspec.MsgspecError):
        return None
