"""``cv init``: everything that a senior root needs, written once; run again it repairs and says what it did."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from backend.errors import CvError, UsageError
from backend.setup.settings import add_hook, settings_path
from backend.tree.config import change_config, config_path, create_config, load_config, moved_from
from backend.tree.files import write_if_changed
from backend.tree.home import cv_home, register_root
from backend.tree.root import KIT_FOLDER, find_root

SESSION_START = """\
#!/bin/sh
# Written by cv init. Claude Code runs this when a session starts at the senior root; it hands over to the plugin.
# Whatever is missing or broken: say nothing and let the session start.
home=${CV_HOME:-}
if [ -z "$home" ]; then
    case $(uname -s) in
        Darwin) home=$HOME/Library/Application\\ Support/context-vigilance ;;
        *) home=${XDG_DATA_HOME:-$HOME/.local/share}/context-vigilance ;;
    esac
fi
read -r launcher 2>/dev/null <"$home/launcher" || exit 0
[ -x "$launcher" ] || exit 0
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
    """One thing that the ceremony looked after, and whether it had to change it."""

    what: str
    changed: bool


def check_root(root: Path) -> Path:
    """``root`` resolved, if it can become a senior root. Raises ``UsageError`` with the reason otherwise."""
    folder = root.expanduser()
    if not folder.is_dir():
        raise UsageError(
            f"--senior-root: expected a folder, {root} is {'a file' if folder.exists() else 'not there'}"
        )
    folder = folder.resolve()
    if folder == Path(folder.anchor):
        raise UsageError(
            f"--senior-root: {folder} is the whole disk; name the folder that holds your repos"
        )
    outer = find_root(folder.parent) if folder != _home() else None
    if outer is not None:
        raise UsageError(
            f"--senior-root: {folder} lies inside the senior root {outer}, which indexes it already. "
            f"To leave it out there, run 'cv dismiss {folder}'"
        )
    return folder


def write_kit(root: Path, *, settings_hook: bool) -> list[Step]:
    """Write what is missing of config, wrapper script, ``.gitignore`` and settings hook; never over what a person wrote.

    Raises ``CvError`` where a file that is there cannot be used, naming it; what was written before it stays.
    """
    steps = [_config(root)]
    script = root / KIT_FOLDER / "scripts" / "session-start.sh"
    steps.append(
        Step(str(script.relative_to(root)), write_if_changed(script, SESSION_START.encode()))
    )
    script.chmod(0o755)
    ignore = root / KIT_FOLDER / ".gitignore"
    steps.append(
        Step(
            str(ignore.relative_to(root)),
            not ignore.exists() and write_if_changed(ignore, GITIGNORE.encode()),
        )
    )
    if settings_hook:
        steps.append(
            Step(f"SessionStart hook in {settings_path(root).relative_to(root)}", add_hook(root))
        )
    register_root(root)
    return steps


def remember_launcher(launcher: str) -> None:
    """Keep where ``bin/cv`` lies, for the wrapper script of a root; plugin updates move it."""
    if launcher:
        with suppress(CvError):  # a home that can't be written to costs only the wrapper script
            write_if_changed(cv_home() / "launcher", f"{launcher}\n".encode())


def _config(root: Path) -> Step:
    name = str(config_path(root).relative_to(root))
    if not config_path(root).exists():
        create_config(root)
        return Step(name, True)
    before = moved_from(root)
    load_config(root)
    if before is None:
        return Step(name, False)
    change_config(root, lambda raw: None)
    return Step(f"{name}: the tree was at {before}", True)


def _home() -> Path | None:
    try:
        return Path.home().resolve()
    except (OSError, RuntimeError):
        return None
