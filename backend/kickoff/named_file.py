"""Which file of the tree a person means."""

from __future__ import annotations

import os
from pathlib import Path

from backend.errors import UsageError
from backend.freshness.index import Index
from backend.freshness.places import index_path


def find_file(root: Path, folder: Path, text: str) -> str:
    """The path (relative to ``root``) of the file that a person means by ``text``, standing in ``folder``.

    Tried in turn: from ``folder``, from the root, then among indexed documents by the end of the path, whatever its case.
    A file that doesn't exist is taken as it would be from the root. Raises ``UsageError`` for a folder or an ambiguous name.
    """
    said = Path(os.path.expanduser(text))
    places = [path_below(root, place) for place in (folder / said, root / said)]
    for relative in places:
        if relative is not None and os.path.isdir(root / relative):
            raise UsageError(
                f"{text} is a folder; name a file. 'cv folders' shows what folders hold"
            )
        if relative is not None and os.path.lexists(root / relative):
            return relative
    named = _indexed_as(root, text)
    if len(named) > 1:
        raise UsageError(
            f"{text} could mean {', '.join(named[:8])}; give the path from the senior root"
        )
    if named:
        return named[0]
    return next((place for place in reversed(places) if place), str(said))


def path_below(root: Path, path: Path) -> str | None:
    """``path`` relative to ``root``, links in it left as they are; None where it lies outside."""
    normal = Path(os.path.normpath(path))
    for candidate in (normal, Path(os.path.realpath(normal.parent), normal.name)):
        try:
            relative = candidate.relative_to(root).as_posix()
        except ValueError:
            continue
        return relative
    return None


def _indexed_as(root: Path, text: str) -> list[str]:
    """Documents, and files that were passed over, whose path ends in ``text``."""
    index = Index.for_reading(index_path(root))
    if index is None:
        return []
    ending = "/" + text.replace("\\", "/").removeprefix("./").casefold().removesuffix(".md") + ".md"
    with index:
        paths = [*index.known(), *index.passed_over()]
    return sorted(path for path in paths if ("/" + path.casefold()).endswith(ending))
