"""Chunks: a body cut at its ``## `` headings, long sections at paragraph ends, nothing left out."""

from __future__ import annotations

import re

from msgspec import Struct

from backend.documents.outline import Heading, Outline
from backend.schemas.document import Chunk, Problem

# Characters of text per chunk, title and heading apart. A choice between two embedders: the static
# table reads a text of any length, all-MiniLM-L6-v2 its first 256 word pieces (some 1,000 to 1,200
# characters of English).
CHUNK_LIMIT = 1_800
# A last piece shorter than this joins the one before it, so a chunk has at most CHUNK_LIMIT +
# TINY_PIECE characters.
TINY_PIECE = 200
# No less than this is left to the first chunk's text when a long lede takes room there.
FIRST_MINIMUM = 800

# In a line longer than LINE_LIMIT, a run of RUN_LIMIT characters of ASCII without a blank is data
# (an inline image), not prose; text in scripts written without blanks is not ASCII. The longest
# real line of prose has under 5,000 characters.
LINE_LIMIT = 5_000
RUN_LIMIT = 1_000

_RUN = re.compile(r"([^!-~]+)")


class Piece(Struct, frozen=True):
    """Part of a section: its text, and the line indexes (from 0, inclusive) where it stands."""

    text: str
    start: int
    end: int


def cut_chunks(
    lines: list[str], first: int, outline: Outline, *, title: str, lede: str
) -> tuple[tuple[Chunk, ...], list[Problem]]:
    """Cut the lines from index ``first`` on; the part above the first ``## `` has the heading ''.

    A document without any text is one chunk with its title and lede, so that it is found by name.
    """
    chunks: list[Chunk] = []
    problems: list[Problem] = []
    head = f"[{title}]\n{lede}\n" if lede else f"[{title}]\n"
    for heading, start, end in _sections(first, len(lines), outline):
        limit = CHUNK_LIMIT if chunks else max(CHUNK_LIMIT - len(lede), FIRST_MINIMUM)
        pieces = _cut_section(lines, start + (heading.span if heading else 0), end, limit, problems)
        if heading and not pieces:
            pieces = [Piece("", start, start + heading.span - 1)]
        for number, piece in enumerate(pieces):
            name = heading.text if heading else ""
            text = f"{head}## {name}\n\n{piece.text}" if name else f"{head}\n{piece.text}"
            begin = start if heading and number == 0 else piece.start
            chunks.append(Chunk(len(chunks), name, text.rstrip(), begin + 1, piece.end + 1))
            head = f"[{title}]\n"
    if not chunks:
        chunks.append(Chunk(0, "", head.rstrip(), 1, max(len(lines), 1)))
    return tuple(chunks), problems


def _sections(first: int, total: int, outline: Outline) -> list[tuple[Heading | None, int, int]]:
    cuts = [heading for heading in outline.headings if heading.level == 2]
    ends = [heading.line for heading in cuts] + [total]
    sections: list[tuple[Heading | None, int, int]] = [(None, first, ends[0])]
    sections.extend(
        (heading, heading.line, end) for heading, end in zip(cuts, ends[1:], strict=True)
    )
    return sections


def _cut_section(
    lines: list[str], start: int, end: int, limit: int, problems: list[Problem]
) -> list[Piece]:
    units: list[tuple[str, int]] = []
    size = 0
    for index in range(start, end):
        line = lines[index]
        if len(line) > LINE_LIMIT:
            line = _without_runs(line, index, problems)
        if len(line) > limit:
            units.extend((part, index) for part in _split_line(line, limit))
        else:
            units.append((line, index))
        size += len(line) + 1
    spans = [(0, len(units))] if size <= limit else _spans(units, limit)
    pieces = [_trim(units, begin, stop) for begin, stop in spans]
    return [piece for piece in pieces if piece]


def _spans(units: list[tuple[str, int]], first_limit: int) -> list[tuple[int, int]]:
    """Group units into spans of at most the limit, ended at a paragraph's end if one is near."""
    spans: list[tuple[int, int]] = []
    begin, size, limit = 0, 0, first_limit
    stop, stop_size = 0, 0
    for index, (text, _) in enumerate(units):
        cost = len(text) + 1
        if text.startswith("#") and size >= limit // 3:
            stop, stop_size = index, size
        while size + cost > limit + 1 and index > begin:
            if stop <= begin or stop_size < limit // 3:
                stop, stop_size = index, size
            spans.append((begin, stop))
            begin, size, limit = stop, size - stop_size, CHUNK_LIMIT
            stop, stop_size = 0, 0
        size += cost
        if not text.strip():
            stop, stop_size = index + 1, size
    spans.append((begin, len(units)))
    if len(spans) > 1 and size < TINY_PIECE:
        spans[-2:] = [(spans[-2][0], len(units))]
    return spans


def _trim(units: list[tuple[str, int]], begin: int, stop: int) -> Piece | None:
    while begin < stop and not units[begin][0].strip():
        begin += 1
    while stop > begin and not units[stop - 1][0].strip():
        stop -= 1
    if begin == stop:
        return None
    text = "\n".join(unit for unit, _ in units[begin:stop])
    return Piece(text, units[begin][1], units[stop - 1][1])


def _without_runs(line: str, index: int, problems: list[Problem]) -> str:
    parts = _RUN.split(line)
    dropped = sum(len(part) for part in parts if len(part) >= RUN_LIMIT and part.isascii())
    if not dropped:
        return line
    problems.append(
        Problem(index + 1, f"{dropped:,} characters of inline data (an image?) are not indexed")
    )
    return "".join(part for part in parts if len(part) < RUN_LIMIT or not part.isascii())


def _split_line(line: str, limit: int) -> list[str]:
    parts = []
    start = 0
    while len(line) - start > limit:
        blank = line.rfind(" ", start + limit // 2, start + limit)
        end = start + limit if blank < 0 else blank + 1
        parts.append(line[start:end])
        start = end
    parts.append(line[start:])
    return parts
