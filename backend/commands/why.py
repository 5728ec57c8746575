"""``cv why``."""

from __future__ import annotations

from pathlib import Path

import click

from backend.commands.common import (
    coloured,
    here,
    json_option,
    now,
    open_root,
    print_json,
    root_option,
    width,
)
from backend.errors import UsageError


@click.command(options_metavar="[OPTIONS]")
@click.argument("words", nargs=-1, required=True, metavar='["TASK"] FILE')
@root_option
@json_option
def why(words: tuple[str, ...], root: Path | None, as_json: bool) -> None:
    """Say why FILE is or isn't indexed, and with a TASK why it ranks where it does."""
    from backend.freshness.refresh import refresh
    from backend.kickoff.why import why as run
    from backend.render.why_text import why_text

    if len(words) > 2:
        raise UsageError(
            f'expected FILE, or "TASK" FILE with the task in quotes; got {len(words)} words'
        )
    root, config = open_root(root)
    moment = now()
    freshness = refresh(root, config, now=moment)
    found = run(
        root,
        config,
        words[-1],
        task=words[0] if len(words) == 2 else "",
        folder=here(),
        now=moment,
        notes=freshness.notes,
    )
    if as_json:
        print_json(found)
    else:
        click.echo(why_text(found, width=width(), colour=coloured()), nl=False)
