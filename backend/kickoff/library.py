"""What a search needs of the index, read once: the documents, their words, their links, and what is nearest in meaning."""

from __future__ import annotations

import os
from array import array
from collections.abc import Collection, Sequence
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from sys import intern

import msgspec
import numpy as np
import numpy.typing as npt

from backend.errors import CvError
from backend.freshness import lexical
from backend.freshness.embedder import load_held, serving
from backend.freshness.index import Index
from backend.freshness.places import load_places
from backend.freshness.store import reading
from backend.freshness.vectors import matrix
from backend.kickoff.links import Resolver
from backend.kickoff.rank import Documents
from backend.schemas.config import Config
from backend.schemas.manifest import ManifestEntry
from backend.schemas.roles import CHANGELOG_ROLE, ROLES
from backend.tree.repos import innermost_repo

NEAREST = 100
"""Chunks that the vector search is asked for, per role. Ranking over the best 100 finds clearly more than over 20."""


class StoredText(msgspec.Struct, frozen=True):
    """A chunk as the index holds it. ``body`` is its Markdown without title and heading; lines as in ``schemas.Chunk``."""

    index: int
    heading: str
    body: str
    start_line: int
    end_line: int


_TEXT = (
    "idx, heading, text, start_line, end_line FROM chunk c JOIN document d ON d.id = c.document "
    "WHERE d.path = ?"
)

_VECTOR = (
    "SELECT d.path, c.idx, v.data FROM chunk c JOIN document d ON d.id = c.document "
    "JOIN vector v ON v.text_hash = c.text_hash"
)


def _stored(index: int, heading: str, text: str, start: int, end: int) -> StoredText:
    body = text.partition("\n")[2].removeprefix(f"## {heading}\n").strip("\n")
    return StoredText(index, heading, body, start, end)


class _Card(msgspec.Struct):
    """The part of a manifest entry that every document is asked for."""

    modified_at: int
    repo: str


