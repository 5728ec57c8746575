"""``sources.md``: the curated list of what is indexed. Written by the sync, kept by people: every byte of theirs stays.

Its frontmatter holds ``sources:``, a list of entries with ``path`` (relative to the senior root), ``kind`` (``context-v`` or
``changelog``), ``include`` (``false`` leaves the folder out), ``note``, and ``subdirs`` (opt-in folders that are on).
"""

from __future__ import annotations

import os
import re
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from backend.errors import CvError
from backend.schemas.roles import CHANGELOG_ROLE
from backend.tree.config import shown
from backend.tree.files import write_atomic
from backend.tree.found import Place
from backend.tree.listing import listed
from backend.tree.repos import main_checkout
from backend.tree.root import KIT_FOLDER
from backend.tree.source_faults import explained

_NAMED = 2
"""Folders that have gone which a note names."""

_NEW = """\
---
title: Sources of the index
sources:
---

# Sources of the index

One entry for each folder that is indexed. A sync appends what it finds new and never changes or removes an entry: edit freely.

- `include: false` leaves a folder out; at the next sync its text leaves the store for good. Any folder may have an entry.
- `subdirs: [agent-skills]` turns on a folder below it that is otherwise left out (`extra`, `skills`, `agent-skills`).
- `note` is yours.
"""


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of ``sources:``."""

    path: str
    kind: str = "context-v"
    include: bool = True
    note: str | None = None
    subdirs: list[str] = []


class Choices(msgspec.Struct, frozen=True):
    """What ``sources.md`` says against the rules: places left out, and opt-in folders turned on (as paths)."""

    excluded: frozenset[str] = frozenset()
    included: frozenset[str] = frozenset()


class SourcesError(CvError):
    """``sources.md`` cannot be understood; nothing is indexed until it can, since it may leave folders out."""


def sources_path(root: Path) -> Path:
    """``sources.md`` of ``root``."""
    return root / KIT_FOLDER / "sources.md"


def load_sources(root: Path) -> list[Source]:
    """The entries of ``sources.md``, none where the file does not exist. Raises ``SourcesError`` naming line and reason."""
    try:
        text = sources_path(root).read_text("utf-8-sig")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise SourcesError(
            f"{sources_path(root)}: could not be read ({error}); mend it or move it away"
        ) from error
    return _parse(text, sources_path(root))


def choices(sources: list[Source]) -> Choices:
    """What the entries say against the walk's own rules."""
    return Choices(
        excluded=frozenset(_clean(s.path) for s in sources if not s.include),
        included=frozenset(
            f"{_clean(s.path)}/{_clean(name)}" for s in sources if s.include for name in s.subdirs
        ),
    )


def add_places(root: Path, sources: list[Source], places: list[Place]) -> list[str]:
    """Append an entry for each of ``places`` that has none; returns their paths. A missing file is written anew.

    Not for a folder of a linked worktree that the main checkout has too: its documents are copies, and worktrees come and go.
    Only whole lines are added, at the end of the list; the result is read back before it replaces the file.
    """
    known = {_clean(source.path) for source in sources}
    out = choices(sources).excluded
    indexed = {p.path for p in places if p.path not in out and not _is_below(p.path, out)}
    new = [
        place
        for place in places
        if place.path not in known
        and not _is_below(place.path, out)
        and _in_main_checkout(root, place.path) not in indexed
    ]
    path = sources_path(root)
    if path.exists() and not new:
        return []
    text = (
        path.read_bytes().decode() if path.exists() else _NEW
    )  # not read_text, which would change CRLF to LF
    result = _with_entries(text, new)
    try:
        after = [s.path for s in _parse(result.removeprefix("\ufeff"), path)]
    except SourcesError:
        after = []
    if after != [s.path for s in sources] + [place.path for place in new]:
        raise SourcesError(
            f"{path}: new folders could not be added; expected 'sources:' as a block list in the frontmatter, "
            f"each entry starting with '  - path:'. Add by hand: {', '.join(place.path for place in new)}"
        )
    write_atomic(path, result.encode())
    return [place.path for place in new]


def gone(root: Path, sources: list[Source]) -> list[str]:
    """Paths of included entries whose folder is no longer there."""
    return [s.path for s in sources if s.include and not os.path.isdir(root / _clean(s.path))]


def gone_note(paths: list[str]) -> list[str]:
    """One note for all of ``paths`` that are ``gone``, none where there are none."""
    if len(paths) < 2:
        return [f"sources.md: {path} is no longer there" for path in paths]
    rest = "; cv doctor names them" if len(paths) > _NAMED else ""
    return [f"sources.md: {len(paths)} folders are no longer there: {listed(paths, _NAMED)}{rest}"]


