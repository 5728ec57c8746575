"""What Claude Code tells a hook: JSON on standard input, and the environment. Standard library only, nothing slow.

Everything in here runs before it is known whether the kit applies at all, so most sessions pay for this module alone.
"""
# Importing pathlib takes as long as all of this.
# ruff: noqa: PTH103, PTH110, PTH118, PTH120

from __future__ import annotations

import json
import os
import sys
import time

TYPE_CHECKING = False  # typing too
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

INPUT_BYTES = 4_000_000
"""More than that is no hook's input: a pasted prompt has at most some hundred kilobytes."""

INPUT_SECONDS = 2.0
"""Claude Code writes at once; a terminal or a pipe that stays open must not hold the hook."""

GUARD = "CV_NO_HOOKS"
"""Set for every process that our hooks leave running: a hook below one of ours does nothing."""

CONFIG = os.path.join(".context-vigilance", "config.json")


class Event:
    """One call of a hook. Whatever is absent or of another type than expected reads as empty."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = fields
        self.session_id = self.text("session_id")
        self.cwd = self.text("cwd")

    def text(self, name: str) -> str:
        """The field ``name`` where it is text, else empty."""
        value = self.fields.get(name)
        return value if isinstance(value, str) else ""

    @property
    def subagent(self) -> bool:
        """Whether it was a subagent that made this happen, not the session itself."""
        return bool(self.text("agent_id"))


def read_event(raw: bytes | None = None) -> Event | None:
    """Read standard input (or take ``raw``); None where it holds no JSON object."""
    data = read_input() if raw is None else raw
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return Event(fields) if isinstance(fields, dict) else None


def read_input() -> bytes:
    """Standard input up to its end, or to the end of the JSON text where it is left open; bounded in bytes and seconds."""
    if sys.stdin is None:
        return b""
    if os.name == "nt":
        return _read_in_thread()
    import select

    end, parts, size = time.monotonic() + INPUT_SECONDS, list[bytes](), 0
    while size < INPUT_BYTES:
        ready, _, _ = select.select([0], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            break
        part = os.read(0, 1 << 16)
        if not part:
            break
        parts.append(part)
        size += len(part)
        if part.rstrip().endswith(b"}") and _is_whole(b"".join(parts)):
            break
    return b"".join(parts)


def _is_whole(data: bytes) -> bool:
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def _read_in_thread() -> bytes:
    """As Windows can't wait for a pipe with a time limit."""
    import threading

    parts: list[bytes] = []

    def read() -> None:
        size = 0
        while size < INPUT_BYTES and (part := os.read(0, 1 << 16)):
            parts.append(part)
            size += len(part)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    end = time.monotonic() + INPUT_SECONDS
    while thread.is_alive() and time.monotonic() < end and not _is_whole(b"".join(parts)):
        thread.join(0.01)
    return b"".join(parts)


def attended(environment: Mapping[str, str]) -> bool:
    """Whether a person sits at this session and can be asked.

    ``CLAUDE_CODE_SESSION_ATTENDED`` says it (from 2.1.332 on at the latest); without it ``CLAUDE_CODE_ENTRYPOINT``, which is
    ``cli`` in a terminal and ``sdk-…`` under ``-p`` and the SDKs; without either, ``CI`` means that nobody is there.
    """
    said = environment.get("CLAUDE_CODE_SESSION_ATTENDED", "")
    if said in ("0", "1"):
        return said == "1"
    entry = environment.get("CLAUDE_CODE_ENTRYPOINT", "")
    if entry:
        return not (
            entry.startswith("sdk")
            or entry.endswith("-action")
            or entry in ("mcp", "remote_trigger")
        )
    return environment.get("CI", "").casefold() in ("", "0", "false")


def may_apply(folder: str) -> bool:
    """Whether a config lies in ``folder`` or anywhere above: cheaper and laxer than ``tree.root.find_root``, which decides."""
    here = os.path.realpath(folder)
    while True:
        if os.path.isfile(os.path.join(here, CONFIG)):
            return True
        above = os.path.dirname(here)
        if above == here:
            return False
        here = above


def home() -> str:
    """The machine-wide home (``tree.home.cv_home``) as text; the launcher always names it."""
    named = os.environ.get("CV_HOME")
    if named:
        return named
    from backend.tree.home import cv_home

    return str(cv_home())


def sessions_folder() -> str:
    """Where the states of all sessions lie."""
    return os.path.join(home(), "sessions")


def session_folder(session_id: str) -> str:
    """Where a session's state lies. An ID that is no plain word becomes one."""
    plain = session_id if _is_plain(session_id) else "x" + session_id.encode().hex()[:100]
    return os.path.join(sessions_folder(), plain)


def is_settled(session_id: str) -> bool:
    """Whether the first real prompt of the session has been dealt with: one stat."""
    return os.path.exists(os.path.join(session_folder(session_id), "settled"))


def settle(session_id: str) -> bool:
    """Note that the first real prompt has been dealt with. False when it was noted already, or can't be."""
    folder = session_folder(session_id)
    try:
        os.makedirs(folder, exist_ok=True)
        os.close(os.open(os.path.join(folder, "settled"), os.O_CREAT | os.O_EXCL, 0o666))
    except OSError:
        return False
    return True


def _is_plain(text: str) -> bool:
    return 0 < len(text) <= 100 and all(c.isascii() and (c.isalnum() or c in "-_") for c in text)
