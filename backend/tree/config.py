"""``config.json``: read typed, changed one key at a time, written atomically with every unknown key kept."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from backend.errors import CvError, UsageError
from backend.schemas.config import Collections, Config
from backend.tree.config_keys import KEYS
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
_SLIP = 0.75
"""How alike (``difflib``'s ratio) an unknown key is to the one it was meant to be: ``nudge.stat`` is, ``owner.name`` is a key of
its own and no ``reranker.name``.
"""

_UNSHOWN = {"chroma.token_env"}
"""Keys whose wrong value is not repeated: it may be the secret itself, pasted where its name belongs."""


class ConfigError(CvError):
    """``config.json`` cannot be used as it is; the message says where and what was expected."""


def config_path(root: Path) -> Path:
    """The config of ``root``."""
    return root / KIT_FOLDER / "config.json"


def load_config(root: Path) -> Config:
    """The typed config of ``root``. Keys that are absent have their defaults, keys we don't know are ignored.

    A tree that was moved heals: when the stored ``senior_root`` is not where the file lies, the returned config says the
    true one, and what ``dismissed_paths`` named below the old place is dismissed at the new one (``moved_from`` tells of
    it). Raises ``ConfigError``.
    """
    return _typed(_read(root), root)


def moved_from(root: Path) -> str | None:
    """The ``senior_root`` that the file of a moved tree still names, or None when it names the right one."""
    stored = _read(root).get("senior_root")
    return stored if isinstance(stored, str) and stored != str(root) else None


def change_config(root: Path, change: Callable[[dict[str, Any]], None]) -> Config:
    """Apply ``change`` to the raw JSON object under a lock, check the result, write it. Returns the new config.

    Nothing is written when the result would not be valid: then ``ConfigError``.
    """
    from backend.tree.lock import exclusive

    path = config_path(root)
    with exclusive(
        path.with_name("config.lock"),
        seconds=5.0,
        busy=f"{path}: another program is changing it; try again",
    ):
        return rewrite_config(root, change)


def rewrite_config(root: Path, change: Callable[[dict[str, Any]], None]) -> Config:
    """``change_config`` for a caller that holds the lock ``config.lock`` beside the file already."""
    raw = _read(root)
    change(raw)
    config = _typed(raw, root)
    raw["senior_root"] = str(root)
    if "dismissed_paths" in raw:
        raw["dismissed_paths"] = config.dismissed_paths
    write_atomic(config_path(root), _json(raw))
    return config


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
    config = _typed(raw, root)
    write_atomic(config_path(root), _json(raw))
    return config


def get_key(config: Config, key: str) -> Any:
    """The value at a dotted ``key`` (a leaf or a group) as plain JSON data. Raises ``UsageError`` for a key we don't know."""
    value = msgspec.to_builtins(config)
    for part in key.split("."):
        if not isinstance(value, dict) or part not in value:
            raise _unknown(key)
        value = value[part]
    return value


def set_key(root: Path, key: str, text: str) -> Config:
    """Set the dotted ``key`` from what a person typed: JSON where it is JSON, otherwise the text itself.

    Raises ``UsageError`` for a key we don't know or a value that doesn't fit; the file is then as it was.
    """
    _check_key(key)

    def change(raw: dict[str, Any]) -> None:
        *groups, leaf = key.split(".")
        target = raw
        for group in groups:
            target = target.setdefault(group, {})
            if not isinstance(target, dict):
                raise ConfigError(
                    f"config.json: {group}: expected an object, got {_shown(target)}; mend it by hand"
                )
        target[leaf] = _value(text)

    try:
        return change_config(root, change)
    except ConfigError as error:
        raise UsageError(str(error)) from error


def unset_key(root: Path, key: str) -> Config:
    """Take the dotted ``key`` out of the file, so that its default counts again. Raises ``UsageError`` as ``set_key`` does."""
    _check_key(key)

    def change(raw: dict[str, Any]) -> None:
        *groups, leaf = key.split(".")
        target: Any = raw
        for group in groups:
            target = target.get(group)
            if not isinstance(target, dict):
                return
        target.pop(leaf, None)

    try:
        return change_config(root, change)
    except ConfigError as error:
        raise UsageError(str(error)) from error


def _check_key(key: str) -> None:
    """Raise ``UsageError`` unless ``key`` is one that a person may change."""
    if key not in KEYS:
        raise _unknown(key)
    if key == "senior_root":
        raise UsageError(
            "senior_root: is where the file lies; move the folder instead, the config follows by itself"
        )


def unknown_keys(root: Path) -> list[str]:
    """Dotted keys in the file that we don't know (they are kept as they are), with the nearest known one as a hint."""
    import difflib  # not at the top: the hooks read configs too

    groups = {key.split(".")[0] for key in KEYS}
    open_groups = {key for key, entry in KEYS.items() if entry.holds_anything}
    found = []
    for key in _leaves(_read(root)):
        if key in KEYS or any(key.startswith(group + ".") for group in open_groups):
            continue
        if key in groups:  # a whole group that is empty
            continue
        near = difflib.get_close_matches(key, [*KEYS, *groups], n=1, cutoff=_SLIP)
        found.append(f"{key} (did you mean {near[0]}?)" if near else key)
    return found


def _leaves(raw: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in raw.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield prefix + key


def _read(root: Path) -> dict[str, Any]:
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
    except (UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(
            f"{path}: not valid JSON (not UTF-8 text, or nested too deeply)"
        ) from error
    if not isinstance(raw, dict):
        raise ConfigError(f"{path}: expected a JSON object, got {_shown(raw)}")
    return raw


def _typed(raw: dict[str, Any], root: Path) -> Config:
    try:
        config = msgspec.convert({**raw, "senior_root": str(root)}, Config)
    except msgspec.ValidationError as error:
        raise ConfigError(_explain(error, raw)) from error
    for role, name in msgspec.to_builtins(config.collections).items():
        if not _COLLECTION_NAME.fullmatch(name):
            raise ConfigError(
                f"config.json: collections.{role}: expected 3 to 512 letters, digits, '.', '_' or '-' with a letter "
                f"or digit at both ends, got {_shown(name)}"
            )
    names = list(msgspec.to_builtins(config.collections).values())
    if len(set(names)) < len(names):
        raise ConfigError(
            f"config.json: collections: expected a different name for each role, got {', '.join(names)}"
        )
    for key, least in _LEAST.items():
        value = get_key(config, key)
        if not (math.isfinite(value) and value >= least):
            raise ConfigError(
                f"config.json: {key}: expected {KEYS[key].expected}, got {_shown(value)}"
            )
    if not is_window(config.catch_up.window):
        raise ConfigError(
            f"config.json: catch_up.window: expected {KEYS['catch_up.window'].expected}, got {_shown(config.catch_up.window)}"
        )
    return _settled(config, raw, root)


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


def _explain(error: msgspec.ValidationError, raw: dict[str, Any]) -> str:
    """``config.json: nudge.state: expected "on" or "off", got "yes"`` out of msgspec's words."""
    message = str(error)
    where = re.search(r" - at `\$\.?([^`]*)`", message)
    key = re.sub(r"\[[^\]]*\]", "", where.group(1)) if where else ""
    value: Any = raw
    for part in key.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    expected = KEYS[key].expected if key in KEYS else "an object"
    got = "something else" if key in _UNSHOWN else _shown(value)
    return f"config.json: {key or 'top level'}: expected {expected}, got {got}"


def _unknown(key: str) -> UsageError:
    import difflib

    near = difflib.get_close_matches(key, KEYS, n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else "'cv config list' shows the keys"
    return UsageError(f"{key}: not a key of config.json; {hint}")


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:79] + "…"


def _json(raw: dict[str, Any]) -> bytes:
    text = json.dumps(raw, indent=2, ensure_ascii=False)
    try:
        return f"{text}\n".encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which only an escape can hold
        return f"{json.dumps(raw, indent=2)}\n".encode()
