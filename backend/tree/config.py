"""``config.json``: read typed and checked, changed under a lock, written atomically with every unknown key kept."""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from backend.errors import CvError
from backend.schemas.config import Collections, Config
from backend.tree.config_keys import KEYS, get_key
from backend.tree.files import write_atomic
from backend.tree.root import KIT_FOLDER
from backend.tree.window import is_window

_COLLECTION_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]{1,510}[a-zA-Z0-9]")
"""What Chroma takes as a name (its own error message says so): 3 to 512 of these, letter or digit at both ends."""

_LEAST = {
    "nudge.after_days": 0,
    "nudge.after_files": 0,
    "catch_up.max_files": 1,
    "reranker.top": 2,
    "reranker.max_seconds": 0,
    "sync.max_seconds": 0,
    "sync.max_memory_mb": 100,
}

_UNSHOWN = {"chroma.token_env", "reranker.api_key_env", "embedding.api_key_env"}
"""Keys whose wrong value is not repeated: it may be the secret itself, pasted where its name belongs."""


class ConfigError(CvError):
    """``config.json`` cannot be used as it is; the message says where and what was expected.

    ``keys``: the dotted keys, or groups, whose values are at fault; none where the file as a whole is.
    """

    def __init__(self, message: str, *keys: str) -> None:
        """``message``: for the person who reads it."""
        super().__init__(message)
        self.keys = keys


def config_path(root: Path) -> Path:
    """The config of ``root``."""
    return root / KIT_FOLDER / "config.json"


def load_config(root: Path) -> Config:
    """The typed config of ``root``. Keys that are absent have their defaults, keys we don't know are ignored.

    A tree that was moved heals: when the stored ``senior_root`` is not where the file lies, the returned config says the
    true one, and what ``dismissed_paths`` named below the old place is dismissed at the new one (``moved_from`` tells of
    it). Raises ``ConfigError``.
    """
    return typed(read_raw(root), root)


def moved_from(root: Path) -> str | None:
    """The ``senior_root`` that the file of a moved tree still names, or None when it names the right one."""
    stored = read_raw(root).get("senior_root")
    return stored if isinstance(stored, str) and stored != str(root) else None


def change_config(root: Path, change: Callable[[dict[str, Any]], None]) -> Config:
    """Apply ``change`` to the raw JSON object under a lock, check the result, write it. Returns the new config.

    Nothing is written when the result would not be valid: then ``ConfigError``.
    """
    with config_alone(root):
        return rewrite_config(root, change)


def config_alone(root: Path) -> AbstractContextManager[None]:
    """A block in which nobody else of us changes the file. Raises ``Busy``."""
    from backend.tree.lock import exclusive

    path = config_path(root)
    return exclusive(
        path.with_name("config.lock"),
        seconds=5.0,
        busy=f"{path}: another program is changing it; try again",
    )


def rewrite_config(root: Path, change: Callable[[dict[str, Any]], None]) -> Config:
    """``change_config`` for a caller that holds the lock ``config.lock`` beside the file already."""
    raw = read_raw(root)
    change(raw)
    config = typed(raw, root)
    raw["senior_root"] = str(root)
    if "dismissed_paths" in raw:
        raw["dismissed_paths"] = config.dismissed_paths
    write_raw(root, raw)
    return config


def write_raw(root: Path, raw: dict[str, Any]) -> None:
    """Put ``raw`` in the file's place, in one step. For callers that have checked it, and hold its lock."""
    write_atomic(config_path(root), _json(raw))


def create_config(root: Path, **keys: Any) -> Config:
    """Write a fresh ``config.json`` that holds the seed's keys with their defaults, and ``keys`` over them."""
    raw: dict[str, Any] = {
        "senior_root": str(root),
        "kit_root": None,
        "dismissed_paths": [],
        "collections": {
            "context_vigilance_corpus": Collections().context_vigilance_corpus,
            "changelog_corpus": Collections().changelog_corpus,
        },
        "nudge": {"state": "on", "muted_until": None},
        "last_session_at": None,
    } | keys
    config = typed(raw, root)
    write_raw(root, raw)
    return config


