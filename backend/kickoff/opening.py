"""What there must be before anything is searched: an index, and a word to search for."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from backend.errors import CvError
from backend.freshness.index import Index
from backend.freshness.places import index_path
from backend.freshness.words import LONGEST_WORD
from backend.kickoff.lexical import Query

NO_INDEX = "there is no index yet: run 'cv sync'"
UNUSABLE = (
    "the index is there but can't be used (damaged, or of another version): run 'cv sync', or 'cv doctor --fix', "
    "which makes it anew from your documents"
)
NO_WORD = "there is no word to search for"
_WORD = re.compile(r"[^\W_]+")
NO_DOCUMENTS = "no document is indexed yet: run 'cv sync', or 'cv why FILE' for one that you expect"


def opened(root: Path, text: str) -> tuple[Index, Query] | str:
    """The index of ``root``, to be closed by the caller, and the words of ``text``; or why nothing can be searched."""
    query = Query.of(text)
    index = Index.for_reading(index_path(root))
    if index is None:
        return UNUSABLE if index_path(root).exists() else NO_INDEX
    if query is None:
        index.close()
        return no_word(text)
    return index, query


@contextmanager
def in_use(index: Index) -> Iterator[None]:
    """Close ``index`` at the end of the block. Raises ``CvError`` for a cell in it that can't be read: a sync, which reads what
    has changed alone, would not find it.
    """
    try:
        with index:
            yield
    except (sqlite3.DatabaseError, msgspec.MsgspecError) as error:
        reason = f"index.sqlite is damaged ({error}): run 'cv doctor --fix', which makes it anew from your documents"
        raise CvError(reason) from error


def no_word(text: str) -> str:
    """Why there is nothing to search for in ``text``, which has no word that says anything."""
    written = _WORD.findall(text)
    common = [word for word in written if 1 < len(word) <= LONGEST_WORD]
    left_out = [
        "words of one letter" if any(len(word) == 1 for word in written) else "",
        f"words that stand in every text ({', '.join(common[:3])})" if common else "",
        f"words of more than {LONGEST_WORD} characters"
        if max(map(len, written), default=0) > LONGEST_WORD
        else "",
    ]
    kinds = " and ".join(kind for kind in left_out if kind)
    return f"{NO_WORD}: {kinds} are not searched" if kinds else NO_WORD
