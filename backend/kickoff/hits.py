"""Which of the chunks that match a question are given as passages: none that is only a heading, few of one document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from backend.kickoff.library import Library, StoredText
from backend.schemas.manifest import ManifestEntry

A_DOCUMENT, SHARE = 2, 4
"""Passages of one document, while others have any, or this part of all where that is more: one long document would fill the
answer, and the agent reads on in it."""


class Hit(Struct, frozen=True):
    """A chunk with its score: ``row`` of its document, ``index`` in it, ``number`` among all chunks; ``cosine`` if it is near."""

    row: int
    index: int
    number: int
    score: float
    cosine: float | None


def chosen(library: Library, ranked: Sequence[Hit], limit: int) -> list[Hit]:
    """The first ``limit`` of ``ranked`` that have text, of one document only some unless there are too few others.

    A chunk that is only a heading is left out. Where one would be its document's first, the best other one stands in its place,
    else the next in the file; it stays where there is none. Only chunks that may be given are read.
    """
    most = max(A_DOCUMENT, limit // SHARE)
    taken: Counter[int] = Counter()
    given: set[tuple[int, int]] = set()
    kept: list[Hit] = []
    more: list[Hit] = []
    for place, hit in enumerate(ranked):
        if len(kept) == limit:
            break
        full = taken[hit.row] >= most
        if (full and len(kept) + len(more) >= limit) or (hit.row, hit.index) in given:
            continue
        if _is_heading(library, hit):
            if taken[hit.row]:
                continue
            hit = _instead_of(library, hit, ranked[place + 1 :])
        given.add((hit.row, hit.index))
        (more if full else kept).append(hit)
        taken[hit.row] += 1
    return kept + more[: limit - len(kept)]


def _instead_of(library: Library, heading: Hit, later: Sequence[Hit]) -> Hit:
    """What stands for a document's first chunk that is only a ``heading``; the heading itself where nothing can."""
    below = replace(heading, index=heading.index + 1, number=heading.number + 1, cosine=None)
    others = (other for other in later if other.row == heading.row)
    return next((one for one in (*others, below) if not _is_heading(library, one)), heading)


def _is_heading(library: Library, hit: Hit) -> bool:
    """Whether a chunk has nothing but headings, or is not there."""
    text = own_text(library.chunk(hit.row, hit.index), library.entry(hit.row))
    return not any(line.strip() and not line.lstrip().startswith("#") for line in text.split("\n"))


def own_text(chunk: StoredText, entry: ManifestEntry) -> str:
    """The lines of a chunk; the first begins with the lede, which stands in the frontmatter and not in these lines."""
    return chunk.body if chunk.index else chunk.body.removeprefix(entry.lede).strip("\n")
