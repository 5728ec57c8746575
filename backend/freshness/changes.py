"""What is different on disk from what is known of it: one comparison of stamps, no file is opened."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from backend.freshness.index import Index, Known
from backend.tree.found import FoundFile, Tree


class Noted(Struct, frozen=True):
    """What the last sync noted of a file; ``repo`` is empty for one that was passed over."""

    role: str
    mtime: float
    size: int
    repo: str = ""

    def differs(self, file: FoundFile) -> bool:
        """Whether ``file`` has to be read again. Another repo (a ``.git`` that has appeared above it) changes its chunks' ids."""
        before, now = (self.role, self.mtime, self.size), (file.role, file.mtime, file.size)
        return before != now or self.repo not in ("", file.repo)


class Differences(Struct, frozen=True):
    """``new`` files, ``changed`` ones, paths of the ``same`` and of those that are ``gone`` (in order)."""

    new: list[FoundFile]
    changed: list[FoundFile]
    same: set[str]
    gone: list[str]


class Changes(Struct, frozen=True):
    """``to_read``: new and changed files; ``gone``: paths that are no longer there; ``unchanged``: those of documents;
    ``known``: what the index had of every document.
    """

    to_read: list[FoundFile]
    gone: list[str]
    unchanged: set[str]
    known: dict[str, Known]


def find_changes(tree: Tree, index: Index, roles: tuple[str, ...]) -> Changes:
    """Compare ``tree`` with ``index``."""
    known = index.known()
    noted = {path: Noted(e.role, e.mtime, e.size) for path, e in index.passed_over().items()}
    noted |= {path: Noted(e.role, e.mtime, e.size, e.repo) for path, e in known.items()}
    found = differences(tree, noted, roles)
    return Changes([*found.new, *found.changed], found.gone, found.same & known.keys(), known)


def differences(tree: Tree, noted: Mapping[str, Noted], roles: tuple[str, ...]) -> Differences:
    """Compare ``tree`` with what was ``noted`` of each file, by path."""
    found = Differences([], [], set(), [])
    for path, file in tree.files.items():
        if file.role not in roles:
            continue
        before = noted.get(path)
        if before is None:
            found.new.append(file)
        elif before.differs(file):
            found.changed.append(file)
        else:
            found.same.add(path)
    found.gone.extend(
        path
        for path in sorted(noted.keys() - tree.files.keys())
        if noted[path].role in roles and not out_of_sight(path, tree.unreadable)
    )
    return found


def out_of_sight(path: str, unreadable: list[str]) -> bool:
    """Whether ``path`` lies where nothing could be read: it is then not gone."""
    return any(
        not folder or path == folder or path.startswith(folder + "/") for folder in unreadable
    )
