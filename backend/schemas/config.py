"""``config.json``: every key of it, typed, with its default."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from backend.schemas.roles import CHANGELOG_ROLE, CORPUS_ROLE

OnOff = Literal["on", "off"]

_HOST = r"\A([A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])\Z"
"""A name or an address alone, an IPv6 one in brackets: no ``http://``, no user, no path."""

_SCOPE = r"\A[A-Za-z0-9][A-Za-z0-9._-]{0,511}\Z"
"""What may stand in the path of a server's address."""

_VARIABLE = r"\A[A-Z_][A-Z0-9_]*\Z"
"""The name of an environment variable, in capitals, so that a token pasted by mistake is seldom taken for one."""


class Collections(Struct, frozen=True, kw_only=True):
    """Which Chroma collection holds which role. Names: 3 to 512 of ``[a-zA-Z0-9._-]``, letter or digit at both ends."""

    context_vigilance_corpus: str = CORPUS_ROLE
    changelog_corpus: str = CHANGELOG_ROLE
    claude_code_sessions: str = "claude-code-sessions"
    claude_code_tool_traces: str = "claude-code-tool-traces"

    def of(self, role: str) -> str:
        """The collection of ``role``, whose key here has underscores for dashes."""
        return str(getattr(self, role.replace("-", "_")))


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


class Reranker(Struct, frozen=True, kw_only=True):
    """A server that re-orders the first ``top`` files of ``cv find``: ``http`` takes ``documents`` as Cohere, Jina, vLLM and
    llama.cpp do, ``tei`` takes ``texts`` as text-embeddings-inference does. ``url``: the full address of its rerank call.
    """

    name: Literal["off", "http", "tei"] = "off"
    url: str = ""
    model: str = ""
    api_key_env: Annotated[str, Meta(pattern=_VARIABLE)] | None = None
    top: int = 30
    max_seconds: float = 5.0


class Chroma(Struct, frozen=True, kw_only=True):
    """Where Chroma runs: ``persistent``, in the tree's own folder; ``http``, a server at ``host`` and ``port``; ``cloud``, Chroma
    Cloud, which knows its own address. ``tenant``, ``database``: None is Chroma's default (Cloud: what the key belongs to).
    ``token_env`` names the environment variable that holds the token; the token itself stands nowhere.
    """

    mode: Literal["persistent", "http", "cloud"] = "persistent"
    host: Annotated[str, Meta(pattern=_HOST)] = "localhost"
    port: Annotated[int, Meta(ge=1, le=65535)] = 8000
    ssl: bool = False
    tenant: Annotated[str, Meta(pattern=_SCOPE)] | None = None
    database: Annotated[str, Meta(pattern=_SCOPE)] | None = None
    token_env: Annotated[str, Meta(pattern=_VARIABLE)] | None = None


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
    reranker: Reranker = field(default_factory=Reranker)
    chroma: Chroma = field(default_factory=Chroma)
    discovery: Discovery = field(default_factory=Discovery)
    sync: Sync = field(default_factory=Sync)
    log: OnOff = "off"
