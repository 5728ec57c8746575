"""Themes of a wide window: what hundreds of changed documents are about, to drill into."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from msgspec.structs import replace

from backend.catchup.clusters import Grouping, group
from backend.catchup.digest import digest_file
from backend.catchup.naming import Name, bears, name_groups
from backend.catchup.selection import Cards, Filters, Picked, newest_first, pick
from backend.errors import UsageError
from backend.schemas.catchup import Digest, Theme
from backend.tree.window import Window

OTHER = "Other"  # the documents that no theme's words fit; always the last one
LEADING_FILES = 3
WIDE_DAYS = 80  # three calendar months, whichever they are, and a little less
LEAST_FILES = 12  # fewer are read faster than themes


class Cluster(NamedTuple):
    """A theme and the paths of all its documents."""

    theme: Theme
    paths: frozenset[str]


def wants_themes(digest: Digest, usual_cap: int) -> bool:
    """Say whether a window has themes: it spans three months or more, or holds more files than are usually shown.

    ``usual_cap`` is the config's, not the one asked for, so that a theme stays what it was when it is
    drilled into with another ``--max-files``.
    """
    days = (date.fromisoformat(digest.until) - date.fromisoformat(digest.since)).days
    many = digest.total_files > usual_cap
    return digest.total_files >= LEAST_FILES and (many or days >= WIDE_DAYS)


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
    """Cluster all the window's documents, also those beyond the cap, the largest theme first, ``Other`` last.

    ``vectors``: path -> a document's vector, all of one length (numpy arrays or lists); documents
    without one are in no theme. Empty where they have no words in common.
    Filters as in ``make_digest``. Deterministic; no model is called.
    Raises UsageError for a scope that is unknown or ambiguous.
    """
    found, _ = pick(cards_by_role, window, Filters(scope, by_author, owner, not_by), repos)
    files = sorted((file for file in found if file.path in vectors), key=lambda file: file.path)
    named, rest = _named_groups(files, group([vectors[file.path] for file in files]))
    named.sort(key=lambda pair: (-len(pair[1]), pair[1][0].path))
    if named and rest:
        named.append((OTHER, rest))
    return tuple(_cluster(number, name, files) for number, (name, files) in enumerate(named, 1))


def _named_groups(
    files: Sequence[Picked], grouping: Grouping
) -> tuple[list[tuple[str, list[Picked]]], list[Picked]]:
    """Name the groups; the documents of those without a name join the nearest theme they bear a term of.

    The second result is the rest of them; a rest of one or two joins the nearest themes all the same.
    Where no group has words of its own they all are about one thing, and that is the theme.
    """
    groups, closeness = grouping
    names = name_groups([[files[place].entry for place in places] for places in groups])
    good = [number for number, name in enumerate(names) if name.text]
    if not good:
        (name,) = name_groups([[file.entry for file in files]]) if files else (Name(),)
        return ([(name.text, list(files))], []) if name.text else ([], list(files))
    members = {number: list(groups[number]) for number in good}
    rest = []
    for place in sorted(
        place for number, places in enumerate(groups) if number not in members for place in places
    ):
        own = [number for number in good if bears(files[place].entry, names[number])]
        if own:
            members[max(own, key=lambda number: closeness[place, number])].append(place)
        else:
            rest.append(place)
    if len(rest) < LEADING_FILES:
        for place in rest:
            members[max(good, key=lambda number: closeness[place, number])].append(place)
        rest = []
    named = [(names[number].text, [files[place] for place in members[number]]) for number in good]
    return named, [files[place] for place in rest]


def with_themes(digest: Digest, clusters: Sequence[Cluster]) -> Digest:
    """Return the digest with the themes in it, and a note on files that are in none."""
    missing = digest.total_files - sum(cluster.theme.count for cluster in clusters)
    notes = digest.notes
    if missing > 0:
        files = "1 file is" if missing == 1 else f"{missing} files are"
        notes = (*notes, f"{files} in no theme: without a vector until the next sync.")
    return replace(digest, themes=tuple(cluster.theme for cluster in clusters), notes=notes)


def pick_theme(clusters: Sequence[Cluster], number: int) -> Cluster:
    """Return theme ``number``; its ``paths`` are for ``make_digest(paths=…)``.

    Raises UsageError when there is no such theme.
    """
    for cluster in clusters:
        if cluster.theme.number == number:
            return cluster
    if not clusters:
        raise UsageError(
            f"--theme {number}: this window has no themes (it is short and all its files are shown, or "
            "they have no words in common). Leave --theme out, or give a window of 3m or more."
        )
    raise UsageError(f"--theme expects a theme's number, 1 to {len(clusters)}; got {number}.")


def of_theme(digest: Digest, theme: Theme) -> Digest:
    """Return the digest of one theme's files as such: named, and counted as the theme's."""
    return replace(
        digest,
        theme=theme.number,
        themes=(replace(theme, files=()),),
        message=f"Theme {theme.number}: {digest.message}",
    )


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
    """Take the files nearest to the middle of the theme, one per title (twins tell nothing more), the newest first."""
    by_title: dict[str, Picked] = {}
    for file in files:
        by_title.setdefault(file.entry.title.casefold() or file.path, file)
    return sorted(list(by_title.values())[:LEADING_FILES], key=newest_first)
