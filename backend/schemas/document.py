"""A Markdown file, read."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

DateFrom = Literal["document", "file-name", "git", "ingest"]


class Problem(Struct, frozen=True):
    """Something in a file that could not be read as meant; ``line`` counts from 1."""

    line: int
    reason: str


class DocumentDate(Struct, frozen=True):
    """The day a document speaks of itself: ``day`` as written, ``epoch`` at 00:00 UTC of a plain day or the exact moment."""

    day: str
    epoch: int
    source: DateFrom


class Chunk(Struct, frozen=True):
    """A piece of a body, cut at ``## ``. ``text`` is what is embedded: ``[title]``, the heading, then the lines.

    ``start_line`` and ``end_line`` count from 1 in the file and are inclusive.
    """

    index: int
    heading: str
    text: str
    start_line: int
    end_line: int


class Document(Struct, frozen=True, kw_only=True):
    """A Markdown file, read. Lists keep the author's spelling; comparing folds case, hyphen, blank and underscore."""

    title: str
    lede: str = ""
    headings: tuple[str, ...] = ()
    chunks: tuple[Chunk, ...] = ()
    body_hash: str
    body_length: int
    date: DocumentDate | None = None
    date_created: str = ""
    date_modified: str = ""
    tags: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    owner: str = ""
    status: str = ""
    type: str = ""
    semantic_version: str = ""
    site_uuid: str = ""
    from_repo: str = ""
    from_path: str = ""
    superseded_by: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    private: bool = False
    publish: bool | None = None
    problems: tuple[Problem, ...] = ()
