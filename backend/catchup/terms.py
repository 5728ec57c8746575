"""The words a document offers for a theme's name: its tags, and the phrases of its title and lede."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from backend.documents.lists import fold
from backend.schemas.manifest import ManifestEntry

TAG, TITLE, LEDE = 1.5, 1.0, 0.5
"""What a term is worth by where it stands: a tag was chosen as a name, a lede is running text."""

_LONGEST = 4  # words in a phrase of a title; two in a lede's
_LEDE_LIMIT = 200  # characters
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_JOINTS = frozenset(" -_")  # between the words of one phrase
_VERSION = re.compile(r"v?\d+")

_GLUE = frozenset(
    """
    a about above across add added adding adds apply after again against all allow allows along also always am an and any are
    around as at away back based be because been before behind being below best better between both bring brings build
    building builds built but by can cannot check clean close come comes complete could create created creates current did
    different do does doing done down during each enable end ensure every everything existing few find first fix fixed
    fixes for from full get gets give given go goes good got had handle has have having here how if implement implemented
    implementing improve in inside instead into introduce introducing is it its itself just keep keeps knows last least
    less let lets like live long look made make makes making many may me more most move much must my need needed needs
    never new next no non not nothing now of off often on once one ones only open or other our out over own part per place
    plus prevent put read ready real really reduce remove replace right run runs same see self set several ship ships
    short should show side since single so some start still stop such support supports supported take takes than that the
    their them then there these they thing things this those three through time to together too toward towards turn two
    under until up update updated updates upon us use used user users uses using v via vs want was way we well were what
    when where whether which while who whole why will with within without work working works would write yet you your
    implementation overview plan plans proposal spec specification specifications specs
    """.split()
)
"""Words that neither begin nor end a phrase: function words, what one does to any software, and what kind of document it is."""

_WEAK = frozenset(
    """
    adr blueprint changelog change changes command context data design doc docs document documents draft exploration feature
    features file files folder folders guide handoff issue issues item items line lines list name names note notes page pages
    phase plan planning project projects prompt record release releases reminder rule rules shape state step summary support
    surface system task tasks tool tools track type types value values version vigilance
    """.split()
)
"""Words that say too little alone, but something in a phrase: ``Design System``, ``Context Store``."""


class Term(NamedTuple):
    """``key``: its comparing form, ``text``: its spelling in the document."""

    key: str
    text: str
    weight: float


@lru_cache(maxsize=8192)  # a digest's window and the whole tree share most documents
def terms(tags: tuple[str, ...], title: str, lede: str) -> tuple[Term, ...]:
    """Return each term of a document once, at its best weight."""
    found: dict[str, Term] = {}
    for text in tags:
        words = fold(text).split("-")
        if not all(word in _GLUE or word in _WEAK or len(word) < 2 for word in words):
            key = "-".join(_stem(word) for word in words)
            found.setdefault(key, Term(key, text.strip(), TAG))
    for text, longest, weight in ((title, _LONGEST, TITLE), (lede[:_LEDE_LIMIT], 2, LEDE)):
        for key, spelling in _phrases(text, longest):
            if key not in found:
                found[key] = Term(key, spelling, weight)
    return tuple(found.values())


def terms_of(entry: ManifestEntry) -> tuple[Term, ...]:
    """Return the terms of a card."""
    return terms(entry.tags, entry.title, entry.lede)


def stems(text: str) -> list[str]:
    """Return the words of a name or slug in the form that keys are made of."""
    return [_stem(word) for word in fold(text).split("-") if word]


def _phrases(text: str, longest: int) -> Iterator[tuple[str, str]]:
    """Yield key and spelling of each phrase of so many words with nothing but a blank or hyphen between."""
    matches = list(_WORD.finditer(text))
    words = [_read(match.group()) for match in matches]
    for first, (key, ends, says, _) in enumerate(words):
        if not ends:
            continue
        start, end = matches[first].span()
        if says:
            yield key, text[start:end]
        for last in range(first + 1, min(len(words), first + longest)):
            stem, can_end, more, is_version = words[last]
            if is_version or text[end : matches[last].start()] not in _JOINTS:
                break
            end = matches[last].end()
            key, says = f"{key}-{stem}", says or more
            if can_end and says:
                yield key, text[start:end]


class _Word(NamedTuple):
    stem: str
    can_end: bool  # and begin a phrase
    says: bool  # enough to stand alone
    is_version: bool


@lru_cache(maxsize=16384)
def _read(word: str) -> _Word:
    folded = word.lower() if word.isascii() else fold(word)  # a word has no joints to fold
    can_end = len(folded) > 2 and folded not in _GLUE and not folded.isdigit()
    is_version = len(folded) > 1 and _VERSION.fullmatch(folded) is not None
    return _Word(_stem(folded), can_end, can_end and folded not in _WEAK, is_version)


def _stem(word: str) -> str:
    """Take an English plural's ending away, so that ``deck`` and ``decks`` are one."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    plural = len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if plural else word
