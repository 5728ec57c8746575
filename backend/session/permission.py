"""The PreToolUse hook: our own read commands run without a permission prompt, everything else is none of our business.

Allowed is one simple command that reads, or that changes only the kit's own files in a way that takes nothing from anybody:
``sync`` without a rebuild (every read command does the same first), the two mutes of the nudge (they end by themselves), the
session's own memory. Not allowed: what writes into the tree or to a file of the caller's choice, what reads private transcripts,
what switches something off for good, and another tree than the one at hand (``--root``).
"""
# Importing pathlib takes longer than all of this.
# ruff: noqa: PTH100, PTH117, PTH118

from __future__ import annotations

import os
import re
import shlex
from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from backend.session.event import Event

_FORBIDDEN = re.compile(r"[;|&$`<>\r\n\x00-\x08\x0b-\x1f\x7f\\]")
"""Anywhere, also in quotes: a shell needs one of these to do more than run one command with the words as they stand."""

_WORD = r"""(?:[\w@%+:,./=-]|"[^"]*"|'[^']*')+"""
_ONE_COMMAND = re.compile(f" *{_WORD}(?: +{_WORD})* *")
"""Words as no shell changes them: no glob, no tilde, no brace, no comment; quotes closed."""

_READ = ("--json", "--help", "-h")
_ALLOWED: dict[tuple[str, ...], tuple[str, ...]] = {
    ("find",): (*_READ, "-n", "--n-results", "--max-files", "--scope", "--markdown"),
    ("search",): (*_READ, "--role", "--where", "-n", "--n-results", "--scope", "--markdown"),
    ("catch-up",): (
        *_READ, "--window", "--since", "--scope", "--by-author", "--owner", "--not-by", "--max-files", "--alphabetical",
        "--markdown", "--theme",
    ),
    ("folders",): (*_READ, "--scope"),
    ("status",): _READ,
    ("why",): _READ,
    ("doctor",): _READ,
    ("list-roots",): _READ,
    ("help",): _READ,
    ("nudge",): _READ,
    ("nudge", "mute-for-today"): _READ,
    ("nudge", "mute-for-week"): _READ,
    ("config", "get"): _READ,
    ("config", "list"): _READ,
    ("session", "show"): _READ,
    ("session", "no-context"): _READ,
    ("session", "remember-files"): _READ,
    ("sync",): (*_READ, "--changed-since", "--role", "--dry-run", "--max-seconds"),
}  # fmt: skip
_PUBLIC = {"context-vigilance-corpus", "changelog-corpus"}
"""As in ``schemas.roles``, which costs an import."""

_NO_MORE_WORDS = frozenset(
    {("nudge",), ("nudge", "mute-for-today"), ("nudge", "mute-for-week"), ("sync",)}
)
"""Commands where a further word would mean something else: ``nudge off`` is not ``nudge``."""


def permission(event: Event) -> dict[str, Any] | None:
    """The answer for a command that ``is_own_read`` has passed: yes where the kit applies in the session's folder."""
    from pathlib import Path

    from backend.tree.config import load_config
    from backend.tree.root import applicability, find_root

    folder = Path(event.cwd)
    root = find_root(folder)
    if root is None or not applicability(folder, root, load_config(root)).applicable:
        return None
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow",
            "permissionDecisionReason": "A read command of the Context Vigilance plugin.",
        }
    }


def is_own_read(tool_input: Mapping[str, Any], *, launcher: str) -> bool:
    """Whether the Bash tool is asked to run exactly one read command of ours; ``launcher`` is the plugin's ``bin/cv``."""
    command = tool_input.get("command")
    if not isinstance(command, str) or tool_input.get("dangerouslyDisableSandbox"):
        return False
    words = split_command(command)
    return bool(words) and _is_launcher(words[0], launcher) and _is_read(words[1:])


def split_command(command: str, *, windows: bool = os.name == "nt") -> list[str]:
    """The words of one simple command; none where a shell could see anything else in it."""
    if windows:  # Git Bash takes a path with backslashes where it stands in quotes
        command = re.sub(
            r"""^(["'])([^"'$`]*)\1""", lambda path: path[0].replace("\\", "/"), command
        )
    if len(command) > 10_000 or _FORBIDDEN.search(command) or not _ONE_COMMAND.fullmatch(command):
        return []
    words = shlex.split(command, posix=True)
    # ``=name`` at a word's start is a path to zsh, and ``NAME=value`` before a command sets a variable.
    return [] if "=" in words[0] or any(word.startswith("=") for word in words) else words


def _is_launcher(word: str, launcher: str) -> bool:
    """The plugin's own file by its full path; or plain ``cv`` where nothing else on PATH has that name (it would win)."""
    if not launcher:
        return False
    if word == "cv":
        return _first_on_path("cv") in ("", _normal(launcher))
    return _is_absolute(word) and ".." not in word.split("/") and _normal(word) == _normal(launcher)


def _first_on_path(name: str) -> str:
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, name)
        if not os.path.isabs(folder):
            return path  # means another folder in the Bash tool than here, perhaps
        for candidate in (path, path + ".exe", path + ".cmd") if os.name == "nt" else (path,):
            if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
                return _normal(os.path.abspath(candidate))
    return ""


def _is_absolute(word: str) -> bool:
    return word.startswith("/") or bool(re.match(r"[A-Za-z]:/", word))


def _normal(path: str) -> str:
    """A path to compare: on Windows without regard to case, kind of slash, ``/c/`` for ``C:/`` and ``.cmd``."""
    if os.name != "nt":
        return path
    path = path.replace("\\", "/").casefold().removesuffix(".cmd")
    return re.sub(r"^/([a-z])/", r"\1:/", path)


def _is_read(words: list[str]) -> bool:
    if words in (["--version"], ["--help"], ["-h"]):
        return True
    name = tuple(words[:2]) if tuple(words[:2]) in _ALLOWED else tuple(words[:1])
    if name not in _ALLOWED:
        return False
    rest, options = words[len(name) :], _ALLOWED[name]
    given = [word for word in rest if word.startswith("-") and word != "--"]
    if not all(_option(word) in options for word in given) or not _roles(rest) <= _PUBLIC:
        return False
    if name in _NO_MORE_WORDS:
        values = sum(word in ("--role", "--max-seconds") for word in rest)
        return len(rest) - len(given) <= values
    return True


def _roles(words: list[str]) -> set[str]:
    """What is given for ``--role``; a private one means the person's own transcripts, and they are to be asked."""
    after = {word for before, word in pairwise(words) if before == "--role"}
    return after | {word.removeprefix("--role=") for word in words if word.startswith("--role=")}


def _option(word: str) -> str:
    return word.split("=", 1)[0] if word.startswith("--") else word
