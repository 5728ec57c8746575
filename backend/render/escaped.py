"""What a terminal would act on, or nobody would see, written out as JSON would escape it."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

# Control characters but tab and line end; marks that turn the direction of writing, zero-width ones, tags; halves of pairs.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\ud800-\udfff\U000e0000-\U000e01ef]"
)


def escaped(text: str) -> str:
    """The text with a backslash, ``u`` and four digits for each of them. Of JSON it changes nothing but the spelling."""
    return _UNSEEN.sub(lambda found: json.dumps(found[0])[1:-1], text)


def harmless_json(value: Any, *, indent: int = 0) -> str:
    """A Struct or plain data as JSON without such a character, and without one that could open or close a tag; in one line, or
    indented by ``indent`` blanks a level.
    """
    data = msgspec.json.encode(value)
    if indent:
        data = msgspec.json.format(data, indent=indent)
    return escaped(data.decode()).replace("<", "\\u003c")
