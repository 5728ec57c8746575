"""The frontmatter of a file: found, read as YAML where it is YAML, line by line where it is not."""

from __future__ import annotations

import re
from typing import Any

import yaml
from frontmatter.default_handlers import YAMLHandler
from msgspec import Struct
from msgspec.structs import replace

from backend.documents.block import Block, find_block, keys_end, prose_start, skip_comments
from backend.documents.hiding import (
    HIDING,
    before_text,
    first_paragraph,
    hides,
    hiding_lines,
)
from backend.documents.keys import normal_key
from backend.documents.recovery import Fields, is_conflict, recover
from backend.schemas.document import Problem

try:
    from yaml import CBaseLoader as _BaseLoader
except ImportError:  # PyYAML without its C half
    from yaml import BaseLoader as _BaseLoader  # type: ignore[assignment]

# The largest real block has about 3,000 characters; beyond this YAML is not worth its memory.
YAML_LIMIT = 64 * 1024
# A handful of aliases is a person's shorthand; many are a "billion laughs".
ALIAS_LIMIT = 20

_NULL = "tag:yaml.org,2002:null"
_ANCHOR = re.compile(r"(?:^|[\s\[,{:])&\w")
_ALIAS = re.compile(r"(?:^|[\s\[,{:])\*\w")

# What PyYAML and libyaml say, in words for the author.
_REASONS = (
    ("mapping values are not allowed", "a second colon in the value (put the value in quotes)"),
    ("alias", "an asterisk begins the value (put it in quotes)"),
    ("anchor", "an ampersand begins the value (put it in quotes)"),
    ("cannot start any token", "a character that cannot begin a value (put it in quotes)"),
    ("block scalar", "text right behind the sign > or | (put it on the next line, indented)"),
    ("end of stream", "a quote that is never closed"),
    ("could not find expected ':'", "a line without a colon"),
    ("expected <block end>", "a line or word where a key was expected"),
    ("did not find expected", "a line or word where a key was expected"),
    ("control characters", "a control character"),
    ("special characters", "a control character"),
    ("nesting", "too many levels inside each other"),
)


class Frontmatter(Struct, frozen=True):
    """The fields, and ``body``: the index (from 0) of the line where the text below begins. ``hidden_by``: which of ``HIDING``
    say that the document is to be left out.
    """

    fields: Fields
    body: int
    hidden_by: frozenset[str] = frozenset()


def read_frontmatter(lines: list[str]) -> Frontmatter:
    """Read the frontmatter of a file's lines; where there is none, the whole file is body."""
    block = find_block(lines)
    if block is None:
        return _hidden(Frontmatter(Fields({}, {}, []), 0), [], _head(lines))
    inside = lines[block.first : block.end]
    trusted = block.closed and sum(map(len, inside)) <= YAML_LIMIT
    found = _read_closed(inside, block) if trusted else _read_open(inside, block)
    keys, doubtful = lines[block.first : found.body], lines[found.body : block.end]
    if not found.fields.values and any(line.strip() for line in inside):
        # Two horizontal rules with text between them.
        found, keys, doubtful = Frontmatter(Fields({}, {}, []), 0), [], inside
    text = before_text(doubtful) if block.closed else first_paragraph(doubtful)
    return _hidden(found, keys, text)


def _head(lines: list[str]) -> list[str]:
    """The first lines of a file without a block, in which frontmatter of another kind may stand: TOML's, or without fences."""
    rest = lines[skip_comments(lines, 0) :]
    fence = rest[0].strip() if rest else ""
    if fence not in ("+++", "---", ";;;"):
        return first_paragraph(rest)
    inside = rest[1:]
    end = next((index for index, line in enumerate(inside) if line.strip() == fence), None)
    return first_paragraph(inside) if end is None else before_text(inside[:end])


def _hidden(found: Frontmatter, block: list[str], text: list[str]) -> Frontmatter:
    """``found``, with what hides the document wherever it stands: of a key that stands twice, in a line of the ``block`` that
    YAML takes for something else, or in the first lines of what may be ``text``.
    """
    keys = {key for key in HIDING if hides(key, found.fields.values.get(key))}
    keys |= hiding_lines(block) | hiding_lines(text, alone=True)
    return replace(found, hidden_by=frozenset(keys))


