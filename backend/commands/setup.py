"""``cv init``, ``cv dismiss``, ``cv undismiss``, ``cv config``, ``cv list-roots``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from backend.commands.common import here, json_option, now, open_root, print_json, root_option
from backend.errors import CvError, UsageError
from backend.tree.home import cv_home


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
    from backend.setup.init import check_files, check_inner, check_root
    from backend.setup.propose import look_over, propose_root, survey_text

    root = check_root(senior_root if senior_root is not None else propose_root(here()))
    check_files(root, settings_hook=settings_hook)
    survey = look_over(root)
    check_inner(survey)
    if show or ask or not survey.set_up:
        click.echo(survey_text(survey))
    if show:
        click.echo(
            "Nothing was written. To set it up: cv init "
            f"--senior-root {_quoted(root)} --yes; for another folder name that one"
        )
    elif ask:
        verb = "Repair and index" if survey.set_up else "Set up"
        if not _agreed(f"{verb} {root} as the senior root?", default=True):
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
        from backend.render.progress import shown
        from backend.render.sync_text import report_text

        with shown() as progress:
            report = sync(root, load_config(root), now=now(), progress=progress)
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
    from backend.tree.root import KIT_FOLDER, require_root

    if senior_root is not None and (senior_root.expanduser() / KIT_FOLDER).is_dir():
        root = senior_root.expanduser().resolve()  # also one that a broken-off removal left
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
        "Removed. No document was touched; markers of 'cv dismiss' stay where they are.\n"
        f"The Python environment, shared by all trees, lies in {cv_home()}; delete that folder when no tree is left."
    )


def _agreed(question: str, *, default: bool) -> bool:
    """Ask. Raises ``UsageError`` where nobody can answer: no terminal, nothing on standard input."""
    try:
        return click.confirm(question, default=default)
    except click.Abort as abort:
        if not isinstance(abort.__context__, EOFError):
            raise  # Ctrl-C
        click.echo()
        raise UsageError("there is nobody to ask here; run it again with --yes") from abort


def _quoted(path: Path) -> str:
    """A path for a command line that a person copies."""
    import shlex

    text = str(path)
    if os.name != "nt":
        return shlex.quote(text)
    return f'"{text}"' if " " in text else text


@click.command()
@click.argument("path", required=False, type=click.Path(path_type=Path))
@root_option
def dismiss(path: Path | None, root: Path | None) -> None:
    """Opt a folder and all below it out: no hooks, no index."""
    from backend.tree.root import MARKER, find_root

    folder = _folder_below(path, root)
    if (path is None or not path.is_absolute()) and find_root(folder) == folder:
        raise UsageError(f"this would opt out the whole tree; if you mean it: cv dismiss {folder}")
    marker = folder / MARKER
    if marker.exists():
        click.echo(f"{folder} is dismissed already")
        return
    try:
        marker.write_text(
            "Context Vigilance leaves this folder and all below it alone. Delete this file to undo.\n"
        )
    except OSError as error:
        raise CvError(f"{marker}: could not be written ({error.strerror})") from error
    click.echo(
        f"{folder} is dismissed; what was indexed of it leaves the store at the next sync (cv sync)"
    )


@click.command()
@click.argument("path", required=False, type=click.Path(path_type=Path))
@root_option
def undismiss(path: Path | None, root: Path | None) -> None:
    """Take a dismissal back."""
    from backend.tree.root import MARKER

    folder = _folder_below(path, root)
    try:
        (folder / MARKER).unlink()
    except FileNotFoundError:
        above = next((p for p in folder.parents if (p / MARKER).exists()), None)
        hint = f"; the marker is in {above}" if above else ""
        click.echo(f"{folder} was not dismissed{hint}")
        return
    except OSError as error:
        raise CvError(f"{folder / MARKER}: could not be removed ({error.strerror})") from error
    click.echo(f"{folder} is no longer dismissed; it is indexed at the next sync (cv sync)")


def _folder_below(path: Path | None, root: Path | None) -> Path:
    found, _ = open_root(root)
    folder = (here() / (path or "")).expanduser().resolve()
    if not folder.is_dir():
        raise UsageError(f"{path}: expected a folder")
    if not folder.is_relative_to(found):
        raise UsageError(f"{folder} does not lie under the senior root {found}")
    return folder


@click.group(name="config", invoke_without_command=True)
@click.pass_context
def config_group(context: click.Context) -> None:
    """Read and change config.json; alone it lists every key."""
    if context.invoked_subcommand is None:
        context.invoke(config_list, root=None, as_json=False)


@config_group.command(name="get")
@click.argument("key")
@root_option
def config_get(key: str, root: Path | None) -> None:
    """Print one key's value."""
    from backend.tree.config import get_key

    _, config = open_root(root)
    value = get_key(config, key)
    click.echo(value) if isinstance(value, str) else print_json(value)


@config_group.command(name="set")
@click.argument("key")
@click.argument("value")
@root_option
def config_set(key: str, value: str, root: Path | None) -> None:
    """Set one key."""
    from backend.tree.config import get_key, set_key
    from backend.tree.home import approve_embedding

    found, _ = open_root(root)
    if key == "embedding.name":
        from backend.freshness.embedder import check_name

        check_name(value)
    config = set_key(found, key, value)
    if key.startswith("embedding."):
        approve_embedding(found, config.embedding)
    click.echo(f"{key} = {_shown(get_key(config, key))}")


@config_group.command(name="list")
@root_option
@json_option
def config_list(root: Path | None, as_json: bool) -> None:
    """Print every key, its value, and what it does."""
    from backend.schemas.config import Config
    from backend.tree.config import get_key
    from backend.tree.config_keys import KEYS

    found, config = open_root(root)
    if as_json:
        print_json(config)
        return
    defaults = Config(senior_root=str(found))
    for key, entry in KEYS.items():
        value = get_key(config, key)
        mark = "" if value != get_key(defaults, key) else " (default)"
        click.echo(f"{key} = {_shown(value)}{mark}\n    {entry.meaning}; {entry.expected}")


@config_group.command(name="nudge")
@click.argument("state", type=click.Choice(["on", "off"]))
@root_option
def config_nudge(state: str, root: Path | None) -> None:
    """Switch the catch-up nudge on or off for good."""
    from backend.tree.config import set_key

    found, _ = open_root(root)
    set_key(found, "nudge.state", state)
    click.echo(f"the catch-up nudge is {state}")


@config_group.command(name="kickoff")
@click.argument("state", type=click.Choice(["on", "off"]))
@root_option
def config_kickoff(state: str, root: Path | None) -> None:
    """Switch the question at a session's start on or off for good."""
    from backend.tree.config import set_key

    found, _ = open_root(root)
    set_key(found, "kickoff", state)
    click.echo(f"asking for the working set is {state}")


@click.command(name="list-roots")
@json_option
def list_roots(as_json: bool) -> None:
    """The senior roots that were set up on this machine."""
    from backend.tree.config import config_path
    from backend.tree.home import registered_roots

    roots = registered_roots()
    if as_json:
        print_json([str(root) for root in roots])
        return
    for root in roots:
        click.echo(f"{root}{'' if config_path(root).is_file() else '  (no longer set up there)'}")
    if not roots:
        click.echo("none yet: run 'cv init' at the top of your tree of repos")


def _shown(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)
