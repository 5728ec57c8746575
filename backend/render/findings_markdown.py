"""What ``cv find`` puts into the agent's context: our words as Markdown, the documents' words in one fence."""

from __future__ import annotations

from functools import partial

from backend.render.answer_frame import MAX_CHARS, about_documents, answer_markdown, trust_markdown
from backend.render.counts import counted
from backend.render.day import marked_day
from backend.render.inert import inert
from backend.render.paths import PATH_LIMIT
from backend.schemas.kickoff import Candidate, Findings

_STEPS = ((240, 5), (200, 3), (160, 2), (120, 2), (120, 1), (90, 1), (90, 0), (60, 0), (0, 0))
"""Characters of the excerpt, and reasons, from all to the least: a short excerpt says more than the second reason, and reasons
go before the excerpt does, since what a file is about tells more than why it came up."""
_TITLE_LIMIT = 120


def findings_markdown(findings: Findings, *, max_chars: int = MAX_CHARS) -> str:
    """Return the findings as Markdown of at most ``max_chars`` characters (below some 2,000 only the frame is left).

    A file is ``1. [repo] path › title › date → excerpt``, then status, copies and why it matched, then each doubt on a line
    that begins with ``!``. Where they are too long, reasons and excerpts get fewer and shorter, those of the last files first;
    then the last files are left out, which is said. All that comes from documents, also the flags and reasons that quote them,
    stands in the fence.
    """
    found = len(findings.candidates)
    handoff = findings.handoff
    return answer_markdown(
        head=f"**{counted(found, 'file')} for:** {inert(findings.task, 300)}",
        trust=trust_markdown(findings, "no document"),
        about=about_documents(findings.senior_root),
        items=[partial(_candidate, candidate) for candidate in findings.candidates],
        steps=len(_STEPS),
        fewer="--max-files, or --json.",
        tail=[f"newest handoff: {inert(handoff.source_path, PATH_LIMIT)} ({handoff.date})"]
        if handoff is not None
        else [],
        max_chars=max_chars,
    )


def _candidate(candidate: Candidate, step: int) -> list[str]:
    characters, reasons = _STEPS[step]
    about = [inert(candidate.title, _TITLE_LIMIT), marked_day(candidate.date, candidate.date_from)]
    path = inert(candidate.source_path, PATH_LIMIT)
    head = f"{candidate.rank}. [{inert(candidate.repo, 120)}] " + " › ".join(
        part for part in (path, *about) if part
    )
    excerpt = inert(candidate.excerpt or candidate.lede, characters)
    lines = [f"{head} → {excerpt}" if excerpt else head]
    copies = len(candidate.copies)
    details = [
        inert(candidate.status, 60),
        f"+{counted(copies, 'copy')}" if copies else "",
        "; ".join(inert(reason, 120) for reason in candidate.why[:reasons]),
    ]
    if any(details):
        lines.append("   " + " · ".join(detail for detail in details if detail))
    return [*lines, *(f"   ! {inert(flag.text, 300)}" for flag in candidate.flags)]
