"""What ``cv sync`` and ``cv status`` print for a person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from backend.render.inert import single_line
from backend.schemas.roles import ROLES
from backend.schemas.status import LastHook, LastSync, RepoBehind, Status
from backend.schemas.sync import RoleReport, SyncReport

if TYPE_CHECKING:
    from backend.freshness.status import Pending

T = TypeVar("T")

REPOS_SHOWN = 12
STATUSES_SHOWN = 8
PATHS_SHOWN = 5
"""A status is one screen of 24 lines, also where much is behind or amiss."""


def report_text(report: SyncReport) -> str:
    """Counts by role, then failures and notes, a line each."""
    lines = []
    for role, part in report.roles.items():
        lines.append(f"{role}: {_counts(part)}")
        if part.skipped:
            lines.append(
                "  skipped: " + ", ".join(f"{n} {reason}" for reason, n in part.skipped.items())
            )
        lines += [f"  failed: {failure.path}: {failure.reason}" for failure in part.failed]
    embedded = sum(part.embedded for part in report.roles.values())
    lines.append(f"{embedded} chunks embedded ({report.embedder}) in {report.seconds:.1f} s")
    lines += [f"note: {note}" for note in report.notes]
    return "\n".join(lines)


def _counts(part: RoleReport) -> str:
    counts = [
        f"{part.indexed} indexed",
        f"{part.updated} updated",
        f"{part.unchanged} unchanged",
        f"{part.removed} removed",
        f"{len(part.failed)} failed",
    ]
    return ", ".join(counts) + f"; {part.chunks} chunks"


def pending_text(pending: Mapping[str, Pending]) -> str:
    """What a sync would do, for ``--dry-run``."""
    lines = []
    for role, part in pending.items():
        lines.append(
            f"{role}: {len(part.new)} new, {len(part.changed)} changed, {len(part.gone)} gone"
        )
        for word, paths in (("new", part.new), ("changed", part.changed), ("gone", part.gone)):
            lines += [f"  {word}: {path}" for path in paths[:20]]
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
            f"{_many(corpus.documents, 'document')} ({corpus.collection}, {_many(corpus.chunks, 'chunk')}), "
            f"{_many(entries.documents, 'changelog entry')} ({entries.collection}, {_many(entries.chunks, 'chunk')})",
        ),
        _row("fresh", _fresh(behind, status.server)),
        *(
            _row("", f"{single_line(repo, 120)} {_behind(part)}")
            for repo, part in _first(status.repos.items(), REPOS_SHOWN)
        ),
        *_more(status.repos, REPOS_SHOWN, "repo"),
    ]
    if status.documents:
        named = {name: number for name, number in status.documents.items() if name}
        counts = [
            f"{number} {single_line(name, 40)}"
            for name, number in _first(named.items(), STATUSES_SHOWN)
        ]
        rest = sum(list(named.values())[STATUSES_SHOWN:])
        none = status.documents.get("", 0)
        parts = [
            ", ".join(counts + ([f"{rest} other"] if rest else [])),
            f"{none} {'names' if none == 1 else 'name'} none" if none else "",
        ]
        lines.append(_row("by status", "; ".join(part for part in parts if part)))
    if status.superseded:
        lines.append(
            _row("superseded", f"{len(status.superseded)} without a successor in the index")
        )
        lines += [_row("", single_line(p, 400)) for p in status.superseded[:PATHS_SHOWN]]
        lines += _more(status.superseded, PATHS_SHOWN, "document")
    for number, failure in enumerate(status.failed[:PATHS_SHOWN]):
        words = f"{single_line(failure.path, 400)}: {failure.reason}"
        lines.append(_row("" if number else "failed", words))
    lines += _more(status.failed, PATHS_SHOWN, "file")
    lines.append(_row("last session", _moment(status.last_session_at) or "none yet"))
    lines += [_row("last hook", _run(status.last_hook))] if status.last_hook else []
    lines += [_row("last sync", f"by a hook, {_run(status.last_sync)}")] if status.last_sync else []
    if status.working_set:
        lines.append(_row("working set", ", ".join(status.working_set)))
    muted = _moment(status.nudge.muted_until)
    lines.append(_row("nudge", status.nudge.state + (f", muted until {muted}" if muted else "")))
    lines.append(_row("embedder", status.embedder))
    lines.append(_row("store", f"{status.store_bytes / 1024**2:.1f} MB"))
    if status.private:
        held = ", ".join(f"{count} ({role})" for role, count in status.private.items())
        lines.append(_row("private", f"on this machine only: {held}"))
    if status.server:
        said = f"{single_line(status.server, 400)} (not asked here; 'cv doctor' asks it)"
        lines.append(_row("server", said))
    lines += [f"note: {note}" for note in status.notes]
    return "\n".join(lines)


def _fresh(behind: int, server: str) -> str:
    if behind:
        return f"no, behind by {behind}: run 'cv sync'"
    return "yes, the index here; the server was not asked" if server else "yes"


def _row(label: str, text: str) -> str:
    return f"{label:<14}{text}"


def _many(number: int, noun: str) -> str:
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"


def _behind(part: RepoBehind) -> str:
    counts = (("changed", part.changed), ("new", part.new), ("gone", part.gone))
    words = ", ".join(f"{number} {word}" for word, number in counts if number)
    return f"behind by {part.changed + part.new + part.gone}: {words}"


def _first(items: Iterable[T], limit: int) -> list[T]:
    return list(items)[:limit]


def _more(items: Sized, limit: int, noun: str) -> list[str]:
    rest = len(items) - limit
    return [_row("", f"… and {_many(rest, noun)} more; --json lists all")] if rest > 0 else []


def _run(run: LastHook | LastSync) -> str:
    took = f"{run.ms} ms" if run.ms < 10_000 else f"{run.ms / 1000:.0f} s"
    ended = "ok" if run.ok else f"failed: {run.error}"
    return f"{_moment(datetime.fromtimestamp(run.at, UTC))}, {took}, {ended}"


def _moment(moment: datetime | str | None) -> str:
    """A moment in the reader's own zone, to the minute."""
    if isinstance(moment, str):
        moment = datetime.fromisoformat(moment)
    return f"{moment.astimezone():%Y-%m-%d %H:%M}" if moment else ""
