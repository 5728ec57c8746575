"""The SessionStart hook in a tree where the kit may apply: applicability, stat walk, delta, a few lines of context, a sync."""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from backend.catchup.nudge import Delta, delta, nudge_text, should_nudge
from backend.errors import CvError
from backend.schemas.config import Config
from backend.session import words
from backend.session.background import start_sync
from backend.session.event import Event, attended, home, session_folder, settle
from backend.session.journal import Journal, read_record, tree_folder, trouble
from backend.session.last_session import move_last_session
from backend.session.look import Look, look
from backend.session.opening import open_tree
from backend.session.state import (
    SessionState,
    before_clear,
    claim,
    create_once,
    load_state,
    prune_sessions,
    save_state,
)
from backend.tree.config import ConfigError
from backend.tree.files import write_if_changed
from backend.tree.found import slug_of

SOURCES = ("startup", "resume", "clear", "compact", "fork")


def session_start(
    event: Event, *, started: float, verbose: bool, journal: list[Journal]
) -> dict[str, Any] | None:
    """The answer for one start; None to say nothing. ``journal`` receives the run's journal as soon as there is a tree."""
    source = event.text("source") or "startup"
    try:
        opened = open_tree(
            event, "session-start",
            started=started, verbose=verbose, journal=journal, keeps_record=True,
        )  # fmt: skip
    except ConfigError:
        if _is_anothers(event, source):
            return None
        raise
    if opened is None:
        return None
    root, config, own = opened
    _remember_launcher()  # the plugin's own hook, even where the other one is to speak
    if _is_anothers(event, source):
        return None
    untold = own.begin()
    run = _Start(event, root, config, source, datetime.now().astimezone())
    answer = run.answer()
    if untold and attended(os.environ):
        told = [trouble(untold), answer.get("systemMessage", "")]
        answer["systemMessage"] = "\n".join(text for text in told if text)
    prune_sessions(now=run.now.timestamp())
    own.done(run.detail)
    return answer


class _Start:
    def __init__(
        self, event: Event, root: Path, config: Config, source: str, now: datetime
    ) -> None:
        self.event, self.root, self.config = event, root, config
        self.source, self.now = source, now
        self.attended = attended(os.environ)
        self.detail = source

    def answer(self) -> dict[str, Any]:
        before = load_state(self.event.session_id) if self.event.session_id else None
        found = look(self.root, self.config, now=self.now)
        self.detail = f"{self.source}, {found.changed} changed"
        if self.source == "startup":
            answer = self.startup(found)
        elif self.source == "resume" and before is None:
            answer = self.joined(found)
        elif self.source == "compact":
            answer = self.again(before or self.fresh_state(), "after a compaction")
        elif self.source == "clear":
            answer = self.cleared(found)
        else:
            answer = {}  # resume, fork: the start's context stands in the transcript
        if found.stale:
            start_sync(self.root, self.config)
        return answer

    def startup(self, found: Look) -> dict[str, Any]:
        change = delta(found.cards, self.config, self.now, pending=found.pending)
        offered = change if self.offers(change) else None
        self.remember(self.fresh_state())
        if not self.attended and self.event.session_id:
            settle(self.event.session_id)  # nor asked when somebody continues it in a terminal
        # Nobody sees the delta of an unattended run, so it counts as no session; but there must be a moment to count from.
        if self.attended or self.config.last_session_at is None:
            move_last_session(self.root, self.now)
        answer = self.context(found, offered)
        if self.attended and change.days is None and change.files:
            answer["systemMessage"] = nudge_text(change)
        return answer

    def offers(self, change: Delta) -> bool:
        """Whether the nudge is due; of sessions that open together only one gets it."""
        if not self.attended or not should_nudge(change, self.config.nudge, self.now):
            return False
        last = self.config.last_session_at
        assert last is not None  # or there would be no days to count
        note = tree_folder(self.root) / f"nudged-{last.timestamp():.0f}"
        if create_once(note) is False:
            return False
        for older in note.parent.glob("nudged-*"):
            if older != note:
                older.unlink(missing_ok=True)
        return True

    def joined(self, found: Look) -> dict[str, Any]:
        """A session that began without the kit: told of it, never asked."""
        self.remember(self.fresh_state())
        settle(self.event.session_id)
        return self.context(found)

    def cleared(self, found: Look) -> dict[str, Any]:
        """After ``/clear`` the session has a new ID; what was confirmed before goes on."""
        state = self.fresh_state()
        before = before_clear(self.root, state.folder, state.host, now=self.now.timestamp())
        if before is None or (not before.files and before.kickoff != "no-context"):
            self.remember(state)
            return self.context(found)
        state = SessionState(
            root=state.root, folder=state.folder, host=state.host, kickoff=before.kickoff,
            files=before.files, updated_at=state.updated_at,
        )  # fmt: skip
        self.remember(state)
        settle(self.event.session_id)
        return self.again(state, "after /clear")

    def again(self, state: SessionState, after: str) -> dict[str, Any]:
        return _context(words.again_context(self.root, state, after=after))

    def context(self, found: Look, offered: Delta | None = None) -> dict[str, Any]:
        text = words.start_context(
            self.root,
            self.config,
            found,
            failure=read_record(self.root, "sync").error if found.stale else "",
            repo=repo_at_hand(self.root, Path(self.event.cwd), found.repos),
            offered=offered,
            attended=self.attended,
        )
        return _context(text)

    def fresh_state(self) -> SessionState:
        return SessionState(
            root=str(self.root),
            folder=self.event.cwd,
            host=os.environ.get("CLAUDE_PID", ""),
            updated_at=int(self.now.timestamp()),
        )

    def remember(self, state: SessionState) -> None:
        """Keep the state; where that can't be done the session simply has no memory."""
        if self.event.session_id:
            with suppress(OSError):
                save_state(self.event.session_id, state)


