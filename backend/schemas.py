"""Every shape that crosses a boundary: config and manifest files, JSON on stdin and stdout, and what the rooms hand on.

All are frozen msgspec Structs. Paths are POSIX text relative to the senior root unless a name says ``absolute``; moments are
epoch seconds (UTC), days are ISO text (``2026-03-09``), sizes are bytes. The JSON keys are a contract: add, don't rename.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType, field

CORPUS_ROLE = "context-vigilance-corpus"
CHANGELOG_ROLE = "changelog-corpus"
ROLES = (CORPUS_ROLE, CHANGELOG_ROLE)

DateFrom = Literal["document", "file-name", "git", "ingest"]
OnOff = Literal["on", "off"]


# --- config.json ---------------------------------------------------------------------------------------------------


class Collections(Struct, frozen=True, kw_only=True):
    """Which Chroma collection holds which role. Names: 3 to 512 of ``[a-zA-Z0-9._-]``, letter or digit at both ends."""

    context_vigilance_corpus: str = CORPUS_ROLE
    changelog_corpus: str = CHANGELOG_ROLE
    claude_code_sessions: str = "claude-code-sessions"
    claude_code_tool_traces: str = "claude-code-tool-traces"


class Nudge(Struct, frozen=True, kw_only=True):
    """When the catch-up nudge speaks: more than ``after_days`` since the last session, or ``after_files`` changed.

    ``not_by``: part of a name; documents all of whose authors match it are no news to their author and don't count.
    """

    state: OnOff = "on"
    muted_until: datetime | None = None
    after_days: float = 3.0
    after_files: int = 5
    not_by: str = ""


class CatchUp(Struct, frozen=True, kw_only=True):
    """Defaults of the digest."""

    window: str = "2w"
    max_files: int = 50


class Embedding(Struct, frozen=True, kw_only=True):
    """Which embedder fills the vectors: ``static`` (ships inside), ``minilm``, or the name of a Chroma embedding function."""

    name: str = "static"
    options: dict[str, Any] = {}
    api_key_env: str | None = None


class Chroma(Struct, frozen=True, kw_only=True):
    """Where Chroma runs."""

    mode: Literal["persistent"] = "persistent"


class Discovery(Struct, frozen=True, kw_only=True):
    """What the walk leaves out beside the built-in list: folder names, anywhere in the tree."""

    skip_folders: list[str] = []


class Sync(Struct, frozen=True, kw_only=True):
    """Bounds of the sync that a session's start leaves running. ``max_memory_mb``: of real memory, on Linux and macOS."""

    max_seconds: float = 600.0
    max_memory_mb: int = 2000


class Config(Struct, frozen=True, kw_only=True):
    """``<senior-root>/.context-vigilance/config.json``."""

    senior_root: str
    kit_root: str | None = None
    dismissed_paths: list[str] = []
    collections: Collections = field(default_factory=Collections)
    nudge: Nudge = field(default_factory=Nudge)
    last_session_at: datetime | None = None
    kickoff: OnOff = "on"
    catch_up: CatchUp = field(default_factory=CatchUp)
    embedding: Embedding = field(default_factory=Embedding)
    chroma: Chroma = field(default_factory=Chroma)
    discovery: Discovery = field(default_factory=Discovery)
    sync: Sync = field(default_factory=Sync)
    log: OnOff = "off"


# --- a document ----------------------------------------------------------------------------------------------------


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


# --- manifests/<role>.json and manifests/passed-over.json ----------------------------------------------------------


class ManifestEntry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One document that is in the store, with the card that digest and delta read without opening Chroma."""

    mtime: float
    size: int
    ingested_at: int
    hash: str
    chunks: int
    repo: str
    kind: str
    title: str
    date: str
    modified_at: int
    date_from: DateFrom
    lede: str = ""
    status: str = ""
    tags: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    owner: str = ""
    copies: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


class PassedOver(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One file that was read and is deliberately not in the store: a copy, private, unpublished."""

    mtime: float
    size: int
    role: str
    reason: str
    copy_of: str = ""


# --- reports -------------------------------------------------------------------------------------------------------


class Failure(Struct, frozen=True):
    """A file that could not be indexed; it is tried again at the next sync."""

    path: str
    reason: str


class RoleReport(Struct, frozen=True, kw_only=True):
    """What a sync did for one role: documents by outcome, ``chunks`` now in the store, ``embedded`` chunks computed now."""

    indexed: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    failed: tuple[Failure, ...] = ()
    skipped: dict[str, int] = {}
    chunks: int = 0
    embedded: int = 0


