"""uv or pip, run for one environment: all they print goes into its log, and their failures become one line.

Standard library only: the set-up runs before there is an environment.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from backend.setup.failures import DISK_FULL, SetupError, explain

WINDOWS = os.name == "nt"
TOO_LITTLE = 10 * 1024**2
"""Bytes. With less room on the disk than this, that is why an installer failed: the largest single file is some 30 MB."""

# What would lead an install elsewhere than into the environment that is being made.
_ELSEWHERE = frozenset(
    """
    PIP_TARGET PIP_PREFIX PIP_ROOT PIP_USER PIP_REQUIRE_VIRTUALENV PIP_PYTHON PIP_DRY_RUN PIP_REPORT
    UV_SYSTEM_PYTHON UV_PYTHON UV_TARGET UV_PREFIX UV_BREAK_SYSTEM_PACKAGES UV_PROJECT UV_WORKING_DIRECTORY UV_WORKING_DIR
    VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV __PYVENV_LAUNCHER__
    """.split()
)


class Installer:
    """Runs uv or pip for one environment. ``held`` is the lock's file, which the installers inherit."""

    def __init__(self, folder: Path, held: IO[Any]) -> None:
        """Start a new log beside ``folder``."""
        self.folder = folder
        self.held = held
        self.log = folder.with_suffix(".log")
        self.log.write_bytes(b"")

    def with_uv(self, uv: str, files: list[Path]) -> None:
        """Make the environment with uv."""
        clear(self.folder)
        self.run([uv, "venv", "--quiet", "--no-project", "--python", base_python(), str(self.folder)],
                 "uv venv")  # fmt: skip
        say(f"installing {count_packages(files)} packages with uv")
        self.add(uv, files)

    def with_pip(self, files: list[Path]) -> None:
        """Make the environment with venv and pip."""
        clear(self.folder)
        self.run([base_python(), "-I", "-m", "venv", str(self.folder)], "python -m venv")
        say(f"installing {count_packages(files)} packages with pip")
        self.add(None, files)

    def add(self, uv: str | None, files: list[Path]) -> None:
        """Install exactly what ``files`` pin: ready-made wheels with these hashes, and nothing that they only ask for."""
        rules = ["--require-hashes", "--no-deps", "--only-binary", ":all:"]
        for file in files:
            rules += ["--requirement", str(file.absolute())]
        python = python_in(self.folder)
        if uv:
            where = ["--python", python, "--compile-bytecode"]
            self.run([uv, "pip", "install", *where, *rules], "uv pip install")
            return
        if not any(self.folder.glob("**/site-packages/pip")):  # uv made it, and has gone
            self.run([python, "-I", "-m", "ensurepip"], "python -m ensurepip")
        quiet = ["--no-user", "--disable-pip-version-check", "--no-input"]
        counter = Counter(count_packages(files))
        self.run([python, "-I", "-m", "pip", "install", *quiet, *rules], "pip install", counter)

    def run(
        self, command: list[str], what: str, on_line: Callable[[str], None] | None = None
    ) -> None:
        """Run ``command``, its output into the log; a failure raises SetupError with a reason to act on."""
        # The installer holds the lock too: should this process be killed, nobody starts beside the orphan.
        keep: dict[str, Any] = {} if WINDOWS else {"pass_fds": (self.held.fileno(),)}
        output = []
        with self.log.open("a", encoding="utf-8", errors="replace") as log:
            log.write(f"$ {' '.join(command)}\n")
            process = subprocess.Popen(
                command, cwd=self.folder.anchor, env=clean_environment(), stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", **keep,
            )  # fmt: skip
            # (The current folder is the top one: uv would obey a uv.toml or pyproject.toml in it or above it.)
            try:
                for line in process.stdout or ():
                    log.write(line)
                    output.append(line)
                    if on_line:
                        on_line(line)
                code = process.wait()
            except BaseException:
                process.terminate()
                process.wait()
                raise
        if code:
            # `python -m venv` hides what its own pip met, so the disk is asked itself.
            full = shutil.disk_usage(self.folder.parent).free < TOO_LITTLE
            reason = DISK_FULL if full else explain("".join(output), what, code)
            raise SetupError(f"{reason} (log: {self.log})")


class Counter:
    """Says how far pip has come, at each quarter."""

    def __init__(self, total: int) -> None:
        """Count towards ``total`` packages."""
        self.total, self.seen = total, 0

    def __call__(self, line: str) -> None:
        """Take one line that pip printed."""
        if line.startswith("Collecting "):
            self.seen += 1
            if self.total >= 20 and self.seen % (self.total // 4) == 0 and self.seen < self.total:
                say(f"{self.seen} of {self.total}")
        elif line.startswith("Installing collected"):
            say("all downloaded; unpacking")


def find_uv() -> str | None:
    """Return uv's path: on PATH, where its installers put it (hosts started from a desktop lack those on PATH), or beside
    this Python.
    """
    name = "uv.exe" if WINDOWS else "uv"
    places = [Path(sys.executable).parent]
    with contextlib.suppress(RuntimeError):  # no home
        places = [
            Path.home() / ".local/bin",
            Path.home() / ".cargo/bin",
            Path("/opt/homebrew/bin"),
            *places,
        ]
    candidates = [shutil.which("uv"), *(str(place / name) for place in places)]
    for candidate in candidates:
        if candidate and os.access(candidate, os.X_OK):
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                probe = subprocess.run([candidate, "--version"], capture_output=True, timeout=20)
                if probe.returncode == 0:
                    return candidate
    return None


def base_python() -> str:
    """Return the Python to build on: never one of a virtual environment, which may go away."""
    return getattr(sys, "_base_executable", None) or sys.executable


def python_in(folder: Path, *, windows: bool = WINDOWS) -> str:
    """Return the path of the environment's Python."""
    return str(folder.joinpath(*(("Scripts", "python.exe") if windows else ("bin", "python"))))


def clean_environment() -> dict[str, str]:
    """Return the environment for uv and pip: the user's, without what would lead the install elsewhere."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in _ELSEWHERE and not name.startswith("PYTHON")
    }
    kept.setdefault("PIP_RETRIES", "2")
    if "PIP_CERT" in kept:  # uv does not read it
        kept.setdefault("SSL_CERT_FILE", kept["PIP_CERT"])
    kept["PYTHONUTF8"] = "1"
    kept["NO_COLOR"] = "1"
    return kept


def count_packages(files: list[Path]) -> int:
    """Return how many packages the files pin for this system; of markers only that for Windows leaves a package out."""
    pinned = re.compile(r"(?m)^([\w.-]+)==\S+( ; sys_platform == 'win32')?")
    found = [pin for file in files for pin in pinned.findall(file.read_text("utf-8"))]
    return len({name for name, windows_only in found if WINDOWS or not windows_only})


def clear(folder: Path) -> None:
    """Remove an environment; the stamp first, so that nobody takes the rest for whole should this be broken off."""
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        (folder / "ready").unlink(missing_ok=True)
        shutil.rmtree(folder)


def say(text: str) -> None:
    """Print a line of progress for the person waiting."""
    print(f"Context Vigilance: {text}", file=sys.stderr, flush=True)
