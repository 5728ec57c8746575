"""How the hooks went: ``<senior-root>/.context-vigilance/hook.log`` for people, and what the next session's start must tell.

A line never holds a document's text, the prompt or the environment.
"""

from __future__ import annotations

import os
import time
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from backend.errors import CvError
from backend.render.inert import inert
from backend.schemas.status import LastHook, SyncBy
from backend.session.event import attended, home
from backend.session.state import replace_file
from backend.tree.config import ConfigError
from backend.tree.root import KIT_FOLDER

LOG_BYTES = 100_000
"""When hook.log is longer, its older half goes: some 500 lines stay."""

KILLED_SECONDS = 15.0
"""A hook still marked as running after that was killed: Claude Code allows it 10 s."""


SYNCING = "syncing."
"""With the process's number: the file that stands in ``tree_folder`` while a background sync is at work. It holds the moment
(epoch seconds) by which that process has ended in any case."""


class Record(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How the newest run went, and the error of an earlier one that a session has been told of already. ``by``: of a sync, who
    ran it.
    """

    at: int
    ms: int = 0
    ok: bool = True
    error: str = ""
    told: str = ""
    by: SyncBy = "hook"


class Journal:
    """Of one run of a hook in a tree. ``event``: its name in the log; ``keeps_record``: only a session's start does."""

    def __init__(
        self, root: Path, event: str, *, started: float, log: bool, keeps_record: bool
    ) -> None:
        self.root = root
        self.event = event
        self.started = started
        self.log = log
        self.keeps_record = keeps_record
        self.before = read_record(root, "hook")
        self._running = tree_folder(root) / "running"

    def begin(self) -> str:
        """Mark the run as going on. Returns what a session must be told of earlier runs, once; empty if nothing."""
        told = [self._untold("hook"), self._untold("sync") or self._stopped_sync()]
        with suppress(OSError):
            if time.time() - self._running.stat().st_mtime > KILLED_SECONDS:
                told.append("the hook was stopped before it had ended, perhaps by its time limit")
                write_log(
                    self.root, f"{self.event}: the run before was stopped before it had ended"
                )
        with suppress(OSError):
            self._running.parent.mkdir(parents=True, exist_ok=True)
            self._running.touch()
        return "; ".join(text for text in told if text)

    def done(self, detail: str = "") -> None:
        """The run went well."""
        ms = self._ms()
        if self.log:
            write_log(self.root, f"{self.event}: ok, {ms} ms{', ' + detail if detail else ''}")
        if self.keeps_record:
            write_record(self.root, "hook", Record(at=int(time.time()), ms=ms))
            self._running.unlink(missing_ok=True)

    def failed(self, error: BaseException) -> dict[str, Any] | None:
        """The run did not go well: log it, keep it for the next session; what an earlier one left is told now, and so is a broken
        config, which only a person can mend. Where nobody is there, all of it waits for a session with somebody.
        """
        words = describe(error)
        write_log(self.root, f"{self.event}: failed, {self._ms()} ms, {words}")
        if not self.keeps_record:
            return None
        said, told = list[str](), self.before.told
        if attended(os.environ):
            untold = self._untold("hook")
            if isinstance(error, ConfigError):
                said = [broken(error)] * (words != told)
                said += [trouble(untold)] * (untold not in ("", words))
                told = words
            elif untold:
                said, told = [trouble(untold)], untold
        record = Record(at=int(time.time()), ms=self._ms(), ok=False, error=words, told=told)
        write_record(self.root, "hook", record)
        self._running.unlink(missing_ok=True)
        return {"systemMessage": "\n".join(said)} if said else None

    def _untold(self, name: str) -> str:
        record = self.before if name == "hook" else read_record(self.root, name)
        if record.ok or record.error == record.told:
            return ""
        if name != "hook":
            write_record(self.root, name, msgspec.structs.replace(record, told=record.error))
        return record.error

    def _stopped_sync(self) -> str:
        """What to tell of a background sync that was killed, unless it could say why itself or a later one has ended."""
        told = ""
        for mark in tree_folder(self.root).glob(f"{SYNCING}*"):
            try:
                began = mark.stat().st_mtime
                latest_end = float(mark.read_text() or "inf")  # empty: killed while it wrote this
            except (OSError, ValueError):
                continue
            if time.time() < latest_end and is_running(int(mark.name.removeprefix(SYNCING))):
                continue
            mark.unlink(missing_ok=True)
            if read_record(self.root, "sync").at < int(began):
                told = "the sync in the background was stopped before it had ended"
                write_log(self.root, f"sync: {told}")
        return told

    def _ms(self) -> int:
        return round((time.monotonic() - self.started) * 1000)


def trouble(words: str) -> str:
    """What a user is told of an earlier failure."""
    return f"Context Vigilance: at an earlier start, {words}. More in .context-vigilance/hook.log; /cv-doctor looks into it."


def broken(error: ConfigError) -> str:
    """What a user is told of a config that can't be used, and of the command that mends it."""
    from backend.session.words import in_plugin
    from backend.tree.config_faults import cure

    command = cure(error).replace("'cv config", "'/cv-config" if in_plugin() else "'cv config")
    return (
        f"Context Vigilance does nothing in this tree until its config.json is mended. {inert(describe(error), 500)}; "
        f"{command + '; ' if command else ''}/cv-doctor looks into it."
    )


def describe(error: BaseException) -> str:
    """An error in one line: our own in their words; of any other only its kind and place, since its words may hold anything."""
    if isinstance(error, CvError):
        return " ".join(str(error).split())[:500]
    place, trace = "", error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        place = f" at {Path(code.co_filename).name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{type(error).__name__}{place}"


def last_hook(root: Path) -> LastHook | None:
    """How the newest session-start hook in this tree went; None where none ever ran."""
    record = read_record(root, "hook")
    if not record.at:
        return None
    return LastHook(at=record.at, ms=record.ms, ok=record.ok, error=record.error)


def write_log(root: Path, line: str) -> None:
    """Add a line with the moment (UTC) to hook.log; a log that can't be written is no reason to fail."""
    path = root / KIT_FOLDER / "hook.log"
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    with suppress(OSError):
        if os.path.islink(path):
            return  # a cloned tree could make it lead anywhere
        if path.exists() and path.stat().st_size > LOG_BYTES:
            kept = path.read_bytes()[-LOG_BYTES // 2 :]
            path.write_bytes(kept[kept.find(b"\n") + 1 :])
        with path.open("a", encoding="utf-8", errors="replace") as file:
            file.write(f"{moment} {line}\n")


def is_running(process: int) -> bool:
    """Whether there is such a process; on Windows, where asking could end it, always True."""
    if os.name == "nt":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def tree_folder(root: Path) -> Path:
    """Where the machine keeps what it knows of a tree beside the tree itself."""
    return Path(home()) / "trees" / key_of(root)


def key_of(root: Path) -> str:
    """A file name for a path: its last part, to be recognised, and a checksum."""
    name = "".join(c if c.isascii() and c.isalnum() else "-" for c in root.name)[:40]
    return f"{name}-{zlib.crc32(str(root).encode(errors='surrogateescape')):08x}"


def read_record(root: Path, name: str) -> Record:
    """How the newest run of ``name`` (``hook``, ``sync``) in this tree went; ``at`` 0 where none is known."""
    try:
        return msgspec.json.decode(_record_path(root, name).read_bytes(), type=Record)
    except (OSError, msgspec.MsgspecError):
        return Record(at=0)


def write_record(root: Path, name: str, record: Record) -> None:
    """Keep how a run went; where that can't be written, nobody is told."""
    with suppress(OSError):
        replace_file(_record_path(root, name), msgspec.json.encode(record))


def note_sync(root: Path, seconds: float) -> None:
    """A sync that a person asked for has ended well; what one in the background had left to tell is settled by it."""
    write_record(root, "sync", Record(at=int(time.time()), ms=round(seconds * 1000), by="command"))


def _record_path(root: Path, name: str) -> Path:
    return tree_folder(root) / f"{name}.json"
