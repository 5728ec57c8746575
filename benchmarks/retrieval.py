"""How well ``cv find`` finds what people linked: ``python -m benchmarks.retrieval BENCH.json TREE``.

BENCH is a list of tasks: ``id, query, gold`` (paths), ``source`` (the document the task was made from), ``kind``, and, where
there are such, ``paraphrase`` (without names) and ``cwd`` (the repo worked in). TREE is an indexed senior root (``cv init``).

A task is judged as of its day: its source and, with ``--asof DATES.json`` (path to day), every document dated after the source
do not exist for the search: neither ranked nor counted nor followed. The source links exactly the files that are looked for, and
later documents link them again, so that a search that may see either answers from the question.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from backend.freshness.index import Index
from backend.freshness.places import index_path
from backend.freshness.words import surfaces
from backend.kickoff import rank as ranking
from backend.kickoff.find import Ranking, find, named_repos
from backend.kickoff.lexical import Query, Views
from backend.kickoff.library import Library
from backend.tree.config import load_config
from benchmarks.scoring import MEASURES, Scores, folded, interval, means, score

KEPT = 60
"""Files of a ranking that are scored."""

Order = Callable[["Asked"], Sequence[int]]


class Asked(NamedTuple):
    """One task, asked once: what the search made of it before the order was decided."""

    task: dict[str, Any]
    text: str
    ranking: Ranking


class Bench:
    """The tasks of one file on one tree."""

    def __init__(
        self,
        tasks: list[dict[str, Any]],
        root: Path,
        aliases: Mapping[str, str],
        dates: Mapping[str, str],
    ) -> None:
        self.tasks, self.aliases, self.dates = tasks, aliases, dates
        self.root = root.resolve()
        self.config = load_config(self.root)
        index = Index.for_reading(index_path(self.root))
        if index is None:
            raise SystemExit(
                f"{root}: no index there; run 'cv init --senior-root {root} --yes' first"
            )
        self.library = Library(self.root, self.config, index)
        self.now = datetime.now(UTC)
        self._texts: list[str] | None = None
        self._fts: sqlite3.Connection | None = None

    def hidden(self, task: Mapping[str, Any]) -> set[str]:
        """What does not exist for a task: its source, and what is dated after it."""
        source = task.get("source")
        if not source:
            return set()
        source = self.aliases.get(source, source)
        day = self.dates.get(source)
        later = {path for path, other in self.dates.items() if day and other > day}
        return {source} | later | {task["source"]}

    def moment(self, task: Mapping[str, Any]) -> datetime:
        """When a task is asked: at the end of its source's day.

        A document that was edited since then counts as new as that day, no newer, so that it does not make all others look old.
        """
        source = task.get("source") or ""
        day = self.dates.get(self.aliases.get(source, source))
        return (
            datetime.fromisoformat(day[:10]).replace(hour=23, minute=59, tzinfo=UTC)
            if day
            else self.now
        )

    def ask(self, field: str, *, at_hand: bool) -> list[Asked]:
        """Every answerable task by its ``field``, from the repo it was worked on in or from the senior root."""
        asked = []
        for task in self.tasks:
            query = Query.of(task.get(field) or "")
            if task["kind"] == "no-match" or query is None:
                continue
            folder = self.root / (task.get("cwd") or "") if at_hand else self.root
            made = Ranking(
                self.library,
                query,
                task[field],
                folder=folder,
                now=self.moment(task),
                without=self.hidden(task),
            )
            asked.append(Asked(task, task[field], made))
        return asked

    def judge(self, asked: Sequence[Asked], order: Order) -> list[Scores]:
        """The scores of every task under ``order``."""
        scores = []
        for each in asked:
            paths = [self.library.paths[row] for row in order(each) if each.ranking.shown[row]][
                :KEPT
            ]
            gold = {self.aliases.get(path, path) for path in each.task["gold"]}
            scores.append(score(folded(paths, self.aliases), gold))
        return scores

    def abstained(self) -> list[tuple[str, str, float]]:
        """For the tasks that nothing is about: the verdict and the coverage that the evidence shows."""
        found: list[tuple[str, str, float]] = []
        for task in self.tasks:
            if task["kind"] == "no-match":
                answer = find(
                    self.root, self.config, task["query"], folder=self.root, now=self.now, limit=1
                )
                assert answer.evidence is not None
                found.append((task["id"], answer.evidence.verdict, answer.evidence.coverage))
        return found

    # --- orders ----------------------------------------------------------------------------------------------------

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
                self.library.documents,
                repo=made.repo,
                named=named_repos(asked.text, self.library.repos),
                now=self.moment(asked.task).timestamp(),
                links=self.library.links,
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
            views = Views(**parts, best=old.best, found=old.found, rarity=old.rarity)
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
            rows = self.library.index.db.execute(
                "SELECT d.path, c.text FROM chunk c JOIN document d ON d.id = c.document ORDER BY c.id"
            )
            for path, text in rows:
                texts[path].append(text)
            self._texts = [
                "\n".join([path, *texts[path]]).casefold() for path in self.library.paths
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
            for path, heading, text in self.library.index.db.execute(
                "SELECT d.path, c.heading, c.text FROM chunk c JOIN document d ON d.id = c.document"
            ):
                title, _, body = text.partition("\n")
                self._fts.execute(
                    "INSERT INTO f VALUES (?, ?, ?, ?)",
                    (title, heading, body, self.library.row_of[path]),
                )
        words = " OR ".join(f'"{word}"' for word in surfaces(asked.text).values())
        best: dict[int, list[float]] = defaultdict(list)
        for row, value in self._fts.execute(
            "SELECT row, bm25(f, 5, 3, 1) AS s FROM f WHERE f MATCH ? ORDER BY s", (words,)
        ):
            if len(best[row]) < 3:
                best[row].append(-value)
        return sorted(best, key=lambda row: -sum(best[row]))

    # --- time ------------------------------------------------------------------------------------------------------

    def milliseconds(self, field: str) -> dict[str, float]:
        """Median time of a query: all of ``find`` with its index opened anew, and the ranking alone on an open one."""
        whole, alone = [], []
        for task in self.tasks:
            query = Query.of(task.get(field) or "")
            if query is None:
                continue
            folder = self.root / (task.get("cwd") or "")
            start = time.perf_counter()
            find(self.root, self.config, task[field], folder=folder, now=self.now)
            whole.append(time.perf_counter() - start)
            start = time.perf_counter()
            Ranking(self.library, query, task[field], folder=folder, now=self.now)
            alone.append(time.perf_counter() - start)
        return {
            "find": round(statistics.median(whole) * 1000, 1),
            "ranking": round(statistics.median(alone) * 1000, 1),
        }


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


def with_constants(bench: Bench, **values: float) -> Order:
    """The product's order under other weights."""

    def order(asked: Asked) -> list[int]:
        with constants(**values):
            return bench.as_shipped(asked)

    return order


