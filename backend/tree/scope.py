"""What ``--scope`` means: a repo, a nested repo, or any folder that holds documents."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Collection, Iterable

from backend.errors import UsageError
from backend.tree.listing import listed

_LISTED = 8  # how many near ones an error names


def resolve_scope(scope: str, repos: Collection[str], paths: Iterable[str]) -> str | None:
    """Find the one repo or folder meant, spelled as in the tree; ``None`` means the whole tree.

    ``repos``: slugs and nested repos' paths; ``paths``: the documents, whose folders count too.
    The whole path decides first (case does not matter), then its last part or parts, repos before
    folders: ``memo-press`` finds ``bay-labs/memo-press``. Raises UsageError, naming the near ones,
    when nothing or more than one thing matches.
    """
    wanted = _normal(scope)
    if not wanted:
        return None
    folders = _folders(paths)
    places = sorted({*repos, *folders})
    if scope in places:
        return scope
    tries = (
        [place for place in places if _normal(place) == wanted],
        [place for place in sorted(repos) if _normal(place).endswith("/" + wanted)],
        [place for place in sorted(folders) if _normal(place).endswith("/" + wanted)],
    )
    for found in tries:
        if len(found) == 1:
            return found[0]
        if found:
            raise UsageError(
                f"--scope {scope} could mean {listed(found, _LISTED)}. Give the path from the senior root."
            )
    raise UsageError(
        f"--scope {scope} is no repo and no folder with documents here. "
        f"{_near(wanted, repos, places)}"
    )


def in_scope(path: str, repo: str, scope: str) -> bool:
    """Say whether a document belongs to a resolved scope, by its repo or by its path."""
    return repo == scope or path.startswith(scope + "/")


def _near(wanted: str, repos: Collection[str], places: Iterable[str]) -> str:
    by_name: dict[str, list[str]] = {}
    for place in places:
        normal = _normal(place)
        for name in {normal, normal.rsplit("/", 1)[-1]}:
            by_name.setdefault(name, []).append(place)
    near = [
        place
        for name in difflib.get_close_matches(wanted, by_name, n=_LISTED, cutoff=0.6)
        for place in by_name[name]
    ]
    if near:
        return f"Near it: {listed(list(dict.fromkeys(near)), _LISTED)}."
    return (
        f"Repos: {listed(sorted(repos), _LISTED)}."
        if repos
        else "There are no repos with documents."
    )


def _folders(paths: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def _normal(place: str) -> str:
    """Fold case, Unicode form, backslashes, ``./`` and outer slashes."""
    text = unicodedata.normalize("NFC", place.strip()).replace("\\", "/")
    parts = [part for part in text.split("/") if part not in ("", ".")]
    return "/".join(parts).casefold()
