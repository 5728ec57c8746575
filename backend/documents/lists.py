"""Tags and authors: every way people write a list of names, and how names are compared."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from backend.documents.text import one_line
from backend.documents.values import flatten

NAME_LIMIT = 120

_JOINTS = re.compile("[\\s_\\-\u2010-\u2015\u2212]+")
_ZERO_WIDTH = re.compile("[\u00ad\u200b\u2060\ufeff]+")
_EMAIL = re.compile(r"\s*[<(][^<>()\s]{1,200}@[^<>()\s]{1,200}[>)]")
_BRACE = re.compile(r"[{}]")
_WIKILINK = re.compile(r"\[\[([^\[\]]{1,300})\]\]")

# Letters that Unicode does not take apart into a base letter and an accent.
_PLAIN_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "\u0131": "i", "ð": "d", "þ": "th"}
)


def fold(text: str) -> str:
    """Give the comparing form: NFKC, case-folded, hyphen = blank = underscore (one hyphen)."""
    decomposed = unicodedata.normalize("NFD", _ZERO_WIDTH.sub("", text))
    folded = unicodedata.normalize("NFKC", decomposed.casefold()).casefold()
    return _JOINTS.sub("-", unicodedata.normalize("NFKC", folded)).strip("-")


def fold_name(text: str) -> str:
    """Give the comparing form of a person's name: ``fold``, without accents (é finds e)."""
    letters = unicodedata.normalize("NFD", fold(text))
    bare = "".join(char for char in letters if not unicodedata.combining(char))
    return fold(bare.translate(_PLAIN_LETTERS))


def read_tags(*values: object) -> tuple[str, ...]:
    """Read the values of ``tags`` and ``tag``: in order, in the author's spelling, without repeats.

    A text is split at commas and semicolons. Without any it is ONE tag, blanks and all (``Garden
    plan``), unless its words are plainly tags of their own: each has a ``#``, or at least two hold
    a hyphen (``Garden-Plan Hedge-Row``). What has a brace, or no letter and no digit, is a leftover
    of broken YAML or of a template (``{a: b``, ``|``), not a tag.
    """
    names: list[str] = []
    for value in values:
        for text in flatten(value):
            for part in _split(text):
                names.extend(part.split() if _is_blank_list(part) else [part])
    return _distinct([name.strip().lstrip("#") for name in names if _is_tag(name)], fold)


def read_authors(*values: object) -> tuple[str, ...]:
    """Read the values of ``authors`` and ``author``: a text is split at commas, an entry is not.

    An e-mail address behind a name is left out; a dict gives its ``name``.
    """
    names: list[str] = []
    for value in values:
        texts = [_plain(text) for text in flatten(value)]
        # "Ada Moss, PhD" as an entry of a list is one person.
        parts = (
            [part for text in texts for part in _split(text)] if isinstance(value, str) else texts
        )
        names.extend(_EMAIL.sub("", part).lstrip("@") for part in parts)
    return _distinct(names, fold_name)


def _is_tag(name: str) -> bool:
    return not _BRACE.search(name) and any(character.isalnum() for character in name)


def _plain(text: str) -> str:
    return _WIKILINK.sub(lambda link: link[1].split("|")[-1], text.strip())


def _split(text: str) -> list[str]:
    text = _plain(text)
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    return re.split(r"[,;\n]", text)


def _is_blank_list(text: str) -> bool:
    words = text.split()
    if len(words) < 2:
        return False
    return (
        all(word.startswith("#") for word in words)
        or sum("-" in word.strip("-") for word in words) > 1
    )


def _distinct(names: list[str], form: Callable[[str], str]) -> tuple[str, ...]:
    kept: dict[str, str] = {}
    for name in names:
        clean = one_line(name, NAME_LIMIT).strip(" ,;'\"[]")
        key = form(clean)
        if key:
            kept.setdefault(key, clean)
    return tuple(kept.values())
