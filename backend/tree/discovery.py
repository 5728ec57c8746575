"""One walk over the tree: which files are documents, of which role and repo, and what was left out and why.

The rules are SPEC's section 4. Nothing is opened here; a file costs its directory entry and one stat.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Container, Iterator
from pathlib import Path, PurePosixPath

from msgspec import Struct, field

from backend.schemas.config import Config
from backend.schemas.roles import CHANGELOG_ROLE, CORPUS_ROLE
from backend.tree.repos import Repo, is_repo, is_worktree, repo_slug
from backend.tree.root import MARKER, dismissed_folders, has_marker

CORPUS_FOLDER = "context-v"

_NEVER = frozenset(
    "node_modules bower_components venv env virtualenv __pycache__ site-packages "
    "dist build out target coverage tmp cache caches".split()
)
"""Dependencies, virtual environments, build output and caches, by the names that their tools give them."""

_NEVER_IN_DOCUMENTS = frozenset(
    "node_modules bower_components venv __pycache__ site-packages".split()
)
"""Below a documents folder only these: a person may well call a folder of specs ``build`` or ``cache``."""

_PAGE_CODE = (("src", "pages"), ("src", "components"))
"""Where site generators keep code: folders named context-v or changelog in there hold pages, not documents."""

_OPT_IN = {"extra": "scratch (extra/)", "skills": "agent skills", "agent-skills": "agent skills"}
"""Folders below context-v that only ``sources.md`` turns on, and how a report calls them."""


_LEFT_OUT = "left out in sources.md"

AROUND = 3
"""Levels below a repo (or the senior root) where a new documents folder is noticed at once; the full walk, at least once an hour,
finds those further down."""


class FoundFile(Struct, frozen=True):
    """A document on disk: ``mtime`` in epoch seconds, ``size`` in bytes; ``repo`` is the slug, ``kind`` the folder it is in."""

    path: str
    role: str
    kind: str
    repo: str
    mtime: float
    size: int


class Place(Struct, frozen=True):
    """A folder that holds documents of one role: where the walk found the name ``context-v`` or ``changelog``."""

    path: str
    role: str


class Tree(Struct):
    """What the walk found. ``skipped`` counts files (or links, or folders) per role and reason; ``unreadable`` lists folders
    that could not be listed: what was known below them is not gone, only out of sight. ``dismissed``: folders with a marker.
    ``folders``: those of documents that were listed, with their mtimes (``settled_mtime``), ``around``: other folders in which
    a new documents folder would show; ``links``: those that were looked at, and where each leads ('' for nowhere).
    """

    files: dict[str, FoundFile] = field(default_factory=dict)
    repos: dict[str, Repo] = field(default_factory=dict)
    places: list[Place] = field(default_factory=list)
    skipped: dict[str, Counter[str]] = field(
        default_factory=lambda: {r: Counter() for r in (CORPUS_ROLE, CHANGELOG_ROLE)}
    )
    unreadable: list[str] = field(default_factory=list)
    dismissed: list[str] = field(default_factory=list)
    folders: dict[str, float] = field(default_factory=dict)
    around: dict[str, float] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)

    def slug(self, path: str, root: Path) -> str:
        """The slug of the repo that ``path`` belongs to."""
        return slug_of(path, self.repos, root)


class Choices(Struct, frozen=True):
    """What ``sources.md`` says against the rules: places left out, and opt-in folders turned on (as paths)."""

    excluded: frozenset[str] = frozenset()
    included: frozenset[str] = frozenset()


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


def slug_of(path: str, repos: Container[str], root: Path) -> str:
    """The slug of the repo of ``repos`` that ``path`` belongs to; documents of the root itself stand under its own name."""
    first = path.split("/", 1)[0]
    if role_of(first) is not None and first not in repos:
        return root.name
    return repo_slug(path, repos, root.name)


def role_of(name: str) -> str | None:
    """The role that a folder's name announces, or None: ``context-v``; ``changelog``, ``changelogs``, ``changelog--code``."""
    folded = name.casefold()
    if folded == CORPUS_FOLDER:
        return CORPUS_ROLE
    if folded in ("changelog", "changelogs") or folded.startswith("changelog--"):
        return CHANGELOG_ROLE
    return None


def settled_mtime(folder: str) -> float:
    """A folder's mtime, from which on its entries are known; -1 where it has just moved, and may do so again without showing it.

    A system's clock for files ticks every some milliseconds; where it shows no fractions, every two seconds (FAT).
    """
    mtime = os.stat(folder).st_mtime
    tick = 2.0 if mtime == int(mtime) else 0.05
    return mtime if time.time() - mtime > tick else -1.0


