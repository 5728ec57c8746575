"""What people change in ``config.json``: one key set or unset by ``cv config``, and keys misspelt in a file mended by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from backend.errors import UsageError
from backend.schemas.config import Config
from backend.tree.config import ConfigError, change_config, read_raw, shown
from backend.tree.config_keys import KEYS, unknown_key

_SLIP = 0.75
"""How alike (``difflib``'s ratio) an unknown key is to the one it was meant to be: ``nudge.stat`` is, ``owner.name`` is a key of
its own and no ``reranker.name``.
"""


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
                    f"config.json: {group}: expected an object, got {shown(target)}; mend it by hand"
                )
        target[leaf] = _value(text)

    try:
        return change_config(root, change)
    except ConfigError as error:
        raise UsageError(_of_what_was_said(str(error), key)) from error


def _of_what_was_said(words: str, key: str) -> str:
    """A refusal without the file's name where the new value of ``key`` is at fault: the file is as it was, and is not broken."""
    bare = words.removeprefix("config.json: ")
    at_fault = bare.partition(":")[0]
    if bare == words or not f"{key}.".startswith(f"{at_fault}."):
        return words
    return f"{bare}; nothing was changed"


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
        raise unknown_key(key)
    if key == "senior_root":
        raise UsageError(
            "senior_root: is where the file lies; move the folder instead, the config follows by itself"
        )


def unknown_keys(root: Path) -> list[str]:
    """Dotted keys in the file that we don't know (they are kept as they are), with the nearest known one as a hint."""
    groups = {key.split(".")[0] for key in KEYS}
    open_groups = {key for key, entry in KEYS.items() if entry.holds_anything}
    found = []
    for key in _leaves(read_raw(root)):
        if key in KEYS or any(key.startswith(group + ".") for group in open_groups):
            continue
        if key in groups:  # a whole group that is empty
            continue
        near = _nearest(key, [*KEYS, *groups])
        found.append(f"{key} (did you mean {near}?)" if near else key)
    return found


def _nearest(key: str, known: list[str]) -> str:
    import difflib  # not at the top: few files hold an unknown key

    return next(iter(difflib.get_close_matches(key, known, n=1, cutoff=_SLIP)), "")


def _leaves(raw: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in raw.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield prefix + key


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
