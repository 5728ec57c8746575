"""``cv sync``, ``cv status``."""

from __future__ import annotations

import os
from pathlib import Path

import click

from backend.commands.common import json_option, now, open_root, print_json, root_option
from backend.errors import CvError
from backend.schemas.roles import ROLES


@click.command()
@click.option(
    "--changed-since",
    is_flag=True,
    help="Look only where documents are known to lie (what the hook runs).",
)
@click.option("--force-rebuild", is_flag=True, help="Read, embed and store everything anew.")
@click.option("--role", type=click.Choice(ROLES), help="Only this role.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.option(
    "--max-seconds", type=click.FloatRange(min=0), help="Stop after so long; the next sync goes on."
)
@root_option
@json_option
def sync(
    changed_since: bool,
    force_rebuild: bool,
    role: str | None,
    dry_run: bool,
    max_seconds: float | None,
    root: Path | None,
    as_json: bool,
) -> None:
    """Bring the index in line with the documents on disk."""
    from backend.freshness.status import pending
    from backend.freshness.sync import Options
    from backend.freshness.sync import sync as run
    from backend.render.progress import shown
    from backend.render.sync_text import pending_text, report_text

    root, config = open_root(root)
    roles = (role,) if role else ROLES
    if dry_run:
        changes = pending(root, config, now=now(), roles=roles)
        print_json(changes) if as_json else click.echo(pending_text(changes))
        return
    options = Options(
        quick=changed_since,
        rebuild=force_rebuild,
        roles=roles,
        max_seconds=float("inf") if max_seconds is None else max_seconds,
    )
    with shown() as progress:
        report = run(root, config, now=now(), options=options, progress=progress)
    print_json(report) if as_json else click.echo(report_text(report))
    failed = sum(len(part.failed) for part in report.roles.values())
    if failed:
        raise CvError(
            f"{failed} {'file' if failed == 1 else 'files'} could not be indexed (named above); mended or not, "
            "the next sync tries again"
        )


@click.command()
@root_option
@json_option
def status(root: Path | None, as_json: bool) -> None:
    """What is indexed, how far it is behind the disk, and what is switched on."""
    from msgspec.structs import replace

    from backend.commands.common import here
    from backend.freshness.status import make_status
    from backend.render.sync_text import status_text
    from backend.schemas.status import LastSync
    from backend.session.commands import working_set
    from backend.session.journal import last_hook, read_record

    found, config = open_root(root)
    result = make_status(found, config, folder=found if root is not None else here(), now=now())
    run = read_record(found, "sync")
    last_sync = LastSync(at=run.at, ms=run.ms, ok=run.ok, error=run.error) if run.at else None
    confirmed = working_set(os.environ.get("CLAUDE_CODE_SESSION_ID", ""))
    result = replace(result, last_hook=last_hook(found), last_sync=last_sync, working_set=confirmed)
    print_json(result) if as_json else click.echo(status_text(result))
