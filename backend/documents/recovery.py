"""Frontmatter that is no valid YAML, read line by line: ``key: value``, lists, folded text."""

from __future__ import annotations

from msgspec import Struct

from backend.documents.keys import is_known, normal_key, split_key
from backend.schemas.document import Problem

CONFLICT_MARKS = ("<<<<<<<", "=======", ">>>>>>>")


class Fields(Struct, frozen=True):
    """Frontmatter by normal key: ``values``, their ``lines`` (from 1, in the file), problems."""

    values: dict[str, object]
    lines: dict[str, int]
    problems: list[Problem]


def is_conflict(line: str) -> bool:
    """Say whether a line is one of the marks that an unfinished merge leaves."""
    return line.startswith(CONFLICT_MARKS) and line[7:8] in ("", " ", "\t")


def recover(lines: list[str], first_line: int, *, first_wins: bool = False) -> Fields:
    """Read what can be read of a block whose first line is line ``first_line`` of the file.

    Of a key that stands twice the last one counts, as in YAML; with ``first_wins`` (both sides of a
    merge) the first.
    """
    groups: list[tuple[str, int, list[str]]] = []
    for index, line in enumerate(lines):
        if not line.strip() or is_conflict(line):
            continue
        pair = split_key(line.lstrip() if _is_stray_key(line, groups) else line)
        if pair:
            groups.append((normal_key(pair[0]), first_line + index, [pair[1]]))
        elif groups and line[0] in " \t-":
            groups[-1][2].append(line.strip())
    fields = Fields({}, {}, [])
    for key, line_number, texts in groups:
        if first_wins and key in fields.values:
            continue
        fields.values[key] = _value(texts)
        fields.lines[key] = line_number
    return fields


def _is_stray_key(line: str, groups: list[tuple[str, int, list[str]]]) -> bool:
    # A key that was indented by mistake; below a key without a value, or in folded text, it is part
    # of that value.
    if not groups:
        return True
    above = groups[-1][2][0]
    return line[0] in " \t" and above[:1] not in ("", ">", "|") and is_known(line.lstrip())


def _value(texts: list[str]) -> object:
    head, *rest = texts
    head = _without_comment(head)
    listed = [text for text in rest if text == "-" or text.startswith("- ")]
    items = [text[1:].strip() for text in listed]
    if items and not head:
        return [_unquote(_without_comment(item)) for item in items]
    if head[:1] in (">", "|"):
        head = head.lstrip(">|+-0123456789").strip()
    elif head.startswith("[") and head.endswith("]") and not head.startswith("[["):
        return [_unquote(item.strip()) for item in head[1:-1].split(",")]
    return _unquote(" ".join(text for text in [head, *rest] if text and text not in listed))


def _without_comment(text: str) -> str:
    return text if text.startswith(("'", '"')) else text.partition(" # ")[0].rstrip()


def _unquote(text: str) -> str:
    # A quote that is never closed is what broke the block: it goes too.
    quote = text[:1]
    if quote not in ("'", '"'):
        return text
    inner = text[1:]
    if inner.endswith(quote):
        return inner[:-1]
    return text if quote in inner else inner
