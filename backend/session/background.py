"""The sync that a session's start leaves running: its own session, no pipe of Claude Code's, low priority, bounded in time."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from backend.errors import Busy, CvError
from backend.schemas import Config
from backend.session.event import GUARD
from backend.session.journal import Record, describe, tree_folder, write_log, write_record
from backend.session.state import claim

GRACE_SECONDS = 60.0
"""A sync ends by itself between two batches; one that hangs this much longer is ended. The store survives that by design."""


def start_sync(root: Path, config: Config) -> None:
    """Start a sync of ``root`` and don't wait, unless one was started within the last seconds. Never raises ``OSError``."""
    if not claim(tree_folder(root), "sync"):
        return
    import subprocess

    words = [
        *("hook", "sync", "--root", str(root)),
        *("--max-seconds", str(config.sync.max_seconds)),
    ]
    flags = 0
    if sys.platform == "win32":
        flags = (
            subprocess.DETACHED_PROCESS
            | subprocess.CREATE_NEW_PROCESS_GROUP
            | subprocess.BELOW_NORMAL_PRIORITY_CLASS
        )
    # What Claude Code hands its hooks (tokens among it) is none of the sync's business.
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("CLAUDE", "ANTHROPIC"))}
    try:
        subprocess.Popen(
            [sys.executable, "-P", "-s", "-X", "utf8", "-m", "backend", *words],
            cwd=root,
            env={**environment, GUARD: "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=sys.platform != "win32",
            creationflags=flags,
        )
    except OSError as error:
        write_log(root, f"sync: could not be started ({describe(error)})")


def run_sync(arguments: list[str]) -> None:
    """``hook sync --root ROOT --max-seconds N``: the process that was left running. What goes wrong is told at the next start."""
    import time

    from backend.tree.config import load_config

    options = dict(zip(arguments[::2], arguments[1::2], strict=False))
    root, seconds = Path(options["--root"]), float(options["--max-seconds"])
    _be_modest(seconds + GRACE_SECONDS)
    started = time.monotonic()
    try:
        config = load_config(root)
        from datetime import datetime

        from backend.freshness.sync import Options, sync

        report = sync(
            root,
            config,
            now=datetime.now().astimezone(),
            options=Options(quick=True, max_seconds=seconds),
        )
    except Busy:
        return
    except Exception as error:
        write_log(root, f"sync: failed, {describe(error)}")
        words = f"the sync failed: {describe(error)}"
        write_record(
            root, "sync", _with_told(root, Record(at=int(time.time()), ok=False, error=words))
        )
        if not isinstance(error, CvError):
            raise
        return
    write_record(
        root, "sync", Record(at=int(time.time()), ms=round((time.monotonic() - started) * 1000))
    )
    failed = sum(len(role.failed) for role in report.roles.values())
    if failed or config.log == "on":
        write_log(root, f"sync: done in {report.seconds:.1f} s, {failed} files failed")


def _with_told(root: Path, record: Record) -> Record:
    """The same trouble again has been told already."""
    from msgspec.structs import replace

    from backend.session.journal import read_record

    return replace(record, told=read_record(root, "sync").told)


def _be_modest(seconds: float) -> None:
    """Lower this process's priority (Windows: its starter has), and end it after ``seconds`` whatever it is doing."""
    import threading

    if hasattr(os, "nice"):
        os.nice(10)
    if seconds < threading.TIMEOUT_MAX:
        timer = threading.Timer(seconds, os._exit, args=(1,))
        timer.daemon = True
        timer.start()
