"""What of a chunk says most about a task: a sentence for a list, some lines for a quotation."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from math import fsum

from backend.documents.prose import paragraphs, plain, sentences
from backend.freshness.words import words

QUOTED = 700
"""Characters of a quotation: five of them fit into the 8,000 that the agent is given, with room for the rest."""

SHOWN = 240
"""Characters of a sentence that are shown in a list, and by whose words it is chosen."""

# How sentences are weighed against each other. None of these numbers is sharp: of 304 excerpts of the sample tree
# (its 38 tasks, 8 files each) at most 10 change when one of them moves by .1, a word or ten characters.

_OPENING = 0.9
"""Of what a sentence of the document's beginning weighs: the passage that fits is what it came up for."""

_FRAGMENT = 0.6
"""What an item without a full stop counts against a whole sentence."""

_COLON = 0.4
"""And what ends in a colon: it says little without what follows."""

_SCRAP = 0.1
"""And two or three words; a short document may have no more."""

_GOES_ON = 0.7
"""Of what it counts where it begins with a small letter: mostly the rest of a sentence that began elsewhere."""

_WORDS_WHOLE, _WORDS_ITEM = 3, 4
"""Words from which a text with a full stop, and one without, is more than a scrap."""

_BRIEF, _BRIEF_UNTIL = 0.6, 40
"""A sentence of no length would count this much, one of so many characters in full: a few words are mostly all the task's."""

_LONG = 0.9
"""Of what it weighs, a sentence of any length keeps this: only its first ``SHOWN`` characters are shown."""

_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|(?<=[。！？])(?=\S)")
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_CODE = re.compile(r"`[^`]*`")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_AROUND = "\"'\u201c\u201d\u2018\u2019\u00ab\u00bb()[]*_.,;:!?\u2026\u2014\u2013"


def best_sentence(
    text: str, rarity: Mapping[str, float], *, fence: str = "", opening: str = ""
) -> str:
    """The sentence of ``text`` whose words weigh most, of equals the first, without Markdown's marks; or of ``opening`` (how its
    document begins) where that says more. Only what reads as a sentence: where none has any of the words, the first of the
    opening, else of the text, and empty where there is none. Beside an opening that has any sentence, what reads as less than
    an item in full is never taken of ``text``: one that begins small without a full stop, what ends in a colon, a scrap.

    ``rarity``: the weight of each word of the task, as ``words`` gives them. ``fence``: as of ``paragraphs``.
    """
    own, first = list(_sentences(text, fence)), list(_sentences(opening))
    weighed = [
        (_weight(sentence, rarity) * readable, sentence)
        for readable, sentence in own
        if readable >= _FRAGMENT or not first
    ]
    weighed += [(_OPENING * _weight(one, rarity) * readable, one) for readable, one in first]
    weight, best = max(weighed, key=lambda one: one[0], default=(0.0, ""))
    return best if weight > 0 else next((sentence for _, sentence in [*first, *own]), "")


def first_paragraph(text: str) -> str:
    """The first paragraph of ``text`` that has a whole sentence and is no quotation, which mostly is a remark; else empty."""
    own = paragraphs(text, quotes=False)
    return next((one for one in own if any(r == 1 for r, _ in _sentences(one))), "")


def _sentences(text: str, fence: str = "") -> Iterator[tuple[float, str]]:
    """What can be read as a sentence, without marks, and how far it can."""
    for paragraph in paragraphs(text, fence):
        for sentence in sentences(plain(paragraph)):
            if readable := _readable(sentence):
                yield readable, sentence.replace("`", "")


def _readable(sentence: str) -> float:
    """How far it reads as a sentence, from 0 (paths, names and numbers) to 1. A list's item is mostly one without a full stop;
    what ends in a colon says little without what follows.
    """
    written = _CODE.sub("0", sentence).split()
    said = sum(bool(_WORD.fullmatch(word.strip(_AROUND))) for word in written)
    said += len(_UNSPACED.findall(sentence))  # one says about as much as a short word
    last = sentence.rstrip("\"'\u201d\u2019\u00bb)]*_`")[-1:]
    whole = last in tuple(".!?…。！？")
    if said < (_WORDS_WHOLE if whole else _WORDS_ITEM) or 2 * said < len(written):
        return _SCRAP if said >= max(2, len(written)) else 0.0
    if last == ":":
        return _COLON
    return (1.0 if whole else _FRAGMENT) * (_GOES_ON if "a" <= sentence[:1] <= "z" else 1.0)


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
        weight = _sum(found, rarity)
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
    """What its first ``SHOWN`` characters have of the words; less for one of only a few words, or one much longer than that."""
    found = set(words(sentence[:SHOWN])) & rarity.keys()
    size = len(sentence)
    brief = _BRIEF + (1 - _BRIEF) * size / _BRIEF_UNTIL
    long = _LONG + (1 - _LONG) * SHOWN / size
    return _sum(found, rarity) * min(1.0, brief, long)


def _sum(found: Collection[str], rarity: Mapping[str, float]) -> float:
    """What words weigh together. Exactly: in a set they have another order in each process, and with it another rounding."""
    return fsum(rarity[word] for word in found)
