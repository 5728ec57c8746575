"""The MCP SDK is an optional part: with what it brings it is some 25 MB, and most people never start the server."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from backend.errors import CvError, UsageError
from backend.tree.home import cv_home

REQUIREMENT = "mcp>=2.3,<3"
"""The same as in pyproject.toml. From 2.3 on: what the server leans on (a diverted standard output, the end at the client's end)
was tried there.
"""


def require_sdk() -> None:
    """Raise ``CvError`` with the line that installs it, unless it is there."""
    if find_spec("mcp") is None:
        raise CvError(f"the MCP SDK is not installed; to install it: {install_line()}")


def install_line() -> str:
    """What a person types to install the SDK where this program runs."""
    launcher = os.environ.get("CV_LAUNCHER", "")
    if launcher and _pinned(launcher).is_file():
        return f"{_quoted(launcher)} mcp --install"
    return f'{_quoted(sys.executable)} -m pip install "{REQUIREMENT}"'


def register_line() -> str:
    """What a person types to let Claude Code start the server."""
    launcher = os.environ.get("CV_LAUNCHER", "")
    return f"claude mcp add context-vigilance -- {_quoted(launcher) if launcher else 'cv'} mcp"


def install() -> None:
    """Add the pinned SDK to the environment that the launcher made, now and for the versions to come.

    Raises ``UsageError`` where the environment is somebody else's, ``CvError`` when the installer fails; its reason is on
    standard error already.
    """
    launcher = os.environ.get("CV_LAUNCHER", "")
    if not launcher or not _pinned(launcher).is_file():
        raise UsageError(
            f"--install is for the environment that bin/cv makes; for this one: {install_line()}"
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
        "mcp",
    ]
    if subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode:
        raise CvError("the MCP SDK could not be installed, for the reason above")


def _pinned(launcher: str) -> Path:
    return Path(launcher).parents[1] / "requirements-mcp.txt"


def _quoted(path: str) -> str:
    return f'"{path}"' if os.name == "nt" else shlex.quote(path)
