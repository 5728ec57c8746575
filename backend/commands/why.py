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
@click.pass_context
def why(context: click.Context, words: tuple[str, ...], root: Path | None, as_json: bool) -> None:
    """Say why FILE is or isn't indexed, and with a TASK why it ranks where it does."""
    from msgspec.structs import replace

    from backend.freshness.refresh import refresh
    from backend.kickoff.named_file import path_below
    from backend.kickoff.why import why as run
    from backend.render.why_text import why_text

    if len(words) > 2:
        raise UsageError(
            f'expected FILE, or "TASK" FILE with the task in quotes; got {len(words)} words'
        )
    file = words[-1]
    root, config = open_root(root)
    moment = now()
    freshness = refresh(root, config, now=moment)
    found = run(
        root,
        config,
        file,
        task=words[0] if len(words) == 2 else "",
        folder=here(),
        now=moment,
        notes=freshness.notes,
    )
    if found.reason == "missing" and len(words) == 1 and not file.casefold().endswith(".md"):
        raise UsageError(f'{file}: no such file; for a task name a file too: cv why "TASK" FILE')
    if found.reason != "missing" and found.source_path not in (
        file,
        path_below(root, here() / file),
    ):
        note = f"{file} is not in this folder; taken as {found.source_path} of the tree"
        found = replace(found, notes=(note, *found.notes))
    if as_json:
        print_json(found)
    else:
        click.echo(why_text(found, width=width(), colour=coloured()), nl=False)
    if found.reason == "missing":
        context.exit(1)
