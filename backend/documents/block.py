"""Where a frontmatter block begins and ends, also when a fence is missing or text stands above."""

from __future__ import annotations

from msgspec import Struct

from backend.documents.keys import is_known, split_key

# A comment above the text ("Rolled up from …", "edit at the source") is short; a longer one is text
# somebody hid.
COMMENT_LINES = 40


class Block(Struct, frozen=True):
    """Line indexes (from 0): ``first`` inside, ``end`` behind the last; ``closed`` by a fence."""

    first: int
    end: int
    closed: bool


def find_block(lines: list[str]) -> Block | None:
    """Find the block: a ``---`` as first thing in the file, blank lines and comments apart."""
    opening = skip_comments(lines, 0)
    if opening >= len(lines) or not _is_fence(lines[opening]):
        return None
    first = opening + 1
    for index in range(first, len(lines)):
        if lines[index].startswith("---") and _is_fence(lines[index]):
            return Block(first, index, True)
    return Block(first, len(lines), False)


def skip_comments(lines: list[str], start: int) -> int:
    """Give the index of the first line from ``start`` on that is neither blank nor in a comment."""
    index = start
    while index < len(lines):
        if not lines[index].strip():
            index += 1
            continue
        after = _comment_end(lines, index)
        if after is None:
            break
        index = after
    return index


def keys_end(lines: list[str]) -> int:
    """Say how many leading lines of a never-closed (or monstrous) block are frontmatter.

    It ends at the first heading, at the first line that is no part of a list of keys, and at a
    blank line unless a known key follows.
    """
    for index, line in enumerate(lines):
        if not line.strip():
            follower = next((text for text in lines[index + 1 : index + 5] if text.strip()), "")
            if not is_known(follower):
                return index
        elif not _is_keyish(line):
            return index
    return len(lines)


def prose_start(lines: list[str], *, only_headings: bool) -> int | None:
    """Find where text begins inside a block whose closing fence is really a later rule in the text.

    It is the first blank line or heading behind the last known key, if what follows holds a ``## ``
    heading or (unless ``only_headings``) any line that cannot be frontmatter. None when the block
    is frontmatter to its end.
    """
    limit = next((index for index, line in enumerate(lines) if line.startswith("##")), len(lines))
    if only_headings and (limit == len(lines) or any(is_known(line) for line in lines[limit:])):
        return None  # good YAML, in which "## dates" above more keys is a comment
    last_key = max((index for index in range(limit) if is_known(lines[index])), default=-1)
    starts = (
        index
        for index in range(last_key + 1, len(lines))
        if not lines[index].strip() or lines[index][0] == "#"
    )
    start = next(starts, None)
    if start is None:
        return None
    if limit < len(lines):
        return start
    if all(not line.strip() or _is_keyish(line) for line in lines[start:]):
        return None
    return start


def _is_fence(line: str) -> bool:
    # Three dashes or more, as python-frontmatter has it.
    dashes = line.rstrip()
    return len(dashes) >= 3 and not dashes.strip("-")


def _is_keyish(line: str) -> bool:
    if line[0] in " \t-":
        return True
    return split_key(line[:200]) is not None


def _comment_end(lines: list[str], index: int) -> int | None:
    if not lines[index].lstrip().startswith("<!--"):
        return None
    for last in range(index, min(index + COMMENT_LINES, len(lines))):
        _, closing, rest = lines[last].partition("-->")
        if closing:
            return None if rest.strip() else last + 1
    return None
