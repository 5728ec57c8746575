"""What ``cv search`` puts into the agent's context: our words as Markdown, the documents' words in one fence."""

from __future__ import annotations

from functools import partial

from backend.render.answer_frame import MAX_CHARS, about_documents, answer_markdown, trust_markdown
from backend.render.counts import counted
from backend.render.day import marked_day
from backend.render.inert import inert
from backend.render.paths import PATH_LIMIT
from backend.render.source_line import source_line
from backend.schemas.kickoff import Passage, Passages

_LINE_LIMIT = 700  # characters
_QUOTES = (900, 600, 400, 250, 120, 0)  # characters of a passage, from all to the least


def passages_markdown(passages: Passages, *, max_chars: int = MAX_CHARS) -> str:
    """Return the passages as Markdown of at most ``max_chars`` characters (below some 2,000 only the frame is left).

    A passage is ``1. [repo] path:start-end › heading › date``, its title and status, its lines, then each doubt on a line
    that begins with ``!``. Where they are too long the quotations get shorter, the last first; then the last passages are left
    out, which is said. All that comes from documents stands in the fence.
    """
    found = len(passages.passages)
    return answer_markdown(
        head=f"**{counted(found, 'passage')} for:** {inert(passages.question, 300)}",
        trust=trust_markdown(passages, "no document searched"),
        about=about_documents(passages.senior_root),
        items=[partial(_passage, passage) for passage in passages.passages],
        steps=len(_QUOTES),
        fewer="A smaller -n, or --json.",
        max_chars=max_chars,
    )


def _passage(passage: Passage, step: int) -> list[str]:
    place = f"{inert(passage.source_path, PATH_LIMIT)}:{passage.start_line}-{passage.end_line}"
    parts = [place, inert(passage.heading, 120), marked_day(passage.date, passage.date_from)]
    head = (
        f"{passage.rank}. [{inert(passage.repo, 120)}] {' › '.join(part for part in parts if part)}"
    )
    about = [inert(passage.title, 120), inert(passage.status, 60)]
    lines = [head, "   " + " · ".join(part for part in about if part)]
    left = _QUOTES[step]
    for line in passage.excerpt.split("\n"):
        quoted = source_line(line, min(left, _LINE_LIMIT), inert) if left > 0 else ""
        if quoted:
            lines.append(f"   | {quoted}")
            left -= len(quoted)
    return [*lines, *(f"   ! {inert(flag.text, 300)}" for flag in passage.flags)]
