"""``cv init``, ``cv dismiss``, ``cv undismiss``, ``cv config``, ``cv list-roots``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from backend.commands.common import here, json_option, now, open_root, print_json, root_option
from backend.errors import CvError, UsageError


@click.command()
@click.option(
    "--senior-root",
    type=click.Path(path_type=Path),
    help="Top of the tree of repos (default: proposed).",
)
@click.option("--yes", is_flag=True, help="Don't ask.")
@click.option("--no-settings-hook", is_flag=True, help="Leave .claude/settings.json alone.")
@click.option("--no-index", is_flag=True, help="Don't build the index yet.")
def init(senior_root: Path | None, yes: bool, no_settings_hook: bool, no_index: bool) -> None:
    """Set a tree of repos up, once; run again it repairs."""
    from backend.setup.init import check_root, remember_launcher, write_kit
    from backend.setup.propose import propose_root, survey_text
    from backend.tree.config import load_config

    root = check_root(senior_root if senior_root is not None else propose_root(here()))
    if not yes:
        click.echo(survey_text(root))
        if not click.confirm(f"Set up {root} as the senior root?", default=True):
            raise CvError("nothing was written; name another folder with --senior-root PATH")
    for step in write_kit(root, settings_hook=not no_settings_hook):
        click.echo(f"{'wrote' if step.changed else 'kept '}  {step.what}")
    remember_launcher(os.environ.get("CV_LAUNCHER", ""))
    if not no_index:
        from backend.freshness.sync import sync
        from backend.render.progress import shown
        from backend.render.sync_text import report_text

        with shown() as progress:
            report = sync(root, load_config(root), now=now(), progress=progress)
        click.echo(report_text(report))
    click.echo(
        "Ready. Try:\n"
        '  cv find "what you are about to work on"\n'
        "  cv catch-up --window 2w\n"
        "  and open Claude Code anywhere below: it asks what you need."
    )


@click.command()
@click.argument("path", required=False, type=click.Path(path_type=Path))
@root_option
def dismiss(path: Path | None, root: Path | None) -> None:
    """Opt a folder and all below it out: no hooks, no index."""
    from backend.tree.root import MARKER

    folder = _folder_below(path, root)
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


@click.group(name="config")
def config_group() -> None:
    """Read and change config.json."""


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

    found, _ = open_root(root)
    click.echo(f"{key} = {_shown(get_key(set_key(found, key, value), key))}")


@config_group.command(name="list")
@root_option
@json_option
def config_list(root: Path | None, as_json: bool) -> None:
    """Print every key, its value, and what it does."""
    from backend.schemas import Config
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