class SyncReport(Struct, frozen=True, kw_only=True):
    """What ``cv sync`` did."""

    roles: dict[str, RoleReport]
    seconds: float
    embedder: str
    notes: tuple[str, ...] = ()


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
    """Where a file ranks for a task, and why: ``rank`` among ``documents``, ``parts`` of the ``score`` (largest first), how
    often each word of the task occurs in it, and the chunk that matches best.
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
    links_to: tuple[str, ...] = ()
    linked_from: tuple[str, ...] = ()


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


class DigestFile(Struct, frozen=True, kw_only=True):
    """One file in the digest."""

    source_path: str
    title: str
    date: str
    date_from: DateFrom
    lede: str = ""
    authors: tuple[str, ...] = ()
    role: str = CORPUS_ROLE


class DigestTag(Struct, frozen=True, kw_only=True):
    """A tag's files within a repo, newest first; ``latest`` is the newest file's day."""

    tag: str
    latest: str
    files: tuple[DigestFile, ...]


class DigestRepo(Struct, frozen=True, kw_only=True):
    """A repo's tags, the most recently active first."""

    repo: str
    latest: str
    tags: tuple[DigestTag, ...]


class Theme(Struct, frozen=True, kw_only=True):
    """A cluster of a wide window's files: ``name`` from their own words, ``repos`` slug -> count, its leading files."""

    number: int
    name: str
    count: int
    repos: dict[str, int]
    files: tuple[DigestFile, ...]


class Digest(Struct, frozen=True, kw_only=True):
    """What ``cv catch-up`` answers. ``since`` and ``until`` are days, both included.

    ``activity``: repo -> day -> distinct files of that day, also those beyond the cap.
    """

    since: str
    until: str
    window: str
    total_files: int
    shown_files: int
    truncated: bool
    message: str
    repos: tuple[DigestRepo, ...]
    themes: tuple[Theme, ...] = ()
    senior_root: str = ""
    notes: tuple[str, ...] = ()
    activity: dict[str, dict[str, int]] = {}


class RoleStatus(Struct, frozen=True, kw_only=True):
    """One collection against the disk; ``behind`` counts documents changed, new or gone since the last sync."""

    collection: str
    documents: int
    chunks: int
    behind: int


class LastHook(Struct, frozen=True, kw_only=True):
    """How the newest session-start hook went: epoch seconds, milliseconds."""

    at: int
    ms: int
    ok: bool
    error: str = ""


class RepoBehind(Struct, frozen=True, kw_only=True):
    """How many documents of one repo differ on disk from what the last sync saw."""

    changed: int = 0
    new: int = 0
    gone: int = 0


class LastSync(Struct, frozen=True, kw_only=True):
    """How the newest sync that a session's start left running went: epoch seconds, milliseconds."""

    at: int
    ms: int = 0
    ok: bool = True
    error: str = ""


class Status(Struct, frozen=True, kw_only=True):
    """What ``cv status`` answers. ``repos``: only those that are behind. ``documents``: status, as most documents of it spell
    it ('' for those that name none), to how many have it, both roles together. ``superseded``: documents that say they are
    superseded while nothing in the index takes their place. ``failed``: files that can't be read now.
    """

    senior_root: str
    applicable: bool
    reason: str
    roles: dict[str, RoleStatus]
    last_session_at: str | None
    nudge: Nudge
    embedder: str
    store_bytes: int
    last_hook: LastHook | UnsetType | None = UNSET
    last_sync: LastSync | None = None
    repos: dict[str, RepoBehind] = {}
    documents: dict[str, int] = {}
    superseded: tuple[str, ...] = ()
    failed: tuple[Failure, ...] = ()
    working_set: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


# --- doctor --------------------------------------------------------------------------------------------------------


class Finding(Struct, frozen=True, kw_only=True):
    """One thing that ``cv doctor`` looked at. ``check``: the part it belongs to; ``where``: a path, with ``:line`` where that
    helps; ``todo``: what mends it; ``fixable``: ``cv doctor --fix`` does.

    ``problem``: something of ours does not work; ``warning``: it works, with a loss that somebody should know of; ``note``: worth
    knowing only.
    """

    check: str
    level: Literal["ok", "note", "warning", "problem"]
    what: str
    where: str = ""
    todo: str = ""
    fixable: bool = False


class Diagnosis(Struct, frozen=True, kw_only=True):
    """What ``cv doctor`` answers. ``mended``: what ``--fix`` did, before the findings were made (again)."""

    senior_root: str | None
    findings: tuple[Finding, ...]
    mended: tuple[str, ...] = ()