def is_markdown(name: str) -> bool:
    """Whether a file's name ends in ``.md``, in any case."""
    return name[-3:].casefold() == ".md"


class _Walk:
    def __init__(self, root: Path, config: Config, choices: Choices) -> None:
        self.root = root
        self.top = str(root)
        self.choices = choices
        self.never = _NEVER | set(config.discovery.skip_folders)
        self.dismissed_paths = dismissed_folders(root, config)
        self.tree = Tree()
        self.links: list[tuple[str, Place | None]] = []
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
        return _Folder(place.path, place, _LEFT_OUT if above & self.choices.excluded else "")

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
                self.tree.folders[folder.path] = settled_mtime(full)
            elif depth <= AROUND:
                self.tree.around[folder.path] = settled_mtime(full)
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
        if (
            ".git" in entries
            and folder.path
            and _is_unicode(folder.path)
            and is_repo(self.root / folder.path)
        ):
            self.tree.repos[folder.path] = Repo(folder.path, is_worktree(self.root / folder.path))
            depth = 0
        above = f"{folder.path}/" if folder.path else ""
        documents = []
        for name in sorted(entries, reverse=True):
            entry = entries[name]
            if entry.is_symlink():
                self.links.append((above + name, folder.place))
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
        if name in (_NEVER_IN_DOCUMENTS if parent.place else self.never):
            return None
        if not parent.place and tuple(path.split("/")[-2:]) in _PAGE_CODE:
            return None
        place, switched_off = parent.place, parent.switched_off
        role = role_of(name)
        if role is not None and (place is None or role != place.role):
            place = Place(path, role)
            if place not in self.tree.places and _is_unicode(path):
                self.tree.places.append(place)
        elif (
            place is not None and place.role == CORPUS_ROLE and name in _OPT_IN and not switched_off
        ):
            switched_off = "" if path in self.choices.included else _OPT_IN[name]
        if path in self.choices.excluded:
            switched_off = _LEFT_OUT
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
            if reason := self.left_out(path, entry.name, folder):
                self.skip(place, reason)
                continue
            try:
                stat = entry.stat()
            except PermissionError:
                self.tree.unreadable.append(path)
                continue
            except OSError:
                continue  # gone between listing and stat: as if it had never been there
            self.tree.files[path] = FoundFile(
                path, place.role, kind, repo, stat.st_mtime, stat.st_size
            )

    def left_out(self, path: str, name: str, folder: _Folder) -> str:
        """Why a Markdown file of a documents folder is no document; empty for one that is."""
        if folder.switched_off:
            return folder.switched_off
        if name.startswith("."):
            return "hidden file"
        if not _is_unicode(path):
            return "name is not Unicode"
        if (
            folder.place is not None
            and folder.place.role == CHANGELOG_ROLE
            and name.casefold() == "readme.md"
        ):
            return "README of a changelog"
        return ""

    def followed_links(self) -> Iterator[_Folder]:
        """After the walk proper: follow links to what lies in the tree and was not met on its own path."""
        links, self.links = self.links, []
        real_root = os.path.realpath(self.top)
        for path, place in sorted(links, key=lambda link: link[0]):
            name = path.rsplit("/", 1)[-1]
            if place is None and role_of(name) is None:
                continue  # outside the documents only a link that is itself a documents folder matters
            real = os.path.realpath(os.path.join(self.top, path))
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
                    if below := self.enter(
                        path, name, _Folder(str(PurePosixPath(path).parent), place), 0
                    ):
                        self.linked.add(real)
                        yield below
                elif os.path.isfile(real) and is_markdown(name) and place is not None:
                    stat, repo = os.stat(real), self.tree.slug(path, self.root)
                    self.tree.files[path] = FoundFile(
                        path, place.role, kind_of(path, place), repo, stat.st_mtime, stat.st_size
                    )

    def watch_above(self, target: PurePosixPath) -> None:
        """A marker in any folder above what a link leads to opts it out."""
        for folder in (target, *target.parents):
            full = os.path.join(self.top, folder)
            if os.path.isdir(full) and str(folder) not in self.tree.folders:
                self.tree.folders[str(folder)] = settled_mtime(full)

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


def _is_unicode(path: str) -> bool:
    """Whether a name can be put into JSON and databases (Linux allows any bytes)."""
    if path.isascii():
        return True
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def kind_of(path: str, place: Place) -> str:
    """The kind of a document: the folder right below ``context-v`` it is in (``specs``, ``plans`` …), ``context-v`` for one
    that lies directly in it, ``changelog`` for every entry.
    """
    if place.role == CHANGELOG_ROLE:
        return "changelog"
    below = path[len(place.path) + 1 :].split("/")
    return below[0] if len(below) > 1 else CORPUS_FOLDER
