"""What a run is about to read, for the question that is asked before it. Nothing is stored for it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path, PurePath

from backend.private import turns
from backend.private.ledger import Ledger
from backend.private.places import require_plain, require_untracked
from backend.private.projects import Projects
from backend.private.stored import Reached
from backend.private.transcripts import (
    Mark,
    find_transcripts,
    name_of,
    read_lines,
    transcripts_folder,
)
from backend.schemas.config import Config
from backend.schemas.private import PrivatePlan


def plan(root: Path, config: Config, roles: Sequence[str]) -> PrivatePlan:
    """What a run would read now, without storing anything. Raises ``CvError`` when the ledger is damaged, or the place is no safe
    one for it.
    """
    require_plain(root)
    require_untracked(root)
    folder = transcripts_folder()
    ledger = Ledger.for_reading(root)
    count = _Count(Projects(root, config), ledger)
    with ledger or nullcontext():
        for path in find_transcripts(folder):
            with suppress(OSError):  # the run itself names it
                count.add(path, roles)
    oldest = datetime.fromtimestamp(count.oldest, UTC).date().isoformat() if count.messages else ""
    return PrivatePlan(
        senior_root=str(root),
        transcripts=str(folder),
        roles=tuple(roles),
        sessions=len(count.sessions),
        projects=tuple(sorted(count.projects)),
        messages=count.messages,
        tool_calls=count.tool_calls,
        since=oldest,
        bytes=count.bytes,
    )


class _Count:
    """What of the transcripts belongs here and has not been read."""

    def __init__(self, projects: Projects, ledger: Ledger | None) -> None:
        self._belongs, self._ledger = projects, ledger
        self._before = ledger.forgotten_before() if ledger else 0
        self.sessions: set[str] = set()
        self.projects: set[str] = set()
        self.messages = self.tool_calls = self.bytes = self.oldest = 0

    def add(self, path: Path, roles: Sequence[str]) -> None:
        """Count what is new in one transcript for any of ``roles``. Raises ``OSError``."""
        with path.open("rb") as file:
            name = name_of(path)
            known = [self._ledger.reached(name, role) if self._ledger else None for role in roles]
            mark = Mark(file)
            start = min(where_to_go_on(mark, reached)[0] for reached in known)
            modified = int(path.stat().st_mtime)
            for raw in read_lines(file, start):
                outline = turns.read_outline(raw.data) if raw.data is not None else None
                if raw.data is not None and outline is not None and turns.is_message(outline):
                    self._add(outline, raw.data, modified, PurePath(name).stem)

    def _add(self, outline: turns.Outline, data: bytes, modified: int, stem: str) -> None:
        session = turns.short_text(outline.sessionId, stem)
        project = turns.short_text(outline.cwd)
        moment = turns.epoch(outline.timestamp)
        moment = max(0, modified if moment is None else moment)
        forgotten = self._ledger is not None and self._ledger.is_forgotten(session)
        if forgotten or moment < self._before or not self._belongs.has(project):
            return
        self.oldest = min(self.oldest, moment) if self.messages else moment
        self.sessions.add(session)
        self.projects.add(project)
        self.messages += 1
        self.tool_calls += data.count(b'"tool_use"')
        self.bytes += len(data)


def where_to_go_on(mark: Mark, reached: Reached | None) -> tuple[int, bool]:
    """The offset to read from, and whether the transcript is another one than was read: cut, edited, or written anew."""
    if reached is None or reached.offset == 0:
        return 0, False
    return (reached.offset, False) if mark.fits(reached.mark, reached.offset) else (0, True)
