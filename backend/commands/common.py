"""What commands share: ``--root`` and ``--json``, the moment it is, and printing."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import click

from backend.commands.inline import INLINE
from backend.errors import NotApplicable, UsageError
from backend.render.escaped import harmless_json
from backend.schemas.config import Config
from backend.tree.config import load_config
from backend.tree.root import KIT_FOLDER, find_root, require_open_kit, require_root

F = TypeVar("F", bound=Callable[..., Any])

OPENED = "backend.commands.opened"
"""Where a click context keeps the senior root that 'cv list-roots' is to name (``list_root``)."""

UNBROKEN = 100_000
"""Columns: longer than any line of ours, which are bounded."""


class AtLeast(click.IntRange):
    """A whole number of ``least`` or more; an error says so in words."""

    def __init__(self, least: int) -> None:
        """``least``: the smallest number that is taken."""
        super().__init__(min=least)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number. Fails as click has it, which ends 2."""
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter:
            self.fail(f"expected a whole number, {self.min} or more; got {value}", param, ctx)


class Seconds(click.FloatRange):
    """A number of seconds, 0 or more; an error says so in words."""

    def __init__(self) -> None:
        """Take any number that is not below zero."""
        super().__init__(min=0)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number. Fails as click has it, which ends 2."""
        with suppress(click.BadParameter):
            number = float(super().convert(value, param, ctx))
            if number >= 0:  # which "nan" is not, and it is not below either
                return number
        self.fail(f"expected a number of seconds, 0 or more; got {value}", param, ctx)


def root_option(function: F) -> F:
    """``--root PATH``: the senior root, found from the current folder when it is not named."""
    option = click.option(
        "--root",
        type=click.Path(path_type=Path),
        help="The senior root (default: found from here).",
    )
    return option(function)


def scope_option(function: F) -> F:
    """``--scope SLUG``: a repo, a nested repo, or a folder."""
    from backend.commands.completion import repos  # which needs what is here

    option = click.option(
        "--scope",
        metavar="SLUG",
        shell_complete=repos,
        help="Only this repo, nested repo, or folder.",
    )
    return option(function)


def json_option(function: F) -> F:
    """``--json``: print JSON instead of text."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


def open_root(root: Path | None) -> tuple[Path, Config]:
    """The senior root and its config. Raises as ``require_root``, and ``ConfigError``.

    The root gets into 'cv list-roots' too, but only when the command has ended well: the callback in cli.py writes it.
    """
    found = senior_root(root)
    config = load_config(found)
    list_root(found)
    return found, config


def senior_root(root: Path | None) -> Path:
    """The senior root, named or found from here, whatever its config says. Raises ``NotApplicable``."""
    return require_root(here()) if root is None else named_root(root)


def list_root(root: Path) -> None:
    """Let 'cv list-roots' name ``root`` when this command has ended well: it may have been moved, or come with a disk."""
    if context := click.get_current_context(silent=True):
        context.meta[OPENED] = root


def named_root(root: Path) -> Path:
    """The senior root that ``--root`` names, itself or by a folder in it. Raises as ``require_root``."""
    place = root.expanduser().absolute()
    found = find_root(place)
    if found is None:
        require_open_kit(place)
        lacks = (
            f"no {KIT_FOLDER}/config.json in it or above it" if place.is_dir() else "no such folder"
        )
        raise NotApplicable(
            f"--root {place}: {lacks}. 'cv list-roots' names the senior roots of this machine, "
            "'cv init --senior-root PATH' sets one up."
        )
    return found


def said(words: tuple[str, ...], what: str) -> str:
    """What was said in ``words``. Raises ``UsageError``, which calls it ``what``, where they hold nothing."""
    text = " ".join(words)
    if not text.strip():
        raise UsageError(f"expected {what} in plain words, got an empty one")
    return text


def here() -> Path:
    """The current folder; the home folder when it has been removed from under the shell."""
    try:
        return Path.cwd()
    except OSError:
        return Path.home()


def now() -> datetime:
    """The moment, in the local zone."""
    return datetime.now().astimezone()


def waited_for() -> AbstractContextManager[Callable[[str, int, int], None]]:
    """What shows who waits how far long work has come. Nothing for a slash command, of which the model is given standard error as
    well.
    """
    from backend.render.progress import shown

    context = click.get_current_context(silent=True)
    if context is not None and context.find_root().obj == INLINE:
        return nullcontext(lambda step, done, total: None)
    return shown()


def print_json(value: Any) -> None:
    """Print a Struct, or plain data, as indented JSON."""
    click.echo(harmless_json(value, indent=2))


def width() -> int:
    """Columns to print in: the terminal's, at most 120; where there is none, so many that no line is broken and grep finds
    all of it.
    """
    return min(shutil.get_terminal_size((100, 24)).columns, 120) if _on_terminal() else UNBROKEN


def _on_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def coloured() -> bool:
    """Whether to colour: a terminal that was not told otherwise (https://no-color.org)."""
    import os

    return _on_terminal() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
