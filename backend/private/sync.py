"""``cv sync --with-sessions`` and ``--with-traces``, after the person has agreed: transcripts in, secrets out, Chroma in line."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from msgspec.structs import replace

from backend.freshness.embedder import load_embedder
from backend.freshness.sync import Progress, silent
from backend.private.intake import Intake
from backend.private.ledger import Ledger
from backend.private.mirror import mirror
from backend.private.places import ledger_path, local, require_untracked, the_writer
from backend.private.redaction import Redactor
from backend.private.transcripts import find_transcripts, transcripts_folder
from backend.schemas.config import Config
from backend.schemas.sync import RoleReport


def ingest(
    root: Path,
    config: Config,
    roles: Sequence[str],
    *,
    now: datetime,
    read: bool = True,
    progress: Progress = silent,
) -> tuple[dict[str, RoleReport], tuple[str, ...]]:
    """Read what has come since the last run into the private collections: a report for each role, and notes.

    Raises ``Busy`` when another run is at work, ``CvError`` when nothing can be done. A transcript that cannot be read is named
    in the report and tried again by the next run. ``read``: whether transcripts are read; otherwise what is known counts, and
    Chroma gets what it still lacks of it.
    """
    require_untracked(root)
    if not read and not ledger_path(root).is_file():
        return {role: RoleReport() for role in roles}, ()
    redactor = Redactor()
    with the_writer(root), Ledger.for_writing(root) as ledger:
        embedder = load_embedder(local(config).embedding, root)
        paths = find_transcripts(transcripts_folder()) if read else []
        reports = {}
        for role in roles:
            run = Intake(root, config, ledger, redactor, embedder, role, now)
            for number, path in enumerate(paths, 1):
                run.read(path)
                progress("transcripts", number, len(paths))
            reports[role] = run.report()
        mirror(root, config, ledger, lambda done, total: progress("storing", done, total))
        for role in roles:
            reports[role] = replace(reports[role], chunks=ledger.count(role))
    notes = []
    if redactor.counts:
        found = ", ".join(f"{n} {kind}" for kind, n in sorted(redactor.counts.items()))
        notes.append(f"taken out as secrets, never stored: {found}")
    return reports, tuple(notes)
