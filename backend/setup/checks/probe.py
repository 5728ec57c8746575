"""Opens Chroma, counts, searches and compares it, in a process of its own: a damaged store can end the process that opens it.

Run as ``python -m backend.setup.checks.probe ROOT``; prints one JSON object (``Answer``) and ends with 0.
"""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from backend.errors import Busy, CvError
from backend.schemas.roles import ROLES
from backend.setup.checks.comparison import Difference, compare
from backend.setup.checks.damage import torn
from backend.setup.checks.machine import PLUGIN

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from backend.freshness.index import Index

NEAR = 0.01
"""How far from 1 the similarity of a vector with itself may be found: single precision errs in the sixth place."""

SAMPLES = 3
"""Of more than ``ef_search`` chunks (see ``records``) Chroma may miss one, of which there is nothing to say."""

LIMIT_SECONDS = 180.0
"""It takes some 15 s with 100,000 chunks; what takes three minutes hangs."""


class Answer(Struct, frozen=True):
    """Per role how Chroma differs from the index. ``busy``: a writer is at it. ``error``: why it can't be used, in words."""

    differences: dict[str, Difference] = {}
    busy: bool = False
    error: str = ""


def ask(root: Path) -> Answer:
    """Run the probe on ``root`` and return its answer; a probe that dies or hangs is an ``error`` of the store."""
    environment = {**os.environ, "PYTHONPATH": str(PLUGIN)}
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-s", "-X", "utf8", "-m", __name__, str(root)],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LIMIT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Answer(error=f"opening it was not done after {LIMIT_SECONDS:.0f} s")
    try:
        return msgspec.json.decode(done.stdout, type=Answer)
    except msgspec.MsgspecError:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or [""]
        ended = f"signal {-done.returncode}" if done.returncode < 0 else f"code {done.returncode}"
        return Answer(error=f"the process that opened it ended with {ended}. {lines[-1]}".strip())


def look(root: Path) -> Answer:
    """Open the store of ``root`` and compare it with the index."""
    differences = {}
    try:
        for role in ROLES:
            answer = _look_at(root, role)
            if isinstance(answer, str):
                return Answer(error=answer)
            differences[role] = answer
    except Busy:
        return Answer(busy=True)
    except CvError as error:
        return Answer(error=str(error))
    return Answer(differences)


def _look_at(root: Path, role: str) -> Difference | str:
    """How the collection of ``role`` differs, or why it can't be used. In an opening of its own, since Chroma keeps the vectors
    of all that it has touched in memory.

    The index is read while the store is open: no writer can be at Chroma then, and what it has not been told of stands in the
    index's notes.
    """
    from backend.freshness.embedder import serving
    from backend.freshness.index import Index, held
    from backend.freshness.places import chroma_path, index_path
    from backend.freshness.store import reading
    from backend.tree.config import load_config

    config = serving(load_config(root), held(root), root)
    with reading(root, config) as store:
        if role == ROLES[0] and (error := torn(chroma_path(root) / "chroma.sqlite3")):
            return error
        index = Index.for_reading(index_path(root))
        if index is None:
            return "the index that it is compared with could not be opened"
        with index:
            store.count(role)  # makes a collection that is not there
            difference = compare(root, config, index, store.to_read(role), role)
            samples = _samples(index, role) if index.notes.empty() else []
        if samples and not difference.found():
            nearest = [store.query(role, sample, 1) for sample in samples]
            if not any(near and abs(near[0][1] - 1.0) < NEAR for near in nearest):
                return "a chunk is not found by its own vector"
    return difference


def _samples(index: Index, role: str) -> list[npt.NDArray[np.float32]]:
    """The vectors of some chunks of ``role``; not those of texts in which the embedder knew no word, which have no direction, nor
    of chunks that Chroma's graph is known not to lead to.
    """
    from backend.freshness.vectors import matrix

    beside = set(index.unreached())
    rows = index.db.execute(
        "SELECT c.id, v.data FROM document d JOIN chunk c ON c.document = d.id "
        "JOIN vector v ON v.text_hash = c.text_hash WHERE d.role = ?",
        (role,),
    )
    vectors = (matrix([data])[0] for number, data in rows if number not in beside)
    return list(islice((vector for vector in vectors if vector.any()), SAMPLES))


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(look(Path(sys.argv[1]))))
