"""The sentence of a chunk that says most about a task."""

from __future__ import annotations

import re
from collections.abc import Mapping

from backend.freshness.words import words

_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_MARKUP = re.compile(r"^\s*(?:[-*+>#|]+|\d+[.)])\s*|[*_`]+|\[\[|\]\]|^\|?[\s|:-]+\|?$")


def best_sentence(text: str, rarity: Mapping[str, float]) -> str:
    """The sentence of ``text`` whose words weigh most, without Markdown's marks; the first one when none has any.

    ``rarity``: the weight of each word of the task, as ``words`` gives them.
    """
    sentences = [
        plain
        for part in _SENTENCE_END.split(text)
        if len(plain := _MARKUP.sub("", part).strip()) > 2
    ]
    if not sentences:
        return ""
    return max(sentences, key=lambda sentence: _weight(sentence, rarity))


def _weight(sentence: str, rarity: Mapping[str, float]) -> float:
    found = set(words(sentence)) & rarity.keys()
    return sum(rarity[word] for word in found) / (
        1 + len(sentence) / 1000
    )  # of two that say the same, the shorter