def repo_at_hand(root: Path, folder: Path, repos: Collection[str] | None) -> str:
    """The slug of the repo that ``folder`` lies in."""
    relative = PurePosixPath(folder.resolve().relative_to(root).as_posix())
    if relative == PurePosixPath("."):
        return root.name
    return slug_of(f"{relative}/x", repos or (), root)


def _is_anothers(event: Event, source: str) -> bool:
    """Whether this start is for another hook to deal with, or for none; each may ask once."""
    if source not in SOURCES or _is_replaced():
        return True
    folder, name = session_folder(event.session_id), _claim_name(source, event.text("prompt_id"))
    # Else the other one of plugin and settings.json has it.
    return bool(event.session_id) and not claim(Path(folder), name)


def _is_replaced() -> bool:
    """Whether the wrapper script in the tree has started a version of the plugin that an update has replaced.

    Claude Code leaves the old version's folder with a file ``.orphaned_at``. The new version's own hook runs beside this one,
    and must be the one that speaks. A session that was open during the update still runs the old version, as its plugin.
    """
    launcher = os.environ.get("CV_LAUNCHER", "")
    return (
        bool(launcher)
        and not os.environ.get("CLAUDE_PLUGIN_ROOT")
        and os.path.isfile(Path(launcher).parent.parent / ".orphaned_at")  # never raises
    )


def _remember_launcher() -> None:
    """Keep where ``bin/cv`` lies for the wrapper script in the tree (setup/init.py writes both): an update moves it."""
    launcher = os.environ.get("CV_LAUNCHER", "")
    if launcher and os.environ.get("CLAUDE_PLUGIN_ROOT"):
        with suppress(CvError):
            write_if_changed(Path(home()) / "launcher", f"{launcher}\n".encode())


def _context(text: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}}


def _claim_name(source: str, prompt_id: str) -> str:
    plain = "".join(c for c in prompt_id if c.isascii() and (c.isalnum() or c == "-"))[:40]
    return f"{source}-{plain}" if plain else source
