"""What people change in ``config.json``: one key set or unset by ``cv config``, and keys misspelt in a file mended by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from backend.errors import UsageError
from backend.schemas.config import Config
from backend.tree.config import ConfigError, read_raw
from backend.tree.config_faults import mend_config
from backend.tree.config_keys import KEYS, unknown_key

_SLIP = 0.75
"""How alike (``difflib``'s ratio) an unknown key is to the one it was meant to be: ``nudge.stat`` is, ``owner.name`` is a key of
its own and no ``reranker.name``.
"""


def set_key(root: Path, key: str, text: str) -> Config:
    """Set the dotted ``key`` from what a person typed: JSON where it is JSON, otherwise the text itself.

    A value that is wrong elsewhere stays as it is and does not stand in the way (``config_faults.check_config`` tells of it), and
    what stands in the place of the key's group and is none gives way. Returns the config with defaults where a value is wrong.
    Raises ``UsageError`` for a key we don't know or a value that doesn't fit; the file is then as it was.
    """
    _check_key(key)

    def change(raw: dict[str, Any]) -> None:
        *groups, leaf = key.split(".")
        target = raw
        for group in groups:
            if not isinstance(target.get(group), dict):
                target[group] = {}
            target = target[group]
        target[leaf] = _value(text)

    try:
        return mend_config(root, key, change).config
    except ConfigError as error:
        raise UsageError(_of_what_was_said(str(error))) from error


def _of_what_was_said(words: str) -> str:
    """A refusal without the file's name where the new value is at fault: the file is as it was."""
    bare = words.removeprefix("config.json: ")
    return words if bare == words else f"{bare}; nothing was changed"


def unset_key(root: Path, key: str) -> Config:
    """Take the dotted ``key`` out of the file, so that its default counts again; also a group that is none, whose keys all have
    their defaults then. Returns and raises as ``set_key`` does.
    """
    is_group = _is_group(key)
    if not is_group:
        _check_key(key)

    def change(raw: dict[str, Any]) -> None:
        *groups, leaf = key.split(".")
        target = raw
        for group in groups:
            if not isinstance(target.get(group, {}), dict):
                leaf = group  # with what stands there, no key below it has a value
                break
            target = target.get(group, {})
        if is_group and isinstance(target.get(leaf, {}), dict):
            keys = " or ".join(each for each in KEYS if each.startswith(f"{key}."))
            raise UsageError(f"{key}: a group; unset one of its keys: {keys}")
        target.pop(leaf, None)

    try:
        return mend_config(root, key, change).config
    except ConfigError as error:
        raise UsageError(_of_what_was_said(str(error))) from error


def _is_group(key: str) -> bool:
    return any(each.startswith(f"{key}.") for each in KEYS)


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
