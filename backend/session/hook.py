"""``python -m backend hook EVENT``: one JSON object on standard output or nothing, and exit code 0 whatever is broken.

Events: ``session-start``, ``user-prompt``, ``pre-tool`` from Claude Code, and ``sync``, which a session's start leaves running.
``--verbose`` adds a line to hook.log also where nothing is wrong and the config's ``log`` is off.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time

from backend.session import event as events

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from backend.session.journal import Journal

LIMIT_SECONDS = 6.0
"""After so long a hook gives up by itself: at hooks.json's 10 s Claude Code would kill it, and nobody would learn of it."""


class TooSlow(BaseException):
    """The hook's time is over. No ``Exception``, so that no handler below takes it for one file's trouble."""


def run_hook(arguments: list[str]) -> int:
    """Run one event. Always returns 0."""
    name = arguments[0] if arguments else ""
    if os.environ.get(events.GUARD) and name != "sync":
        return 0
    gc.disable()  # nothing lives long enough here to be worth looking for
    out, sys.stdout = sys.stdout, sys.stderr  # a library that prints must not spoil the answer
    try:
        if name == "sync":
            from backend.session.background import run_sync

            run_sync(arguments[1:])
        else:
            _say(_answer(name, verbose="--verbose" in arguments))
    except BaseException:  # even an interrupt: nothing of ours may reach the session
        return 0
    finally:
        sys.stdout = out
        gc.freeze()  # nor at the process's end
        gc.enable()
    return 0


def _answer(name: str, *, verbose: bool) -> dict[str, Any] | None:
    handler = {"session-start": _session_start, "user-prompt": _user_prompt, "pre-tool": _pre_tool}
    if name not in handler:
        return None
    started = time.monotonic()
    raw = events.read_input()
    if name == "pre-tool" and b"cv" not in raw:
        return None
    event = events.read_event(raw)
    if event is None:
        return None
    _limit_time()
    journal: list[Journal] = []
    try:
        return handler[name](event, started, verbose, journal)
    except BaseException as error:
        _limit_time(0)
        if not journal:
            return None
        return journal[0].failed(error)
    finally:
        _limit_time(0)


def _session_start(
    event: events.Event, started: float, verbose: bool, journal: list[Journal]
) -> dict[str, Any] | None:
    if event.subagent or not event.cwd:
        return None
    if not events.may_apply(event.cwd):
        if event.text("source") not in ("", "startup") or not events.attended(os.environ):
            return None
        from backend.session.first_contact import first_contact

        return first_contact(event.cwd)
    _import_lightly()
    from backend.session.start import session_start

    return session_start(event, started=started, verbose=verbose, journal=journal)


def _user_prompt(
    event: events.Event, started: float, verbose: bool, journal: list[Journal]
) -> dict[str, Any] | None:
    prompt = event.text("prompt").lstrip()
    if event.subagent or not event.session_id or not prompt or prompt.startswith("/"):
        return None
    if events.is_settled(event.session_id) or not events.may_apply(event.cwd):
        return None
    if not events.attended(os.environ):
        events.settle(event.session_id)  # nor asked when somebody continues it in a terminal
        return None
    _import_lightly()
    from backend.session.prompt import user_prompt

    return user_prompt(event, started=started, verbose=verbose, journal=journal)


def _pre_tool(
    event: events.Event, started: float, verbose: bool, journal: list[Journal]
) -> dict[str, Any] | None:
    tool_input = event.fields.get("tool_input")
    if event.text("tool_name") != "Bash" or not isinstance(tool_input, dict):
        return None
    from backend.session.permission import is_own_read

    launcher = os.environ.get("CV_LAUNCHER", "")
    if not is_own_read(tool_input, launcher=launcher) or not events.may_apply(event.cwd):
        return None
    _import_lightly()
    from backend.session.permission import permission

    return permission(event)


def _import_lightly() -> None:
    """Import msgspec without typing_extensions, of which it needs nothing from Python 3.11 on: that saves a sixth of the hook."""
    if "msgspec" in sys.modules or "typing_extensions" in sys.modules:
        return
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]
    try:
        import msgspec  # noqa: F401
    finally:
        del sys.modules["typing_extensions"]


def _limit_time(seconds: float = LIMIT_SECONDS) -> None:
    """Raise ``TooSlow`` after so long, where the system has such a timer (not on Windows); 0 takes it back."""
    if os.name == "nt":
        return
    import signal

    def give_up(*_: object) -> None:
        raise TooSlow(f"not done after {LIMIT_SECONDS:.0f} s")

    signal.signal(signal.SIGALRM, give_up if seconds else signal.SIG_IGN)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _say(answer: dict[str, Any] | None) -> None:
    """Write the answer straight to the descriptor: nothing is left to be flushed at exit, when the reader may have gone."""
    if not answer:
        return
    data = json.dumps(answer).encode() + b"\n"
    while data:
        data = data[os.write(1, data) :]
