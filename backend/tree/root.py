"""The senior root: where it is, and whether the kit applies in a folder. Used by the hook, so it only stats a few files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from msgspec import Struct

from backend.errors import CvError, NotApplicable
from backend.schemas.config import Config
from backend.tree.quoting import quoted

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
    for folder in _upwards(start):
        kit = folder / KIT_FOLDER
        # unlike Path's own, these never raise
        if os.path.isfile(kit / "config.json") and not os.path.islink(kit):
            return folder
    return None


def closed_root(start: Path) -> Path | None:
    """The nearest folder from ``start`` upwards whose kit is there but may not be entered by this user; None where there is none.
    Whether it is a senior root only others can tell.
    """
    for folder in _upwards(start):
        kit = folder / KIT_FOLDER
        if os.path.isdir(kit) and not os.path.islink(kit) and not os.access(kit, os.X_OK):
            return folder
    return None


def _upwards(start: Path) -> Iterator[Path]:
    """The folders in which a senior root of ``start`` may be found, nearest first."""
    try:
        folder = start.resolve()
        device = folder.stat().st_dev
    except (OSError, RuntimeError):
        return
    home = home_folder()
    while True:
        yield folder
        parent = folder.parent
        try:
            climbs_out = (
                home in (folder, parent) or parent == folder or parent.stat().st_dev != device
            )
        except OSError:
            return
        if climbs_out:
            return
        folder = parent


def require_root(start: Path) -> Path:
    """Like ``find_root``, but raises ``NotApplicable`` when there is none, ``CvError`` when it is closed to this user."""
    root = find_root(start)
    if root is None:
        require_open_kit(start)
        raise NotApplicable(
            f"no senior root here: no {KIT_FOLDER}/config.json in {start} or above it. "
            "Run 'cv init --senior-root PATH' at the top of your tree of repos, or name one with --root PATH."
        )
    return root


def require_open_kit(start: Path) -> None:
    """Raise ``CvError`` when ``closed_root`` finds one: whose it is, and what to do."""
    closed = closed_root(start)
    if closed is not None:
        raise CvError(f"{closed / KIT_FOLDER}: {closed_words(closed)}; {closed_todo(closed)}")


def closed_words(root: Path) -> str:
    """That the kit of ``root`` is closed, and whose it is."""
    return f"is there, but you may not enter it (it belongs to {owner(root / KIT_FOLDER)})"


def closed_todo(root: Path) -> str:
    """What to do about it."""
    kit = quoted(str(root / KIT_FOLDER))
    return f'ask its owner to open it to you (chmod -R a+rX {kit}), or make it yours (sudo chown -R "$USER" {kit})'


def owner(path: Path) -> str:
    """The name of the user whom ``path`` belongs to."""
    try:
        return path.owner()
    except (KeyError, NotImplementedError, OSError):  # a number without a name; Windows
        return "somebody else"


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
