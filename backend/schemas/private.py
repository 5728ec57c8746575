"""The two private collections, from Claude Code's transcripts: what is about to be read, what was found, what was erased."""

from __future__ import annotations

from msgspec import Struct

SESSIONS_ROLE = "claude-code-sessions"
TRACES_ROLE = "claude-code-tool-traces"
PRIVATE_ROLES = (SESSIONS_ROLE, TRACES_ROLE)


class PrivatePlan(Struct, frozen=True, kw_only=True):
    """What ``cv sync --with-…`` is about to read: how many sessions of which projects, from which folder, since when (the day
    of the oldest line, empty where there is nothing), and how many ``bytes`` of transcripts.
    """

    senior_root: str
    transcripts: str
    roles: tuple[str, ...]
    sessions: int
    projects: tuple[str, ...]
    messages: int
    tool_calls: int
    since: str
    bytes: int


class PrivatePassage(Struct, frozen=True, kw_only=True):
    """A turn, or a tool call with its result, that ``cv search --role`` quotes; all of it is what was left after redaction.

    ``turn`` counts the messages of the transcript from 1; ``at`` is its time in UTC, ``timestamp`` the same in epoch seconds.
    """

    rank: int
    role: str
    session_id: str
    turn: int
    at: str
    timestamp: int
    project_path: str
    git_branch: str
    turn_role: str = ""
    tool_name: str = ""
    is_error: bool = False
    is_sidechain: bool = False
    text: str
    excerpt: str
    why: tuple[str, ...] = ()


class PrivatePassages(Struct, frozen=True, kw_only=True):
    """What ``cv search --role claude-code-sessions`` (or ``claude-code-tool-traces``) answers."""

    question: str
    senior_root: str
    role: str
    passages: tuple[PrivatePassage, ...]
    notes: tuple[str, ...] = ()


class Erasure(Struct, frozen=True, kw_only=True):
    """What ``cv forget`` is about to erase, or has erased: ``what`` in words, and how many documents of each role."""

    senior_root: str
    what: str
    sessions: int
    documents: dict[str, int]
    notes: tuple[str, ...] = ()
