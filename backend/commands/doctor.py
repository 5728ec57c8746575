"""``cv doctor``."""

from __future__ import annotations

from pathlib import Path

import click

from backend.commands.common import (
    coloured,
    here,
    json_option,
    list_root,
    named_root,
    now,
    print_json,
    root_option,
    waited_for,
    width,
)


@click.command()
@click.option("--fix", is_flag=True, help="Mend what can be mended of our own files.")
@root_option
@json_option
@click.pass_context
def doctor(context: click.Context, fix: bool, root: Path | None, as_json: bool) -> None:
    """Check environment, index and hooks, and say what to do."""
    from backend.render.doctor_text import doctor_text
    from backend.setup.doctor import diagnose, mend
    from backend.tree.root import find_root

    found = find_root(here()) if root is None else named_root(root)
    diagnosis = diagnose(found, folder=here())
    if fix:
        with waited_for() as progress:
            mended = mend(found, diagnosis.findings, now=now(), progress=progress)
        diagnosis = diagnose(found, folder=here(), mended=mended)
    if as_json:
        print_json(diagnosis)
    else:
        click.echo(doctor_text(diagnosis, width=width(), colour=coloured()), nl=False)
    if found is not None:
        list_root(found)
    if any(finding.level == "problem" for finding in diagnosis.findings):
        context.exit(1)
    if found is None:
        context.exit(3)  # the summary says why
