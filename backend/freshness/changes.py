"""What is different on disk from what the index knows: one comparison of stamps, no file is opened."""

from __future__ import annotations

from msgspec import Struct

from backend.freshness.index import Index, Known
from backend.tree.found import FoundFile, Tree


class Changes(Struct, frozen=True):
    """``to_read``: new files and those whose mtime, size, role or repo differs; ``gone``: paths that are no longer there;
    ``known``: what the index had of every document.
    """

    to_read: list[FoundFile]
    gone: list[str]
    unchanged: set[str]
    known: dict[str, Known]


def find_changes(tree: Tree, index: Index, roles: tuple[str, ...]) -> Changes:
    """Compare ``tree`` with ``index``."""
    known, passed_over = index.known(), index.passed_over()
    to_read, unchanged = [], set()
    for path, file in tree.files.items():
        if file.role not in roles:
            continue
        if (document := known.get(path)) is not None:
            same = (document.mtime, document.size, document.role, document.repo) == (
                file.mtime,
                file.size,
                file.role,
                file.repo,
            )
            if same:
                unchanged.add(path)
        elif (other := passed_over.get(path)) is not None:
            same = (other.mtime, other.size, other.role) == (file.mtime, file.size, file.role)
        else:
            same = False
        if not same:
            to_read.append(file)
    role_of = {path: entry.role for path, entry in known.items()} | {
        p: e.role for p, e in passed_over.items()
    }
    gone = [
        path
        for path, role in role_of.items()
        if role in roles and path not in tree.files and not out_of_sight(path, tree.unreadable)
    ]
    return Changes(to_read, sorted(gone), unchanged, known)


def out_of_sight(path: str, unreadable: list[str]) -> bool:
    """Whether ``path`` lies where nothing could be read: it is then not gone."""
    return any(
        not folder or path == folder or path.startswith(folder + "/") for folder in unreadable
    )
