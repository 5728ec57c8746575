"""``cv demo``."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import click

from backend.commands.common import now
from backend.errors import CvError


@click.command()
@click.option(
    "--keep",
    type=click.Path(path_type=Path, file_okay=False),
    help="Make it in this folder and leave it there.",
)
def demo(keep: Path | None) -> None:
    """Show the whole loop on a small organisation that it makes.

    It is made in a temporary folder and deleted again at the end; --keep leaves it where you want it.
    """
    import subprocess

    from backend.setup.demo import check_place, run_demo

    command_line = click.get_current_context().find_root().command

    def run(arguments: list[str]) -> int:
        result = command_line.main(args=arguments, prog_name="cv", standalone_mode=False)
        return result if isinstance(result, int) else 0

    with tempfile.TemporaryDirectory(prefix="cv-demo-") as temporary:
        folder = (keep or Path(temporary)).expanduser().resolve()
        check_place(folder, "--keep" if keep is not None else "the temporary folder")
        if (folder / "acorn-goods").exists():
            raise CvError(
                f"{folder / 'acorn-goods'} is there already; name another folder with --keep"
            )
        os.environ["CV_HOME"] = temporary  # so that the demo's root is not remembered
        try:
            code = run_demo(
                folder, keep=keep is not None, today=now().date(), say=click.echo, run=run
            )
        except (OSError, subprocess.CalledProcessError) as error:
            raise CvError(
                f"the demo could not be made ({error}); is git installed, and the folder writable?"
            ) from error
    if code:
        raise CvError("the demo stopped at the command above")
