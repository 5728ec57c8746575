"""``cv dismiss``, ``cv undismiss``: opt a folder out, and in again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from backend.commands.common import here, open_root, root_option
from backend.errors import CvError, UsageError


@click.command()
@click.argument("path", required=False, type=click.Path(path_type=Path))
@root_option
def dismiss(path: Path | None, root: Path | None) -> None:
    """Opt a folder and all below it out: no hooks, no index."""
    from backend.tree.found import documents_folder
    from backend.tree.root import MARKER, find_root

    top, folder = _folder_below(path, root)
    if (path is None or not path.is_absolute()) and find_root(folder) == folder:
        raise UsageError(f"this would opt out the whole tree; if you mean it: cv dismiss {folder}")
    name = folder.relative_to(top).as_posix()
    if (folder / MARKER).exists() or name in _listed(top):
        click.echo(f"{folder} is dismissed already")
        return
    how = ""
    if documents_folder(Path(name)):
        _list(top, name)
        how = (
            " (listed in dismissed_paths of config.json, on this machine: nothing is written there)"
        )
    else:
        _write_marker(folder / MARKER)
    click.echo(
        f"{folder} is dismissed{how}; what was indexed of it leaves the store at the next sync (cv sync)"
    )


@click.command()
@click.argument("path", required=False, type=click.Path(path_type=Path))
@root_option
def undismiss(path: Path | None, root: Path | None) -> None:
    """Take a dismissal back."""
    from backend.tree.root import MARKER

    top, folder = _folder_below(path, root)
    name = folder.relative_to(top).as_posix()
    listed = name in _listed(top)
    if listed:
        _unlist(top, name)
    try:
        (folder / MARKER).unlink()
    except FileNotFoundError:
        if not listed:
            click.echo(f"{folder} was not dismissed{_hint(folder, top)}")
            return
    except OSError as error:
        raise CvError(f"{folder / MARKER}: could not be removed ({error.strerror})") from error
    click.echo(f"{folder} is no longer dismissed; it is indexed at the next sync (cv sync)")


def _folder_below(path: Path | None, root: Path | None) -> tuple[Path, Path]:
    """The senior root, and the folder that is meant."""
    found, _ = open_root(root)
    folder = (here() / (path or "")).expanduser().resolve()
    if not folder.is_dir():
        raise UsageError(f"{path}: expected a folder")
    if not folder.is_relative_to(found):
        raise UsageError(f"{folder} does not lie under the senior root {found}")
    return found, folder


def _write_marker(marker: Path) -> None:
    try:
        marker.write_text(
            "Context Vigilance leaves this folder and all below it alone. Delete this file to undo.\n"
        )
    except OSError as error:
        raise CvError(f"{marker}: could not be written ({error.strerror})") from error


def _listed(top: Path) -> set[str]:
    from backend.tree.config import load_config
    from backend.tree.root import dismissed_folders

    return dismissed_folders(top, load_config(top))


def _list(top: Path, name: str) -> None:
    from backend.tree.config import change_config

    def change(raw: dict[str, Any]) -> None:
        raw["dismissed_paths"] = [*raw.get("dismissed_paths", []), name]

    change_config(top, change)


def _unlist(top: Path, name: str) -> None:
    """Take every spelling of ``name`` out of dismissed_paths."""
    from backend.tree.config import change_config, load_config
    from backend.tree.root import dismissed_folders

    config = load_config(top)

    def change(raw: dict[str, Any]) -> None:
        from msgspec.structs import replace

        raw["dismissed_paths"] = [
            text
            for text in raw.get("dismissed_paths", [])
            if name not in dismissed_folders(top, replace(config, dismissed_paths=[text]))
        ]

    change_config(top, change)


def _hint(folder: Path, top: Path) -> str:
    """Where a folder above has what keeps this one out."""
    from backend.tree.root import MARKER

    listed = _listed(top)
    for above in folder.parents:
        if (above / MARKER).exists():
            return f"; the marker is in {above}"
        if above.is_relative_to(top) and above.relative_to(top).as_posix() in listed:
            return f"; {above} is listed in dismissed_paths of config.json"
    return ""
