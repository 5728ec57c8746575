"""Before a question is answered: the cheap check, and a sync of what it finds. An answer says whether it is fresh."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from msgspec import Struct

from backend.errors import Busy, CvError
from backend.freshness.sync import Options, Progress, silent, sync
from backend.schemas.config import Config


class Freshness(Struct, frozen=True):
    """Whether the store holds what the disk holds, and what to tell the person when it doesn't."""

    fresh: bool
    notes: tuple[str, ...] = ()


def refresh(root: Path, config: Config, *, now: datetime, progress: Progress = silent) -> Freshness:
    """Sync what has changed, and tell ``progress`` how far that is. Never raises: what can't be refreshed is answered from the
    last state, and said.
    """
    options = Options(quick=True, asked=True)
    try:
        report = sync(root, config, now=now, options=options, progress=progress)
    except Busy:
        return Freshness(False, ("another sync is at work: this is what was known before it",))
    except CvError as error:
        return Freshness(False, (f"not refreshed: {error}",))
    failed = [failure for role in report.roles.values() for failure in role.failed]
    notes = [f"could not be read: {failure.path} ({failure.reason})" for failure in failed[:3]]
    if len(failed) > 3:
        notes.append(f"… and {len(failed) - 3} more; 'cv sync' names them")
    return Freshness(not failed, (*report.notes, *notes))
