"""``cv init``: everything that a senior root needs, written once; run again it repairs and says what it did."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Literal

from msgspec import Struct

from backend.errors import CvError, UsageError
from backend.setup.propose import Survey
from backend.setup.settings import add_hook, check_settings, settings_path
from backend.tree.config import change_config, config_path, create_config, load_config, moved_from
from backend.tree.files import write_if_changed
from backend.tree.found import documents_folder
from backend.tree.home import cv_home, register_root
from backend.tree.listing import listed
from backend.tree.quoting import quoted
from backend.tree.root import (
    KIT_FOLDER,
    find_root,
    home_folder,
    require_open_kit,
    require_plain_kit,
)
from backend.tree.sources import load_sources

SESSION_START = """\
#!/bin/sh
# Written by cv init. Claude Code runs this when a session starts at the senior root; it hands over to the plugin.
# Whatever is missing or broken: say nothing and let the session start.
home=${CV_HOME:-}
if [ -z "$home" ]; then
    case ${OS:-}$(uname -s) in
        Windows_NT*) home=${LOCALAPPDATA:-$HOME/AppData/Local}/context-vigilance ;;
        Darwin) home=$HOME/Library/Application\\ Support/context-vigilance ;;
        *) home=${XDG_DATA_HOME:-$HOME/.local/share}/context-vigilance ;;
    esac
fi
{ read -r launcher <"$home/launcher"; } 2>/dev/null || exit 0
[ -f "$launcher" ] || exit 0
"$launcher" hook session-start 2>/dev/null
exit 0
"""

GITIGNORE = """\
# Machine state of Context Vigilance: made again by a sync, different on every machine.
# config.json is in this list since it says when your last session was; take that line out to share its other keys.
config.json
config.lock
*.lock
*.tmp
*.sqlite*
chroma/
manifests/
hook.log
state.json
"""


class Step(Struct, frozen=True):
    """One thing that the ceremony looked after: it was written, found as it should be, or could not be had."""

    what: str
    done: Literal["wrote", "kept", "failed"]


def check_root(root: Path) -> Path:
    """``root`` resolved, if it can become a senior root. Raises ``UsageError``, or ``CvError``, with the reason otherwise."""
    folder = root.expanduser()
    if not folder.is_dir():
        raise UsageError(
            f"--senior-root: expected a folder, {root} is {'a file' if folder.exists() else 'not there'}"
        )
    folder = folder.resolve()
    home = home_folder()
    if folder == Path(folder.anchor):
        raise UsageError(
            f"{folder} is the whole disk; name the folder that holds your repos with --senior-root PATH"
        )
    if home is not None and (folder == home or folder in home.parents):
        what = "is your home folder" if folder == home else "holds your home folder"
        raise UsageError(
            f"{folder} {what}, and a session below it looks for its senior root only up to the home folder; "
            "name the folder that holds your repos with --senior-root PATH"
        )
    if within := documents_folder(folder):
        raise UsageError(
            f"{within} is a documents folder, and nothing of ours is ever written there; "
            "name the folder that holds your repos with --senior-root PATH"
        )
    require_open_kit(folder)
    outer = find_root(folder.parent)
    if outer is not None:
        raise UsageError(
            f"{folder} lies inside the senior root {outer}, which indexes it already. "
            f"To leave it out there, run 'cv dismiss {folder}'"
        )
    return folder


def check_inner(survey: Survey) -> None:
    """Raise ``UsageError`` when there is a senior root below the one that is about to be set up."""
    if survey.inner and not survey.set_up:
        named = listed([str(root) for root in survey.inner], 3)
        raise UsageError(
            f"{survey.root} has a senior root below it ({named}), and a document belongs to one only. Take that one out "
            f"first (cv init --remove --senior-root {quoted(survey.inner[0])}), or go on with it as it is"
        )


def check_found(survey: Survey) -> None:
    """Raise ``UsageError`` for a folder that nobody named, nobody is asked about, and that holds nothing to index."""
    if not survey.repos and not survey.set_up:
        raise UsageError(
            f"{survey.root} holds no context-v or changelog folder with documents, so nothing was written. Run it where they "
            f"are, or name the folder if this is the one: cv init --senior-root {quoted(survey.root)} --yes"
        )


def check_files(root: Path, *, settings_hook: bool) -> None:
    """Raise ``CvError`` when a file that is there can't be used, before anything is written: config, sources, settings."""
    if config_path(root).exists():
        load_config(root)
    load_sources(root)
    if settings_hook:
        check_settings(root)


def write_kit(root: Path, *, settings_hook: bool) -> list[Step]:
    """Write what is missing of config, wrapper script, ``.gitignore`` and settings hook; never over what a person wrote.

    Raises ``CvError`` where something can't be written, naming it; call ``check_files`` before.
    """
    require_plain_kit(root)
    kit = f"{KIT_FOLDER}/"
    steps = [
        write_config(root),
        _step(f"{kit}scripts/session-start.sh", write_script(root)),
        _step(f"{kit}.gitignore", write_gitignore(root)),
    ]
    if settings_hook:
        name = settings_path(root).relative_to(root).as_posix()
        steps.append(_step(f"SessionStart hook in {name}", add_hook(root)))
    try:
        register_root(root)
    except CvError as error:  # it costs only 'cv list-roots'
        steps.append(Step(f"the list of roots on this machine: {error}", "failed"))
    return steps


def write_script(root: Path) -> bool:
    """Write the script that the settings hook runs. True when it was not so before."""
    script = script_path(root)
    changed = write_if_changed(script, SESSION_START.encode())
    if not os.access(script, os.X_OK):
        script.chmod(0o755)
        changed = True
    return changed


def script_path(root: Path) -> Path:
    """Where the script of the settings hook lies."""
    return root / KIT_FOLDER / "scripts" / "session-start.sh"


def write_gitignore(root: Path) -> bool:
    """Write the kit's ``.gitignore`` unless there is one. True when it was written."""
    ignore = root / KIT_FOLDER / ".gitignore"
    return not ignore.exists() and write_if_changed(ignore, GITIGNORE.encode())


def remember_launcher(launcher: str) -> None:
    """Keep where ``bin/cv`` lies, for the wrapper script of a root; plugin updates move it."""
    if launcher:
        with suppress(CvError):  # a home that can't be written to costs only the wrapper script
            write_if_changed(cv_home() / "launcher", f"{launcher}\n".encode())


def write_config(root: Path) -> Step:
    """Write the config where there is none; a moved tree's follows. Raises ``ConfigError`` for one that can't be read."""
    name = config_path(root).relative_to(root).as_posix()
    if not config_path(root).exists():
        create_config(root)
        return Step(name, "wrote")
    before = moved_from(root)
    load_config(root)
    if before is None:
        return Step(name, "kept")
    change_config(root, lambda raw: None)
    return Step(f"{name}: the tree was at {before}", "wrote")


def _step(what: str, changed: bool) -> Step:
    return Step(what, "wrote" if changed else "kept")
