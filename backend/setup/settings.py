"""The SessionStart hook in ``<senior-root>/.claude/settings.json``: merged in, and taken out again, with all else kept."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from backend.errors import CvError
from backend.tree.files import write_if_changed

COMMAND = '"$CLAUDE_PROJECT_DIR"/.context-vigilance/scripts/session-start.sh'
"""Claude Code reads these settings only in a session started at the root itself, where the variable names that folder; so it
stays right when the tree moves or is shared."""

_TIMEOUT = 10
"""Seconds. The hook needs well under one; past this Claude Code goes on without it."""


class Installed(Struct, frozen=True):
    """What a settings file holds of SessionStart: ``ours`` entries in the right form; ``flat`` ones of ours and
    ``foreign_flat`` ones of others that lack the level ``{"hooks": [ … ]}``, for which Claude Code skips the entry or the
    whole file.
    """

    ours: int = 0
    flat: int = 0
    foreign_flat: int = 0


def settings_path(root: Path) -> Path:
    """The project settings that Claude Code reads at ``root``."""
    return root / ".claude" / "settings.json"


def add_hook(root: Path) -> bool:
    """Add our hook unless it is there; mend one of ours that has the wrong form or stands there twice. True when the file was
    changed.

    Raises ``CvError`` naming line and column when the file is not valid JSON, or has another shape than Claude Code reads;
    it is then as it was.
    """
    settings, style = _read(settings_path(root))
    groups = _groups(settings, settings_path(root))
    _keep_first(groups)
    if not any(_is_ours(hook) for group in groups for hook in _hooks(group)):
        groups.append({"hooks": [{"type": "command", "command": COMMAND, "timeout": _TIMEOUT}]})
    settings.setdefault("hooks", {})["SessionStart"] = groups
    return _write(settings_path(root), settings, style)


def remove_hook(root: Path) -> bool:
    """Take exactly our hook out, with what it leaves empty: its group, the lists, and a file that held nothing else. True when
    there was something to take out.
    """
    path = settings_path(root)
    settings, style = _read(path)
    found = installed(path)
    if not found.ours + found.flat:
        return False
    groups = _groups(settings, path)
    _keep_first(groups, kept=0)
    settings["hooks"]["SessionStart"] = groups
    if not groups:
        del settings["hooks"]["SessionStart"]
    if not settings["hooks"]:
        del settings["hooks"]
    if settings:
        return _write(path, settings, style)
    path.unlink()
    with suppress(OSError):  # the folder holds something else
        path.parent.rmdir()
    return True


def check_settings(root: Path) -> None:
    """Raise what ``add_hook`` would raise, and change nothing."""
    settings, _ = _read(settings_path(root))
    _groups(settings, settings_path(root))


def installed(path: Path) -> Installed:
    """What the settings file at ``path`` holds; nothing where there is none. Raises ``CvError`` like ``add_hook``."""
    settings, _ = _read(path)
    groups = _groups(settings, path)
    flat = [group for group in groups if isinstance(group, dict) and "hooks" not in group]
    return Installed(
        ours=sum(_is_ours(hook) for group in groups for hook in _hooks(group)),
        flat=sum(map(_is_ours, flat)),
        foreign_flat=sum(not _is_ours(entry) for entry in flat),
    )


def _keep_first(groups: list[Any], kept: int = 1) -> None:
    """Leave ``kept`` entries of ours, the first ones; groups that this empties go, those that were empty before stay."""
    for group in list(groups):
        if isinstance(group, dict) and "hooks" not in group and _is_ours(group):
            groups.remove(group)
            continue
        hooks = _hooks(group)
        if not any(map(_is_ours, hooks)):
            continue
        left = []
        for hook in hooks:
            if _is_ours(hook):
                if not kept:
                    continue
                kept -= 1
            left.append(hook)
        group["hooks"] = left
        if not left:
            groups.remove(group)


def _groups(settings: dict[str, Any], path: Path) -> list[Any]:
    hooks = settings.get("hooks", {})
    groups = hooks.get("SessionStart", []) if isinstance(hooks, dict) else None
    if not isinstance(groups, list):
        raise CvError(
            f'{path}: hooks: expected {{"SessionStart": [ … ]}}; mend it by hand, then run again'
        )
    return groups


def _hooks(group: Any) -> list[Any]:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return hooks if isinstance(hooks, list) else []


def _is_ours(hook: Any) -> bool:
    command = str(hook.get("command")).replace("\\", "/") if isinstance(hook, dict) else ""
    return ".context-vigilance/scripts/session-start.sh" in command


class _Style(Struct, frozen=True):
    """How the file is written: its indentation, its line ends, and what follows the last brace."""

    indent: str | int = 2
    newline: str = "\n"
    end: str = "\n"


def _read(path: Path) -> tuple[dict[str, Any], _Style]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return {}, _Style()
    except (OSError, UnicodeDecodeError) as error:
        raise CvError(f"{path}: could not be read ({error})") from error
    try:
        settings = json.loads(text, object_pairs_hook=_no_doubles) if text.strip() else {}
    except json.JSONDecodeError as error:
        raise CvError(
            f"{path}: line {error.lineno}, column {error.colno}: not valid JSON ({error.msg}); "
            "mend it there and run again, or leave the file alone with --no-settings-hook"
        ) from error
    except (RecursionError, KeyError) as error:
        reason = (
            f"the key {error} stands in one object twice"
            if isinstance(error, KeyError)
            else "nested too deeply"
        )
        raise CvError(
            f"{path}: {reason}; mend it there and run again, or leave the file alone with --no-settings-hook"
        ) from error
    if not isinstance(settings, dict):
        raise CvError(f"{path}: expected a JSON object")
    newline = "\r\n" if "\r\n" in text else "\n"
    return settings, _Style(_indent(text), newline, newline if text.endswith("\n") else "")


def _no_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; one that has a key twice can't be written again without losing what one of them says."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise KeyError(key)
        found[key] = value
    return found


def _indent(text: str) -> str | int:
    """The indentation that the file already has."""
    for line in text.splitlines():
        blanks = line[: len(line) - len(line.lstrip())]
        if blanks:
            return blanks
    return 2


def _write(path: Path, settings: dict[str, Any], style: _Style) -> bool:
    if path.exists() and _read(path)[0] == settings:
        return False
    text = json.dumps(settings, indent=style.indent, ensure_ascii=False) + style.end
    path = path.resolve()  # a link stays a link
    mode = path.stat().st_mode & 0o777 if path.exists() else None
    changed = write_if_changed(path, text.replace("\n", style.newline).encode())
    if mode is not None:  # settings may hold keys that only their owner should read
        path.chmod(mode)
    return changed