class Library:
    """An index opened for one search. A document is known by its row, 0 to the number of documents."""

    def __init__(self, root: Path, config: Config, index: Index) -> None:
        self.root, self.config, self.index = root, config, index
        self.words = lexical.load(index.db)
        places = load_places(root)
        self.repos = frozenset(places.repos) if places else frozenset()
        self.paths: list[str] = []
        self.roles: list[str] = []
        slugs, modified_at = [], array("q")
        decode = msgspec.json.Decoder(_Card).decode
        # One after the other, and of the few different repos and roles one text each: 60 MB less for 100,000 documents.
        for path, role, entry in index.db.execute(
            "SELECT path, role, entry FROM document ORDER BY id"
        ):
            card = decode(entry)
            self.paths.append(path)
            self.roles.append(intern(role))
            slugs.append(intern(card.repo))
            modified_at.append(card.modified_at)
        self.row_of = {path: row for row, path in enumerate(self.paths)}
        self.documents = Documents(
            repo=[intern(innermost_repo(path, self.repos)) for path in self.paths],
            slug=slugs,
            modified_at=np.array(modified_at, np.int64),
            changelog=np.array([role == CHANGELOG_ROLE for role in self.roles], bool),
        )
        self.copies = index.all_copies()
        self._resolver: Resolver | None = None
        self.notes: list[str] = []

    @property
    def resolver(self) -> Resolver:
        """Resolves link targets among the documents; made when first asked for."""
        if self._resolver is None:
            homes = {copy: home for home, copies in self.copies.items() for copy in copies}
            self._resolver = Resolver(self.paths, self.repos, homes)
        return self._resolver

    def shown(self, as_of: date | None, without: Collection[str]) -> npt.NDArray[np.bool_]:
        """Which rows exist for a search: none dated after ``as_of``, none of ``without``."""
        shown = np.array([path not in without for path in self.paths], bool)
        if as_of is not None:
            end = datetime.combine(as_of + timedelta(days=1), time.min, UTC).timestamp()
            shown &= self.documents.modified_at < end
        return shown

    def gone(self) -> set[str]:
        """The paths where no file is any more. For where the index may lag: what can't be read is nothing to propose."""
        there = (
            os.path.exists
        )  # of os.path, since pathlib's raises where a folder may not be entered
        return {path for path in self.paths if not there(self.root / path)}

    def links(self, row: int) -> Sequence[int]:
        """Rows that the document at ``row`` links to."""
        found = self.index.db.execute(
            "SELECT links FROM document WHERE path = ?", (self.paths[row],)
        ).fetchone()
        resolved = (
            self.resolver.resolve(target, self.paths[row])
            for target in msgspec.json.decode(found[0])
        )
        rows = {self.row_of[path] for path in resolved if path in self.row_of}
        return sorted(rows - {row})

    def entry(self, row: int) -> ManifestEntry:
        """The manifest entry of the document at ``row``."""
        entry = self.index.entry(self.paths[row])
        assert entry is not None
        return entry

    def chunk(self, row: int, index: int) -> StoredText:
        """One chunk of the document at ``row``; an empty one where the index has changed since it was opened."""
        found = self.index.db.execute(
            f"SELECT {_TEXT} AND idx = ?", (self.paths[row], index)
        ).fetchone()
        return _stored(*found) if found else StoredText(index, "", "", 1, 1)

    def section_before(self, row: int, chunk: StoredText) -> list[StoredText]:
        """The chunks before ``chunk`` of the same section, which is cut in several, in their order."""
        found = self.index.db.execute(
            f"SELECT {_TEXT} AND idx < ? AND idx > coalesce((SELECT max(idx) FROM chunk WHERE document = d.id "
            "AND idx < ? AND heading != ?), -1) ORDER BY idx",
            (self.paths[row], chunk.index, chunk.index, chunk.heading),
        )
        return [_stored(*one) for one in found]

    def nearest(self, task: str) -> dict[int, tuple[float, int]]:
        """For each document among the chunks nearest to ``task``: cosine and index of its nearest chunk."""
        best: dict[int, tuple[float, int]] = {}
        for (row, chunk), cosine in self.nearest_chunks(task).items():
            if row not in best or best[row][0] < cosine:
                best[row] = (cosine, chunk)
        return best

    def nearest_chunks(
        self, text: str, among: npt.NDArray[np.bool_] | None = None
    ) -> dict[tuple[int, int], float]:
        """The cosine of the chunks nearest to ``text``, by row of the document and index of the chunk.

        Asked of Chroma; where that is locked, broken or behind, of the index's own copy of the vectors, and a note says so.
        ``among``: only in these rows, which the index's own copy answers exactly (of Chroma's nearest all could be others).
        Where no vector can be had for ``text`` at all, nothing is near, and a note says so.
        """
        vector = self._vector(text)
        if vector is None:
            return {}
        if among is not None and not among.all():
            return self._nearest_in_index(vector, among)
        try:
            hits = self._nearest_in_chroma(vector)
        except (CvError, OSError) as error:
            self.notes.append(
                f"searched without Chroma, in the index's own copy of the vectors ({error})"
            )
            return self._nearest_in_index(vector, None)
        near: dict[tuple[int, int], float] = {}
        for chroma_id, cosine in hits:
            found = self.index.db.execute(
                "SELECT d.path, c.idx FROM chunk c JOIN document d ON d.id = c.document WHERE c.chroma_id = ?",
                (chroma_id,),
            ).fetchone()
            if found is not None:  # else it has left the index, and Chroma will hear of it
                near[self.row_of[found[0]], found[1]] = cosine
        return near | self._nearest_beside_chroma(vector)

    def _vector(self, text: str) -> npt.NDArray[np.float32] | None:
        try:
            held = self.index.fact("embedder")
            vector = load_held(self.config, held, self.root).embed([text])[0]
        except CvError as error:
            self.notes.append(f"searched by words only: {error}")
            return None
        return vector if vector.any() else None

    def _nearest_in_chroma(self, vector: npt.NDArray[np.float32]) -> list[tuple[str, float]]:
        config = serving(self.config, self.index.fact("embedder"), self.root)
        if config.chroma.mode == "persistent" and not self.index.fact("chroma"):
            raise CvError("it is being made anew")  # and may hold another embedder's vectors yet
        hits: list[tuple[str, float]] = []
        # In its own folder in an opening for each: Chroma keeps the vectors of all that it has touched in memory.
        beside = len(self._beside_chroma())
        openings = [(role,) for role in ROLES] if config.chroma.mode == "persistent" else [ROLES]
        for roles in openings:
            with reading(self.root, config) as store:
                for role in roles:
                    found = store.query(role, vector, NEAREST)
                    if len(found) < min(NEAREST, self.index.chunk_count(role) - beside):
                        raise CvError("it does not hold yet what the index does")
                    hits += found
        return hits

    def _nearest_in_index(
        self, vector: npt.NDArray[np.float32], among: npt.NDArray[np.bool_] | None
    ) -> dict[tuple[int, int], float]:
        kept = [
            (self.row_of[path], idx, data)
            for path, idx, data in self.index.db.execute(f"{_VECTOR} ORDER BY c.id")
        ]
        if among is not None:
            kept = [chunk for chunk in kept if among[chunk[0]]]
        return self._nearest_of(kept, vector)

    def _beside_chroma(self) -> list[int]:
        """The chunks, by row in the index, that the Chroma in the tree's own folder holds but does not find."""
        return self.index.unreached() if self.config.chroma.mode == "persistent" else []

    def _nearest_beside_chroma(
        self, vector: npt.NDArray[np.float32]
    ) -> dict[tuple[int, int], float]:
        each = f"{_VECTOR} WHERE c.id = ?"
        kept = [
            (self.row_of[path], idx, data)
            for number in self._beside_chroma()
            for path, idx, data in self.index.db.execute(each, (number,))
        ]
        return self._nearest_of(kept, vector)

    def _nearest_of(
        self, kept: list[tuple[int, int, bytes]], vector: npt.NDArray[np.float32]
    ) -> dict[tuple[int, int], float]:
        if not kept:
            return {}
        cosines = matrix([data for _, _, data in kept]) @ vector
        best = np.argsort(-cosines, kind="stable")[: NEAREST * len(ROLES)]
        return {(kept[i][0], kept[i][1]): float(cosines[i]) for i in best.tolist()}
