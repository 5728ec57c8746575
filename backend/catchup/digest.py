"""The digest: what moved in a window, as repo -> tag -> files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from backend.catchup.selection import Cards, Filters, Picked, newest_first, pick
from backend.documents.lists import fold
from backend.errors import UsageError
from backend.schemas.catchup import Digest, DigestFile, DigestRepo, DigestTag
from backend.tree.listing import listed
from backend.tree.window import Window

UNTAGGED = "(Untagged)"
_NAMED = 3  # how many files a note names


def make_digest(
    cards_by_role: Cards,
    window: Window,
    *,
    scope: str | None = None,
    repos: Collection[str] = (),
    by_author: str | None = None,
    owner: str | None = None,
    not_by: str | None = None,
    max_files: int = 50,
    alphabetical: bool = False,
    paths: Collection[str] | None = None,
) -> Digest:
    """Group what changed in the window: repos and tags by their newest file, files newest first.

    ``cards_by_role`` comes from the manifests, so copies are already folded. ``repos`` are the
    slugs and nested repos that ``scope`` may name; ``paths`` keeps only a theme's documents.
    At most ``max_files`` documents are shown, the newest; ``message`` says so.
    Raises UsageError for a scope that is unknown or ambiguous, and for ``max_files`` below 1.
    """
    if max_files < 1:
        raise UsageError(f"--max-files expects a number of 1 or more; got {max_files}.")
    filters = Filters(scope, by_author, owner, not_by, paths)
    found, before = pick(cards_by_role, window, filters, repos)
    shown = found[:max_files]
    return Digest(
        since=window.since.isoformat(),
        until=window.until.isoformat(),
        window=window.label,
        total_files=len(found),
        shown_files=len(shown),
        truncated=len(shown) < len(found),
        message=_message(found, shown, before, window, filters, max_files),
        repos=_group_by_repo(shown, alphabetical),
        notes=_notes(shown),
        activity=_activity(found),
    )


def digest_file(file: Picked) -> DigestFile:
    """Turn a picked document into its line in the digest."""
    entry = file.entry
    return DigestFile(
        source_path=file.path,
        title=entry.title,
        date=file.day.isoformat(),
        date_from=entry.date_from,
        lede=entry.lede,
        authors=entry.authors,
        role=file.role,
    )


def _group_by_repo(files: Sequence[Picked], alphabetical: bool) -> tuple[DigestRepo, ...]:
    by_repo: dict[str, list[Picked]] = {}
    for file in files:
        by_repo.setdefault(file.entry.repo, []).append(file)
    groups = [
        DigestRepo(repo=repo, latest=_latest(group), tags=_group_by_tag(group, alphabetical))
        for repo, group in by_repo.items()
    ]
    groups.sort(key=lambda group: _by_name(group.repo))
    if not alphabetical:
        groups.sort(key=lambda group: group.latest, reverse=True)  # stable: ties stay by name
    return tuple(groups)


def _group_by_tag(files: Sequence[Picked], alphabetical: bool) -> tuple[DigestTag, ...]:
    buckets: dict[str, list[Picked]] = {}
    spellings: dict[str, Counter[str]] = {}
    untagged: list[Picked] = []
    for file in files:
        folded = {tag.strip(): fold(tag) for tag in file.entry.tags}
        for key in dict.fromkeys(folded.values()):
            if key:
                buckets.setdefault(key, []).append(file)
        for tag, key in folded.items():
            spellings.setdefault(key, Counter())[tag] += 1
        if not any(folded.values()):
            untagged.append(file)
    groups = [
        _bucket(_most_common(spellings[key]), group, alphabetical) for key, group in buckets.items()
    ]
    groups.sort(key=lambda group: _by_name(group.tag))
    if not alphabetical:
        groups.sort(key=lambda group: group.latest, reverse=True)
    if untagged:
        groups.append(_bucket(UNTAGGED, untagged, alphabetical))
    return tuple(groups)


def _bucket(tag: str, files: Sequence[Picked], alphabetical: bool) -> DigestTag:
    ordered = sorted(files, key=lambda file: _by_name(file.path)) if alphabetical else files
    return DigestTag(
        tag=tag, latest=_latest(files), files=tuple(digest_file(file) for file in ordered)
    )


def _most_common(spellings: Counter[str]) -> str:
    return min(spellings, key=lambda spelling: (-spellings[spelling], spelling))


def _latest(files: Sequence[Picked]) -> str:
    return max(file.day for file in files).isoformat()


def _by_name(name: str) -> tuple[str, str]:
    return (name.casefold(), name)


def _activity(files: Sequence[Picked]) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = {}
    for file in sorted(files, key=lambda file: (file.entry.repo, file.day)):
        counts.setdefault(file.entry.repo, Counter())[file.day.isoformat()] += 1
    return {repo: dict(days) for repo, days in counts.items()}


def _message(
    found: Sequence[Picked],
    shown: Sequence[Picked],
    before: Picked | None,
    window: Window,
    filters: Filters,
    max_files: int,
) -> str:
    if not found:
        return _empty_message(before, window, filters)
    if len(shown) < len(found):
        return (
            f"Showing {len(shown)} of {len(found)} files modified {window.phrase}. "
            "Narrow by --scope <repo>, --by-author <name>, shrink the window, "
            f"or --max-files {2 * max_files} to widen the cap."
        )
    files = "1 file" if len(found) == 1 else f"{len(found)} files"
    return f"{files} modified {window.phrase}."


def _empty_message(before: Picked | None, window: Window, filters: Filters) -> str:
    asked = [
        f"{option} {value}"
        for option, value in (
            ("--scope", filters.scope),
            ("--by-author", filters.by_author),
            ("--owner", filters.owner),
            ("--not-by", filters.not_by),
        )
        if value
    ]
    kept = f" with {' '.join(asked)}" if asked else ""
    nothing = f"No document is dated {window.phrase}{kept}."
    if before is not None:
        day = before.day.isoformat()
        return f"{nothing} The newest before that is of {day}: --since {day} shows it."
    if asked:
        return f"{nothing} No earlier document matches either: leave out {' or '.join(asked)}."
    return f"{nothing} There is no earlier document either: cv status says what is indexed."


def _notes(shown: Sequence[Picked]) -> tuple[str, ...]:
    """Say which dates are not what they seem; the files are named, up to three."""
    future = [file for file in shown if file.is_future]
    undated = [file for file in shown if file.entry.date_from == "ingest"]
    notes = []
    if future:
        notes.append(f"Dated in the future and counted as today ({len(future)}): {_names(future)}.")
    if undated:
        notes.append(
            "Without a date of their own, in the file name or in git, so under the day of their "
            f"first indexing ({len(undated)}): {_names(undated)}."
        )
    return tuple(notes)


def _names(files: Sequence[Picked]) -> str:
    return listed([file.path for file in sorted(files, key=newest_first)], _NAMED)
