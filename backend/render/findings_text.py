"""What ``cv find`` prints: numbered files, why they came up, and what speaks against them."""

from __future__ import annotations

from backend.render.answer_frame import root_text, trust_text
from backend.render.counts import counted
from backend.render.day import marked_day
from backend.render.inert import single_line
from backend.render.paths import PATH_LIMIT
from backend.render.terminal import Style, wrap_indented
from backend.schemas.kickoff import Candidate, Findings

EXCERPT_LIMIT = 240  # characters
_TITLE_LIMIT = 160


def findings_text(findings: Findings, *, width: int = 80, colour: bool = False) -> str:
    """Return the findings as text of at most ``width`` columns; only a path or word may be wider.

    The senior root, then each file: ``1. [repo] path › title › date → excerpt``, the path from that root, then its status,
    copies and why it matched, then each doubt on a line of its own. Last the newest handoff of the repo at hand.
    """
    style = Style(colour)
    lines = [style.bold(line) for line in wrap_indented(_headline(findings), width, "")]
    lines.append(style.dim(root_text(findings)))
    lines += [*trust_text(findings, width, lags=style.warn, note=style.warn), ""]
    digits = max((len(str(candidate.rank)) for candidate in findings.candidates), default=1)
    for candidate in findings.candidates:
        lines += [*_candidate(candidate, digits, width, style), ""]
    if findings.handoff is not None:
        path = single_line(findings.handoff.source_path, PATH_LIMIT)
        lines += wrap_indented(f"newest handoff: {path} ({findings.handoff.date})", width, "")
    return "\n".join(lines).rstrip("\n") + "\n"


def _headline(findings: Findings) -> str:
    task = single_line(findings.task, 200)
    count = len(findings.candidates)
    if count == 0:
        return f"{'Nothing was searched for' if findings.evidence is None else 'Nothing in the corpus matched'}: {task}"
    return f"{counted(count, 'file')} for: {task}"


def _candidate(candidate: Candidate, digits: int, width: int, style: Style) -> list[str]:
    number = f"{candidate.rank:>{digits}}. "
    indent = " " * len(number)
    path = single_line(candidate.source_path, PATH_LIMIT)
    lines = wrap_indented(_line(candidate, path), width, indent, number)
    lines = [line.replace(path, style.bold(path), 1) for line in lines]
    about = _about(candidate)
    if about:
        lines += [style.dim(line) for line in wrap_indented(about, width, indent)]
    for flag in candidate.flags:
        text = f"! {single_line(flag.text, 400)}"
        lines += [style.warn(line) for line in wrap_indented(text, width, indent + "  ", indent)]
    return lines


def _line(candidate: Candidate, path: str) -> str:
    parts = [
        path,
        single_line(candidate.title, _TITLE_LIMIT),
        marked_day(candidate.date, candidate.date_from),
    ]
    head = f"[{single_line(candidate.repo, 120)}] {' › '.join(part for part in parts if part)}"
    excerpt = single_line(candidate.excerpt or candidate.lede, EXCERPT_LIMIT)
    return f"{head} → {excerpt}" if excerpt else head


def _about(candidate: Candidate) -> str:
    copies = len(candidate.copies)
    parts = [
        single_line(candidate.status, 60),
        f"+{counted(copies, 'copy')}" if copies else "",
        "; ".join(single_line(reason, 160) for reason in candidate.why),
    ]
    return " · ".join(part for part in parts if part)
