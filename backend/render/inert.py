"""Text of documents made harmless: one line, bounded, and unable to pose as anything but text.

A title or a lede is written by whoever wrote the document. Where it reaches a terminal it must not
carry escape sequences; where it reaches the agent's context it must not close a fence, open a tag
or start a line of its own. Standard library only: the hooks use this too.
"""

from __future__ import annotations

import re
import unicodedata

_JOINERS = "\u200c\u200d\ufe0e\ufe0f"  # invisible, but parts of words and emoji, where at most two follow each other
_FILLERS = "\u115f\u1160\u2800\u3164\uffa0"  # letters to Unicode, blanks to the eye
_VARIATIONS = (*range(0xFE00, 0xFE0E), *range(0xE0100, 0xE01F0))  # invisible, can smuggle bytes
NO_TAGS = str.maketrans({"<": "‹"})
"""For ``str.translate``, where a text is to stay as it is but for tags."""

_LOOKALIKES = str.maketrans({"<": "‹", ">": "›", "`": "'"})
_LOOKALIKES_BUT_CLOSING = str.maketrans({"<": "‹", "`": "'"})
_ESCAPE_SEQUENCE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")  # a terminal's colours and cursor moves
_TILDE_FENCE = re.compile(r"~{3,}")
_LINK = re.compile(r"\](?=[(\[:])")


def single_line(text: str, limit: int) -> str:
    """Return the text as one printable line of at most ``limit`` characters.

    Control characters, line ends and runs of blanks become one blank; invisible characters
    (bidirectional overrides, tags, zero-width ones) go. What is too long ends at a word with ``…``.
    """
    kept = [" "]
    for character in _ESCAPE_SEQUENCE.sub("", text):
        category = unicodedata.category(character)
        if category in ("Cc", "Zl", "Zp", "Zs") or character in _FILLERS:
            kept.append(" ")
        elif character in _JOINERS:
            if kept[-1] != " " and not all(each in _JOINERS for each in kept[-2:]):
                kept.append(character)
        elif category not in ("Cf", "Cs") and ord(character) not in _VARIATIONS:
            kept.append(character)
    return _shorten(" ".join("".join(kept).split()), limit)


def inert(text: str, limit: int) -> str:
    """Return one line that cannot break out of a fence nor read as a tag or a Markdown link.

    ``<`` and ``>`` become ``‹`` and ``›``, a backtick an apostrophe, a fence of tildes one tilde;
    ``](`` is parted. Everything else stays readable. At most ``limit`` characters.
    """
    return _harmless(text, limit, _LOOKALIKES)


def told(text: str, limit: int) -> str:
    """As ``inert``, but ``>`` stays, which closes no tag where nothing opens one: for what a person compares with a file."""
    return _harmless(text, limit, _LOOKALIKES_BUT_CLOSING)


def _harmless(text: str, limit: int, lookalikes: dict[int, str]) -> str:
    line = single_line(text[: limit * 8], limit * 8).translate(lookalikes)
    return _shorten(_LINK.sub("] ", _TILDE_FENCE.sub("~", line)), limit)


def _shorten(line: str, limit: int) -> str:
    if len(line) <= limit:
        return line
    cut = line[: max(0, limit - 1)]
    at_word = cut.rpartition(" ")[0]
    if line[len(cut) : len(cut) + 1] != " " and len(at_word) > limit // 2:
        cut = at_word
    return cut.rstrip() + "…" if limit > 0 else ""
