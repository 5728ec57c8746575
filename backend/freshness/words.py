"""Text to the words that the lexical leg compares: folded, stemmed, without stop words, taken apart at every seam.

``AuthSystem`` and ``auth-system`` and ``auth/system`` meet in ``auth`` and ``system``; runs of Chinese, Japanese or Korean
characters, which have no blanks, become pairs of neighbouring characters.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections import Counter
from functools import cache, lru_cache
from typing import Any

LONGEST_WORD = 40
"""Characters; what is longer is a hash or encoded data, not a word."""

REMEMBERED = 50_000
"""Written words whose comparison is kept, some 25 MB: the text of 30,000 chunks of a real tree is made of 41,000."""

_STOP = frozenset(
    """a about above after again all also am an and any are as at be because been before being below between both but by
    can cannot could did do does doing don down during each either else ever every few for from further get gets give go
    had has have having he her here hers him his how i if in into is it its itself just let like make makes may me might
    more most much must my need needs no nor not now of off on once one only or other our ours out over own per rather
    same she should so some such than that the their theirs them then there these they this those through to too under
    until up upon us use used uses using very via want wants was we were what when where whether which while who whom
    whose why will with within without would you your yours""".split()
)
"""English words that say nothing about a topic, the verbs of a request among them (``use``, ``make``, ``need``)."""

_WORD = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")


def words(text: str) -> list[str]:
    """The words of ``text`` in order, as they are compared."""
    return [word for written in _written(text) for word in _compared(written)]


def _written(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text))


@lru_cache(maxsize=REMEMBERED)
def _compared(written: str) -> tuple[str, ...]:
    """What one word counts as; texts repeat themselves, so that most calls are answered from the cache."""
    if not written.isascii() and _UNSPACED.search(written):
        return tuple(written[i : i + 2] for i in range(max(1, len(written) - 1)))
    if len(written) > LONGEST_WORD:
        return ()
    found = [_counted(written.casefold())]
    if written.isascii() and not (written.islower() or written.isupper() or written.isdigit()):
        parts = _PART.findall(written)
        if len(parts) > 1:
            found += [_counted(part.lower()) for part in parts]
    return tuple(word for word in found if word)


def _counted(folded: str) -> str:
    """The stem of a folded word, empty for one that says nothing: a stop word, a single Latin letter."""
    single = len(folded) == 1 and folded.isascii() and folded.isalpha()
    return "" if single or folded in _STOP else stem(folded)


def surfaces(text: str) -> dict[str, str]:
    """How each word of ``text``, as it is compared, is written in it."""
    return {word: written for written in _written(text) for word in words(written)[:1]}


def stem(word: str) -> str:
    """The stem of a folded word: Snowball's English one for Latin letters, its Russian one for Cyrillic."""
    if word.isascii():
        return str(_stemmer("english").stemWord(word)) if word.isalpha() else word
    return str(_stemmer("russian").stemWord(word)) if _CYRILLIC.search(word) else _plain(word)


def word_id(word: str) -> int:
    """A word as 32 bits. Among 40,000 words some pair collides once in five corpora, which costs a rank at most."""
    return zlib.crc32(word.encode())


def bag(text: str) -> Counter[int]:
    """How often each word of ``text`` occurs, by its id."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    counts: Counter[int] = Counter()
    for written, count in Counter(_WORD.findall(text)).items():  # each spelling is looked at once
        for number in _ids(written):
            counts[number] += count
    return counts


@lru_cache(maxsize=REMEMBERED)
def _ids(written: str) -> tuple[int, ...]:
    return tuple(word_id(word) for word in _compared(written))


def forget() -> None:
    """Let go of the words that were looked at."""
    for cached in (_compared, _ids):
        cached.cache_clear()


def _plain(word: str) -> str:
    """Without accents, so that ``Übersicht`` is found as ``ubersicht`` too."""
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))


@cache
def _stemmer(language: str) -> Any:
    import snowballstemmer  # type: ignore[import-untyped]

    return snowballstemmer.stemmer(language)
