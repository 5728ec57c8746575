"""The SessionStart hook in ``<senior-root>/.claude/settings.json``: merged in, and taken out again, with all else kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from backend.errors import CvError
from backend.tree.files import write_if_changed

COMMAND = '"$CLAUDE_PROJECT_DIR"/.context-vigilance/scripts/session-start.sh'
"""Claude Code reads these settings only in a session started at the root itself, where the variable names that folder; so it
stays right when the tree moves or is shared."""

_TIMEOUT = 10
"""Seconds. The hook needs well under one; past this Claude Code goes on without it."""


def settings_path(root: Path) -> Path:
    """The project settings that Claude Code reads at ``root``."""
    return root / ".claude" / "settings.json"


def add_hook(root: Path) -> bool:
    """Add our hook unless it is there. True when the file was changed.

    Raises ``CvError`` naming line and column when the file is not valid JSON, or has another shape than Claude Code reads;
    it is then as it was.
    """
    settings, indent = _read(root)
    if _has_hook(settings):
        return False
    hooks = settings.setdefault("hooks", {})
    if not isinstance(hooks, dict) or not isinstance(hooks.setdefault("SessionStart", []), list):
        raise CvError(
            f'{settings_path(root)}: hooks: expected {{"SessionStart": [ … ]}}; mend it by hand, then run again'
        )
    hooks["SessionStart"].append(
        {"hooks": [{"type": "command", "command": COMMAND, "timeout": _TIMEOUT}]}
    )
    return _write(root, settings, indent)


def remove_hook(root: Path) -> bool:
    """Take exactly our hook out, with what it leaves empty. True when the file was changed."""
    settings, indent = _read(root)
    if not _has_hook(settings):
        return False
    groups = settings["hooks"]["SessionStart"]
    for group in groups:
        if isinstance(group, dict) and isinstance(group.get("hooks"), list):
            group["hooks"] = [hook for hook in group["hooks"] if not _is_ours(hook)]
    settings["hooks"]["SessionStart"] = [
        group for group in groups if not isinstance(group, dict) or group.get("hooks")
    ]
    if not settings["hooks"]["SessionStart"]:
        del settings["hooks"]["SessionStart"]
    if not settings["hooks"]:
        del settings["hooks"]
    return _write(root, settings, indent)


def _has_hook(settings: dict[str, Any]) -> bool:
    hooks = settings.get("hooks")
    groups = hooks.get("SessionStart") if isinstance(hooks, dict) else None
    return any(
        _is_ours(hook)
        for group in (groups if isinstance(groups, list) else [])
        if isinstance(group, dict) and isinstance(group.get("hooks"), list)
        for hook in group["hooks"]
    )


def _is_ours(hook: Any) -> bool:
    return isinstance(hook, dict) and ".context-vigilance/scripts/session-start.sh" in str(
        hook.get("command")
    )


def _read(root: Path) -> tuple[dict[str, Any], str | int]:
    path = settings_path(root)
    try:
        text = path.read_text("utf-8-sig")
    except FileNotFoundError:
        return {}, 2
    except (OSError, UnicodeDecodeError) as error:
        raise CvError(f"{path}: could not be read ({error})") from error
    try:
        settings = json.loads(text) if text.strip() else {}
    except json.JSONDecodeError as error:
        raise CvError(
            f"{path}: line {error.lineno}, column {error.colno}: not valid JSON ({error.msg}); "
            "mend it there and run again, or leave the file alone with --no-settings-hook"
        ) from error
    if not isinstance(settings, dict):
        raise CvError(f"{path}: expected a JSON object")
    return settings, _indent(text)


def _indent(text: str) -> str | int:
    """The indentation that the file already has."""
    for line in text.splitlines():
        blanks = line[: len(line) - len(line.lstrip())]
        if blanks:
            return blanks
    return 2


def _write(root: Path, settings: dict[str, Any], indent: str | int) -> bool:
    text = json.dumps(settings, indent=indent, ensure_ascii=False) + "\n"
    return write_if_changed(settings_path(root), text.encode())
