"""Another embedder: its vectors are made beside those in use, over as many syncs as it takes, and then take their place."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from organisation import prose

from backend.errors import CvError
from backend.freshness.refresh import refresh
from backend.freshness.renewal import BATCH, standing
from backend.freshness.snapshot import load_snapshot
from backend.freshness.sync import Options, sync
from backend.kickoff.find import find
from backend.tree.config import load_config
from backend.tree.config_edits import set_key
from backend.tree.home import approve
from backend.tree.lock import exclusive

ROOT = Path(__file__).resolve().parents[2]
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
TEXTS = 150
"""More than two batches."""

LETTERS = """
import numpy as np
from chromadb.utils import embedding_functions
class Letters:
    '''A vector counts letters. It keeps what it was given, and fails, or is slow, or dies, where it is told to.'''
    seen = []
    before = staticmethod(lambda texts: None)
    @staticmethod
    def name(): return "letters"
    def get_config(self): return {}
    @staticmethod
    def build_from_config(config): return Letters()
    def default_space(self): return "cosine"
    def supported_spaces(self): return ["cosine"]
    def is_legacy(self): return False
    def __call__(self, input):
        Letters.before(input)
        Letters.seen += input
        rows = [[1 + text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in input]
        return [np.array(row, np.float32) for row in rows]
class Others(Letters):
    @staticmethod
    def name(): return "others"
embedding_functions.known_embedding_functions |= {"letters": Letters, "others": Others}
"""
"""In this process, and in one that is killed."""

KILLED = (
    LETTERS
    + """
import os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from backend.freshness.sync import Options, sync
from backend.tree.config import load_config
calls = 0
def before(texts):
    global calls
    calls += 1
    if sys.argv[2] == str(calls):
        os.kill(os.getpid(), signal.SIGKILL)
Letters.before = before
def call(frame, event, argument):
    if event == "call" and frame.f_code.co_name == sys.argv[2] and "/freshness/" in frame.f_code.co_filename:
        os.kill(os.getpid(), signal.SIGKILL)
sys.setprofile(call)
root = Path(sys.argv[1])
sync(root, load_config(root), now=datetime(2026, 3, 2, 9, tzinfo=UTC), options=Options())
"""
)


@pytest.fixture
def letters() -> Iterator[Any]:
    """An embedder of 26 numbers, known to Chroma as ``letters``."""
    from chromadb.utils import embedding_functions

    there: dict[str, Any] = {}
    exec(LETTERS, there)
    yield there["Letters"]
    for name in ("letters", "others"):
        del embedding_functions.known_embedding_functions[name]


@pytest.fixture
def tree(site: Any) -> Any:
    """Indexed by the embedder that ships inside."""
    for number in range(TEXTS):
        site.document(f"r{number % 3}/context-v/specs/Doc-{number}.md", prose(str(number)))
    site.sync()
    return site


def choose(tree: Any, name: str) -> None:
    """As ``cv config set`` does."""
    approve(tree.root, set_key(tree.root, "embedding.name", name).embedding)


def held(tree: Any, query: str = "SELECT value FROM meta WHERE key = 'embedder'") -> Any:
    db = sqlite3.connect(tree.kit / "index.sqlite")
    try:
        return db.execute(query).fetchone()[0]
    finally:
        db.close()


def lengths(tree: Any) -> set[int]:
    """How many numbers the vectors in Chroma have."""
    return {len(vector) for rows in tree.records().values() for *_, vector in rows.values()}


def ask(tree: Any, task: str = "orchard hedge lantern") -> Any:
    config = load_config(tree.root)
    fresh = refresh(tree.root, config, now=NOW)
    return find(
        tree.root, config, task, folder=tree.root, now=NOW, fresh=fresh.fresh, notes=fresh.notes
    )


def as_built(tree: Any, tmp_path: Path) -> None:
    """The store is sound, and the one that a first sync with the same embedder makes."""
    tree.check()
    config = load_config(tree.root)
    approve(tmp_path / "clean" / tree.root.name, config.embedding)
    tree.check_against_clean_build(tmp_path / "clean")


def fails_after(batches: int) -> Callable[[Any], None]:
    left = [batches]

    def before(texts: Any) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise ConnectionError("the line is down")

    return before


@pytest.fixture
def half(tree: Any, letters: Any) -> Any:
    """A tree of which one batch of new vectors is there."""
    choose(tree, "letters")
    letters.before = fails_after(1)
    with pytest.raises(CvError, match=r"the embedder letters failed \(the line is down\)"):
        tree.sync()
    letters.before = lambda texts: None
    tree.letters = letters
    return tree


def test_the_new_vectors_take_the_place_of_the_old_ones_at_once(
    tree: Any, letters: Any, tmp_path: Path
) -> None:
    choose(tree, "letters")
    report = tree.sync()
    (note,) = report.notes
    assert note.startswith("the embedder changed from static-")
    assert note.endswith(" to letters: all vectors were made anew")
    assert report.embedder == "letters"
    assert len(letters.seen) == len(set(letters.seen)) == TEXTS
    assert lengths(tree) == {26}
    as_built(tree, tmp_path)
    assert tree.sync().notes == ()


def test_each_sync_goes_on_with_what_the_last_one_left(tree: Any, letters: Any) -> None:
    """The embedder takes a sync's whole time for one batch."""
    seconds = 2.0

    def slow(texts: Any) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            pass

    letters.before = slow
    choose(tree, "letters")
    notes = []
    for _ in range(30):
        before = len(letters.seen)
        report = tree.sync(quick=True, max_seconds=seconds)
        assert len(letters.seen) - before in (0, BATCH, TEXTS % BATCH)
        notes += report.notes
        if held(tree) == "letters":
            break
        assert load_snapshot(tree.root, load_config(tree.root)) is None
    assert len(letters.seen) == len(set(letters.seen)) == TEXTS
    assert f"vectors of letters: {BATCH} of {TEXTS} texts; the old ones serve until then" in notes
    tree.sync()
    tree.check()


def test_questions_are_answered_by_the_old_vectors_until_then(half: Any, cv: Any) -> None:
    found = ask(half)
    assert found.evidence.best_similarity > 0
    assert not any("words only" in note or "without Chroma" in note for note in found.notes)
    assert half.letters.seen[BATCH:] == [], "a question does not wait for a model"
    assert lengths(half) == {384}

    half.document("r0/context-v/specs/New.md", "A zeppelin over the weir.")
    assert "r0/context-v/specs/New.md" in [
        c.source_path for c in ask(half, "zeppelin weir").candidates
    ]
    assert lengths(half) == {384}
    assert len(half.chunks()) == TEXTS + 1
    words = f"vectors of letters: {BATCH} of {TEXTS + 1} texts; the old ones serve until then"
    assert words in cv("status", cwd=half.root).out

    half.sync()
    assert half.letters.seen.count(half.letters.seen[0]) == 1
    assert len(half.letters.seen) == TEXTS + 1
    assert ask(half).evidence.best_similarity > 0
    half.check()


def test_switching_back_embeds_nothing(half: Any, counts: Any, same: Any) -> None:
    before = half.records()
    choose(half, "static")
    assert standing(half.root, load_config(half.root)) is None
    report = half.sync()
    assert counts(report)[-1] == 0
    assert report.notes == ()
    assert held(half, "SELECT count(*) FROM sqlite_master WHERE name = 'new_vector'") == 0
    assert same(half.records(), before)
    half.check()


def test_text_that_is_taken_back_leaves_no_vector_in_either_table(half: Any) -> None:
    """Looked for byte by byte in the index and its log."""
    paths = [f"r{number % 3}/context-v/specs/Doc-{number}.md" for number in range(TEXTS)]
    db = sqlite3.connect(half.kit / "index.sqlite")
    rows = dict(
        db.execute(
            "SELECT d.path, n.data FROM document d JOIN chunk c ON c.document = d.id "
            "JOIN new_vector n ON n.text_hash = c.text_hash"
        )
    )
    old = dict(
        db.execute(
            "SELECT d.path, v.data FROM document d JOIN chunk c ON c.document = d.id "
            "JOIN vector v ON v.text_hash = c.text_hash"
        )
    )
    db.close()
    both = sorted(path for path in paths if path in rows)[:3]
    marks = [part for path in both for part in (rows[path], old[path])]

    def found() -> list[bytes]:
        files = [path.read_bytes() for path in half.kit.glob("index.sqlite*")]
        return [mark for mark in marks if any(mark in data for data in files)]

    assert found() == marks, "the search does not find what is there"
    for path in both:
        half.delete(path)
    half.letters.before = fails_after(0)
    with pytest.raises(CvError):
        half.sync()
    assert found() == []
    assert held(half, "SELECT count(*) FROM new_vector") == BATCH - 3


def test_text_that_is_taken_back_while_it_is_embedded_leaves_none(half: Any) -> None:
    """Another sync is quicker than the model."""

    def delete(texts: Any) -> None:
        half.letters.before = lambda texts: None
        half.delete("r0/context-v/specs/Doc-0.md")
        for number in range(1, TEXTS, 2):
            half.delete(f"r{number % 3}/context-v/specs/Doc-{number}.md")
        refresh(half.root, load_config(half.root), now=NOW)

    half.letters.before = delete
    sync(half.root, load_config(half.root), now=NOW)
    half.check()
    assert lengths(half) == {26}


def test_a_chosen_embedder_that_cannot_be_had_stops_nothing(tree: Any) -> None:
    """Its package is not there, say: what changes is taken in all the same, and each sync says so."""
    choose(tree, "openai")
    tree.document("r0/context-v/specs/New.md", "## Xylophone\n\nIt has bars of wood.")
    for _ in range(2):
        with pytest.raises(CvError, match=r"openai.* what changed is taken in"):
            tree.sync()
    answered = sync(
        tree.root, load_config(tree.root), now=NOW, options=Options(quick=True, asked=True)
    )
    assert any("openai" in note for note in answered.notes)
    assert "r0/context-v/specs/New.md" in tree.cards()
    tree.check()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9 on Windows")
@pytest.mark.parametrize(
    "moment", ["1", "2", "3", "begin_new", "put_new", "take_place", "mirror", "settle"]
)
def test_a_kill_anywhere_is_gone_on_from(
    tree: Any, letters: Any, tmp_path: Path, moment: str
) -> None:
    """At the n-th batch, or at the call of a function."""
    choose(tree, "letters")
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tree.root), moment],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.returncode == -9, "it was never called"
    tree.sync()
    expected = {"1": TEXTS, "2": TEXTS - BATCH, "3": TEXTS - 2 * BATCH, "begin_new": TEXTS}
    expected |= {"put_new": TEXTS, "mirror": TEXTS}
    assert len(letters.seen) == expected.get(moment, 0)
    as_built(tree, tmp_path)


