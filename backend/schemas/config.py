"""``config.json``: every key of it, typed, with its default."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from msgspec import Struct, field

from backend.schemas.roles import CHANGELOG_ROLE, CORPUS_ROLE

OnOff = Literal["on", "off"]


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
