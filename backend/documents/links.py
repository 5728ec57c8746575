"""Links to other documents: wikilinks, Markdown links, ``@`` mentions, paths in backticks."""

from __future__ import annotations

import re
from urllib.parse import unquote

from backend.documents.outline import Outline
from backend.documents.text import one_line
from backend.documents.values import flatten

# Bounded everywhere, so that no text makes a search slower than its length.
TARGET_LIMIT = 300

_WIKILINK = re.compile(r"(!?)\[\[([^\[\]\n]{1,300})\]\]")
_MARKDOWN = re.compile(r"\]\((?:<([^<>\n]{1,300})>|((?:[^()\n]|\([^()\n]{0,100}\)){1,300}))")
_MENTION = re.compile(r"(?:^|(?<=[\s(\[,;:\"'*]))@([^\s@`\"<>|]{1,300})", re.MULTILINE)
_IN_BACKTICKS = re.compile(r"`@?([^`\n]{1,300})`")
_TITLE = re.compile(r"\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\))$")
_MEDIA = (
    ".png",
    ".jpg",
    ".jpeg",
    ".gif",
    ".svg",
    ".webp",
    ".avif",
    ".bmp",
    ".mp4",
    ".webm",
    ".mov",
    ".mp3",
    ".pdf",
)
_MARKDOWN_ENDS = (".md", ".markdown")
_FOLDERS = ("context-v/", "changelog/", "changelogs/")
_NONE = frozenset({"", "none", "n/a", "na", "-", "—", "null", "no", "false", "tbd", "todo"})


def find_links(lines: list[str], first: int, outline: Outline) -> tuple[str, ...]:
    """List the targets of the links in the lines from ``first`` on, in order, without repeats.

    Alias, anchor and percent-encoding are taken off. Left out: web addresses, absolute paths,
    images, code in fences.
    """
    text = "\n".join(_outside_fences(lines, first, outline))
    found: list[tuple[int, str]] = []
    if "`" in text:
        found += [
            (match.start(), match[1])
            for match in _IN_BACKTICKS.finditer(text)
            if _is_document(match[1])
        ]
        # Other code in backticks shows a link's form, it isn't one; blanks keep the positions.
        text = _IN_BACKTICKS.sub(lambda match: " " * len(match[0]), text)
    if "[[" in text:
        found += [
            (match.start(), match[2])
            for match in _WIKILINK.finditer(text)
            if not _is_image(match[1], match[2])
        ]
    if "](" in text:
        found += [
            (match.start(), _markdown_target(match[1] or match[2]))
            for match in _MARKDOWN.finditer(text)
        ]
    if "@" in text:
        found += [(match.start(), _mention_target(match[1])) for match in _MENTION.finditer(text)]
    found.sort(key=lambda pair: pair[0])
    targets = (link_target(target) for _, target in found)
    return tuple(dict.fromkeys(target for target in targets if target))


def link_target(text: str) -> str:
    """Take brackets, alias and anchor off a link: ``[[Dig#steps|the plan]]`` gives ``Dig``."""
    text = text.strip().removeprefix("!").strip("[]")
    target = re.split(r"\\?\||#", text, maxsplit=1)[0]
    return one_line(target, TARGET_LIMIT)


def read_references(value: object) -> tuple[str, ...]:
    """Read ``supersedes`` and ``superseded_by``: names, paths or links; "none" is nothing."""
    targets: list[str] = []
    for text in flatten(value):
        targets.extend(_references(text))
    cleaned = (link_target(target) for target in targets)
    return tuple(dict.fromkeys(target for target in cleaned if target.casefold() not in _NONE))


def _references(text: str) -> list[str]:
    wikilinks = [match[2] for match in _WIKILINK.finditer(text)]
    if wikilinks:
        return wikilinks
    links = [unquote((match[1] or match[2]).strip()) for match in _MARKDOWN.finditer(text)]
    if links:
        return links
    parts = text.strip("[] ").split(",")
    # A comma may belong to a name ("Strategy, & Design.md"): only a list of files is a list.
    if len(parts) > 1 and all(part.strip().casefold().endswith(_MARKDOWN_ENDS) for part in parts):
        return parts
    return [text]


def _outside_fences(lines: list[str], first: int, outline: Outline) -> list[str]:
    kept: list[str] = []
    start = first
    for begin, end in outline.fenced:
        kept.extend(lines[start:begin])
        start = end
    return [*kept, *lines[start:]]


def _is_document(path: str) -> bool:
    base = path.split("#", 1)[0].strip()
    return (
        base.casefold().endswith(_MARKDOWN_ENDS)
        and any(folder in base for folder in _FOLDERS)
        and base[0] not in "/~"
    )


def _is_image(embed: str, target: str) -> bool:
    return bool(embed) and target.split("|")[0].split("#")[0].strip().casefold().endswith(_MEDIA)


def _markdown_target(text: str) -> str:
    path = _TITLE.sub("", text.strip()).split("#", 1)[0].split("?", 1)[0]
    if "://" in path or path.startswith(("/", "~", "mailto:", "file:")):
        return ""
    path = unquote(path)
    return path if path.casefold().endswith(_MARKDOWN_ENDS) else ""


def _mention_target(text: str) -> str:
    end = text.casefold().rfind(".md")
    path = text[: end + 3] if end > 0 else ""
    return "" if path.startswith(("/", "~")) or "://" in path else path
