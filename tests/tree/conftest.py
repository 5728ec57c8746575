"""What the tests of this room share: the walk over the organisation, as a sync does it and as a query does it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from backend.schemas.config import Config
from backend.tree.found import Tree
from backend.tree.sources import Choices
from backend.tree.walk import discover, look_at


@pytest.fixture
def walk(org: Any) -> Callable[..., Tree]:
    """Give a function that walks the organisation, by both walks, which must agree on the files.

    ``excluded`` and ``included`` as ``sources.md`` says them, ``config`` keys by name.
    """

    def run(
        *, excluded: set[str] = frozenset(), included: set[str] = frozenset(), **config: Any
    ) -> Tree:
        typed = Config(senior_root=str(org.root), **config)
        choices = Choices(frozenset(excluded), frozenset(included))
        tree = discover(org.root, typed, choices)
        quick = look_at(org.root, typed, tree.places, tree.repos, choices)
        assert quick.files == tree.files, (
            "the quick look (hook, queries) sees other files than the walk (sync)"
        )
        return tree

    return run
