"""What is read as sentences in Markdown: each paragraph and list item as one line, whatever lines it was written on.

Code, headings, tables, HTML, imports and definitions are passed over. Only for showing: chunks and vectors keep the text as it
is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_FENCE = re.compile(r"[\s>]*(?:[-*+]\s+|\d+[.)]\s+)?(?P<fence>`{3,}(?=[^`]*$)|~{3,})")
_QUOTE = re.compile(r"\s{0,3}(?:>\s?)+")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_INDENTED = re.compile(r"(?: {4}|\t)")
_HEADING = re.compile(r"\s{0,3}#{1,6}(?:\s|$)")
_RULE = re.compile(r"\s*(?:=+|-+|(?:\*\s*){3,}|(?:_\s*){3,})\s*$")
_TABLE = re.compile(r"\s*\||[\s|:-]*\|[\s|:-]*$|.*\S \| \S.* \| ")
_TAG = re.compile(r"\s*(?:</?[A-Za-z][\w.-]*(?=[\s/>]|$)|<>|</>)")
_SCRIPT = re.compile(
    r"\s*(?:import\s.*['\"]|from\s+\S+\s+import\s|export\s+(?:const|default|function|type|\{|\*))"
)
_DEFINITION = re.compile(r"\s*\[\^?[^\]]+\]:\s|\s*\[!\w+\]")
_LABEL = re.compile(
    r"(?P<bold>\*\*|__)?[A-Z][^\s.:!?*_]*(?: [^\s.:!?*_]+){0,3}(?:\*\*|__)?:(?:\*\*|__)?(?=\s|$)"
)

_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\s\"[^\"]*\")?\)")
_WIKILINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]")
_FOOTNOTE = re.compile(r"(?<=\S)\[\^[^\]\s]+\](?!:)")
_HTML = re.compile(
    r"</?(?:a|b|br|code|div|em|i|img|kbd|mark|p|small|span|strong|sub|sup|u)(?:\s[^<>]*)?/?>", re.I
)
_EMPHASIS = re.compile(r"\*+|(?<!\w)_+|_+(?!\w)")

# A full stop ends no sentence behind these, nor where a small letter follows.
_END = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\bcf)(?<!\bca)[.!?…]+"
    r"[\"'\u201d\u2019)\]*_`]*\s+(?=[^a-z\s])|[\u3002\uff01\uff1f]+[\u201d\u300d\u300f\uff09]*\s*"
)
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uff00-\uffef\u3000-\u303f]")


def paragraphs(text: str, fence: str = "", *, quotes: bool = True) -> Iterator[str]:
    """The paragraphs and list items of ``text``, each as one line with its marks for emphasis and links still in it.

    ``fence``: of the code in whose middle ``text`` begins (``open_fence`` of what stands before it). ``quotes``: those too that
    are set off with ``>``.
    """
    unit: list[str] = []
    labelled = in_list = False
    until = ""  # what ends the comment or tag that is passed over
    for raw in text.split("\n"):
        if fence:
            fence = "" if _closes(raw, fence) else fence
            continue
        if until and (raw.strip() or until == "-->"):
            until = "" if until in raw else until
            continue
        until = ""
        opening = _FENCE.match(raw)
        quote = _QUOTE.match(raw)
        line = (raw[quote.end() :] if quotes else "") if quote else raw
        if opening or _is_passed_over(line):
            if not (unit and len(unit) == 1 and _RULE.match(line) and "*" not in line):
                yield from _joined(unit)  # else it was a heading, underlined by this line
            unit, fence = [], opening["fence"] if opening else ""
            if not opening:
                until = _unfinished(line)
            if not line.strip():
                labelled = False
            continue
        if not unit and not in_list and _INDENTED.match(line):
            continue  # indented code
        item, label = _ITEM.match(line), _LABEL.match(line)
        if item or (label and (labelled or label["bold"])):
            yield from _joined(unit)
            unit = []
        if not unit:
            in_list = bool(item) or (in_list and line[:1].isspace())
            labelled = bool(label)
        unit.append(line[item.end() :] if item else line)
        if line.endswith(("  ", "\\")):  # a break that is meant
            yield from _joined(unit)
            unit = []
    yield from _joined(unit)


def open_fence(text: str, fence: str = "") -> str:
    """The marks of the code fence that is still open where ``text`` ends, empty for none; ``fence`` is open where it begins."""
    for line in text.split("\n"):
        if fence:
            fence = "" if _closes(line, fence) else fence
        elif opening := _FENCE.match(line):
            fence = opening["fence"]
    return fence


def sentences(paragraph: str) -> list[str]:
    """The sentences of one line of prose."""
    ends = [end.end() for end in _END.finditer(paragraph)]
    parts = [paragraph[a:b].strip() for a, b in zip([0, *ends], [*ends, None], strict=True)]
    return [part for part in parts if part]


def plain(text: str) -> str:
    """One line of Markdown without its marks: links by their text, no emphasis. Code keeps its backticks and is left as it is."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # a backtick without its other
        return _unmarked(text.replace("`", ""))
    held = _unmarked("\0".join(parts[::2])).split("\0")  # links may have code in their text
    code = [f"`{part}`" for part in parts[1::2]]
    if len(held) != len(code) + 1:  # and some had it in their target
        return _unmarked(text)
    return "".join(a + b for a, b in zip(held, [*code, ""], strict=True)).strip()


def _unmarked(text: str) -> str:
    text = _WIKILINK.sub(r"\1", _LINK.sub(r"\1", text))
    return _EMPHASIS.sub("", _HTML.sub("", _FOOTNOTE.sub("", text))).strip()


def _is_passed_over(line: str) -> bool:
    """Whether ``line`` is blank, or no prose by its first characters."""
    return (
        not line.strip()
        or bool(_HEADING.match(line))
        or bool(_RULE.match(line))
        or bool(_TABLE.match(line))
        or bool(_TAG.match(line))
        or bool(_SCRIPT.match(line))
        or bool(_DEFINITION.match(line))
        or line.lstrip().startswith("<!--")
    )


def _unfinished(line: str) -> str:
    """What the comment or the tag that begins in ``line`` ends with, when it does not end there."""
    if line.lstrip().startswith("<!--"):
        return "" if "-->" in line else "-->"
    return ">" if _TAG.match(line) and ">" not in line else ""


def _closes(line: str, fence: str) -> bool:
    bare = line.strip(" \t>")
    return bare.startswith(fence) and not bare.strip(fence[0])


def _joined(unit: list[str]) -> Iterator[str]:
    """The lines of one paragraph as one; scripts that are written without blanks get none."""
    text = ""
    for line in unit:
        part = line.strip().removesuffix("\\").rstrip()
        if text and part and not (_UNSPACED.match(text[-1]) and _UNSPACED.match(part)):
            text += " "
        text += part
    if text:
        yield text
