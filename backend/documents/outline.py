"""The outline of a body: its headings, and which lines are code inside fences."""

from __future__ import annotations

import re

from msgspec import Struct

from backend.documents.text import one_line

# A longer line is a paragraph somebody put a # before; taken as text it is split and embedded
# whole.
HEADING_LIMIT = 300
# A line that a row of dashes makes a heading is a short name, not the sentence above a rule (89 of
# those in real files).
UNDERLINED_LIMIT = 100

_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}(?=[^`]*$)|~{3,})")
_NO_UNDERLINED = re.compile(r"\s{4}|\t|\s*(?:[#>|<!*+\[`~=-]|\d+[.)])")
_MARKS = frozenset(" #`~=-")


class Heading(Struct, frozen=True):
    """A heading: line index (from 0), level 1 to 6, text, number of lines (2 when underlined)."""

    line: int
    level: int
    text: str
    span: int = 1


class Outline(Struct, frozen=True):
    """Headings in order, fenced line ranges (from, behind), the line of a never-closed fence."""

    headings: tuple[Heading, ...]
    fenced: tuple[tuple[int, int], ...]
    unclosed: int | None


def read_outline(lines: list[str], first: int) -> Outline:
    """Find the headings of the lines from ``first`` on, as CommonMark does, outside code fences.

    In a fence that is never closed all is code; but as the fence is most likely a slip there, a
    heading still counts when blank lines stand above and below it (a comment in a shell script
    rarely has both).
    """
    headings: list[Heading] = []
    fenced: list[tuple[int, int]] = []
    index, total = first, len(lines)
    while index < total:
        line = lines[index]
        if not line or line[0] not in _MARKS:
            index += 1
            continue
        fence = _FENCE.match(line)
        if fence:
            end = _fence_end(lines, index, fence["fence"])
            if end is None:
                fenced.append((index, total))
                headings.extend(_lone_headings(lines, index + 1))
                return Outline(tuple(headings), tuple(fenced), index)
            fenced.append((index, end))
            index = end
            continue
        heading = _atx(line, index) or _underlined(lines, index, first)
        if heading:
            headings.append(heading)
        index += 1
    return Outline(tuple(headings), tuple(fenced), None)


def _fence_end(lines: list[str], opening: int, fence: str) -> int | None:
    for index in range(opening + 1, len(lines)):
        line = lines[index]
        if fence in line:
            closing = line.strip()
            if not closing.strip(fence[0]) and len(line) - len(line.lstrip(" ")) <= 3:
                return index + 1
    return None


def _lone_headings(lines: list[str], first: int) -> list[Heading]:
    found = []
    for index in range(first, len(lines)):
        if (
            lines[index].startswith("#")
            and not lines[index - 1].strip()
            and not "".join(lines[index + 1 : index + 2]).strip()
        ):
            heading = _atx(lines[index], index)
            if heading:
                found.append(heading)
    return found


def _atx(line: str, index: int) -> Heading | None:
    if len(line) > HEADING_LIMIT:
        return None
    marked = line.lstrip(" ")
    text = marked.lstrip("#")
    level = len(marked) - len(text)
    if not 1 <= level <= 6 or len(line) - len(marked) > 3 or (text and text[0] not in " \t"):
        return None
    text = text.strip()
    bare = text.rstrip("#")
    if not bare or bare[-1] in " \t":
        text = bare
    return Heading(index, level, one_line(text, HEADING_LIMIT))


def _underlined(lines: list[str], index: int, first: int) -> Heading | None:
    rule = lines[index].strip()
    sign = rule[:1]
    if sign not in ("=", "-") or len(rule) < 3 or rule.strip(sign) or index - 1 < first:
        return None
    title = lines[index - 1]
    above = lines[index - 2] if index - 2 >= first else ""
    if (
        above.strip()
        or not title.strip()
        or len(title) > UNDERLINED_LIMIT
        or _NO_UNDERLINED.match(title)
    ):
        return None
    text = one_line(title, HEADING_LIMIT)
    if sign == "-" and text.endswith((".", ":", ";", ",", "!", "?")):
        return None
    return Heading(index - 1, 1 if sign == "=" else 2, text, 2)
