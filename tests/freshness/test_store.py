"""Chroma is opened anew for each operation: what one opening took is given back, also in a process that lives for days."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backend.freshness.store import reading, writing
from backend.freshness.sync import sync
from backend.schemas.roles import CORPUS_ROLE
from backend.tree.config import load_config

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
THREADS = Path("/proc/self/task")


@pytest.mark.skipif(not THREADS.is_dir(), reason="only Linux shows a process's threads as files")
def test_an_opening_leaves_no_thread_behind(site: Any) -> None:
    site.document("bay-labs/context-v/Ferry.md")
    site.sync()
    config = load_config(site.root)
    counts = []
    for _ in range(8):
        with reading(site.root, config) as store:
            assert store.query(CORPUS_ROLE, np.ones(384, np.float32), 1)
        counts.append(len(list(THREADS.iterdir())))

    assert counts[-1] < counts[0] + 4, (
        counts
    )  # one may still be on its way out; each opening starts six


def test_the_nearest_are_the_nearest(site: Any) -> None:
    """Chroma's graph is searched so thoroughly that its answer is the exact one; with its own settings half would be wrong."""
    random = np.random.default_rng(11)
    vectors = random.normal(size=(3000, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ids = [f"{number:04d}" for number in range(len(vectors))]
    with writing(site.root, load_config(site.root), erase=False) as store:
        store.add(CORPUS_ROLE)
        store.upsert(CORPUS_ROLE, ids, ids, vectors, [{"number": n} for n in range(len(ids))])
    with reading(site.root, load_config(site.root)) as store:
        for question in random.normal(size=(5, 384)).astype(np.float32):
            exact = {ids[at] for at in np.argsort(-(vectors @ question))[:100].tolist()}
            found = {each for each, _ in store.query(CORPUS_ROLE, question, 100)}
            assert len(found & exact) >= 99


def test_both_collections_are_filled_in_one_go_from_none_to_all(site: Any) -> None:
    """They are filled one after the other; who watches sees one number of documents that rises to all of them."""
    for number in range(6):
        site.document(f"inn/context-v/Room-{number}.md", count=120)
    site.document("inn/changelog/2025-01-01_first.md")
    site.document("inn/changelog/2025-02-02_second.md")
    seen = []

    def watch(step: str, done: int, total: int) -> None:
        if step == "storing":
            seen.append((done, total))

    sync(site.root, load_config(site.root), now=NOW, progress=watch)
    done = [each for each, _ in seen]
    assert done == sorted(set(done))
    assert len(done) > 2, "of 720 chunks more than one batch"
    assert done[-1] == 8
    assert {total for _, total in seen} == {8}
    site.check()
