"""The sync that a session's start leaves running: in a session of its own, no pipe of Claude Code's, low priority, bounded."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

from backend.errors import Busy, CvError
from backend.schemas.config import Config
from backend.session.event import GUARD
from backend.session.journal import (
    SYNCING,
    Record,
    describe,
    read_record,
    tree_folder,
    write_log,
    write_record,
)
from backend.session.state import claim

NICE = 5
"""A quarter of a core beside another busy session: nobody waits for the sync, but a question may want its lock."""

GRACE_SECONDS = 60.0
"""A sync ends by itself between two batches; one that hangs this much longer is ended. The store survives that by design."""

LAST_SECONDS = 30.0
"""After so much more the system ends it, if it could not do so itself (not on Windows)."""

WATCH_SECONDS = 0.5
"""Between two looks at the clock and the memory."""


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
    import gc

    _give_way()
    gc.enable()  # the hooks do without, but this may go on for minutes
    options = dict(zip(arguments[::2], arguments[1::2], strict=False))
    root, seconds = Path(options["--root"]), float(options["--max-seconds"])
    mark = tree_folder(root) / f"{SYNCING}{os.getpid()}"
    with suppress(OSError):
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.write_text(f"{time.time() + seconds + GRACE_SECONDS + LAST_SECONDS:.0f}")
    try:
        _sync(root, seconds)
    except Busy:
        pass
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        _keep_failure(root, f"the sync failed: {describe(error)}")
        if not isinstance(error, CvError):
            raise
    finally:
        with suppress(OSError):
            mark.unlink(missing_ok=True)


def _sync(root: Path, seconds: float) -> None:
    from datetime import datetime

    from backend.tree.config import load_config

    started = time.monotonic()
    config = load_config(root)
    _be_modest(root, seconds + GRACE_SECONDS, config.sync.max_memory_mb)

    from backend.freshness.sync import Options, sync

    report = sync(
        root,
        config,
        now=datetime.now().astimezone(),
        options=Options(quick=True, max_seconds=seconds),
    )
    ms = round((time.monotonic() - started) * 1000)
    write_record(root, "sync", Record(at=int(time.time()), ms=ms))
    failed = sum(len(role.failed) for role in report.roles.values())
    if failed or config.log == "on":
        write_log(root, f"sync: done in {report.seconds:.1f} s, {failed} files failed")


def _keep_failure(root: Path, words: str) -> None:
    """For the log, and for the next start to tell; the same trouble again has been told already."""
    write_log(root, f"sync: {words.removeprefix('the sync ').replace(': ', ', ', 1)}")
    told = read_record(root, "sync").told
    write_record(root, "sync", Record(at=int(time.time()), ok=False, error=words, told=told))


def _give_way() -> None:
    """Lower this process's priority (Windows: its starter has).

    With Linux's autogroups (on by default in desktop kernels) a nice value counts only among the processes of one session, and
    this one has a session of its own: the session's has to be lowered as well (sched(7), "The autogroup feature").
    """
    if hasattr(os, "nice"):
        os.nice(NICE)
    # Not where it would be the caller's terminal.
    if sys.platform == "linux" and os.getsid(0) == os.getpid():
        with suppress(OSError):
            Path("/proc/self/autogroup").write_text(f"{NICE}\n")


def _be_modest(root: Path, seconds: float, megabytes: int) -> None:
    """End this process when it takes more time or memory, whatever it is at.

    The memory in use is watched rather than limited by the system: Chroma reserves some 1.5 GB of addresses for the smallest
    store, and fails in many ways where an allocation does.
    """
    import signal
    import threading

    if hasattr(signal, "alarm"):  # for a process in which no Python code gets its turn any more
        signal.alarm(int(min(seconds + LAST_SECONDS, 10**8)))
    watch = threading.Thread(
        target=_watch, args=(root, time.monotonic() + seconds, megabytes), daemon=True
    )
    watch.start()


def _watch(root: Path, end: float, megabytes: int) -> None:
    while True:
        time.sleep(WATCH_SECONDS)
        if time.monotonic() > end:
            why = "it did not end in its time (sync.max_seconds)"
        elif resident_mb() > megabytes:
            why = f"it took more than {megabytes} MB of memory (sync.max_memory_mb)"
        else:
            continue
        _keep_failure(root, f"the sync was stopped: {why}")
        os._exit(1)


def resident_mb() -> float:
    """MB of real memory that this process has (macOS: has had at most); 0 where that can't be learnt."""
    if sys.platform == "win32":
        return 0.0
    if sys.platform == "darwin":
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError):
        return 0.0
    return float(pages * os.sysconf("SC_PAGE_SIZE") / 1024**2)
