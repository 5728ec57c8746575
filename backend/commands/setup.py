"""``cv init``, ``cv list-roots``."""

from __future__ import annotations

import os
from pathlib import Path

import click

from backend.commands.common import here, json_option, now, print_json, waited_for
from backend.errors import CvError, UsageError
from backend.tree.home import cv_home
from backend.tree.quoting import quoted


@click.command()
@click.option(
    "--senior-root",
    "--root",
    type=click.Path(path_type=Path),
    help="Top of the tree of repos (default: proposed).",
)
@click.option("--yes", is_flag=True, help="Don't ask.")
@click.option("--propose", is_flag=True, help="Say what would be set up, and write nothing.")
@click.option("--remove", is_flag=True, help="Take out again what was set up; documents stay.")
@click.option("--no-settings-hook", is_flag=True, help="Leave .claude/settings.json alone.")
@click.option("--no-index", is_flag=True, help="Don't build the index yet.")
def init(
    senior_root: Path | None,
    yes: bool,
    propose: bool,
    remove: bool,
    no_settings_hook: bool,
    no_index: bool,
) -> None:
    """Set a tree of repos up, once; run again it repairs."""
    if propose and remove:
        raise UsageError("--propose and --remove don't go together")
    if remove:
        _remove(senior_root, yes=yes)
        return
    root = _surveyed(senior_root, ask=not yes, show=propose, settings_hook=not no_settings_hook)
    if not propose:
        _set_up(root, settings_hook=not no_settings_hook, index=not no_index)


def _surveyed(senior_root: Path | None, *, ask: bool, show: bool, settings_hook: bool) -> Path:
    """The root to set up, once it is known that it can be one and the person has agreed."""
    from backend.setup.init import check_files, check_found, check_inner, check_root
    from backend.setup.propose import look_over, propose_root, survey_text

    root = check_root(senior_root if senior_root is not None else propose_root(here()))
    check_files(root, settings_hook=settings_hook)
    survey = look_over(root)
    check_inner(survey)
    if senior_root is None and not ask and not show:
        check_found(survey)
    if show or ask or not survey.set_up:
        click.echo(survey_text(survey))
    if show:
        click.echo(
            "Nothing was written. To set it up: cv init "
            f"--senior-root {quoted(root)} --yes; for another folder name that one"
        )
    elif ask:
        verb = "Repair and index" if survey.set_up else "Set up"
        likely = senior_root is not None or survey.set_up or bool(survey.repos)
        if not _agreed(f"{verb} {root} as the senior root?", default=likely):
            raise CvError("nothing was written; name another folder with --senior-root PATH")
    return root


def _set_up(root: Path, *, settings_hook: bool, index: bool) -> None:
    from backend.setup.init import remember_launcher, write_kit
    from backend.tree.config import load_config

    for step in write_kit(root, settings_hook=settings_hook):
        click.echo(f"{step.done:<6} {step.what}")
    remember_launcher(os.environ.get("CV_LAUNCHER", ""))
    if index:
        from backend.freshness.sync import sync
        from backend.render.sync_text import report_text
        from backend.session.journal import note_sync
        from backend.tree.sources import sources_path

        listed = sources_path(root).exists()
        with waited_for() as progress:
            report = sync(root, load_config(root), now=now(), progress=progress)
        note_sync(root, report.seconds)
        if not listed and sources_path(root).exists():
            click.echo(f"wrote  {sources_path(root).relative_to(root).as_posix()}")
        click.echo(report_text(report))
    else:
        click.echo("the index is not built: run 'cv sync', or let the next session do it")
    in_session = os.environ.get("CLAUDECODE") == "1"
    tries = _TRY_IN_A_SESSION if in_session else _TRY_IN_A_SHELL
    click.echo("\n  ".join(("Ready. Try:", *tries)))


_TRY_IN_A_SHELL = (
    'cv find "what you are about to work on"',
    "cv catch-up --window 2w",
    "and open Claude Code anywhere below: it asks what you need",
)
_TRY_IN_A_SESSION = (
    "/kickoff and what you are about to work on",
    "/catch-up-2w",
    "and open a new session anywhere below: it asks what you need",
)


def _remove(senior_root: Path | None, *, yes: bool) -> None:
    from backend.setup.remove import plan_removal, remove_kit
    from backend.tree.root import KIT_FOLDER, MARKER, require_root

    dead = _dead_entry(senior_root) if senior_root is not None else None
    if senior_root is not None and (senior_root.expanduser() / KIT_FOLDER).is_dir():
        root = senior_root.expanduser().resolve()  # also one that a broken-off removal left
    elif dead is not None:
        root = dead
        click.echo(
            f"{root} is not set up any more, or not there: it was moved, deleted, or its disk is not connected."
        )
    else:
        root = require_root(here() if senior_root is None else senior_root.expanduser())
    plan = plan_removal(root)
    click.echo("\n  ".join((f"Goes from {root}:", *plan.goes)))
    if plan.stays:
        click.echo("\n  ".join(("Stays:", *plan.stays)))
    if not yes and not _agreed("Remove it?", default=False):
        raise CvError("nothing was removed")
    remove_kit(root)
    click.echo(
        f"Removed. No document was touched, and no marker of 'cv dismiss' (a file {MARKER}).\n"
        f"The Python environment, shared by all trees, lies in {cv_home()}; delete that folder when no tree is left."
    )


def _dead_entry(named: Path) -> Path | None:
    """The entry of 'cv list-roots' that ``named`` means, where nothing is set up there."""
    from backend.tree.home import registered_roots, standing

    place = named.expanduser()
    means = (place.absolute(), place.resolve())
    return next((r for r in registered_roots() if r in means and standing(r) != "set up"), None)


def _agreed(question: str, *, default: bool) -> bool:
    """Ask. Raises ``UsageError`` where nobody can answer: no terminal, nothing on standard input."""
    try:
        return click.confirm(question, default=default)
    except click.Abort as abort:
        if not isinstance(abort.__context__, EOFError):
            raise  # Ctrl-C
        click.echo()
        raise UsageError("there is nobody to ask here; run it again with --yes") from abort


_STANDING = {
    "set up": "",
    "gone": "  (no longer set up there: 'cv doctor --fix' takes the entry out)",
    "away": "  (not there now)",
}


@click.command(name="list-roots")
@json_option
def list_roots(as_json: bool) -> None:
    """The senior roots that were set up on this machine."""
    from backend.tree.home import read_roots, standing

    roots = read_roots()
    if as_json:
        print_json([str(root) for root in roots])
        return
    for root in roots:
        click.echo(f"{root}{_STANDING[standing(root)]}")
    if not roots:
        click.echo("none yet: run 'cv init' at the top of your tree of repos")
