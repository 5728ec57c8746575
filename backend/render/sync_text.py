"""What ``cv sync`` and ``cv status`` print for a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from backend.schemas import RoleReport, Status, SyncReport

if TYPE_CHECKING:
    from backend.freshness.status import Pending


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
    """One screen."""
    lines = [f"senior root   {status.senior_root}"]
    lines.append(f"applies here  {'yes' if status.applicable else 'no: ' + status.reason}")
    for role, part in status.roles.items():
        behind = f"behind by {part.behind}: run 'cv sync'" if part.behind else "up to date"
        lines.append(
            f"{role}: {part.documents} documents, {part.chunks} chunks in {part.collection}; {behind}"
        )
    lines.append(f"embedder      {status.embedder}")
    lines.append(f"store         {status.store_bytes / 1024**2:.1f} MB")
    lines.append(f"last session  {status.last_session_at or 'none yet'}")
    muted = (
        f", muted until {status.nudge.muted_until.isoformat()}" if status.nudge.muted_until else ""
    )
    lines.append(f"nudge         {status.nudge.state}{muted}")
    lines += [f"note: {note}" for note in status.notes]
    return "\n".join(lines)