def test_an_old_embedder_that_cannot_be_had_any_more_leaves_words_until_then(
    half: Any, tmp_path: Path
) -> None:
    """As after an update of the plugin with another table. What comes meanwhile has no direction, and gets one at the end."""
    half.sync()
    choose(half, "others")  # so that letters is not chosen any more
    half.document("r0/context-v/specs/New.md", "A zeppelin over the weir.")
    found = ask(half, "zeppelin weir")
    assert found.candidates[0].source_path == "r0/context-v/specs/New.md"
    assert any("the index's vectors are from letters" in note for note in found.notes)
    assert lengths(half) == {26}

    choose(half, "letters")  # and back: only what came meanwhile is embedded
    seen = len(half.letters.seen)
    half.sync()
    assert len(half.letters.seen) == seen + 1
    as_built(half, tmp_path)


def test_two_syncs_do_not_make_the_same_vectors(half: Any) -> None:
    with exclusive(half.kit / "vectors.lock", seconds=0, busy="taken"):
        (note,) = half.sync().notes
    assert note == f"vectors of letters: {BATCH} of {TEXTS} texts; the old ones serve until then"
    assert len(half.letters.seen) == BATCH


def test_a_rebuild_is_made_with_the_new_embedder(half: Any, tmp_path: Path) -> None:
    half.sync(rebuild=True)
    assert lengths(half) == {26}
    as_built(half, tmp_path)


def test_vectors_of_the_held_embedder_are_exactly_those(half: Any) -> None:
    """Chroma, told of a change in the middle, holds no vector of the other one's space."""
    half.document("r1/context-v/specs/Doc-1.md", prose("another"))
    refresh(half.root, load_config(half.root), now=NOW)
    vectors = [vector for rows in half.records().values() for *_, vector in rows.values()]
    assert np.allclose(np.linalg.norm(np.array(vectors), axis=1), 1, atol=1e-5)
    assert lengths(half) == {384}