def orders(bench: Bench) -> dict[str, Order]:
    """Everything that is compared: the product, the product without each of its parts, and what else there is."""
    without = {
        "links": {"LINKED": 0.0},
        "repo at hand": {
            "NEAR_SAME": 0.0,
            "NEAR_BELOW": 0.0,
            "NEAR_AROUND": 0.0,
            "NEAR_UNKNOWN": 0.0,
        },
        "news": {"NEWS": 0.0},
        "changelog": {"CHANGELOG": 0.0},
        "meaning": {"MEANING": 0.0},
    }
    found: dict[str, Order] = {"as shipped": bench.as_shipped}
    for name, values in without.items():
        found[f"without {name}"] = with_constants(bench, **values)
    found |= {
        "without the chunk view": bench.views_only("document", "card"),
        "without the document view": bench.views_only("chunk", "card"),
        "without the card view": bench.views_only("chunk", "document"),
        "only the chunk view": bench.views_only("chunk"),
        "words alone, three views": bench.by_words,
        "words alone, BM25 of chunks": bench.by_one_view("chunk"),
        "meaning alone": bench.by_meaning,
        "BM25 of chunks + meaning, RRF": bench.by_both,
        "FTS5 5/3/1 of chunks": bench.by_fts5,
        "like grep": bench.by_grep,
    }
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Ask, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("bench", type=Path)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--aliases", type=Path, help="copies and the files they are copies of")
    parser.add_argument("--asof", type=Path, help="the day of each document")
    parser.add_argument("--json", type=Path, help="write the results here too")
    parser.add_argument("--only", nargs="*", help="only these lines (parts of their names)")
    parser.add_argument(
        "--kinds", action="store_true", help="the product's scores for each kind of task too"
    )
    options = parser.parse_args(arguments)
    tasks = json.loads(options.bench.read_text("utf-8"))
    read = lambda path: json.loads(path.read_text("utf-8")) if path else {}  # noqa: E731
    bench = Bench(tasks, options.tree, read(options.aliases), read(options.asof))
    results: dict[str, Any] = {"bench": options.bench.name, "documents": len(bench.library.paths)}
    fields = ["query"] + (["paraphrase"] if any(task.get("paraphrase") for task in tasks) else [])
    repos = any(task.get("cwd") for task in tasks)
    for field in fields:
        for at_hand in (True, False) if repos else (True,):
            title = f"{field}, repo at hand {'known' if at_hand else 'unknown'}" if repos else field
            print(f"asking: {title} …", file=sys.stderr)
            if asked := bench.ask(field, at_hand=at_hand):
                results[title] = compare(bench, asked, title, options)
    results["abstained"] = bench.abstained()
    print(
        "\ntasks that nothing is about: "
        + ", ".join(f"{i} {v} ({c})" for i, v, c in results["abstained"])
    )
    results["median_ms"] = bench.milliseconds("query")
    print(f"median ms a query: {results['median_ms']}")
    for note in Counter(bench.library.notes):
        print(f"note: {note}")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", "utf-8")


