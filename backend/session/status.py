"""What ``cv status`` answers, for the command line and the MCP server alike: the index against the disk, and what the session's
hooks and syncs left on record.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import UNSET
from msgspec.structs import replace

from backend.errors import CvError
from backend.freshness.status import make_status
from backend.schemas.config import Config
from backend.schemas.status import LastSync, Status
from backend.session.commands import working_set
from backend.session.journal import Record, last_hook, read_record


def answer_status(root: Path, config: Config, *, folder: Path, session: str = "") -> Status:
    """The status of ``root`` as seen from ``folder``, with the working set of ``session`` (its ID). Raises ``CvError`` when
    ``sources.md`` is broken.
    """
    from backend.private.counts import counts

    status = make_status(root, config, folder=folder)
    notes = status.notes
    try:
        private = counts(root)
    except CvError as error:
        private, notes = {}, (*notes, str(error))
    return replace(
        status,
        last_hook=last_hook(root),
        last_sync=_last_sync(read_record(root, "sync")),
        working_set=working_set(session),
        private=private if any(private.values()) else UNSET,
        notes=notes,
    )


def _last_sync(run: Record) -> LastSync | None:
    return LastSync(at=run.at, ms=run.ms, ok=run.ok, error=run.error, by=run.by) if run.at else None
