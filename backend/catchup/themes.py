"""Themes of a wide window: what hundreds of changed documents are about, to drill into."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from msgspec.structs import replace

from backend.catchup.clusters import group
from backend.catchup.digest import digest_file
from backend.catchup.naming import name_groups
from backend.catchup.selection import Cards, Filters, Picked, pick
from backend.errors import UsageError
from backend.schemas.catchup import Digest, Theme
from backend.tree.window import Window

LEADING_FILES = 3
WIDE_DAYS = 80  # three calendar months, whichever they are, and a little less
LEAST_FILES = 12  # fewer are read faster than themes


class Cluster(NamedTuple):
    """A theme and the paths of all its documents."""

    theme: Theme
    paths: frozenset[str]


def wants_themes(digest: Digest) -> bool:
    """Say whether themes help: the cap cut files off, or the window spans three months or more."""
    days = (date.fromisoformat(digest.until) - date.fromisoformat(digest.since)).days
    return digest.total_files >= LEAST_FILES and (digest.truncated or days >= WIDE_DAYS)


def make_themes(
    cards_by_role: Cards,
    window: Window,
    vectors: Mapping[str, Any],
    *,
    scope: str | None = None,
    repos: Collection[str] = (),
    by_author: str | None = None,
    owner: str | None = None,
    not_by: str | None = None,
) -> tuple[Cluster, ...]:
    """Cluster all the window's documents, also those beyond the cap, the largest theme first.

    ``vectors``: path -> a document's vector, all of one length (numpy arrays or lists); documents
    without one are in no theme. Filters as in ``make_digest``. Deterministic; no model is called.
    Raises UsageError for a scope that is unknown or ambiguous.
    """
    found, _ = pick(cards_by_role, window, Filters(scope, by_author, owner, not_by), repos)
    files = sorted((file for file in found if file.path in vectors), key=lambda file: file.path)
    groups = [
        [files[position] for position in positions]
        for positions in group([vectors[file.path] for file in files])
    ]
    groups.sort(key=lambda files: (-len(files), files[0].path))
    names = name_groups([[file.entry for file in files] for files in groups])
    return tuple(
        _cluster(number, name, files)
        for number, (name, files) in enumerate(zip(names, groups, strict=True), start=1)
    )


def with_themes(digest: Digest, clusters: Sequence[Cluster]) -> Digest:
    """Return the digest with the themes in it, and a note on files that are in none."""
    missing = digest.total_files - sum(cluster.theme.count for cluster in clusters)
    notes = digest.notes
    if missing > 0:
        files = "1 file is" if missing == 1 else f"{missing} files are"
        notes = (*notes, f"{files} in no theme: without a vector until the next sync.")
    return replace(digest, themes=tuple(cluster.theme for cluster in clusters), notes=notes)


def theme_paths(clusters: Sequence[Cluster], number: int) -> frozenset[str]:
    """Return the documents of theme ``number``, for ``make_digest(paths=…)``.

    Raises UsageError when there is no such theme.
    """
    for cluster in clusters:
        if cluster.theme.number == number:
            return cluster.paths
    known = f"1 to {len(clusters)}" if clusters else "none in this window"
    raise UsageError(f"--theme expects a theme's number, {known}; got {number}.")


def _cluster(number: int, name: str, files: Sequence[Picked]) -> Cluster:
    repos = Counter(file.entry.repo for file in files)
    ordered = sorted(repos.items(), key=lambda item: (-item[1], item[0]))
    theme = Theme(
        number=number,
        name=name,
        count=len(files),
        repos=dict(ordered),
        files=tuple(digest_file(file) for file in _leading(files)),
    )
    return Cluster(theme, frozenset(file.path for file in files))


def _leading(files: Sequence[Picked]) -> list[Picked]:
    """Take the files nearest to the middle of the theme, one per title: twins tell nothing more."""
    by_title: dict[str, Picked] = {}
    for file in files:
        by_title.setdefault(file.entry.title.casefold() or file.path, file)
    return list(by_title.values())[:LEADING_FILES]
