"""What each key of ``config.json`` means, the values it takes (for errors and ``cv config list``), and how one is looked up."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, to_builtins

from backend.errors import UsageError
from backend.schemas.config import Config


class Key(Struct, frozen=True):
    """A key's allowed values in words, and what it does. ``values``: those that a shell offers, where there are some to choose
    from. ``holds_anything``: an object with keys of its user's choice.
    """

    expected: str
    meaning: str
    values: tuple[str, ...] = ()
    holds_anything: bool = False


_ON_OFF = '"on" or "off"'
_SWITCH = ("on", "off")
_NAME = "the name of a collection"
_MOMENT = 'null or a moment such as "2026-03-09T18:00:00Z"'

KEYS: dict[str, Key] = {
    "senior_root": Key("a path", "top of the tree; follows the file by itself"),
    "kit_root": Key(
        "null or a path", "where the kit's own repo lies, if the tree holds one", values=("null",)
    ),
    "dismissed_paths": Key(
        "a list of paths", "folders that are opted out, beside those with a marker"
    ),
    "collections.context_vigilance_corpus": Key(_NAME, "the collection of the context-v documents"),
    "collections.changelog_corpus": Key(_NAME, "the collection of the changelog entries"),
    "collections.claude_code_sessions": Key(
        _NAME, "the collection of session turns (private, opt-in)"
    ),
    "collections.claude_code_tool_traces": Key(
        _NAME, "the collection of tool calls (private, opt-in)"
    ),
    "nudge.state": Key(_ON_OFF, "whether the catch-up nudge speaks at all", values=_SWITCH),
    "nudge.muted_until": Key(_MOMENT, "the nudge is silent until then", values=("null",)),
    "nudge.after_days": Key(
        "a number of days, 0 or more", "nudge when the last session is longer ago"
    ),
    "nudge.after_files": Key(
        "a whole number, 0 or more", "nudge when so many documents changed since the last session"
    ),
    "nudge.not_by": Key("part of a name", "documents that only this author wrote are no news"),
    "last_session_at": Key(_MOMENT, "when the last session started; the hook moves it"),
    "kickoff": Key(
        _ON_OFF, "whether the agent asks for the working set at a session's start", values=_SWITCH
    ),
    "catch_up.window": Key(
        'a window such as "2w", "10d", "3m", "1y"', "the digest's window when none is named"
    ),
    "catch_up.max_files": Key("a whole number, 1 or more", "how many files a digest shows at most"),
    "embedding.name": Key(
        '"static", "minilm" or the name of a Chroma embedding function',
        "which embedder fills the vectors",
        values=("static", "minilm"),
    ),
    "embedding.options": Key(
        "an object", "arguments of that embedding function", holds_anything=True
    ),
    "embedding.api_key_env": Key(
        "null or a variable's name", "the environment variable that holds its key", values=("null",)
    ),
    "reranker.name": Key(
        '"off", "http" or "tei"',
        "whether a server re-orders the first files, and in which form it is asked",
        values=("off", "http", "tei"),
    ),
    "reranker.url": Key(
        "a full address", "its rerank call, such as http://localhost:8080/v1/rerank"
    ),
    "reranker.model": Key("a model's name", "which model it is to use, where it has several"),
    "reranker.api_key_env": Key(
        "null or the name of an environment variable, in capitals; never the key itself",
        "the variable that holds its key",
        values=("null",),
    ),
    "reranker.top": Key("a whole number, 2 or more", "how many files it re-orders"),
    "reranker.max_seconds": Key(
        "a number of seconds, 0 or more", "how long it may take; then the order is as without it"
    ),
    "chroma.mode": Key(
        '"persistent", "http" or "cloud"',
        "where Chroma runs: in the tree's own folder, on a server, in Chroma Cloud (docs/server.md)",
        values=("persistent", "http", "cloud"),
    ),
    "chroma.host": Key(
        "a host's name or address, without http:// and without a port", "the server (http)"
    ),
    "chroma.port": Key("a whole number from 1 to 65535", "its port (http)"),
    "chroma.ssl": Key(
        "true or false", "whether it is reached by https (http)", values=("true", "false")
    ),
    "chroma.tenant": Key(
        "null or a tenant's name", "the tenant on the server (http, cloud)", values=("null",)
    ),
    "chroma.database": Key(
        "null or a database's name", "the database on it (http, cloud)", values=("null",)
    ),
    "chroma.token_env": Key(
        "null or the name of an environment variable, in capitals; never the token itself",
        "the variable that holds the server's token (http, cloud)",
        values=("null",),
    ),
    "discovery.skip_folders": Key(
        "a list of folder names", "folders the walk leaves out, beside the built-in list"
    ),
    "sync.max_seconds": Key(
        "a number of seconds, 0 or more",
        "how long the sync that a session's start leaves running may take",
    ),
    "sync.max_memory_mb": Key(
        "a whole number of MB, 100 or more", "how much memory it may take (Linux, macOS)"
    ),
    "log": Key(_ON_OFF, "whether the hooks write to hook.log", values=_SWITCH),
}


def get_key(config: Config, key: str) -> Any:
    """The value at a dotted ``key`` (a leaf or a group) as plain JSON data. Raises ``UsageError`` for a key we don't know."""
    value = to_builtins(config)
    for part in key.split("."):
        if not isinstance(value, dict) or part not in value:
            raise unknown_key(key)
        value = value[part]
    return value


def unknown_key(key: str) -> UsageError:
    """The error for a key we don't know, with the nearest known ones."""
    import difflib

    near = difflib.get_close_matches(key, KEYS, n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else "'cv config list' shows the keys"
    return UsageError(f"{key}: not a key of config.json; {hint}")
