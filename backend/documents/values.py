"""Single values of the frontmatter: to one line of text, to yes or no."""

from __future__ import annotations

import re

from backend.documents.text import one_line

# How deep nested lists are followed, and how many nodes: an author's list has a handful; a "billion
# laughs" has more.
DEPTH_LIMIT = 6
NODE_LIMIT = 1_000

VALUE_LIMIT = 200

# Template text left standing: {{generate-uuid}}, <your-name>.
_PLACEHOLDER = re.compile(r"\{\{.*\}\}|<[^<>]*>", re.DOTALL)
_NAME_KEYS = ("name", "title", "label")
YES = frozenset({"true", "yes", "on", "1", "y"})
NO = frozenset({"false", "no", "off", "0", "n"})


def scalar_text(value: object) -> str:
    """Write one scalar as text; None and a template's placeholder give ''."""
    if value is None:
        return ""
    try:
        text = value if isinstance(value, str) else str(value)
    except ValueError:  # an integer of more than 4,300 digits
        return ""
    text = text.strip()
    return "" if _PLACEHOLDER.fullmatch(text) else text


def flatten(value: object) -> list[str]:
    """List the texts in a value of any shape: lists are opened, a dict gives its name or pairs."""
    found: list[str] = []
    waiting: list[tuple[object, int]] = [(value, 0)]
    for _ in range(NODE_LIMIT):
        if not waiting:
            break
        item, depth = waiting.pop()
        inner = _inner(item)
        if inner is None:
            found.append(scalar_text(item))
        elif depth < DEPTH_LIMIT:
            waiting.extend((entry, depth + 1) for entry in reversed(inner))
    return [text for text in found if text]


def read_text(value: object, limit: int = VALUE_LIMIT) -> str:
    """Read a value as one line of at most ``limit`` characters; a list becomes a comma list."""
    return one_line(", ".join(flatten(value)), limit)


def read_flag(value: object) -> bool | None:
    """Read yes or no, also when written as text (``'false'``, ``Yes``); anything else is None."""
    if isinstance(value, bool):
        return value
    text = scalar_text(value).strip("'\"").casefold()
    if text in YES:
        return True
    return False if text in NO else None


def _inner(item: object) -> list[object] | None:
    if isinstance(item, (list, tuple, set)):
        return list(item)[:NODE_LIMIT]
    if not isinstance(item, dict):
        return None
    for key in _NAME_KEYS:
        if item.get(key):
            return [item[key]]
    return [_pair(key, inner) for key, inner in list(item.items())[:NODE_LIMIT]]


def _pair(key: object, value: object) -> str:
    # An unquoted colon in a list entry makes a dict of it; writing it as a pair gives the author's
    # words back.
    name = scalar_text(key)
    words = scalar_text(value) if not isinstance(value, (list, tuple, set, dict)) else ""
    return f"{name}: {words}" if words else name
