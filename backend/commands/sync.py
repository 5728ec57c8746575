"""``cv sync``, ``cv status``."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import click

from backend.commands.common import (
    Seconds,
    json_option,
    now,
    open_root,
    print_json,
    root_option,
    waited_for,
)
from backend.commands.consent import agreed
from backend.errors import CvError
from backend.schemas.config import Config
from backend.schemas.private import SESSIONS_ROLE, TRACES_ROLE
from backend.schemas.roles import ROLES
from backend.schemas.sync import SyncReport


@click.command()
@click.option(
    "--changed-since",
    is_flag=True,
    help="Look only where documents are known to lie (what the hook runs).",
)
@click.option("--force-rebuild", is_flag=True, help="Read, embed and store everything anew.")
@click.option("--role", type=click.Choice(ROLES), help="Only this role.")
@click.option(
    "--with-sessions",
    is_flag=True,
    help="Also read what was said in Claude Code's sessions of this tree, into a private collection. Asks first.",
)
@click.option(
    "--with-traces",
    is_flag=True,
    help="The same with the tool calls of those sessions and their results.",
)
@click.option("--yes", is_flag=True, help="Don't ask before sessions or traces are read.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.option("--max-seconds", type=Seconds(), help="Stop after so long; the next sync goes on.")
@root_option
@json_option
def sync(
    changed_since: bool,
    force_rebuild: bool,
    role: str | None,
    with_sessions: bool,
    with_traces: bool,
    yes: bool,
    dry_run: bool,
    max_seconds: float | None,
    root: Path | None,
    as_json: bool,
) -> None:
    """Bring the index in line with the documents on disk."""
    from backend.freshness.status import pending
    from backend.freshness.sync import Options
    from backend.freshness.sync import sync as run
    from backend.render.sync_text import pending_text, report_text
    from backend.session.journal import note_sync

    root, config = open_root(root)
    roles = (role,) if role else ROLES
    private = (SESSIONS_ROLE,) * with_sessions + (TRACES_ROLE,) * with_traces
    if dry_run:
        changes = pending(root, config, roles=roles)
        print_json(changes) if as_json else click.echo(pending_text(changes))
        if private:
            _say_what_is_read(root, config, private, as_json=as_json)
        return
    new = bool(private) and _say_what_is_read(root, config, private, as_json=as_json)
    if new and not yes and not agreed("Read it?", err=as_json):
        click.echo("Nothing was read, and nothing synced.", err=as_json)
        return
    options = Options(
        quick=changed_since,
        rebuild=force_rebuild,
        roles=roles,
        max_seconds=float("inf") if max_seconds is None else max_seconds,
    )
    with waited_for() as progress:
        report = run(root, config, now=now(), options=options, progress=progress)
        if private:
            # Where nothing is new, nobody has agreed to what is said from now on.
            read = new or yes
            report = _with_private(root, config, private, report, progress, read=read)
    note_sync(root, report.seconds)
    print_json(report) if as_json else click.echo(report_text(report))
    failed = sum(len(part.failed) for part in report.roles.values())
    if failed:
        raise CvError(
            f"{failed} {'file' if failed == 1 else 'files'} could not be indexed (named above); mended or not, "
            "the next sync tries again"
        )


def _say_what_is_read(root: Path, config: Config, roles: tuple[str, ...], *, as_json: bool) -> bool:
    """Say what of Claude Code's transcripts is about to be read; on standard error where standard output is for JSON. Whether
    there is anything.
    """
    from backend.private.plan import plan
    from backend.render.private_text import plan_text

    found = plan(root, config, roles)
    click.echo(plan_text(found), err=as_json)
    return found.messages > 0


def _with_private(
    root: Path,
    config: Config,
    roles: tuple[str, ...],
    report: SyncReport,
    progress: Callable[[str, int, int], None],
    *,
    read: bool,
) -> SyncReport:
    """Read the transcripts (``read``), which were agreed to a moment ago; ``report`` with what came of it."""
    from msgspec.structs import replace

    from backend.private.sync import ingest

    parts, notes = ingest(root, config, roles, now=now(), read=read, progress=progress)
    return replace(report, roles={**report.roles, **parts}, notes=(*report.notes, *notes))


@click.command()
@root_option
@json_option
def status(root: Path | None, as_json: bool) -> None:
    """What is indexed, how far it is behind the disk, and what is switched on."""
    from backend.commands.common import here
    from backend.render.sync_text import status_text
    from backend.session.status import answer_status

    found, config = open_root(root)
    result = answer_status(
        found,
        config,
        folder=found if root is not None else here(),
        session=os.environ.get("CLAUDE_CODE_SESSION_ID", ""),
    )
    print_json(result) if as_json else click.echo(status_text(result))
