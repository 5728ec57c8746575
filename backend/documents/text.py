"""Bytes to text, text to lines, and any text to one clean line."""

from __future__ import annotations

import codecs
import re

from backend.schemas.document import Problem

# UTF-32 stands before UTF-16: its little-endian mark begins with UTF-16's.
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

# What no title, tag or heading is written with on purpose: control characters become a blank;
# zero-width characters, direction overrides and Unicode's invisible tag characters (a way to hide
# text) vanish.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]+")
_INVISIBLE = re.compile(
    "[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]+"
)


def decode(data: bytes) -> tuple[str, list[Problem]]:
    """Turn a file's bytes into text without byte-order mark and NULs, CRLF and CR as LF.

    Anything that is not UTF-8 (or UTF-16, UTF-32 with their marks) is read all the same and named
    in the problems.
    """
    problems: list[Problem] = []
    text = _decode_marked(data, problems)
    if text is None:
        text = _decode_utf8(data, problems)
    text = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if "\x00" in text:
        line = text.count("\n", 0, text.index("\x00")) + 1
        problems.append(Problem(line, f"NUL characters were left out: {text.count(chr(0))}"))
        text = text.replace("\x00", "")
    return text, problems


def one_line(text: str, limit: int) -> str:
    """Fold white space to single blanks, drop invisible characters, cut at ``limit`` characters."""
    if not text.isascii():
        text = _INVISIBLE.sub("", text)
        # A lone surrogate (YAML can write one) could not be stored as UTF-8 later.
        text = text.encode("utf-8", "replace").decode("utf-8")
    text = " ".join(_CONTROL.sub(" ", text).split())
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def _decode_marked(data: bytes, problems: list[Problem]) -> str | None:
    found = next((pair for pair in BYTE_ORDER_MARKS if data.startswith(pair[0])), None)
    if found is None:
        return None
    mark, encoding = found
    if encoding == "utf-8":
        return _decode_utf8(data[len(mark) :], problems)
    text = data.decode(encoding, "replace")
    if "\ufffd" in text:
        line = text.count("\n", 0, text.index("\ufffd")) + 1
        problems.append(
            Problem(line, f"the file says it is {encoding.upper()} but some bytes are not")
        )
    return text


def _decode_utf8(data: bytes, problems: list[Problem]) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
    # A few broken bytes in a file that is otherwise UTF-8 must not garble all its other accents.
    patched = data.decode("utf-8", "replace")
    broken = patched.count("\ufffd")
    sound = sum(1 for char in patched if not char.isascii()) - broken
    if sound > broken:
        problems.append(
            Problem(line, "some bytes are not UTF-8; they were replaced by a question mark sign")
        )
        return patched
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    problems.append(
        Problem(line, "the file is not UTF-8; it was read as Western European (Windows-1252)")
    )
    return text