def read_raw(root: Path) -> dict[str, Any]:
    """The JSON object in the file of ``root``, unchecked. Raises ``ConfigError`` when there is none."""
    path = config_path(root)
    try:
        raw = json.loads(path.read_bytes())
    except OSError as error:
        raise ConfigError(f"{path}: could not be read ({error.strerror})") from error
    except json.JSONDecodeError as error:
        raise ConfigError(
            f"{path}: line {error.lineno}, column {error.colno}: not valid JSON ({error.msg}); "
            "mend it there, or move the file away and run 'cv init' again"
        ) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"{path}: not valid JSON (not UTF-8 text, a number of thousands of digits, or nested too deeply)"
        ) from error
    if not isinstance(raw, dict):
        raise ConfigError(f"{path}: expected a JSON object, got {shown(raw)}")
    return raw


def typed(raw: dict[str, Any], root: Path) -> Config:
    """``raw`` as ``load_config`` gives it. Raises ``ConfigError`` for the first value that is wrong."""
    try:
        config = msgspec.convert({**raw, "senior_root": str(root)}, Config)
    except msgspec.ValidationError as error:
        raise _explained(error, raw) from error
    _check_collections(msgspec.to_builtins(config.collections))
    for key, least in _LEAST.items():
        value = get_key(config, key)
        if not least <= value <= sys.float_info.max:  # which "NaN" and "Infinity" are not
            raise _unexpected(key, KEYS[key].expected, value)
    if not is_window(config.catch_up.window):
        key = "catch_up.window"
        raise _unexpected(key, KEYS[key].expected, config.catch_up.window)
    return _settled(config, raw, root)


def _check_collections(names: dict[str, str]) -> None:
    """Raise ``ConfigError`` unless Chroma takes each role's name and none has two roles."""
    for role, name in names.items():
        if not _COLLECTION_NAME.fullmatch(name):
            expected = (
                "3 to 512 letters, digits, '.', '_' or '-' with a letter or digit at both ends"
            )
            raise _unexpected(f"collections.{role}", expected, name)
    uses = Counter(names.values())
    if shared := [f"collections.{role}" for role, name in names.items() if uses[name] > 1]:
        raise ConfigError(
            f"config.json: collections: expected a different name for each role, got {', '.join(names.values())}",
            *shared,
        )


def _unexpected(key: str, expected: str, value: Any) -> ConfigError:
    return ConfigError(f"config.json: {key}: expected {expected}, got {shown(value)}", key)


def _settled(config: Config, raw: dict[str, Any], root: Path) -> Config:
    """The config with moments in a zone (local time where none is written), and with dismissed paths of a moved tree."""
    stored = raw.get("senior_root")
    dismissed = config.dismissed_paths
    if isinstance(stored, str) and stored not in ("", str(root)):
        dismissed = [_moved(path, Path(stored), root) for path in dismissed]
    return replace(
        config,
        dismissed_paths=dismissed,
        last_session_at=_zoned(config.last_session_at),
        nudge=replace(config.nudge, muted_until=_zoned(config.nudge.muted_until)),
    )


def _zoned(moment: datetime | None) -> datetime | None:
    return moment.astimezone() if moment is not None and moment.tzinfo is None else moment


def _moved(text: str, before: Path, now: Path) -> str:
    path = Path(os.path.expanduser(text))
    return str(now / path.relative_to(before)) if path.is_relative_to(before) else text


def _explained(error: msgspec.ValidationError, raw: dict[str, Any]) -> ConfigError:
    """``config.json: nudge.state: expected "on" or "off", got "yes"`` out of msgspec's words."""
    message = str(error)
    where = re.search(r" - at `\$\.?([^`]*)`", message)
    key = re.sub(r"\[[^\]]*\]", "", where.group(1)) if where else ""
    value: Any = raw
    for part in key.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    expected = KEYS[key].expected if key in KEYS else "an object"
    got = "something else" if key in _UNSHOWN else shown(value)
    return ConfigError(f"config.json: {key or 'top level'}: expected {expected}, got {got}", key)


def shown(value: Any) -> str:
    """A value of a file as an error repeats it: JSON, 80 characters at the most."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):  # YAML has keys of any kind, and circles
        return "something else"
    return text if len(text) <= 80 else text[:79] + "…"


def _json(raw: dict[str, Any]) -> bytes:
    text = json.dumps(raw, indent=2, ensure_ascii=False)
    try:
        return f"{text}\n".encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which only an escape can hold
        return f"{json.dumps(raw, indent=2)}\n".encode()
