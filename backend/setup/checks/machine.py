"""Checks of this machine: Python, the packages, the home of all state, the shipped embedder."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import msgspec

import backend
from backend.schemas.config import Embedding
from backend.schemas.doctor import Finding
from backend.setup.checks.levels import note, ok, problem, warning
from backend.setup.environment import KEY_LINE
from backend.setup.failures import NEWEST, OLDEST
from backend.tree.home import cv_home

PLUGIN = Path(backend.__file__).resolve().parents[1]
"""The plugin's own folder; in an installed package it is ``site-packages``."""

_PINNED = re.compile(r"(?m)^([\w.-]+)(?:\[[\w,-]+\])?==([^\s;\\]+)(?: ; ([^\\\n]+))?")


def check_python() -> list[Finding]:
    """The running Python is one that the packages were tried with."""
    found = ".".join(map(str, sys.version_info[:3]))
    if OLDEST <= sys.version_info[:2] <= NEWEST:
        return [ok("environment", f"Python {found}")]
    return [
        problem(
            "environment",
            f"Python {found}, expected 3.{OLDEST[1]} to 3.{NEWEST[1]}",
            where=sys.executable,
            todo=f"install Python 3.13, then {_anew()}",
        )
    ]


def check_packages() -> list[Finding]:
    """Every package is installed, at the version that was tried."""
    wanted = dict(_pins())
    missing = [name for name in wanted if _version(name) is None]
    other = [
        f"{name} {_version(name)} instead of {pin}"
        for name, pin in wanted.items()
        if pin and name not in missing and _version(name) != pin
    ]
    found = []
    if missing:
        found.append(
            problem(
                "environment",
                f"not installed: {', '.join(missing)}",
                where=sys.prefix,
                todo=_anew(),
            )
        )
    if other:
        found.append(
            warning(
                "environment",
                f"other versions than those that were tried: {', '.join(other)}",
                where=sys.prefix,
                todo=_anew(),
            )
        )
    return found or [ok("environment", f"{len(wanted)} packages")]


def check_home() -> list[Finding]:
    """The home of all machine-wide state can be written to."""
    home = cv_home()
    try:
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=home):
            pass
    except OSError as error:
        return [
            problem(
                "environment",
                f"cannot be written to ({error.strerror}): sessions and roots are not remembered",
                where=home,
                todo="make the folder writable, or set CV_HOME to one that is",
            )
        ]
    return [ok("environment", "the folder of this machine can be written to", where=home)]


def check_old_environments() -> list[Finding]:
    """Environments beside the one that runs: that of ``cv test``, and those of other versions, which go by themselves after a
    month without use.
    """
    folder = cv_home() / "environments"
    if not folder.is_dir():
        return []
    own = Path(sys.prefix).resolve()
    beside = [
        entry
        for entry in sorted(folder.iterdir())
        if entry.is_dir() and entry.resolve() != own and not entry.is_symlink()
    ]
    of_tests = _key("requirements-dev.txt")
    ours = (_key("requirements.txt"), of_tests)
    found = [
        note(
            "environment",
            f"the environment that 'cv test' made for itself, {_megabytes([entry])}: {entry.name}",
            where=folder,
            todo="nothing; delete it when you run no tests here any more: 'cv test' makes it again",
        )
        for entry in beside
        if entry.name == of_tests
    ]
    old = [entry for entry in beside if entry.name not in ours]
    if not old:
        return found
    number = "one environment" if len(old) == 1 else f"{len(old)} environments"
    return [
        *found,
        note(
            "environment",
            f"{number} of other versions, {_megabytes(old)}: {', '.join(e.name for e in old)}",
            where=folder,
            todo="nothing: one that is not used for 30 days is removed when the next is made",
        ),
    ]


def check_defects() -> list[Finding]:
    """Errors that nobody foresaw were kept."""
    log = cv_home() / "defects.log"
    try:
        kept = log.read_text("utf-8", "replace").count("\n--- ") + 1
    except OSError:
        return []
    return [
        note(
            "environment",
            f"{kept} unforeseen {'error was' if kept == 1 else 'errors were'} kept",
            where=log,
            todo="report them with that file, then delete it",
        )
    ]


def check_model(embedding: Embedding) -> list[Finding]:
    """The shipped embedder's files are those of its provenance; only needed where it is the one in use."""
    folder = PLUGIN / "backend" / "freshness" / "model"
    try:
        provenance = msgspec.json.decode((folder / "PROVENANCE.json").read_bytes())
        expected = provenance["sha256"]
        broken = [name for name, sha256 in expected.items() if _sha256(folder / name) != sha256]
    except (OSError, msgspec.MsgspecError, KeyError, TypeError) as error:
        broken, expected = [f"PROVENANCE.json ({error})"], {}
    if not broken:
        what = f"{len(expected)} files of the embedder as shipped"
        return [ok("model", what)]
    level = problem if embedding.name == "static" else warning
    what = f"missing or not as shipped: {', '.join(broken)}"
    todo = "reinstall the plugin (/plugin, or: claude plugin update context-vigilance)"
    return [level("model", what, where=folder, todo=todo)]


def _pins() -> Iterator[tuple[str, str]]:
    """Name and pinned version of each package this system needs; an installed wheel pins nothing, there the version is ''."""
    from packaging.markers import Marker
    from packaging.requirements import Requirement

    try:
        text = (PLUGIN / "requirements.txt").read_text("utf-8")
    except OSError:
        for requirement in map(Requirement, _declared()):
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                yield requirement.name, ""
        return
    for name, pin, marker in _PINNED.findall(text):
        if not marker or Marker(marker.strip()).evaluate():
            yield name, pin


def _declared() -> list[str]:
    try:
        return requires("context-vigilance") or []
    except PackageNotFoundError:
        return []


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _anew() -> str:
    """How the environment that runs is made anew."""
    if Path(sys.prefix).parent == cv_home() / "environments":
        return f"delete {sys.prefix} and run any cv command in a terminal: it is made again"
    return "install Context Vigilance again with the tool that installed it (pipx, uv, pip)"


def _key(requirements: str) -> str:
    """The name of the environment that is made from one of the plugin's requirements files, '' where there is none."""
    try:
        with (PLUGIN / requirements).open("rb") as file:
            key = KEY_LINE.match(file.readline())
    except OSError:
        return ""
    return key[1].decode() if key else ""


def _megabytes(folders: list[Path]) -> str:
    return f"{sum(map(_size, folders)) / 1024**2:.0f} MB"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _size(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(place) / name).lstat().st_size
            except OSError:  # going at this moment
                continue
    return total
