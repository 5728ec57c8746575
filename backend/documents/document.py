"""A document: the bytes of one Markdown file, read into a ``schemas.Document``."""

from __future__ import annotations

import hashlib
from datetime import datetime

from backend.documents import keys
from backend.documents.body import HASH_LENGTH, body_fingerprint, body_start
from backend.documents.chunks import cut_chunks
from backend.documents.dates import clamp, file_name_date, parse_date, read_moment
from backend.documents.frontmatter import read_frontmatter
from backend.documents.hiding import unreadable_flags
from backend.documents.links import find_links, link_target, read_references
from backend.documents.lists import read_authors, read_tags
from backend.documents.outline import read_outline
from backend.documents.recovery import Fields
from backend.documents.text import decode, one_line
from backend.documents.titles import file_title, read_title
from backend.documents.values import read_flag, read_text
from backend.schemas.document import Chunk, Document, DocumentDate, Problem
from backend.schemas.roles import CHANGELOG_ROLE

LEDE_LIMIT = 1_000
PROBLEM_LIMIT = 20
REASON_LIMIT = 200


def read_document(data: bytes, path: str, *, role: str, now: datetime) -> Document:
    """Read one file: its bytes, and its POSIX path relative to the senior root.

    ``now`` is aware; a date after it counts as today. Raises nothing: what cannot be read as meant
    is named in ``problems``, and the text is kept.
    """
    try:
        return _read(data, path, role, now)
    except Exception as error:
        # The last net, so that one file never ends a run over thousands; the tests see to it that
        # it stays empty.
        problem = Problem(
            1,
            f"this file could not be read ({type(error).__name__}); please report it with the file",
        )
        title = file_title(path)
        chunk = Chunk(0, "", f"[{title}]", 1, 1)
        digest = hashlib.sha256(data).hexdigest()[:HASH_LENGTH]
        return Document(
            title=title, chunks=(chunk,), body_hash=digest, body_length=0, problems=(problem,)
        )


def _read(data: bytes, path: str, role: str, now: datetime) -> Document:
    text, problems = decode(data)
    lines = text.split("\n")
    front = read_frontmatter(lines)
    values = front.fields.values
    problems += front.fields.problems
    first = body_start(lines, front.body)
    outline = read_outline(lines, first)
    if outline.unclosed is not None:
        problems.append(
            Problem(outline.unclosed + 1, "a code fence is opened here and never closed")
        )
    title = read_title(values.get("title"), outline, path)
    lede = _first_text(values, keys.LEDE, LEDE_LIMIT)
    chunks, chunk_problems = cut_chunks(lines, first, outline, title=title, lede=lede)
    body_hash, body_length = body_fingerprint(lines, first)
    problems += chunk_problems + _date_problems(front.fields, now)
    problems += unreadable_flags(values, front.fields.lines, front.hidden_by)
    return Document(
        title=title,
        lede=lede,
        headings=tuple(heading.text for heading in outline.headings if heading.text),
        chunks=chunks,
        body_hash=body_hash,
        body_length=body_length,
        date=_document_date(values, path, role, now),
        date_created=_first_day(values, keys.CREATED, now),
        date_modified=_first_day(values, keys.MODIFIED, now),
        tags=read_tags(values.get("tags"), values.get("tag")),
        authors=read_authors(values.get("authors"), values.get("author")),
        owner=read_text(values.get("owner")),
        status=read_text(values.get("status")),
        type=read_text(values.get("type")),
        semantic_version=_first_text(values, keys.VERSION),
        site_uuid=read_text(values.get("site_uuid")),
        from_repo=read_text(values.get("from")),
        from_path=link_target(_first_text(values, keys.FROM_PATH, 1_000)),
        superseded_by=read_references(values.get("superseded_by")),
        supersedes=read_references(values.get("supersedes")),
        links=find_links(lines, first, outline),
        private="private" in front.hidden_by,
        publish=False if "publish" in front.hidden_by else read_flag(values.get("publish")),
        problems=_presentable(problems),
    )


def _document_date(
    values: dict[str, object], path: str, role: str, now: datetime
) -> DocumentDate | None:
    order = list(keys.DATE_ORDER)
    if role == CHANGELOG_ROLE:
        found = parse_date(values.get("date"), now=now)
        named = None if found else file_name_date(path)
        if named:
            return DocumentDate(*clamp(named, now), "file-name")
        order.insert(0, "date")
    for key in order:
        found = parse_date(values.get(key), now=now)
        if found:
            return DocumentDate(*found, "document")
    return None


def _first_day(values: dict[str, object], names: tuple[str, ...], now: datetime) -> str:
    for name in names:
        found = parse_date(values.get(name), now=now)
        if found:
            return found[0]
    return ""


def _first_text(
    values: dict[str, object], names: tuple[str, ...], limit: int = REASON_LIMIT
) -> str:
    return next((text for name in names if (text := read_text(values.get(name), limit))), "")


def _date_problems(fields: Fields, now: datetime) -> list[Problem]:
    problems = []
    for key in keys.DATE_ORDER:
        text = read_text(fields.values.get(key), 40).strip("[]'\" ")
        if not text:
            continue
        moment = read_moment(fields.values[key])
        if moment is None:
            problems.append(Problem(fields.lines[key], f"{key}: {text!r} is not a date"))
        elif moment.day > now.date() and clamp(moment, now)[1] != moment.epoch:
            problems.append(
                Problem(fields.lines[key], f"{key}: {text} is in the future; it counts as today")
            )
    created, modified = (
        read_moment(fields.values.get(key)) for key in ("date_created", "date_modified")
    )
    if created and modified and modified.day < created.day:
        reason = f"date_modified {modified.day} is before date_created {created.day}"
        problems.append(Problem(fields.lines["date_modified"], reason))
    return problems


def _presentable(problems: list[Problem]) -> tuple[Problem, ...]:
    ordered = sorted(problems, key=lambda problem: problem.line)
    shown = [
        Problem(problem.line, one_line(problem.reason, REASON_LIMIT))
        for problem in ordered[:PROBLEM_LIMIT]
    ]
    left = ordered[PROBLEM_LIMIT:]
    if left:
        shown.append(Problem(left[0].line, f"{len(left)} more problems from here on"))
    return tuple(shown)
