"""The senior root: where it is, and whether the kit applies in a folder. Used by the hook, so it only stats a few files."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

from msgspec import Struct

from backend.errors import CvError, NotApplicable
from backend.schemas.config import Config

KIT_FOLDER = ".context-vigilance"
MARKER = ".context-vigilance-skip"


class Applicability(Struct, frozen=True):
    """Whether the kit speaks up in a folder, with the reason when it doesn't."""

    applicable: bool
    reason: str = ""


def find_root(start: Path) -> Path | None:
    """The nearest folder from ``start`` upwards that holds ``.context-vigilance/config.json``, or None.

    As git does with its ceilings, the walk does not climb into the home directory (``start`` itself is always looked at),
    nor out of it, and does not cross a filesystem boundary.
    """
    try:
        folder = start.resolve()
        device = folder.stat().st_dev
    except (OSError, RuntimeError):
        return None
    home = home_folder()
    while True:
        kit = folder / KIT_FOLDER
        if os.path.isfile(kit / "config.json") and not os.path.islink(
            kit
        ):  # unlike Path's own, never raises
            return folder
        parent = folder.parent
        try:
            climbs_out = (
                home in (folder, parent) or parent == folder or parent.stat().st_dev != device
            )
        except OSError:
            return None
        if climbs_out:
            return None
        folder = parent


def require_root(start: Path) -> Path:
    """Like ``find_root``, but raises ``NotApplicable`` when there is none."""
    root = find_root(start)
    if root is None:
        raise NotApplicable(
            f"no senior root here: no {KIT_FOLDER}/config.json in {start} or above it. "
            "Run 'cv init --senior-root PATH' at the top of your tree of repos, or name one with --root PATH."
        )
    return root


def require_plain_kit(root: Path) -> None:
    """Raise ``CvError`` when the kit's folder is a link, or a part of it that any sync may write to: a cloned tree could make
    us write elsewhere by it. One listing for each of a handful of folders.
    """
    kit = root / KIT_FOLDER
    if os.path.islink(kit):
        raise _is_a_link(str(kit))
    refuse_links(str(kit), into=("chroma", "manifests"))


def refuse_links(folder: str, *, into: tuple[str, ...] = ("",)) -> None:
    """Raise ``CvError`` for a link in ``folder``, and anywhere in those of its folders whose names begin with one of ``into``.

    A folder that cannot be listed is passed over: what is about to be done with it will say so.
    """
    try:
        with os.scandir(folder) as listing:
            parts = list(listing)
    except OSError:
        return
    for part in parts:
        if part.is_symlink():
            raise _is_a_link(part.path)
        if part.name.startswith(into) and part.is_dir(follow_symlinks=False):
            refuse_links(part.path)


def _is_a_link(path: str) -> CvError:
    return CvError(
        f"{path}: is a link; our own files must lie in the tree itself. Remove the link, then run again"
    )


def applicability(folder: Path, root: Path, config: Config) -> Applicability:
    """Whether the kit applies in ``folder``: no marker from it up to ``root``, and no dismissed path above it."""
    try:
        relative = folder.resolve().relative_to(root)
    except (OSError, ValueError, RuntimeError):
        return Applicability(False, f"{folder} does not lie under {root}")
    for parent in (relative, *relative.parents):
        if has_marker(root / parent):
            where = "the senior root" if parent == Path() else parent.as_posix()
            return Applicability(False, f"{where} carries the marker {MARKER}")
    dismissed = dismissed_above(PurePosixPath(relative.as_posix()), root, config)
    if dismissed is not None:
        return Applicability(False, f"{dismissed} is listed in dismissed_paths of config.json")
    return Applicability(True)


def has_marker(folder: Path) -> bool:
    """Whether ``folder`` itself is opted out by a marker, whatever kind of file that is."""
    return os.path.lexists(folder / MARKER)


def dismissed_folders(root: Path, config: Config) -> set[str]:
    """``dismissed_paths`` as POSIX paths relative to ``root`` (absolute ones under it are accepted, others have no effect)."""
    folders = set()
    for text in config.dismissed_paths:
        path = Path(os.path.expanduser(text))
        if path.is_absolute():
            try:
                path = path.resolve().relative_to(root)
            except (OSError, ValueError, RuntimeError):
                continue
        folders.add(os.path.normpath(path).replace(os.sep, "/"))
    return folders


def dismissed_above(relative: PurePosixPath, root: Path, config: Config) -> str | None:
    """The dismissed path that is ``relative`` or lies above it, or None."""
    if not config.dismissed_paths:
        return None
    folders = dismissed_folders(root, config)
    return next(
        (p.as_posix() for p in (relative, *relative.parents) if p.as_posix() in folders), None
    )


def home_folder() -> Path | None:
    """The user's home folder; None where the system knows of none."""
    try:
        return Path.home().resolve()
    except (OSError, RuntimeError):
        return None
