"""What there must be before anything is searched: an index, and a word to search for."""

from __future__ import annotations

from pathlib import Path

from backend.freshness.index import Index
from backend.freshness.places import index_path
from backend.kickoff.lexical import Query

NO_INDEX = "there is no index yet: run 'cv sync'"
UNUSABLE = (
    "the index is there but can't be used (damaged, or of another version): run 'cv sync', or 'cv doctor --fix', "
    "which makes it anew from your documents"
)
NO_WORD = "there is no word to search for"
NO_DOCUMENTS = "no document is indexed yet: run 'cv sync', or 'cv why FILE' for one that you expect"


def opened(root: Path, text: str) -> tuple[Index, Query] | str:
    """The index of ``root``, to be closed by the caller, and the words of ``text``; or why nothing can be searched."""
    query = Query.of(text)
    index = Index.for_reading(index_path(root))
    if index is None:
        return UNUSABLE if index_path(root).exists() else NO_INDEX
    if query is None:
        index.close()
        return NO_WORD
    return index, query
