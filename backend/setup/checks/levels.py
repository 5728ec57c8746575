"""The four levels of a finding; ``where`` may be a path."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from backend.schemas.doctor import Finding


def ok(check: str, what: str, *, where: Path | str = "") -> Finding:
    """It is as it should be."""
    return Finding(check=check, level="ok", what=what, where=str(where))


def note(
    check: str, what: str, *, todo: str, where: Path | str = "", fixable: bool = False
) -> Finding:
    """Worth knowing, no more."""
    return _finding("note", check, what, where, todo, fixable)


def warning(
    check: str, what: str, *, todo: str, where: Path | str = "", fixable: bool = False
) -> Finding:
    """It works, with a loss that somebody should know of."""
    return _finding("warning", check, what, where, todo, fixable)


def problem(
    check: str, what: str, *, todo: str, where: Path | str = "", fixable: bool = False
) -> Finding:
    """Something of ours does not work."""
    return _finding("problem", check, what, where, todo, fixable)


def _finding(
    level: Literal["note", "warning", "problem"],
    check: str,
    what: str,
    where: Path | str,
    todo: str,
    fixable: bool,
) -> Finding:
    return Finding(
        check=check, level=level, what=what, where=str(where), todo=todo, fixable=fixable
    )
