"""Wrong values of a ``config.json`` that is JSON: all of them at once, what mends each, and a change that mends one."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from backend.schemas.config import Config
from backend.tree.config import ConfigError, config_alone, read_raw, typed, write_raw
from backend.tree.config_keys import KEYS


class Checked(NamedTuple):
    """``config``: with the default where a value is wrong; ``faults``: the wrong values, one error each."""

    config: Config
    faults: tuple[ConfigError, ...] = ()


def check_config(root: Path) -> Checked:
    """What the file of ``root`` says. Raises ``ConfigError`` only for a file that is no JSON object."""
    return check_raw(read_raw(root), root)


def check_raw(raw: dict[str, Any], root: Path) -> Checked:
    """The same of an object that was read; it stays as it is."""
    rest, faults, wrong = copy.deepcopy(raw), list[ConfigError](), set[str]()
    while True:
        try:
            return Checked(typed(rest, root), tuple(faults))
        except ConfigError as error:
            if wrong.isdisjoint(
                error.keys
            ):  # else it is a default, in a wrong value's place, that is at fault
                faults.append(error)
            wrong.update(error.keys)
            if not any([_take_out(rest, key) for key in error.keys]):
                raise


def mend_config(root: Path, key: str, change: Callable[[dict[str, Any]], None]) -> Checked:
    """``change_config`` for a change of ``key`` alone: values that are wrong elsewhere stay, and stand in its way no longer.

    Raises ``ConfigError`` where ``key`` itself would be wrong after it; nothing is written then.
    """
    with config_alone(root):
        raw = read_raw(root)
        change(raw)
        found = check_raw(raw, root)
        for fault in found.faults:
            if key in fault.keys:
                raise fault
        if not any("dismissed_paths" in fault.keys for fault in found.faults):
            raw["senior_root"] = str(root)  # not before they can follow a tree that was moved
            if "dismissed_paths" in raw:
                raw["dismissed_paths"] = found.config.dismissed_paths
        write_raw(root, raw)
        return found


def cure(fault: ConfigError) -> str:
    """The commands that mend ``fault``, as ``'cv config …'``; empty where only an editor does."""
    if not fault.keys or not fault.keys[0]:
        return ""
    key = fault.keys[0]
    if key not in KEYS:
        return f"'cv config unset {key}' gives its defaults back"
    if len(fault.keys) > 1:  # of which the default may be taken
        return f"'cv config set {key} NAME' mends it"
    return f"'cv config set {key} VALUE' mends it, 'cv config unset {key}' gives the default back"


def _take_out(raw: dict[str, Any], key: str) -> bool:
    """Take the dotted ``key`` out; whether it was there."""
    *groups, leaf = key.split(".")
    target: Any = raw
    for group in groups:
        target = target.get(group)
        if not isinstance(target, dict):
            return False
    return target.pop(leaf, target) is not target
