"""One walk over the tree: which files are documents, of which role and repo, and what was left out and why.

Nothing is opened here; a file costs its directory entry and one stat.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

from msgspec import Struct

from backend.schemas.config import Config
from backend.schemas.roles import CORPUS_ROLE
from backend.tree.found import FoundFile, Place, Tree, kind_of, role_of
from backend.tree.repos import Repo, is_repo, is_worktree
from backend.tree.root import MARKER, dismissed_folders, has_marker
from backend.tree.rules import (
    LEFT_OUT,
    NOT_UNICODE,
    OPT_IN,
    is_markdown,
    is_never_entered,
    is_unicode,
    why_no_document,
)
from backend.tree.sources import Choices

_AROUND = 3
"""Levels below a repo (or the senior root) where a new documents folder is noticed at once; the full walk, at least once an hour,
finds those further down."""


class _Folder(Struct, frozen=True):
    """A folder still to be listed. ``place`` is the documents folder it is in, if any; ``depth`` counts from its repo."""

    path: str
    place: Place | None = None
    switched_off: str = ""
    depth: int = 0


def discover(root: Path, config: Config, choices: Choices | None = None) -> Tree:
    """Walk the tree below ``root`` once and return what is there. Never raises for what the disk holds."""
    return _Walk(root, config, choices or Choices()).run([_Folder("")])


def look_at(
    root: Path, config: Config, places: list[Place], repos: dict[str, Repo], choices: Choices
) -> Tree:
    """Like ``discover``, but list only ``places`` that an earlier walk found: the cheap check of hook and queries."""
    walk = _Walk(root, config, choices)
    walk.tree.repos = dict(repos)
    walk.tree.places = list(places)
    outermost = [
        p for p in places if not any(p.path.startswith(other.path + "/") for other in places)
    ]
    return walk.run([start for place in outermost if (start := walk.start_at(place))])


class _Walk:
    def __init__(self, root: Path, config: Config, choices: Choices) -> None:
        self.root = root
        self.top = str(root)
        self.choices = choices
        self.skip_folders = frozenset(config.discovery.skip_folders)
        self.dismissed_paths = dismissed_folders(root, config)
        self.tree = Tree()
        self.links: list[tuple[str, _Folder]] = []
        self.linked: set[str] = set()
        self.marked: dict[str, bool] = {}

    def run(self, starts: list[_Folder]) -> Tree:
        todo = list(reversed(starts))
        while todo:
            todo.extend(self.list_folder(todo.pop()))
            if not todo:
                todo.extend(self.followed_links())
        return self.tree

    def start_at(self, place: Place) -> _Folder | None:
        """How to list a place that an earlier walk found; None when it has gone or is opted out by now."""
        if (
            self.opted_out(str(PurePosixPath(place.path).parent))
            or place.path in self.dismissed_paths
        ):
            self.skip(place, "dismissed")
            return None
        folder = os.path.join(self.top, place.path)
        if os.path.islink(folder):
            real = os.path.realpath(folder)
            self.linked.add(real)
            self.tree.links[place.path] = real
            target = os.path.relpath(real, os.path.realpath(self.top))
            aim = PurePosixPath(Path(target).as_posix())
            self.watch_above(aim)
            if self.out_of_bounds(aim):
                self.skip(place, "symlink to what is left out")
                return None
        if not os.path.isdir(folder):
            try:
                os.stat(folder)
            except PermissionError:
                self.tree.unreadable.append(place.path)
            except OSError:
                pass
            return None
        parts = place.path.split("/")
        above = {"/".join(parts[:depth]) for depth in range(1, len(parts) + 1)}
        return _Folder(place.path, place, LEFT_OUT if above & self.choices.excluded else "")

    def opted_out(self, path: str) -> bool:
        """Whether a marker or ``dismissed_paths`` opts out the folder ``path`` ('.' is the root), or one above it."""
        if path not in self.marked:
            below_other = path != "." and self.opted_out(str(PurePosixPath(path).parent))
            self.marked[path] = (
                below_other or path in self.dismissed_paths or has_marker(self.root / path)
            )
        return self.marked[path]

    def list_folder(self, folder: _Folder) -> Iterator[_Folder]:
        """Take in the files of one folder; yield the folders below it that are worth a look."""
        full = os.path.join(self.top, folder.path)
        depth = folder.depth
        try:
            if folder.place is not None:
                self.tree.folders[folder.path] = _settled_mtime(full)
            elif depth <= _AROUND:
                self.tree.around[folder.path] = _settled_mtime(full)
            with os.scandir(full) as listing:
                entries = {entry.name: entry for entry in listing}
        except FileNotFoundError:
            return  # gone since its parent was listed
        except OSError:
            self.tree.unreadable.append(folder.path)
            return
        if MARKER in entries or (not folder.path and "." in self.dismissed_paths):
            self.skip(folder.place, "dismissed")
            self.tree.dismissed.append(folder.path)
            return
        if ".git" in entries and folder.path and is_repo(self.root / folder.path):
            self.tree.repos[folder.path] = Repo(folder.path, is_worktree(self.root / folder.path))
            depth = 0
        above = f"{folder.path}/" if folder.path else ""
        documents = []
        for name in sorted(entries, reverse=True):
            entry = entries[name]
            if entry.is_symlink():
                self.links.append((above + name, folder))
            elif entry.is_dir(follow_symlinks=False):
                if below := self.enter(above + name, name, folder, depth + 1):
                    yield below
            elif folder.place is not None and is_markdown(name) and entry.is_file():
                documents.append(entry)
        self.take(documents, folder)

    def enter(self, path: str, name: str, parent: _Folder, depth: int) -> _Folder | None:
        """How to list a folder, or None to leave it out."""
        if name.startswith(".") or self.dismissed(path):
            return None
        place, switched_off = parent.place, parent.switched_off
        if is_never_entered(path, in_documents=place is not None, skip_folders=self.skip_folders):
            return None
        if not is_unicode(name):  # no document below it could be named, nor the folder kept in JSON
            self.skip(place, NOT_UNICODE)
            return None
        role = role_of(name)
        if role is not None and (place is None or role != place.role):
            place = Place(path, role)
            if place not in self.tree.places:
                self.tree.places.append(place)
        elif (
            place is not None and place.role == CORPUS_ROLE and name in OPT_IN and not switched_off
        ):
            switched_off = "" if path in self.choices.included else OPT_IN[name]
        if path in self.choices.excluded:
            switched_off = LEFT_OUT
        return _Folder(path, place, switched_off, depth)

    def take(self, documents: list[os.DirEntry[str]], folder: _Folder) -> None:
        """Take in the Markdown files of one folder; what they share is looked up once."""
        place = folder.place
        if place is None or not documents:
            return
        kind = kind_of(f"{folder.path}/", place)
        repo = self.tree.slug(f"{folder.path}/", self.root)
        for entry in documents:
            path = f"{folder.path}/{entry.name}"
            if reason := folder.switched_off or why_no_document(path, place.role):
                self.skip(place, reason)
                continue
            if stat := self.stat_of(entry.stat, path):
                self.tree.files[path] = FoundFile(
                    path, place.role, kind, repo, stat.st_mtime, stat.st_size
                )

    def stat_of(self, stat: Callable[[], os.stat_result], path: str) -> os.stat_result | None:
        """What ``stat`` says of ``path``; None where it may not be asked, or has gone since it was met: as if it never was."""
        try:
            return stat()
        except PermissionError:
            self.tree.unreadable.append(path)
        except OSError:
            pass
        return None

    def followed_links(self) -> Iterator[_Folder]:
        """After the walk proper: follow links to what lies in the tree and was not met on its own path."""
        links, self.links = self.links, []
        real_root = os.path.realpath(self.top)
        for path, folder in sorted(links, key=lambda link: link[0]):
            name, place = path.rsplit("/", 1)[-1], folder.place
            if place is None and role_of(name) is None:
                continue  # outside the documents only a link that is itself a documents folder matters
            real = os.path.realpath(os.path.join(self.top, path))
            if not is_unicode(path + real):
                self.skip(place, NOT_UNICODE)
                continue
            self.tree.links[path] = real if os.path.exists(real) else ""
            if not Path(real).is_relative_to(real_root):
                self.skip(place, "symlink out of the tree")
            elif not os.path.exists(real):
                self.skip(place, "dangling symlink")
            else:
                target = PurePosixPath(Path(os.path.relpath(real, real_root)).as_posix())
                self.watch_above(target)
                if self.out_of_bounds(target):
                    self.skip(place, "symlink to what is left out")
                elif (
                    self.met(target)
                    or real in self.linked
                    or Path(self.top, path).is_relative_to(real)
                ):
                    self.skip(place, "symlink to what is indexed in its own place")
                elif os.path.isdir(real):
                    if below := self.enter(path, name, folder, 0):
                        self.linked.add(real)
                        yield below
                elif os.path.isfile(real) and is_markdown(name) and place is not None:
                    if reason := folder.switched_off or why_no_document(path, place.role):
                        self.skip(place, reason)
                        continue
                    if stat := self.stat_of(Path(real).stat, path):
                        kind, repo = kind_of(path, place), self.tree.slug(path, self.root)
                        self.tree.files[path] = FoundFile(
                            path, place.role, kind, repo, stat.st_mtime, stat.st_size
                        )

    def watch_above(self, target: PurePosixPath) -> None:
        """A marker in any folder above what a link leads to opts it out."""
        for folder in (target, *target.parents):
            full = os.path.join(self.top, folder)
            if os.path.isdir(full) and str(folder) not in self.tree.folders:
                with suppress(OSError):  # gone meanwhile
                    self.tree.folders[str(folder)] = _settled_mtime(full)

    def out_of_bounds(self, target: PurePosixPath) -> bool:
        """Whether a link's target is, or lies below, what the walk would not enter: hidden, opted out, left out by people."""
        above = [str(folder) for folder in (target, *target.parents)]
        return (
            any(part.startswith(".") for part in target.parts)
            or self.opted_out(above[0] if os.path.isdir(self.root / target) else above[1])
            or not self.choices.excluded.isdisjoint(above)
        )

    def met(self, target: PurePosixPath) -> bool:
        places = {place.path for place in self.tree.places}
        return any(parent.as_posix() in places for parent in (target, *target.parents))

    def dismissed(self, path: str) -> bool:
        if path not in self.dismissed_paths:
            return False
        self.skip(None, "dismissed")
        return True

    def skip(self, place: Place | None, reason: str) -> None:
        self.tree.skipped[place.role if place else CORPUS_ROLE][reason] += 1


def _settled_mtime(folder: str) -> float:
    """A folder's mtime, from which on its entries are known; -1 where it has just moved, and may do so again without showing it.

    A system's clock for files ticks every some milliseconds; where it shows no fractions, every two seconds (FAT).
    """
    mtime = os.stat(folder).st_mtime
    tick = 2.0 if mtime == int(mtime) else 0.05
    return mtime if time.time() - mtime > tick else -1.0
