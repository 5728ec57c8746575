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
_INLINE = r"a|b|br|code|em|i|kbd|mark|small|span|strong|sub|sup|u"
_TAG = re.compile(
    rf"\s*(?!</?(?:{_INLINE})(?:\s[^<>]*)?/?>)(?:</?[A-Za-z][\w.-]*(?=[\s/>]|$)|<>|</>)", re.I
)
_SCRIPT = re.compile(
    r"\s*(?:import\s+(?:type\s+)?(?:['\"{*]|\w+(?:\s*,\s*[{*][^'\"]*)?\s+from\s*['\"])"
    r"|from\s+\S+\s+import\s+[\w*(]|export\s+(?:const|default|function|type|\{|\*))"
)
_DEFINITION = re.compile(r"\s*\[\^?[^\]]+\]:\s|\s*\[!\w+\]")
_LABEL = re.compile(
    r"(?P<bold>\*\*|__)?[A-Z][^\s.:!?*_]*(?: [^\s.:!?*_]+){0,3}(?:\*\*|__)?:(?:\*\*|__)?(?=\s|$)"
)

_HEAD = 400
"""Characters of a line by which it is seen what it is: some of the patterns would take the square of a line's length."""

_CODE = re.compile(r"`[^`]*`")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\s\"[^\"]*\")?\)")
_WIKILINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]")
_FOOTNOTE = re.compile(r"(?<=\S)\[\^[^\[\]\s]+\](?!:)")
_HTML = re.compile(rf"</?(?:{_INLINE}|div|img|p)(?:\s[^<>]*)?/?>", re.I)
# A star between blanks is a sign, and ``__init__`` a name. Runs are entered at their first mark only: a long one costs no more.
_EMPHASIS = re.compile(
    r"(?P<name>(?<!\w)__[a-z\d]+(?:_[a-z\d]+)*__(?!\w))"
    r"|(?<=[^\s*])\*+|(?<!\*)\*+(?=[^\s*])|(?<!\w)_+|(?<!_)_+(?!\w)"
)

# A full stop ends no sentence behind these, nor where a small letter follows.
_END = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\bcf)(?<!\bca)(?<![.!?…])[.!?…]+"
    r"[\"'\u201d\u2019)\]*_`]*\s+(?=[^a-z\s])|[\u3002\uff01\uff1f]+[\u201d\u300d\u300f\uff09]*\s*"
)
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uff00-\uffef\u3000-\u303f]")


def paragraphs(text: str, fence: str = "", *, quotes: bool = True) -> Iterator[str]:
    """The paragraphs and list items of ``text``, each as one line with its marks for emphasis and links still in it.

    ``fence``: of the code in whose middle ``text`` begins (``open_fence`` of what stands before it). ``quotes``: those too that
    are set off with ``>``.
    """
    unit: list[str] = []
    labelled = in_list = table = False
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
        item, label = _ITEM.match(line), _LABEL.match(line)
        row = _is_row(line) and (not unit or bool(item or label))
        if _is_under_a_header(line):
            table, unit = True, unit[:-1]
        table = table and not opening and bool(line.strip())
        script = not unit and _SCRIPT.match(line[:_HEAD])
        if opening or table or row or script or _is_passed_over(line):
            if not (unit and len(unit) == 1 and _RULE.match(line[:_HEAD]) and "*" not in line):
                yield from _joined(unit)  # else it was a heading, underlined by this line
            unit, fence = [], opening["fence"] if opening else ""
            if not opening:
                until = _unfinished(line)
            if not line.strip():
                labelled = False
            continue
        if not unit and not in_list and _INDENTED.match(line):
            continue  # indented code
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
    return _EMPHASIS.sub(r"\g<name>", _HTML.sub("", _FOOTNOTE.sub("", text))).strip()


def _is_passed_over(line: str) -> bool:
    """Whether ``line`` is blank, or no prose by its first characters."""
    line = line[:_HEAD]
    return (
        not line.strip()
        or bool(_HEADING.match(line))
        or bool(_RULE.match(line))
        or line.lstrip().startswith("|")
        or bool(_TAG.match(line))
        or bool(_DEFINITION.match(line))
        or line.lstrip().startswith("<!--")
    )


def _is_row(line: str) -> bool:
    """Whether ``line`` looks like a table's row without outer bars, or names set side by side, unless it ends as a sentence."""
    if line.rstrip(" \t\"'\u201d\u2019)]*_`")[-1:] in tuple(".!?…。！？"):
        return False
    return _CODE.sub("", line[:_HEAD]).count(" | ") >= 2


def _is_under_a_header(line: str) -> bool:
    """Whether ``line`` (``--- | ---``) makes the one before it the header of a table without outer bars, down to a blank line."""
    bare = line.strip()
    return (
        bare[:1] in ("-", ":")
        and "-|" in bare.replace(" ", "").replace(":", "")
        and not bare.strip(" \t|:-")
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
