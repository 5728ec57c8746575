"""A harbour's documents (harbour.txt), written once as three git repos, indexed, and searched as of one moment."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from organisation import KIT, Organisation

from backend.freshness.manifest import load_all_cards
from backend.freshness.places import index_path, load_places
from backend.freshness.sync import Options, sync
from backend.freshness.writable_index import WritableIndex
from backend.kickoff.filters import read_filters
from backend.kickoff.find import find
from backend.kickoff.search import search
from backend.schemas.kickoff import Findings, Passages
from backend.schemas.sync import SyncReport
from backend.tree.config import create_config, load_config

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
REPOS = ("berths", "ledger", "ledger/importer", "lights")


class Harbour(Organisation):
    """An organisation that is set up, with ways to sync and to ask it."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        if not (root / KIT / "config.json").exists():
            create_config(root)

    def sync(self, **options: Any) -> SyncReport:
        before = self.fingerprint()
        report = sync(self.root, load_config(self.root), now=NOW, options=Options(**options))
        assert self.fingerprint() == before, "a sync must not touch a source file"
        return report

    def find(
        self, task: str, *, at: str = "", words_only: bool = False, **options: Any
    ) -> Findings:
        """Ask for a task, from the folder ``at``. ``words_only``: as if the vectors were of an embedder that can't be had."""
        config = load_config(self.root)
        if not words_only:
            return find(self.root, config, task, folder=self.root / at, now=NOW, **options)
        with self.held_by("another"):
            return find(self.root, config, task, folder=self.root / at, now=NOW, **options)

    @contextmanager
    def held_by(self, embedder: str) -> Iterator[None]:
        """The index says that its vectors are of another embedder, until the end of the block."""
        with WritableIndex.open(index_path(self.root)) as index:
            before = index.fact("embedder")
            index.set_fact("embedder", embedder)
        yield
        with WritableIndex.open(index_path(self.root)) as index:
            index.set_fact("embedder", before)

    def found(self, task: str, **options: Any) -> list[str]:
        return [candidate.source_path for candidate in self.find(task, **options).candidates]

    def search(self, question: str, *where: str, **options: Any) -> Passages:
        places = load_places(self.root)
        repos = places.repos if places else ()
        filters = read_filters(where, load_all_cards(self.root), repos, NOW)
        config = load_config(self.root)
        return search(self.root, config, question, now=NOW, filters=filters, **options)

    def quoted(self, question: str, *where: str, **options: Any) -> list[str]:
        return [p.source_path for p in self.search(question, *where, **options).passages]


def write_harbour(root: Path) -> Harbour:
    harbour = Harbour(root)
    for repo in REPOS:
        harbour.repo(repo)
    text = Path(__file__).with_name("harbour.txt").read_text("utf-8")
    for part in text.split("=== ")[1:]:
        path, _, document = part.partition("\n")
        harbour.write(path, "---\n" + document)
    return harbour


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Harbour:
    """The harbour, indexed. Only to be read."""
    harbour = write_harbour(tmp_path_factory.mktemp("harbour") / "salt mere")
    harbour.sync()
    return harbour


@pytest.fixture
def harbour(made_once: Harbour) -> Harbour:
    """The harbour as it was indexed once; a test that changes it takes ``own_harbour``."""
    return made_once


@pytest.fixture
def own_harbour(made_once: Harbour, tmp_path: Path) -> Harbour:
    """A copy of the harbour and of its index, to be changed."""
    shutil.copytree(made_once.root, tmp_path / "salt mere", symlinks=True)
    config = tmp_path / "salt mere" / KIT / "config.json"
    config.unlink()
    return Harbour(tmp_path / "salt mere")


@pytest.fixture
def small(tmp_path: Path) -> Callable[..., Harbour]:
    """Make a tree of these documents (path -> body, or (body, fields)), each with its file's name as its title, and sync it."""

    def make(documents: dict[str, Any], repos: tuple[str, ...] = ()) -> Harbour:
        tree = Harbour(tmp_path / "tree")
        for repo in repos:
            tree.repo(repo)
        for path, what in documents.items():
            body, fields = (what, {}) if isinstance(what, str) else what
            tree.document(path, body, **fields)
        tree.sync()
        return tree

    return make
