"""What ``cv sync`` and ``cv status`` print for a person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from backend.render.counts import counted
from backend.render.inert import inert
from backend.render.paths import PATH_LIMIT
from backend.render.skipped import skipped_text
from backend.schemas.roles import ROLES
from backend.schemas.status import LastHook, LastSync, RepoBehind, Status
from backend.schemas.sync import Failure, RoleReport, SyncReport

if TYPE_CHECKING:
    from backend.freshness.status import Pending

T = TypeVar("T")

PASSED_OVER = frozenset({"copy", "private", "unpublished"})
"""Reasons why a file was read and is no document of its own."""

_WHERE_NAMED = " (named in .context-vigilance/manifests/passed-over.json)"

REPOS_SHOWN = 12
STATUSES_SHOWN = 8
PATHS_SHOWN = 5
"""A status is one screen of 24 lines, also where much is behind or amiss."""

NOTE_LIMIT = 1_000  # characters


def report_text(report: SyncReport) -> str:
    """Counts by role, then failures and notes, a line each."""
    lines = []
    for role, part in report.roles.items():
        lines.append(f"{role}: {_counts(part)}")
        if part.skipped:
            named = "" if PASSED_OVER.isdisjoint(part.skipped) else _WHERE_NAMED
            lines.append(f"  skipped: {skipped_text(part.skipped)}{named}")
        lines += [_failure("  failed: ", failure) for failure in part.failed]
    lines.append(f"{_embedded(report)} ({report.embedder}) in {report.seconds:.1f} s")
    lines += [f"note: {inert(note, NOTE_LIMIT)}" for note in report.notes]
    return "\n".join(lines)


def _counts(part: RoleReport) -> str:
    counts = [
        f"{part.indexed} indexed",
        f"{part.updated} updated",
        f"{part.unchanged} unchanged",
        f"{part.removed} removed",
        f"{len(part.failed)} failed",
    ]
    return ", ".join(counts) + f"; {counted(part.chunks, 'chunk')}"


def _embedded(report: SyncReport) -> str:
    """How many chunks were embedded; where all are new, and they are fewer than there are, also why."""
    parts = report.roles.values()
    embedded = sum(part.embedded for part in parts)
    held = sum(part.chunks for part in parts)
    all_new = embedded and not any(part.unchanged or part.updated for part in parts)
    same = held - embedded if all_new else 0
    again = f", {same} more with the same text as another" if same > 0 else ""
    return f"{counted(embedded, 'chunk')} embedded{again}"


def pending_text(pending: Mapping[str, Pending]) -> str:
    """What a sync would do, for ``--dry-run``."""
    lines = []
    for role, part in pending.items():
        lines.append(
            f"{role}: {len(part.new)} new, {len(part.changed)} changed, {len(part.gone)} gone"
        )
        for word, paths in (("new", part.new), ("changed", part.changed), ("gone", part.gone)):
            lines += [f"  {word}: {inert(path, PATH_LIMIT)}" for path in paths[:20]]
            if len(paths) > 20:
                lines.append(f"  … and {len(paths) - 20} more {word}")
    return "\n".join(lines)


def status_text(status: Status) -> str:
    """One screen, for a person."""
    corpus, entries = (status.roles[role] for role in ROLES)
    behind = corpus.behind + entries.behind
    lines = [
        _row("senior root", status.senior_root),
        _row("applies here", "yes" if status.applicable else f"no: {status.reason}"),
        _row(
            "indexed",
            f"{counted(corpus.documents, 'document')} ({corpus.collection}, {counted(corpus.chunks, 'chunk')}), "
            f"{counted(entries.documents, 'changelog entry')} ({entries.collection}, {counted(entries.chunks, 'chunk')})",
        ),
        _row("fresh", _fresh(behind, status.server)),
        *(
            _row("", f"{inert(repo, 120)} {_behind(part)}")
            for repo, part in _first(status.repos.items(), REPOS_SHOWN)
        ),
        *_more(status.repos, REPOS_SHOWN, "repo"),
    ]
    if status.documents:
        named = {name: number for name, number in status.documents.items() if name}
        counts = [
            f"{number} {inert(name, 40)}" for name, number in _first(named.items(), STATUSES_SHOWN)
        ]
        rest = sum(list(named.values())[STATUSES_SHOWN:])
        none = status.documents.get("", 0)
        parts = [
            ", ".join(counts + ([f"{rest} other"] if rest else [])),
            f"{none} without a status" if none else "",
        ]
        lines.append(_row("by status", "; ".join(part for part in parts if part)))
    if status.superseded:
        lines.append(
            _row("superseded", f"{len(status.superseded)} without a successor in the index")
        )
        lines += [_row("", inert(path, PATH_LIMIT)) for path in status.superseded[:PATHS_SHOWN]]
        lines += _more(status.superseded, PATHS_SHOWN, "document")
    for number, failure in enumerate(status.failed[:PATHS_SHOWN]):
        lines.append(_failure(_row("" if number else "failed", ""), failure))
    lines += _more(status.failed, PATHS_SHOWN, "file")
    lines.append(_row("last session", _moment(status.last_session_at) or "none yet"))
    lines += [_row("last hook", _run(status.last_hook))] if status.last_hook else []
    if run := status.last_sync:
        lines.append(_row("last sync", f"{'by a hook, ' if run.by == 'hook' else ''}{_run(run)}"))
    if status.working_set:
        lines.append(
            _row("working set", ", ".join(inert(path, PATH_LIMIT) for path in status.working_set))
        )
    muted = _moment(status.nudge.muted_until)
    lines.append(_row("nudge", status.nudge.state + (f", muted until {muted}" if muted else "")))
    lines.append(_row("embedder", status.embedder))
    lines.append(_row("store", f"{status.store_bytes / 1024**2:.1f} MB"))
    if status.private:
        held = ", ".join(f"{count} ({role})" for role, count in status.private.items())
        lines.append(_row("private", f"on this machine only: {held}"))
    if status.server:
        said = f"{inert(status.server, 400)} (not asked here; 'cv doctor' asks it)"
        lines.append(_row("server", said))
    lines += [f"note: {inert(note, NOTE_LIMIT)}" for note in status.notes]
    return "\n".join(lines)


def _fresh(behind: int, server: str) -> str:
    if behind:
        return f"no, behind by {behind}: run 'cv sync'"
    return "yes, the index here; the server was not asked" if server else "yes"


def _failure(label: str, failure: Failure) -> str:
    return f"{label}{inert(failure.path, PATH_LIMIT)}: {inert(failure.reason, NOTE_LIMIT)}"


def _row(label: str, text: str) -> str:
    return f"{label:<14}{text}"


def _behind(part: RepoBehind) -> str:
    counts = (("changed", part.changed), ("new", part.new), ("gone", part.gone))
    words = ", ".join(f"{number} {word}" for word, number in counts if number)
    return f"behind by {part.changed + part.new + part.gone}: {words}"


def _first(items: Iterable[T], limit: int) -> list[T]:
    return list(items)[:limit]


def _more(items: Sized, limit: int, noun: str) -> list[str]:
    rest = len(items) - limit
    return [_row("", f"… and {counted(rest, noun)} more; --json lists all")] if rest > 0 else []


def _run(run: LastHook | LastSync) -> str:
    took = f"{run.ms} ms" if run.ms < 10_000 else f"{run.ms / 1000:.0f} s"
    ended = "ok" if run.ok else f"failed: {run.error}"
    return f"{_moment(datetime.fromtimestamp(run.at, UTC))}, {took}, {ended}"


def _moment(moment: datetime | str | None) -> str:
    """A moment in the reader's own zone, to the minute."""
    if isinstance(moment, str):
        moment = datetime.fromisoformat(moment)
    return f"{moment.astimezone():%Y-%m-%d %H:%M}" if moment else ""
