"""What ``cv find``, ``cv search``, ``cv folders`` and ``cv why`` answer."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from backend.schemas.document import DateFrom
from backend.schemas.manifest import ManifestEntry


class Flag(Struct, frozen=True, kw_only=True):
    """A doubt about a candidate in plain words, for a person to judge."""

    kind: str
    text: str
    newer_path: str = ""
    newer_date: str = ""


class Candidate(Struct, frozen=True, kw_only=True):
    """One file that kickoff proposes."""

    rank: int
    source_path: str
    absolute_path: str
    repo: str
    role: str
    kind: str
    title: str
    date: str
    date_from: DateFrom = "document"
    lede: str = ""
    excerpt: str = ""
    heading: str = ""
    status: str = ""
    tags: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()
    why: tuple[str, ...] = ()


class Evidence(Struct, frozen=True, kw_only=True):
    """How far the corpus speaks of a task at all: ``coverage``, the share of the task's words (rare ones weigh more) that the
    best single document holds; ``best_similarity``, the cosine of the nearest chunk; and the words that no document has.
    ``verdict``: "strong", "weak" or "none", in words for a person's judgement; nothing is left out because of it.
    """

    verdict: Literal["strong", "weak", "none"]
    coverage: float
    best_similarity: float
    missing_words: tuple[str, ...] = ()


class Handoff(Struct, frozen=True, kw_only=True):
    """The newest document of a ``handoffs`` folder in the repo at hand."""

    source_path: str
    absolute_path: str
    repo: str
    title: str
    date: str


class Findings(Struct, frozen=True, kw_only=True):
    """What ``cv find`` answers."""

    task: str
    senior_root: str
    fresh: bool
    candidates: tuple[Candidate, ...]
    evidence: Evidence | None = None
    notes: tuple[str, ...] = ()
    handoff: Handoff | None = None


class Passage(Struct, frozen=True, kw_only=True):
    """One chunk that ``cv search`` quotes. ``text`` is its Markdown without title and heading, ``excerpt`` the lines of it that
    say most; ``start_line`` and ``end_line`` are the chunk's, count from 1 in the file, and are both included.
    """

    rank: int
    source_path: str
    absolute_path: str
    repo: str
    role: str
    kind: str
    title: str
    date: str
    date_from: DateFrom = "document"
    status: str = ""
    heading: str = ""
    start_line: int
    end_line: int
    text: str
    excerpt: str = ""
    flags: tuple[Flag, ...] = ()
    why: tuple[str, ...] = ()


class Passages(Struct, frozen=True, kw_only=True):
    """What ``cv search`` answers."""

    question: str
    senior_root: str
    fresh: bool
    passages: tuple[Passage, ...]
    evidence: Evidence | None = None
    notes: tuple[str, ...] = ()


class FolderCount(Struct, frozen=True, kw_only=True):
    """A folder that holds documents, and how many directly in it."""

    path: str
    documents: int


class FolderMap(Struct, frozen=True, kw_only=True):
    """What ``cv folders`` answers: every folder that holds indexed documents, in order of paths."""

    senior_root: str
    scope: str
    fresh: bool
    documents: int
    folders: tuple[FolderCount, ...]
    notes: tuple[str, ...] = ()


class Placement(Struct, frozen=True, kw_only=True):
    """Where a file ranks for a task, and why: ``rank`` among ``documents``, ``parts`` of the ``score`` (largest first), some of
    them also in words, as ``find`` says them (``reasons``), how often each word of the task occurs in it, and the chunk that
    matches best. ``reranker``: its place in the reranker's own order, where one was asked.
    """

    task: str
    rank: int
    documents: int
    score: float
    parts: dict[str, float]
    words_found: dict[str, int]
    words_missing: tuple[str, ...]
    similarity: float | None
    heading: str
    excerpt: str
    start_line: int
    end_line: int
    reasons: dict[str, str] = {}
    links_to: tuple[str, ...] = ()
    linked_from: tuple[str, ...] = ()
    reranker: int | None = None


class Why(Struct, frozen=True, kw_only=True):
    """What ``cv why`` answers: whether a file is ``indexed``; ``reason`` in one word (``indexed``, ``copy``, ``private``,
    ``dismissed`` …) and ``text`` in plain words. ``home`` is the document that a copy or a link is indexed as.
    """

    source_path: str
    absolute_path: str
    senior_root: str
    indexed: bool
    reason: str
    text: str
    home: str = ""
    role: str = ""
    entry: ManifestEntry | None = None
    placement: Placement | None = None
    notes: tuple[str, ...] = ()
