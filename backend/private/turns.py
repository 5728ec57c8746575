"""A transcript's line to what is stored of it: a turn of the conversation, a tool call, or the result of one.

The format is Claude Code's own and undocumented; it changes with every release. So only what is needed is looked at, nothing is
taken for granted, and a line that is not understood is passed over: of the many line types only ``user`` and ``assistant`` carry
the conversation.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from backend.private.redaction import Redactor, names_a_secret

TURN_LIMIT = 20_000
INPUT_LIMIT = 6_000
RESULT_LIMIT = 10_000
"""Characters that are kept of a turn, of a call's input and of its result; the rest is cut off, and the text says so."""

_NAME_LIMIT = 200


class Line(Struct, frozen=True):
    """What of a line counts. Nothing is said of the types: each is looked at where it is used."""

    type: Any = None
    uuid: Any = None
    sessionId: Any = None
    cwd: Any = None
    gitBranch: Any = None
    timestamp: Any = None
    isSidechain: Any = None
    isMeta: Any = None
    isCompactSummary: Any = None
    forkedFrom: Any = None
    message: Any = None


class Outline(Struct, frozen=True):
    """A line without its message: enough to say what will be read, and cheap, however large the line is."""

    type: Any = None
    sessionId: Any = None
    cwd: Any = None
    timestamp: Any = None
    isMeta: Any = None


class Origin(Struct, frozen=True):
    """Where a line comes from: the id that is the line's own, its session and project, its time in epoch seconds, and
    ``turn``, the number of the message in its transcript, from 1.
    """

    id: str
    session: str
    project: str
    branch: str
    timestamp: int
    turn: int
    sidechain: bool


class Turn(Struct, frozen=True):
    """A message of the conversation, redacted. ``speaker``: ``user``, ``assistant``, or ``summary`` (what a compaction left)."""

    id: str
    origin: Origin
    speaker: str
    text: str


class Call(Struct, frozen=True):
    """A tool call, redacted, and the id by which its result will name it."""

    id: str
    origin: Origin
    tool: str
    tool_use: str
    text: str


class Result(Struct, frozen=True):
    """What a call of the same session gave, redacted."""

    session: str
    tool_use: str
    is_error: bool
    text: str


_line = msgspec.json.Decoder(Line)
_outline = msgspec.json.Decoder(Outline)


def read_line(data: bytes) -> Line | None:
    """A line, None where it is no JSON object."""
    try:
        return _line.decode(data)
    except (msgspec.MsgspecError, RecursionError):
        found = _leniently(data)
        return None if found is None else Line(**_known(found, Line))


def read_outline(data: bytes) -> Outline | None:
    """Like ``read_line``, without the message."""
    try:
        return _outline.decode(data)
    except (msgspec.MsgspecError, RecursionError):
        found = _leniently(data)
        return None if found is None else Outline(**_known(found, Outline))


def _leniently(data: bytes) -> dict[str, Any] | None:
    """Invalid UTF-8, half surrogate pairs, NaN: what Python's own reader lets through where msgspec doesn't."""
    try:
        found = json.loads(data.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _known(found: dict[str, Any], shape: type[Struct]) -> dict[str, Any]:
    return {name: found[name] for name in shape.__struct_fields__ if name in found}


def is_message(line: Line | Outline) -> bool:
    """Whether the line is a message of the conversation, and not one that Claude Code put in itself."""
    return line.type in ("user", "assistant") and not line.isMeta


def short_text(value: object, default: str = "") -> str:
    """A name or an id out of a line, as one that can be stored."""
    if not isinstance(value, str) or len(value) > _NAME_LIMIT:
        return default
    return value.encode("utf-8", "replace").decode().replace("\0", "") or default


def epoch(value: object) -> int | None:
    """A line's timestamp (ISO text, or epoch in milliseconds) in epoch seconds; None where it is neither."""
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
            return int((moment if moment.tzinfo else moment.astimezone()).timestamp())
        if isinstance(value, int | float) and not isinstance(value, bool):
            return int(datetime.fromtimestamp(value / 1000).timestamp())
    except (ValueError, OverflowError, OSError):
        pass
    return None


def turn_of(line: Line, origin: Origin, redactor: Redactor) -> Turn | None:
    """What the message says; None where it is without text: only tool calls, results, thinking or images."""
    parts = [
        block["text"] if kind == "text" else f"[{kind}]"
        for kind, block in _blocks(line.message)
        if kind in ("image", "document") or (kind == "text" and isinstance(block.get("text"), str))
    ]
    if all(part in ("[image]", "[document]") or not part.strip() for part in parts):
        return None
    said = line.message.get("role") if isinstance(line.message, dict) else None
    speaker = said if said in ("user", "assistant") else str(line.type)
    text = redactor.clean("\n\n".join(parts).replace("\0", ""), TURN_LIMIT)
    return Turn(
        id=f"turn::{origin.id}",
        origin=origin,
        speaker="summary" if line.isCompactSummary else speaker,
        text=text,
    )


def calls_of(line: Line, origin: Origin, redactor: Redactor) -> Iterator[Call | Result]:
    """The tool calls and the results in a message, in order."""
    for number, (kind, block) in enumerate(_blocks(line.message)):
        if kind.endswith("tool_use"):  # also server_tool_use, mcp_tool_use
            tool = short_text(block.get("name"), "unknown")
            given = redactor.clean(_in_words(block.get("input"), redactor), INPUT_LIMIT)
            yield Call(
                id=f"call::{origin.id}::{number:02d}",
                origin=origin,
                tool=tool,
                tool_use=short_text(block.get("id")),
                text=f"{tool}\n{given}",
            )
        elif kind.endswith("tool_result") and short_text(block.get("tool_use_id")):
            yield Result(
                session=origin.session,
                tool_use=short_text(block.get("tool_use_id")),
                is_error=block.get("is_error") is True,
                text=redactor.clean(_content(block.get("content"), redactor), RESULT_LIMIT),
            )


def _blocks(message: object) -> Iterator[tuple[str, dict[str, Any]]]:
    """The parts of a message with their types, whichever of its forms it has."""
    content = message.get("content") if isinstance(message, dict) else message
    for block in content if isinstance(content, list) else [content]:
        if isinstance(block, str):
            yield "text", {"text": block}
        elif isinstance(block, dict):
            yield short_text(block.get("type")), block


def _content(content: object, redactor: Redactor) -> str:
    """A result's content: text, or blocks of which only text is kept."""
    if not isinstance(content, list):
        return _in_words(content, redactor)
    parts = []
    for block in content:
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "text" and isinstance(block.get("text"), str):
            parts.append(block["text"])
        elif kind in ("image", "document"):
            parts.append(f"[{kind}]")
        else:
            parts.append(_in_words(block, redactor))
    return "\n".join(parts).replace("\0", "")


def _in_words(value: object, redactor: Redactor) -> str:
    """Any JSON as lines of text, ``name: value``; a field that is called a secret is one, whatever it holds."""
    if isinstance(value, str):
        return value.replace("\0", "")
    if isinstance(value, dict):
        lines = []
        for name, held in value.items():
            name = str(name)[:_NAME_LIMIT]
            if names_a_secret(name) and isinstance(held, str | int) and not isinstance(held, bool):
                redactor.counts["Secret Keyword"] += 1
                lines.append(f"{name}: [redacted: Secret Keyword]")
            else:
                lines.append(f"{name}: {_in_words(held, redactor)}")
        return "\n".join(lines)
    if isinstance(value, list):
        return "\n".join(_in_words(part, redactor) for part in value)
    return "" if value is None else str(value)
