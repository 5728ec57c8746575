"""What ``cv search`` prints: where each passage stands, so that an editor opens it, and the passage itself."""

from __future__ import annotations

from backend.render.answer_frame import root_text, trust_text
from backend.render.counts import counted
from backend.render.day import marked_day
from backend.render.inert import single_line
from backend.render.paths import PATH_LIMIT
from backend.render.source_line import source_line
from backend.render.terminal import Style, columns, wrap_indented
from backend.schemas.kickoff import Passage, Passages

_LINE_LIMIT = 1_000  # characters of one line of a document, before it is wrapped


def passages_text(passages: Passages, *, width: int = 80, colour: bool = False) -> str:
    """Return the passages as text of at most ``width`` columns; only a path or word may be wider.

    Each passage: ``1. [repo] path:12-20 › heading › date``, the path from the senior root, which stands once at the top.
    Above them how far the answer can be trusted; below each title, status and reasons, then the lines that say most, indented as
    they are in the file, then doubts.
    """
    style = Style(colour)
    lines = [style.bold(line) for line in wrap_indented(_headline(passages), width, "")]
    lines.append(style.dim(root_text(passages)))
    lines += [*trust_text(passages, width, lags=style.warn, note=style.warn), ""]
    for passage in passages.passages:
        lines += [*_passage(passage, width, style), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _headline(passages: Passages) -> str:
    question = single_line(passages.question, 200)
    count = len(passages.passages)
    if count == 0:
        return f"{'Nothing was searched' if passages.evidence is None else 'No passage found'} for: {question}"
    return f"{counted(count, 'passage')} for: {question}"


def _passage(passage: Passage, width: int, style: Style) -> list[str]:
    number = f"{passage.rank}. "
    path = single_line(passage.source_path, PATH_LIMIT)
    place = f"{path}:{passage.start_line}-{passage.end_line}"
    parts = [place, single_line(passage.heading, 160), marked_day(passage.date, passage.date_from)]
    head = f"[{single_line(passage.repo, 120)}] {' › '.join(part for part in parts if part)}"
    lines = wrap_indented(head, width, "   ", number)
    lines = [line.replace(place, style.bold(place), 1) for line in lines]
    about = [
        single_line(passage.title, 160),
        single_line(passage.status, 60),
        "; ".join(single_line(reason, 160) for reason in passage.why),
    ]
    told = " · ".join(part for part in about if part)
    lines += [style.dim(line) for line in wrap_indented(told, width, "   ")]
    for line in passage.excerpt.split("\n"):
        quoted = _quoted(source_line(line, _LINE_LIMIT), width)
        lines += quoted or (["   |"] if lines[-1] != "   |" else [])
    for flag in passage.flags:
        text = f"! {single_line(flag.text, 400)}"
        lines += [style.warn(line) for line in wrap_indented(text, width, "     ", "   ")]
    return lines


def _quoted(line: str, width: int) -> list[str]:
    """A line of a document, as it is where it fits, else wrapped below its own beginning."""
    whole = f"   | {line}"
    if not line or columns(whole) <= width:
        return [whole] if line else []
    indent = min(len(line) - len(line.lstrip(" ")), width // 2)
    return wrap_indented(line, width, "   | " + " " * indent)
