"""The orders that ``benchmarks.retrieval`` compares: the product's, with and without each of its parts, each leg alone, and what
else a person would use.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from backend.freshness.words import surfaces
from backend.kickoff import rank as ranking
from backend.kickoff.lexical import Views
from backend.kickoff.ranking import named_repos

if TYPE_CHECKING:
    from benchmarks.retrieval import Asked, Bench

Order = Callable[["Asked"], Sequence[int]]

_PARTS = {
    "changelog": {"CHANGELOG": 0.0},
    "news": {"NEWS": 0.0},
    "repo at hand": {
        "NEAR_SAME": 0.0,
        "NEAR_BELOW": 0.0,
        "NEAR_AROUND": 0.0,
        "NEAR_UNKNOWN": 0.0,
    },
    "links": {"LINKED": 0.0},
}
"""What stands on top of words and meaning, and the weights that are 0 without it."""


class Orders:
    """Ways to order the documents of one benchmark's tree."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self._texts: list[str] | None = None
        self._fts: sqlite3.Connection | None = None

    def all(self) -> dict[str, Order]:
        """By name: baselines, legs alone, fused, then part by part up to the product; then the product without each part."""
        found: dict[str, Order] = {
            "as shipped": self.as_shipped,
            "like grep": self.by_grep,
            "FTS5 5/3/1 of chunks": self.by_fts5,
            "words alone, BM25 of chunks": self.by_one_view("chunk"),
            "meaning alone": self.by_meaning,
            "BM25 of chunks + meaning, RRF": self.by_both,
            "words alone, three views": self.by_words,
        }
        left = dict(_PARTS)
        name = "three views + meaning"
        while left:
            found[name] = self.with_constants(
                **{k: v for off in left.values() for k, v in off.items()}
            )
            added = next(iter(left))
            del left[added]
            name = f"… + {added}"
        found["… + links (as shipped)"] = self.as_shipped
        for name, off in _PARTS.items():
            found[f"without {name}"] = self.with_constants(**off)
        return found | {
            "without meaning": self.with_constants(MEANING=0.0),
            "without the chunk view": self.views_only("document", "card"),
            "without the document view": self.views_only("chunk", "card"),
            "without the card view": self.views_only("chunk", "document"),
            "only the chunk view": self.views_only("chunk"),
            "the card's view in full": self.card_in_full,
        }

    def with_constants(self, **values: float) -> Order:
        """The product's order under other weights."""

        def order(asked: Asked) -> list[int]:
            with constants(**values):
                return self.as_shipped(asked)

        return order

    def card_in_full(self, asked: Asked) -> list[int]:
        """The product's order, but the best card counts in full even where cards have few of the task's words."""
        old = asked.ranking.views
        card = old.card / (old.card.max(initial=0.0) or 1.0)
        views = Views(old.chunk, old.document, card, old.best, old.found, old.rarity, old.on_card)
        return self.as_shipped(asked, views=views)

    def as_shipped(
        self, asked: Asked, *, views: Views | None = None, meaning: bool = True
    ) -> list[int]:
        """The product's order, from other views of the words perhaps."""
        made = asked.ranking
        nearest = {row: cosine for row, (cosine, _) in made.nearest.items()} if meaning else {}
        return [
            each.row
            for each in ranking.rank(
                views or made.views,
                nearest,
                self.bench.library.documents,
                repo=made.repo,
                named=named_repos(asked.text, self.bench.library.repos),
                now=self.bench.moment(asked.task).timestamp(),
                links=self.bench.library.links,
                shown=made.shown,
            )
        ]

    def views_only(self, *names: str) -> Order:
        """The product's order with only these views of the words, which get the weight of all three."""

        def order(asked: Asked) -> list[int]:
            old = asked.ranking.views
            parts = {
                n: getattr(old, n) * (3 / len(names) if n in names else 0)
                for n in ("chunk", "document", "card")
            }
            views = Views(
                **parts, best=old.best, found=old.found, rarity=old.rarity, on_card=old.on_card
            )
            return self.as_shipped(asked, views=views)

        return order

    def by_one_view(self, name: str) -> Order:
        """By one view of the words, nothing else."""
        return lambda asked: np.argsort(-getattr(asked.ranking.views, name), kind="stable").tolist()

    def by_words(self, asked: Asked) -> list[int]:
        """By the three views of the words, nothing else."""
        views = asked.ranking.views
        return list(
            np.argsort(-(views.chunk + views.document + views.card), kind="stable").tolist()
        )

    def by_meaning(self, asked: Asked) -> list[int]:
        """By each document's nearest chunk among the 100 nearest of each role, nothing else."""
        nearest = asked.ranking.nearest
        return sorted(nearest, key=lambda row: -nearest[row][0])

    def by_both(self, asked: Asked) -> list[int]:
        """Words and meaning by reciprocal rank fusion (k = 60), nothing else: what a textbook would do."""
        fused: dict[int, float] = defaultdict(float)
        for leg in (self.by_one_view("chunk")(asked)[:200], self.by_meaning(asked)):
            for place, row in enumerate(leg, 1):
                fused[row] += 1 / (60 + place)
        return sorted(fused, key=lambda row: -fused[row])

    def by_grep(self, asked: Asked) -> list[int]:
        """What a person gets with grep: files with the most different words of the task, then with the most occurrences."""
        if self._texts is None:
            texts: dict[str, list[str]] = defaultdict(list)
            rows = self.bench.library.index.db.execute(
                "SELECT d.path, c.text FROM chunk c JOIN document d ON d.id = c.document ORDER BY c.id"
            )
            for path, text in rows:
                texts[path].append(text)
            self._texts = [
                "\n".join([path, *texts[path]]).casefold() for path in self.bench.library.paths
            ]
        said = {word.casefold() for word in surfaces(asked.text).values()}
        counts = []
        for row, text in enumerate(self._texts):
            occurrences = [text.count(word) for word in said]
            counts.append((-sum(n > 0 for n in occurrences), -sum(occurrences), row))
        return [row for *_, row in sorted(counts)]

    def by_fts5(self, asked: Asked) -> list[int]:
        """SQLite's own full-text search over the chunks (title, heading and body weighing 5, 3 and 1), three best summed."""
        if self._fts is None:
            self._fts = sqlite3.connect(":memory:")
            self._fts.execute(
                "CREATE VIRTUAL TABLE f USING fts5(title, heading, body, row UNINDEXED, "
                "tokenize='porter unicode61')"
            )
            for path, heading, text in self.bench.library.index.db.execute(
                "SELECT d.path, c.heading, c.text FROM chunk c JOIN document d ON d.id = c.document"
            ):
                title, _, body = text.partition("\n")
                self._fts.execute(
                    "INSERT INTO f VALUES (?, ?, ?, ?)",
                    (title, heading, body, self.bench.library.row_of[path]),
                )
        words = " OR ".join(f'"{word}"' for word in surfaces(asked.text).values())
        best: dict[int, list[float]] = defaultdict(list)
        for row, value in self._fts.execute(
            "SELECT row, bm25(f, 5, 3, 1) AS s FROM f WHERE f MATCH ? ORDER BY s", (words,)
        ):
            if len(best[row]) < 3:
                best[row].append(-value)
        return sorted(best, key=lambda row: -sum(best[row]))


@contextmanager
def constants(**values: float) -> Iterator[None]:
    """Other weights in ``backend.kickoff.rank`` for the length of the block."""
    old = {name: getattr(ranking, name) for name in values}
    for name, value in values.items():
        setattr(ranking, name, value)
    try:
        yield
    finally:
        for name, value in old.items():
            setattr(ranking, name, value)
