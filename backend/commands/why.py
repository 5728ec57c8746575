"""``cv why``."""

from __future__ import annotations

from contextlib import suppress
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
    waited_for,
    width,
)
from backend.commands.completion import files
from backend.errors import UsageError
from backend.schemas.kickoff import Why

REMARK_LIMIT = 900  # characters: two paths, and some words

_NO_FILE = ("missing", "outside")
"""Reasons why nothing can be said of a file: there is none, or it is none of the tree's."""


@click.command(options_metavar="[OPTIONS]")
@click.argument("words", nargs=-1, required=True, metavar='["TASK"] FILE', shell_complete=files)
@root_option
@json_option
@click.pass_context
def why(context: click.Context, words: tuple[str, ...], root: Path | None, as_json: bool) -> None:
    """Say why FILE is or isn't indexed, and with a TASK why it ranks where it does."""
    from msgspec.structs import replace

    from backend.freshness.refresh import refresh
    from backend.kickoff.named_file import path_below
    from backend.kickoff.why import why as run
    from backend.render.inert import inert
    from backend.render.why_text import why_text

    if len(words) > 2:
        raise UsageError(
            f'expected FILE, or "TASK" FILE with the task in quotes; got {len(words)} words'
        )
    root, config = open_root(root)
    moment = now()
    with waited_for() as progress:
        freshness = refresh(root, config, now=moment, progress=progress)

    def ask(file: str, task: str = "") -> Why:
        notes = freshness.notes
        return run(root, config, file, task=task, folder=here(), now=moment, notes=notes)

    file = words[-1]
    found = ask(file, *words[:-1])
    remarks: list[str] = []  # how the words were taken: what is to be read first
    if found.reason == "missing" and len(words) == 2:
        with suppress(UsageError):  # it is a file in neither order
            turned = ask(*words)
            if turned.reason not in _NO_FILE:
                file, found = words[0], turned
                remarks.append('taken as FILE "TASK"; the task comes first: cv why "TASK" FILE')
    if found.reason == "missing" and len(words) == 1 and not file.casefold().endswith(".md"):
        raise UsageError(f'{file}: no such file; for a task name a file too: cv why "TASK" FILE')
    if found.reason not in _NO_FILE and found.source_path not in (
        file,
        path_below(root, here() / file),
    ):
        remarks.append(f"{file} is not in this folder; taken as {found.source_path} of the tree")
    if as_json:
        print_json(replace(found, notes=(*remarks, *found.notes)))
    else:
        for remark in remarks:
            click.echo(inert(remark, REMARK_LIMIT))
        click.echo(why_text(found, width=width(), colour=coloured()), nl=False)
    if found.reason in _NO_FILE:
        context.exit(1)
