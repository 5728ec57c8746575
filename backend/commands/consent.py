"""Asking before private data is read or erased: each time, and never silently answered."""

from __future__ import annotations

import sys

import click

from backend.errors import UsageError


def agreed(question: str, *, err: bool = False) -> bool:
    """Ask on the terminal; no is the default. ``err``: ask on standard error, where standard output is for JSON.

    Raises ``UsageError`` where nobody can be asked.
    """
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError(
            "this is asked each time, and standard input is no terminal to ask on: add --yes to say yes"
        )
    return click.confirm(question, default=False, err=err)
