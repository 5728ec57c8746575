"""What is wrong in an entry of ``sources.md``, in words for who wrote it: its line, its key, what was expected, what is there."""

from __future__ import annotations

import re
from typing import Any

from backend.tree.config import shown

_EXPECTED = {
    "path": "a folder's path, relative to the senior root",
    "kind": '"context-v" or "changelog"',
    "include": "true or false",
    "note": "text",
    "subdirs": "a list of folder names",
}


def explained(words: str, entries: Any, block: str) -> str:
    """``line 5: include: expected true or false, got "flase"`` out of msgspec's words."""
    where = re.search(r"at `\$(?:\[(\d+)\](?:\.(\w+))?)?", words)
    missing = re.search(r"required field `(\w+)`", words)
    number = int(where.group(1)) if where and where.group(1) else None
    if number is None:
        entry_line, key, got = _line(block, None, ""), "sources", shown(entries)
        expected = f"a list of entries with {', '.join(_EXPECTED)}"
    else:
        entry = entries[number]
        key = missing.group(1) if missing else (where and where.group(2)) or ""
        entry_line = _line(block, number, key)
        got = "none" if missing else shown(entry[key] if key else entry)
        expected = _EXPECTED[key] if key else f"an entry with {', '.join(_EXPECTED)}"
    place = f"line {entry_line}: " if entry_line else ""
    return f"{place}{key or f'entry {(number or 0) + 1}'}: expected {expected}, got {got}"


def _line(block: str, number: int | None, key: str) -> int:
    """The line of the file in which an entry's ``key`` stands, the entry or ``sources:`` itself where it has none; 0 where none
    can be named.
    """
    import yaml

    line = 0
    nodes: Any = yaml.compose(block, yaml.SafeLoader)
    for step in ("sources", number, key):
        if isinstance(step, str) and isinstance(nodes, yaml.MappingNode):
            found = [(name, value) for name, value in nodes.value if name.value == step]
            mark, nodes = found[-1] if found else (None, None)
        elif isinstance(step, int) and isinstance(nodes, yaml.SequenceNode):
            mark = nodes = nodes.value[step]
        else:
            break
        line = mark.start_mark.line + 2 if mark else line  # the frontmatter begins on the second
    return line
