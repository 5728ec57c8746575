"""What a search needs of the index, read once: the documents, their words, their links, and what is nearest in meaning."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from backend.errors import CvError
from backend.freshness import lexical
from backend.freshness.embedder import load_embedder
from backend.freshness.index import Index
from backend.freshness.places import load_places
from backend.freshness.store import reading
from backend.kickoff.links import Resolver
from backend.kickoff.rank import Documents
from backend.schemas import CHANGELOG_ROLE, ROLES, Config, ManifestEntry
from backend.tree.repos import innermost_repo

NEAREST = 100
"""Chunks that the vector search is asked for, per role. Ranking over the best 100 finds clearly more than over 20."""


class _Moment(msgspec.Struct):
    modified_at: int


class Library:
    """An index opened for one search. A document is known by its row, 0 to the number of documents."""

    def __init__(self, root: Path, config: Config, index: Index) -> None:
        self.root, self.config, self.index = root, config, index
        self.words = lexical.load(index.db)
        places = load_places(root)
        self.repos = frozenset(places.repos) if places else frozenset()
        rows = index.db.execute("SELECT path, role, entry FROM document ORDER BY id").fetchall()
        self.paths = [row[0] for row in rows]
        self.roles = [row[1] for row in rows]
        self.row_of = {path: row for row, path in enumerate(self.paths)}
        decode = msgspec.json.Decoder(_Moment).decode
        self.documents = Documents(
            repo=[innermost_repo(path, self.repos) for path in self.paths],
            modified_at=np.array([decode(row[2]).modified_at for row in rows], np.int64),
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

    def nearest(self, task: str) -> dict[int, tuple[float, int]]:
        """For each document among the chunks nearest to ``task``: cosine and index of its nearest chunk.

        Asked of Chroma; where that is locked or broken, of the index's own copy of the vectors, and a note says so. Where no
        vector can be had for the task at all, nothing is near, and a note says so.
        """
        try:
            vector = load_embedder(self.config.embedding).embed([task])[0]
        except CvError as error:
            self.notes.append(f"searched by words only: {error}")
            return {}
        if not vector.any():
            return {}
        try:
            with reading(self.root, self.config) as store:
                hits = [hit for role in ROLES for hit in store.query(role, vector, NEAREST)]
        except CvError as error:
            self.notes.append(
                f"searched without Chroma, in the index's own copy of the vectors ({error})"
            )
            hits = self._nearest_in_index(vector)
        best: dict[int, tuple[float, int]] = {}
        for chroma_id, cosine in hits:
            found = self.index.db.execute(
                "SELECT d.path, c.idx FROM chunk c JOIN document d ON d.id = c.document WHERE c.chroma_id = ?",
                (chroma_id,),
            ).fetchone()
            if found is not None:  # else it has left the index, and Chroma will hear of it
                row = self.row_of[found[0]]
                if row not in best or best[row][0] < cosine:
                    best[row] = (cosine, found[1])
        return best

    def _nearest_in_index(self, vector: npt.NDArray[np.float32]) -> list[tuple[str, float]]:
        ids, matrix = self.index.vectors.of_chunks()
        if not ids:
            return []
        cosines = matrix @ vector
        best = np.argsort(-cosines, kind="stable")[: NEAREST * len(ROLES)]
        return [(ids[i], float(cosines[i])) for i in best.tolist()]
