"""Fixtures of the end-to-end tests: the real Claude Code, a scripted model, the plugin installed as people install it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parent))  # the tests are no package: importmode=importlib

from host import Host, Terminal, find_program  # type: ignore[import-not-found]
from model import Model  # type: ignore[import-not-found]
from organisation import Organisation  # type: ignore[import-not-found]


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Path of Claude Code's program; skips with the reason where it can't be had."""
    path, reason = find_program(tmp_path_factory.mktemp("npm"))
    if reason:
        pytest.skip(reason)
    return str(path)


@pytest.fixture(scope="session")
def model() -> Iterator[Any]:
    model = Model()
    yield model
    model.close()


@pytest.fixture(scope="session")
def host(program: str, model: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A person's machine with the plugin installed from a git marketplace, through the clone."""
    host = Host(program, tmp_path_factory.mktemp("machine"), model)
    host.publish("0.9.0")
    host.install()
    return host


@pytest.fixture(scope="session")
def work(host: Any) -> Any:
    """The person's tree, set up by the plugin's own command: two repos with documents, one folder dismissed."""
    org = Organisation(host.base / "wörk tree")
    for repo in ("bay-labs", "site", "private"):
        org.repo(repo)
    org.document(
        "bay-labs/context-v/specs/Price-List-Importer.md",
        "## The importer\n\nIt reads the price lists of all suppliers; THE-WHOLE-SPEC.",
        title="Price list importer",
    )
    org.document("bay-labs/context-v/specs/Rate-Limits.md", "## Limits\n\nHow many calls a minute.")
    org.document("site/context-v/plans/Launch-Plan.md")
    org.document("private/context-v/notes/Mine.md")
    org.dismiss("private")
    host.cv("init", "--senior-root", str(org.root), "--yes", cwd=org.root)
    return org


@pytest.fixture
def terminal(host: Any) -> Iterator[Any]:
    """Open interactive sessions: ``terminal(folder)``."""
    opened: list[Any] = []

    def open_one(cwd: Path, *arguments: str) -> Any:
        opened.append(Terminal(host, cwd, *arguments))
        return opened[-1].ready()

    yield open_one
    for one in opened:
        one.close()
