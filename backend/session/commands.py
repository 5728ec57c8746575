"""``cv session``: what the agent tells of the session it is in, and what is remembered of it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import click
from msgspec.structs import replace

from backend.errors import CvError, UsageError
from backend.render.escaped import harmless_json
from backend.render.inert import inert
from backend.render.paths import PATH_LIMIT
from backend.session.event import GUARD, settle
from backend.session.state import Kickoff, SessionState, load_state, save_state
from backend.tree.root import require_root


@click.group(name="session", invoke_without_command=True)
@click.pass_context
def session(context: click.Context) -> None:
    """What is remembered of a session: the outcome of kickoff, and the confirmed working set."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def _session_option(function: click.decorators.FC) -> click.decorators.FC:
    return click.option(
        "--session",
        "session_id",
        envvar="CLAUDE_CODE_SESSION_ID",
        metavar="ID",
        help="The session (default: the one that this runs in).",
    )(function)


@session.command(name="remember-files")
@click.argument("paths", nargs=-1, required=True, metavar="PATH…")
@_session_option
def remember_files(paths: tuple[str, ...], session_id: str | None) -> None:
    """Add files to the session's confirmed working set; a file that is not there is refused."""
    state, session_id = _open(session_id)
    root = Path(state.root)
    files = dict.fromkeys(state.files)
    files |= dict.fromkeys(_inside(root, path) for path in paths)
    _keep(session_id, state, "files", tuple(files))
    click.echo(f"remembered for this session: {len(files)} file{'' if len(files) == 1 else 's'}")


@session.command(name="no-context")
@_session_option
def no_context(session_id: str | None) -> None:
    """Note that the user needs no documents: kickoff does not ask again in this session."""
    state, session_id = _open(session_id)
    _keep(session_id, state, "no-context", ())
    click.echo("noted: no context needed, not asked again in this session")


@session.command()
@_session_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(session_id: str | None, as_json: bool) -> None:
    """Print how kickoff went in this session, and the working set."""
    state, _ = _open(session_id)
    if as_json:
        plain = {"root": state.root, "kickoff": state.kickoff, "files": state.files}
        click.echo(harmless_json(plain, indent=2))
        return
    click.echo(f"kickoff: {_OUTCOMES[state.kickoff]}")
    for path in state.files:
        click.echo(f"  {inert(path, PATH_LIMIT)}")  # the agent reads this


_OUTCOMES: dict[Kickoff, str] = {
    "open": "not asked yet",
    "asked": "asked, no answer noted yet",
    "user-drives": "not asked, the first message named files",
    "no-context": "no context needed",
    "files": "working set confirmed",
}


def working_set(session_id: str) -> tuple[str, ...]:
    """The files that the user confirmed in a session, relative to the senior root."""
    state = load_state(session_id) if session_id else None
    return state.files if state else ()


def _open(session_id: str | None) -> tuple[SessionState, str]:
    if not session_id:
        raise UsageError(
            "no session: expected --session ID, or the variable CLAUDE_CODE_SESSION_ID as Claude Code's Bash tool sets it"
        )
    state = load_state(session_id)
    if state is None:
        here = Path.cwd()
        state = SessionState(root=str(require_root(here)), folder=str(here))
    return state, session_id


def _keep(session_id: str, state: SessionState, kickoff: Kickoff, files: tuple[str, ...]) -> None:
    if os.environ.get(GUARD):
        return
    state = replace(state, kickoff=kickoff, files=files, updated_at=int(time.time()))
    try:
        save_state(session_id, state)
    except OSError as error:
        raise CvError(
            f"the session's state could not be kept ({error}); is CV_HOME writable?"
        ) from error
    settle(session_id)


def _inside(root: Path, text: str) -> str:
    """A path as given (absolute, from here, from the root) as POSIX text relative to the root. Raises ``UsageError``."""
    given = Path(os.path.expanduser(text))
    for path in (given,) if given.is_absolute() else (Path.cwd() / given, root / given):
        found = path.resolve()
        if found.is_file() and found.is_relative_to(root):
            return found.relative_to(root).as_posix()
    raise UsageError(f"{text}: no such file below the senior root {root}; nothing was remembered")
