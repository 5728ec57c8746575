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

    if (session is not None) + (before is not None) + all_private != 1:
        raise UsageError("expected one of --session ID, --before DATE and --all-private")
    if session is not None and not session.strip():
        raise UsageError("--session expects the id of a session, got an empty one")
    moment = None
    if before is not None:
        moment = int(_day(before).astimezone().timestamp())
    choice = Choice(session=(session or "").strip(), before=moment)

    root, config = open_root(root)
    if not yes:
        click.echo(erasure_text(look(root, choice), done=False), err=as_json)
        if not agreed("Erase it?", err=as_json):
            click.echo("Nothing was erased.", err=as_json)
            return
    erased = erase(root, config, choice, now=now())
    print_json(erased) if as_json else click.echo(erasure_text(erased, done=True))


def _day(text: str) -> datetime:
    """The beginning of the day that ``--before`` names."""
    try:
        day = datetime.strptime(text.strip(), "%Y-%m-%d")
    except ValueError:
        raise UsageError(
            f"--before expects a day as YYYY-MM-DD, such as 2026-05-01; got {text!r}. Nothing was erased. "
            "All that is older than that day goes; 'cv forget --all-private' erases everything."
        ) from None
    if day.date() > now().date():
        raise UsageError(
            f"--before {day.date()} lies in the future; today is {now().date()}. Nothing was erased. "
            "Give today or an earlier day."
        )
    return day