def dangling(root: Path, sources: list[Source]) -> list[str]:
    """Paths that ``include: false`` is to leave out and that are not there: misspelt, perhaps, so that nothing is left out."""
    return [s.path for s in sources if not s.include and not _is_there(root, _clean(s.path))]


def _in_main_checkout(root: Path, path: str) -> str:
    """Where a documents folder of a linked worktree lies in the main checkout, relative to ``root``; '' for any other folder."""
    for folder in PurePosixPath(path).parents:
        if not os.path.lexists(root / folder / ".git"):
            continue
        main = main_checkout(root / folder)
        if main is None:
            return ""
        inner = PurePosixPath(path).relative_to(folder)
        return Path(
            os.path.relpath(os.path.realpath(main / inner), os.path.realpath(root))
        ).as_posix()
    return ""


def _is_there(root: Path, path: str) -> bool:
    """Whether ``path`` is there with just these capitals, as the walk compares it; the disk may not mind them."""
    folder = root
    for name in path.split("/"):
        try:
            if all(entry.name != name for entry in folder.iterdir()):
                return False
        except OSError:  # unreadable, or a file
            return os.path.lexists(folder / name)
        folder /= name
    return True


def _with_entries(text: str, places: list[Place]) -> str:
    lines = text.splitlines(keepends=True)
    start = next((i for i, line in enumerate(lines) if line.startswith("sources:")), None)
    if start is None:
        return text
    lines[start] = re.sub(r"^sources:\s*\[\s*\]", "sources:", lines[start])
    end = start + 1
    while end < len(lines) and (
        lines[end].startswith((" ", "- ", "#")) or lines[end].strip() in ("", "-")
    ):
        end += 1
    while not lines[end - 1].strip():
        end -= 1
    indent = next(
        (
            line[: line.index("-")]
            for line in lines[start + 1 : end]
            if line.lstrip().startswith("- ")
        ),
        "  ",
    )
    newline = "\r\n" if lines[start].endswith("\r\n") else "\n"
    added = [
        f"{indent}- path: {msgspec.json.encode(place.path).decode()}{newline}"
        f"{indent}  kind: {'changelog' if place.role == CHANGELOG_ROLE else 'context-v'}{newline}"
        f"{indent}  include: true{newline}"
        for place in places
    ]
    return "".join(lines[:end] + added + lines[end:])


def _parse(text: str, path: Path) -> list[Source]:
    import yaml

    lines = text.splitlines()
    if (
        not lines
        or lines[0].rstrip() != "---"
        or "---" not in [line.rstrip() for line in lines[1:]]
    ):
        raise SourcesError(
            f"{path}: expected a frontmatter block between two lines '---' that holds 'sources:'"
        )
    end = [line.rstrip() for line in lines].index("---", 1)
    try:
        block: Any = yaml.safe_load("\n".join(lines[1:end])) or {}
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 2 if mark else 1
        raise SourcesError(
            f"{path}: line {line}: {getattr(error, 'problem', error)}; mend the frontmatter there"
        ) from error
    except ValueError as error:  # a day such as 2026-02-30
        raise SourcesError(f"{path}: the frontmatter: {error}; put that value in quotes") from error
    if not isinstance(block, dict):
        raise SourcesError(
            f"{path}: the frontmatter: expected 'sources:' with a list of entries, got {shown(block)}"
        )
    entries = block.get("sources") or []
    try:
        if not isinstance(entries, list):
            raise msgspec.ValidationError("no list - at `$`")
        return msgspec.convert([_as_text(entry) for entry in entries], list[Source], strict=False)
    except msgspec.ValidationError as error:
        what = explained(str(error), entries, "\n".join(lines[1:end]))
        raise SourcesError(f"{path}: {what}") from error


def _as_text(entry: Any) -> Any:
    """An entry whose texts are text, where YAML sees a number or a day (a folder ``2024``, a note that is a date)."""
    if not isinstance(entry, dict):
        return entry
    texts = {
        key: str(value) if key in ("kind", "note") and value is not None else _name(value)
        for key, value in entry.items()
        if key in ("path", "kind", "note")
    }
    names = entry.get("subdirs")
    if isinstance(names, list):
        texts["subdirs"] = [_name(name) for name in names]
    return entry | texts


def _name(value: Any) -> Any:
    """A folder's name or path as text; what can be none stays as it is."""
    return str(value) if isinstance(value, int | float | date) else value


def _is_below(path: str, folders: frozenset[str]) -> bool:
    return any(path.startswith(folder + "/") for folder in folders)


def _clean(path: str) -> str:
    return path.strip().replace("\\", "/").removeprefix("./").strip("/")
