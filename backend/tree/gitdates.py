"""When git last saw a document change, for documents that say no date themselves. One ``git log`` per repo, kept by commit."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from backend.errors import CvError

MASS_EDIT = 20
"""A commit that touches so many documents is a sweep, not news: of 947 real documents, 498 had one as their newest."""

_TIMEOUT = 60.0
"""Seconds that one ``git log`` may take."""


class GitDate(Struct, frozen=True):
    """Commits of one file, epoch seconds: ``own``, the newest that touched fewer than ``MASS_EDIT`` documents (0: none such),
    and ``first``, the oldest: what came in a large import and was only ever swept since is as old as that import.
    """

    own: int
    first: int

    @property
    def best(self) -> int:
        """The commit that counts as the document's date."""
        return self.own or self.first


def git_dates(repo: Path) -> dict[str, GitDate]:
    """Dates of every ``*.md`` file in ``repo``'s history, by path relative to ``repo``. Raises ``CvError`` where git fails."""
    dates: dict[str, GitDate] = {}
    for moment, paths in _commits(repo):
        for path in paths:
            known = dates.get(path)
            own = moment if len(paths) < MASS_EDIT else 0
            dates[path] = GitDate((known.own if known else 0) or own, moment)
    return dates


def _commits(repo: Path) -> Iterator[tuple[int, list[str]]]:
    """Commits newest first: the committer's moment, and the Markdown files that the commit added or changed."""
    command = [
        "git",
        "-c",
        "core.fsmonitor=false",
        "-c",
        "log.showSignature=false",
        "log",
        "--no-renames",
    ]
    command += ["--diff-filter=AM", "--name-only", "-z", "--format=%x01%ct", "--", ":(icase)*.md"]
    try:
        done = subprocess.run(
            command,
            cwd=repo,
            env=clean_environment(),
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except OSError as error:
        raise CvError(f"git could not be started ({error.strerror})") from error
    except subprocess.TimeoutExpired as error:
        raise CvError(f"git was not done after {_TIMEOUT:.0f} s") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["nothing"]
        raise CvError(f"git failed and said: {said[0][:300]}")
    for record in done.stdout.decode("utf-8", "replace").split("\x01")[1:]:
        moment, _, names = record.partition("\x00")
        paths = [name for name in names.lstrip("\n").split("\x00") if name]
        if moment.strip().isdigit() and paths:
            yield int(moment), [path.lstrip("\n") for path in paths]


def clean_environment() -> dict[str, str]:
    """The environment without what would point git at another repo (a hook's ``GIT_DIR``), and without prompts or locks."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    return environment | {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
