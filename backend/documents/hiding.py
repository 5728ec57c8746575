"""What keeps a document out: ``private``, and for a changelog entry ``publish: false``.

A slip in how it is written must not publish what its author hid, so that the lines are read too, whatever YAML makes of them.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable

from backend.documents.values import NO, YES, flatten, read_flag, read_text, scalar_text
from backend.schemas.document import Problem

HIDING = {"private": True, "publish": False}
"""Keys, and the value that hides."""

_LINE = re.compile(
    r"""\s*(?:[-*+]\s+)?["'`]?(?P<key>private|publish)["'`]?\s*[:=\uff1a]\s*(?P<value>.*)""",
    re.IGNORECASE | re.DOTALL,
)
"""Also without the blank, in quotes, as an item of a list, below another key, with another sign or a wide colon."""

_WORD = re.compile(r"[\W_]*(\w+)(.*)", re.DOTALL)


def hides(key: str, value: object) -> bool:
    """Whether what ``key`` says hides the document: its first word, of any of its parts."""
    words = YES if HIDING[key] else NO
    return any(_first_word(text)[0] in words for text in flatten(value))


def hiding_lines(lines: Iterable[str], *, alone: bool = False) -> set[str]:
    """The keys of ``HIDING`` that a line hides the document by; ``alone``: only where nothing stands behind the yes or no, since
    the lines may be text.
    """
    found = set()
    for line in lines:
        match = _LINE.match(line[:200])
        if match is None:
            continue
        key, value = match["key"].casefold(), match["value"].partition(" #")[0]
        rest = _first_word(value)[1]
        if hides(key, value) and not (alone and re.search(r"\w", rest)):
            found.add(key)
    return found


def first_paragraph(lines: list[str]) -> list[str]:
    """The lines from the first that is not blank up to the next blank one, heading or code fence."""
    start = next((index for index, line in enumerate(lines) if line.strip()), len(lines))
    rest = before_text(lines[start:])
    return rest[: next((index for index, line in enumerate(rest) if not line.strip()), len(rest))]


def before_text(lines: list[str]) -> list[str]:
    """The lines up to the first heading or code fence."""
    ends = (index for index, line in enumerate(lines) if line.startswith(("#", "```", "~~~")))
    return lines[: next(ends, len(lines))]


def unreadable_flags(
    values: dict[str, object], places: dict[str, int], hidden_by: Container[str]
) -> list[Problem]:
    """A problem for each key of ``HIDING`` whose value is neither yes nor no, where nothing else hides the document. ``places``:
    the line of each key.
    """
    doubtful = {key: read_text(values[key], 40) for key in HIDING if key in values}
    return [
        Problem(places[key], f"{key}: {text!r} is neither yes nor no; the document is indexed")
        for key, text in doubtful.items()
        if text and key not in hidden_by and read_flag(text) is None
    ]


def _first_word(text: str) -> tuple[str, str]:
    match = _WORD.match(scalar_text(text))
    return (match[1].casefold(), match[2]) if match else ("", "")
