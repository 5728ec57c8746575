"""What of a chunk says most about a task: a sentence for a list, some lines for a quotation."""

from __future__ import annotations

import re
from collections.abc import Mapping

from backend.freshness.words import words

QUOTED = 700
"""Characters of a quotation: five of them fit into the 8,000 that the agent is given, with room for the rest."""

_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|(?<=[。！？])(?=\S)|\n+")
_MARKUP = re.compile(r"^[\s|:-]+$|^\s*(?:[-*+>#|]+|\d+[.)])\s+|[*`]+|(?<!\w)_+|_+(?!\w)|\[\[|\]\]")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")


def best_sentence(text: str, rarity: Mapping[str, float]) -> str:
    """The sentence of ``text`` whose words weigh most, without Markdown's marks; the first one when none has any.

    ``rarity``: the weight of each word of the task, as ``words`` gives them.
    """
    parts = [part for part in _SENTENCE_END.split(text) if part.strip()]
    # A heading repeats what stands beside the excerpt anyway.
    prose = [part for part in parts if not part.lstrip().startswith("#")] or parts
    sentences = [
        plain for part in prose if len(plain := _MARKUP.sub("", _LINK.sub(r"\1", part)).strip()) > 2
    ]
    if not sentences:
        return ""
    return max(sentences, key=lambda sentence: _weight(sentence, rarity))


def best_lines(text: str, rarity: Mapping[str, float], limit: int = QUOTED) -> str:
    """The run of whole lines of ``text``, at most ``limit`` characters long, that holds most of the words by weight; of several,
    the first. ``…`` stands for what is left out. A line that is longer by itself is cut at its sentences.
    """
    if len(text) <= limit:
        return text
    lines = [part for line in text.split("\n") for part in _parts(line, limit)]
    said = [set(words(line)) & rarity.keys() for line in lines]
    best, span = -1.0, (0, 1)
    for start in range(len(lines)):
        end, size = start, 0
        found: set[str] = set()
        while end < len(lines) and (end == start or size + len(lines[end]) <= limit):
            size += len(lines[end]) + 1
            found |= said[end]
            end += 1
        weight = sum(rarity[word] for word in found)
        if weight > best:
            best, span = weight, (start, end)
    quoted = "\n".join(lines[span[0] : span[1]]).strip("\n")
    return ("…\n" if span[0] else "") + quoted + ("\n…" if span[1] < len(lines) else "")


def _parts(line: str, limit: int) -> list[str]:
    """A line, in pieces of at most ``limit`` characters where it is longer."""
    if len(line) <= limit:
        return [line]
    sentences = [
        sentence[at : at + limit]
        for sentence in _SENTENCE_END.split(line)
        for at in range(0, len(sentence), limit)
    ]
    return [sentence for sentence in sentences if sentence]


def _weight(sentence: str, rarity: Mapping[str, float]) -> float:
    found = set(words(sentence)) & rarity.keys()
    return sum(rarity[word] for word in found) / (
        1 + len(sentence) / 1000
    )  # of two that say the same, the shorter
