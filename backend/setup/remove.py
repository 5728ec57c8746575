"""``cv init --remove``: takes out exactly what the ceremony and the syncs put in; what a person wrote stays."""

from __future__ import annotations

import fnmatch
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from backend.errors import CvError
from backend.freshness.places import load_places
from backend.schemas.roles import CHANGELOG_ROLE, CORPUS_ROLE
from backend.session.journal import tree_folder
from backend.setup.init import GITIGNORE, script_path
from backend.setup.settings import installed, remove_hook, settings_path
from backend.tree.found import Place
from backend.tree.home import registered_roots, unregister_roots
from backend.tree.listing import listed
from backend.tree.lock import exclusive
from backend.tree.root import KIT_FOLDER, MARKER, has_marker
from backend.tree.sources import SourcesError, add_places, load_sources, sources_path

_OURS = ("*.lock", "index.sqlite*", "chroma", "chroma.*", "manifests", "hook.log*", ".*.tmp")
"""What syncs and hooks leave in the kit's folder: all of it is made again from the tree."""


_SHOWN = 5
"""Markers of 'cv dismiss' that are named; of more only their number is said."""


class Removal(Struct, frozen=True):
    """What goes, and what stays with the reason; paths relative to the senior root where they lie below it."""

    goes: tuple[str, ...]
    stays: tuple[str, ...]


def plan_removal(root: Path) -> Removal:
    """What ``remove_kit`` would do. Raises ``CvError`` when the settings can't be read."""
    kit = root / KIT_FOLDER
    ours = [path.relative_to(root).as_posix() for path in _ours(root)]
    goes = [
        f"{name}/" if (root / name).is_dir() else name
        for name in ours
        if not name.endswith((".lock", "-wal", "-shm"))  # which go along with what they belong to
    ]
    stays = [
        f"{name}: {_why(root, name)}"
        for path in (sorted(kit.iterdir()) if kit.is_dir() else [])
        if (name := path.relative_to(root).as_posix()) not in ours
        and not (path.name == "scripts" and _only_script(root))
    ]
    if markers := _markers(root):
        named = listed(markers, _SHOWN)
        stays.append(f"{named}: from 'cv dismiss'; delete it yourself when you no longer need it")
    found = installed(settings_path(root))
    if found.ours + found.flat:
        name = settings_path(root).relative_to(root).as_posix()
        goes.insert(0, f"the SessionStart hook in {name}")
    if root in registered_roots():
        goes.append("its entry in 'cv list-roots'")
    return Removal(tuple(goes), tuple(stays))


def remove_kit(root: Path) -> None:
    """Take out what ``plan_removal`` names. The config goes last, so that a run that was broken off can be run again.

    Raises ``Busy`` before anything is removed while a sync is at work, ``CvError`` for what can't be removed.
    """
    kit = root / KIT_FOLDER
    try:
        if kit.is_dir():
            with exclusive(
                kit / "writer.lock",
                seconds=0,
                busy="a sync of this tree is at work; nothing was removed, try again when it has ended",
            ):
                remove_hook(root)
                for path in _ours(root):
                    if path.suffix != ".lock" and path.name != "config.json":
                        _delete(path)
            for path in _ours(root):
                if path.name != "config.json":
                    _delete(path)
            (kit / "config.json").unlink(missing_ok=True)
            for folder in (script_path(root).parent, kit):
                with suppress(OSError):  # something of a person's is in it
                    folder.rmdir()
        else:
            remove_hook(root)
        shutil.rmtree(tree_folder(root), ignore_errors=True)
    except OSError as error:
        raise CvError(
            f"{error.filename}: could not be removed ({error.strerror}); mend that and run it again"
        ) from error
    unregister_roots([root])


def _ours(root: Path) -> Iterator[Path]:
    kit = root / KIT_FOLDER
    if not kit.is_dir():
        return
    for path in sorted(kit.iterdir()):
        if any(fnmatch.fnmatchcase(path.name, pattern) for pattern in _OURS):
            yield path
    for path, ours in (
        (kit / "config.json", True),
        (script_path(root), True),
        (kit / ".gitignore", _holds(kit / ".gitignore", GITIGNORE)),
        (sources_path(root), sources_untouched(root)),
    ):
        if path.is_file() and ours:
            yield path


def sources_untouched(root: Path) -> bool:
    """Whether ``sources.md`` is, to the byte, what syncs wrote: no entry, note or sentence of a person is in it."""
    try:
        sources = load_sources(root)
        roles = {"changelog": CHANGELOG_ROLE, "context-v": CORPUS_ROLE}
        places = [Place(source.path, roles.get(source.kind, "")) for source in sources]
        with tempfile.TemporaryDirectory() as folder:
            add_places(Path(folder), [], places)
            return sources_path(Path(folder)).read_bytes() == sources_path(root).read_bytes()
    except (OSError, SourcesError):
        return False


def _markers(root: Path) -> list[str]:
    """The markers of 'cv dismiss' that the last walk saw; the tree is not walked for more."""
    places = load_places(root)
    folders = dict.fromkeys((".", *(places.watched if places else ())))
    return [(Path(folder) / MARKER).as_posix() for folder in folders if has_marker(root / folder)]


def _why(root: Path, name: str) -> str:
    if root / name == sources_path(root):
        return "was edited by hand; delete it yourself when you no longer need it"
    if name == f"{KIT_FOLDER}/private":
        return (
            "may hold what was taken in from transcripts; to erase that, run 'cv forget --all-private' before this, "
            "or delete the folder yourself afterwards"
        )
    return "is not from Context Vigilance"


def _only_script(root: Path) -> bool:
    folder = script_path(root).parent
    return [path.name for path in folder.iterdir()] == [script_path(root).name]


def _holds(path: Path, text: str) -> bool:
    try:
        return path.read_text("utf-8") == text
    except (OSError, UnicodeDecodeError):
        return False


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        with suppress(FileNotFoundError):
            path.unlink()
