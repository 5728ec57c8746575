"""``cv forget``."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import click

from backend.commands.common import json_option, now, open_root, print_json, root_option
from backend.commands.consent import agreed
from backend.errors import UsageError


@click.command()
@click.option("--session", metavar="ID", help="One session.")
@click.option("--before", metavar="DATE", help="All that is older than this day (YYYY-MM-DD).")
@click.option("--all-private", is_flag=True, help="Everything in both private collections.")
@click.option("--yes", is_flag=True, help="Don't ask.")
@root_option
@json_option
def forget(
    session: str | None,
    before: str | None,
    all_private: bool,
    yes: bool,
    root: Path | None,
    as_json: bool,
) -> None:
    """Erase what was taken in from Claude Code's transcripts, for good; it is not read in again."""
    from backend.private.forget import Choice, erase, look
    from backend.render.private_text import erasure_text
    from backend.tree.window import parse_since

    if (session is not None) + (before is not None) + all_private != 1:
        raise UsageError("expected one of --session ID, --before DATE and --all-private")
    if session is not None and not session.strip():
        raise UsageError("--session expects the id of a session, got an empty one")
    moment = None
    if before is not None:
        day = parse_since(before, now(), option="--before").since
        moment = int(datetime(day.year, day.month, day.day).astimezone().timestamp())
    choice = Choice(session=(session or "").strip(), before=moment)

    root, config = open_root(root)
    if not yes:
        click.echo(erasure_text(look(root, choice), done=False), err=as_json)
        if not agreed("Erase it?", err=as_json):
            click.echo("Nothing was erased.", err=as_json)
            return
    erased = erase(root, config, choice, now=now())
    print_json(erased) if as_json else click.echo(erasure_text(erased, done=True))
