"""What was left out, in words: how many of what, by reason."""

from __future__ import annotations

from collections.abc import Mapping

from backend.tree.rules import LEFT_OUT, NOT_UNICODE, OPT_IN

_IN_WORDS = {
    OPT_IN["skills"]: ("file of agent skills", "files of agent skills"),
    "copy": ("copy", "copies"),
    "dangling symlink": ("dangling symlink", "dangling symlinks"),
    "dismissed": ("dismissed folder", "dismissed folders"),
    "forgotten": ("turn or call that was forgotten", "turns or calls that were forgotten"),
    "hidden file": ("hidden file", "hidden files"),
    LEFT_OUT: ("file left out in sources.md", "files left out in sources.md"),
    "line of another type": ("line of another type", "lines of another type"),
    "line too long": ("line that is too long", "lines that are too long"),
    "line unreadable": ("unreadable line", "unreadable lines"),
    "message forgotten": ("message that was forgotten", "messages that were forgotten"),
    NOT_UNICODE: ("name that is not Unicode", "names that are not Unicode"),
    "outside the tree, or dismissed": (
        "message from outside the tree or a dismissed folder",
        "messages from outside the tree or a dismissed folder",
    ),
    "private": ("private document", "private documents"),
    "README of a changelog": ("README of a changelog", "READMEs of changelogs"),
    "result without its call": ("result without its call", "results without their calls"),
    OPT_IN["extra"]: ("scratch file (extra/)", "scratch files (extra/)"),
    "symlink out of the tree": ("symlink out of the tree", "symlinks out of the tree"),
    "symlink to what is indexed in its own place": (
        "symlink to what is indexed in its own place",
        "symlinks to what is indexed in its own place",
    ),
    "symlink to what is left out": (
        "symlink to what is left out",
        "symlinks to what is left out",
    ),
    "unpublished": ("unpublished entry", "unpublished entries"),
}
"""Reasons that a report counts (``RoleReport.skipped``) to what is counted, one and several."""


def skipped_text(skipped: Mapping[str, int]) -> str:
    """``3 copies, 1 dismissed folder``, in the order given."""
    return ", ".join(_counted(number, reason) for reason, number in skipped.items())


def _counted(number: int, reason: str) -> str:
    one, several = _IN_WORDS.get(reason, (reason, reason))
    return f"{number} {one if number == 1 else several}"