def _read_open(inside: list[str], block: Block) -> Frontmatter:
    end = keys_end(inside)
    fields = _parse(inside[:end], block.first + 1)
    if block.closed and end == len(inside):
        return Frontmatter(fields, block.end + 1)
    fields.problems.append(
        Problem(
            block.first, "the frontmatter's closing --- is missing; it was ended at the first text"
        )
    )
    return Frontmatter(fields, block.first + end)


def _read_closed(inside: list[str], block: Block) -> Frontmatter:
    fields = _parse(inside, block.first + 1)
    start = prose_start(inside, only_headings=not fields.problems)
    if start is None:
        return Frontmatter(fields, block.end + 1)
    fields = _parse(inside[:start], block.first + 1)
    fields.problems.append(
        Problem(
            block.first, "the frontmatter's closing --- is missing; a later rule is not its end"
        )
    )
    return Frontmatter(fields, block.first + start)


def _parse(inside: list[str], first_line: int) -> Fields:
    conflict = next((index for index, line in enumerate(inside) if is_conflict(line)), None)
    if conflict is not None:
        reason, line = (
            "marks of an unfinished merge; keys of both sides were read, the first one counts",
            conflict,
        )
    else:
        try:
            return _parse_yaml(inside, first_line)
        except RecursionError:
            reason, line = _broken(_REASONS[-1][1]), 0
        except _NotFrontmatter as error:
            reason, line = _broken(str(error)), 0
        except yaml.YAMLError as error:
            reason, line = _explain(error)
        except (ValueError, TypeError, OverflowError) as error:
            reason, line = _broken(str(error)[:100]), 0
    fields = recover(inside, first_line, first_wins=conflict is not None)
    line = min(max(line, 0), max(len(inside) - 1, 0))
    fields.problems.append(Problem(first_line + line, reason))
    return fields


class _NotFrontmatter(Exception):
    """The block is not to be read as YAML; the message says why."""


def _parse_yaml(inside: list[str], first_line: int) -> Fields:
    text = "\n".join(inside) + "\n"
    if len(text) > YAML_LIMIT:
        raise _NotFrontmatter(f"more than {YAML_LIMIT // 1024} KB")
    if "&" in text and _ANCHOR.search(text) and len(_ALIAS.findall(text)) > ALIAS_LIMIT:
        raise _NotFrontmatter(f"more than {ALIAS_LIMIT} YAML aliases")
    pairs = YAMLHandler().load(text, Loader=_PlainLoader)
    if pairs is None:
        raise _NotFrontmatter("no keys")
    fields = Fields({}, {}, [])
    for key, value, line in pairs:
        number = first_line + line
        if key in fields.values:
            before = fields.lines[key]
            counts = "the one that hides counts" if key in HIDING else "the last one counts"
            reason = f"the key {key[:60]!r} stands in line {before} too; {counts}"
            fields.problems.append(Problem(number, reason))
        fields.values[key] = value
        fields.lines[key] = number
    return fields


def _explain(error: yaml.YAMLError) -> tuple[str, int]:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    said = " ".join(
        str(part) for part in (getattr(error, "context", ""), getattr(error, "problem", "")) if part
    )
    said = said or str(error)
    reason = next((words for sign, words in _REASONS if sign in said), " ".join(said.split())[:100])
    return _broken(reason), mark.line if mark else 0


def _broken(reason: str) -> str:
    return f"the frontmatter cannot be read as YAML: {reason}; what could be read line by line was kept"


class _PlainLoader(_BaseLoader):
    """YAML whose scalars stay the text that the author wrote.

    So 2026-02-30 does not raise, 1.10 is not 1.1, a title of 2026 is a title, and no ``!!python``
    tag or merge key does anything. Only an empty value, ``~`` and ``null`` become None. What comes
    out is a list of (key, value, line from 0).
    """

    def get_single_data(self) -> Any:
        node = self.get_single_node()
        if node is None:
            return []
        if not isinstance(node, yaml.MappingNode):
            return None
        pairs = []
        for key_node, value_node in node.value:
            if isinstance(key_node, yaml.ScalarNode):
                value = self.construct_object(value_node, deep=True)
                pairs.append((normal_key(key_node.value), value, key_node.start_mark.line))
        return pairs

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        # {{generate-uuid}}: a template's braces, in YAML a mapping that is a key.
        if any(not isinstance(key, yaml.ScalarNode) for key, _ in node.value):
            return None
        return super().construct_mapping(node, deep=deep)


_PlainLoader.add_implicit_resolver(
    _NULL, re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""]
)
_PlainLoader.add_constructor(_NULL, lambda loader, node: None)