def compare(
    bench: Bench, asked: Sequence[Asked], title: str, options: argparse.Namespace
) -> dict[str, Any]:
    """One table: a line for each order; differences are to the product, with 90 % intervals over the tasks."""
    print(f"\n{title} ({len(asked)} tasks)")
    print(
        f"  {'':32} {'recall@5':>8} {'90 %':>13} {'recall@20':>9} {'90 %':>13} {'nDCG@10':>8} {'MRR':>6}"
        "   recall@5, @20 against the product"
    )
    table: dict[str, Any] = {}
    product: list[Scores] = []
    for name, order in orders(bench).items():
        if options.only and name != "as shipped" and not any(part in name for part in options.only):
            continue
        scores = bench.judge(asked, order)
        product = product or scores
        mean = means(scores)
        line: dict[str, Any] = {measure: round(mean[measure], 3) for measure in MEASURES}
        shown = ""
        for measure in ("recall@5", "recall@20"):
            line[f"{measure} 90 %"] = [round(v, 3) for v in interval([s[measure] for s in scores])]
            if scores is not product:
                gaps = [s[measure] - p[measure] for s, p in zip(scores, product, strict=True)]
                low, high = interval(gaps)
                line[f"{measure} against the product"] = [
                    round(v, 3) for v in (sum(gaps) / len(gaps), low, high)
                ]
                shown += f"  {sum(gaps) / len(gaps):+.3f} ({low:+.3f} … {high:+.3f})"
        table[name] = line
        five, twenty = line["recall@5 90 %"], line["recall@20 90 %"]
        print(
            f"  {name:32} {line['recall@5']:8.3f} {five[0]:6.3f}-{five[1]:.3f} "
            f"{line['recall@20']:9.3f} {twenty[0]:6.3f}-{twenty[1]:.3f} {line['nDCG@10']:8.3f} {line['MRR']:6.3f}{shown}"
        )
    if options.kinds:
        kinds: dict[str, list[Scores]] = defaultdict(list)
        for each, own in zip(asked, product, strict=True):
            kinds[each.task["kind"]].append(own)
        for kind, own in sorted(kinds.items(), key=lambda item: -len(item[1])):
            line = {"n": len(own)} | {
                measure: round(value, 3) for measure, value in means(own).items()
            }
            table[f"kind: {kind}"] = line
            print(
                f"    {kind:20} {line['n']:3}  " + "  ".join(f"{m} {line[m]:.3f}" for m in MEASURES)
            )
    return table


if __name__ == "__main__":
    main()
