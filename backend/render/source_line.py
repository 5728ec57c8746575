"""A line of a document made harmless, with its blanks: they are what a list, a tree or code is read by."""

from __future__ import annotations

import re
from collections.abc import Callable

from backend.render.inert import single_line

_BLANKS = re.compile(r"(^\s+|\s{2,})")
_DEEPEST = 40  # blanks in a run; more would only push the text out of sight


def source_line(line: str, limit: int, clean: Callable[[str, int], str] = single_line) -> str:
    """Return ``line`` as ``clean`` has it, in at most ``limit`` characters, but with its indentation and its runs of blanks; a
    tab counts as up to four.
    """
    parts = _BLANKS.split(line.expandtabs(4))
    kept = "".join(
        " " * min(len(part), _DEEPEST) if place % 2 else clean(part, limit)
        for place, part in enumerate(parts)
    ).rstrip()
    return kept if len(kept) <= limit else kept[: max(limit - 1, 0)].rstrip() + "…"[:limit]
