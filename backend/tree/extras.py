"""Optional parts: packages that most people never need, installed only when a person asks for it."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct

from backend.errors import CvError, UsageError
from backend.tree.home import cv_home
from backend.tree.quoting import quoted


class Extra(Struct, frozen=True):
    """An optional part. ``name`` as in ``requirements-NAME.txt``; ``title`` for people; ``package``: what is imported;
    ``requirement`` as in pyproject.toml; ``command``: the words after ``cv`` that install it.
    """

    name: str
    title: str
    package: str
    requirement: str
    command: str


MCP = Extra("mcp", "the MCP SDK", "mcp", "mcp>=2.3,<3", "mcp --install")
MINILM = Extra(
    "minilm",
    "onnxruntime",
    "onnxruntime",
    "onnxruntime>=1.20",
    "config set embedding.name minilm --install",
)


def is_installed(extra: Extra) -> bool:
    """Whether it is there, without importing it."""
    return find_spec(extra.package) is not None


def require(extra: Extra) -> None:
    """Raise ``CvError`` with the line that installs it, unless it is there."""
    if not is_installed(extra):
        raise CvError(f"{extra.title} is not installed; to install it: {install_line(extra)}")


def install_line(extra: Extra) -> str:
    """What a person types to install it where this program runs."""
    launcher = os.environ.get("CV_LAUNCHER", "")
    if launcher and _pinned(extra, launcher).is_file():
        return f"{quoted(launcher)} {extra.command}"
    return f'{quoted(sys.executable)} -m pip install "{extra.requirement}"'


def install(extra: Extra) -> None:
    """Add what is pinned for it to the environment that the launcher made, now and for the versions to come.

    Raises ``UsageError`` where the environment is somebody else's, ``CvError`` when the installer fails; its reason is on
    standard error already.
    """
    launcher = os.environ.get("CV_LAUNCHER", "")
    if not launcher or not _pinned(extra, launcher).is_file():
        raise UsageError(
            f"--install is for the environment that bin/cv makes; for this one: {install_line(extra)}"
        )
    plugin = Path(launcher).parents[1]
    command = [
        sys.executable,
        "-I",
        str(plugin / "backend/setup/environment.py"),
        "--requirements",
        str(plugin / "requirements.txt"),
        "--home",
        str(cv_home()),
        "--add",
        extra.name,
    ]
    if subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode:
        raise CvError(f"{extra.title} could not be installed, for the reason above")


def _pinned(extra: Extra, launcher: str) -> Path:
    return Path(launcher).parents[1] / f"requirements-{extra.name}.txt"
