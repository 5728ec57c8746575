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
import statistics
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from backend.freshness.index import Index
from backend.freshness.places import index_path
from backend.kickoff.find import find
from backend.kickoff.lexical import Query
from backend.kickoff.library import Library
from backend.kickoff.ranking import Ranking
from backend.tree.config import load_config
from benchmarks.measure import OPEN_STORE, cold, interleaved, python
from benchmarks.orders import Order, Orders
from benchmarks.retrieval_tables import compared, kinds, markdown, shown
from benchmarks.scoring import Scores, folded, score

KEPT = 60
"""Files of a ranking that are scored."""


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

    # --- time ------------------------------------------------------------------------------------------------------

    def milliseconds(self, field: str, rounds: int) -> dict[str, float]:
        """Median time of a query: ``cv find`` as a new process, beside one that only imports chromadb and opens the store; all
        of ``find`` in this process with its index opened anew; the ranking alone on an open one. ``rounds``: new processes.
        """
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
        tasks = iter(
            [task[field] for task in self.tasks if Query.of(task.get(field) or "")] * rounds
        )
        runs = interleaved(
            {
                "cold": lambda: cold(
                    python("-m", "backend", "find", "--root", str(self.root), next(tasks))
                ),
                "cold, opening the store alone": lambda: cold(
                    python("-c", OPEN_STORE, str(self.root))
                ),
            },
            rounds,
        )
        seconds = {name: [run.seconds for run in own] for name, own in runs.items()}
        seconds |= {"warm": whole, "warm, ranking alone": alone}
        return {name: round(statistics.median(each) * 1000, 1) for name, each in seconds.items()}


def days(path: Path | None) -> dict[str, str]:
    """The day from which each document exists: an object path to day, or the list of files of a sample's MANIFEST.json."""
    if path is None:
        return {}
    read = json.loads(path.read_text("utf-8"))
    if isinstance(read, dict):
        return read
    return {each["path"]: each["first_commit"][:10] for each in read}


def main(arguments: Sequence[str] | None = None) -> None:
    """Ask, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("bench", type=Path)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--aliases", type=Path, help="copies and the files they are copies of")
    parser.add_argument("--asof", type=Path, help="the day of each document, or a MANIFEST.json")
    parser.add_argument("--json", type=Path, help="write the results here too")
    parser.add_argument("--markdown", type=Path, help="write the table here too")
    parser.add_argument("--cold", type=int, default=9, help="queries in a process of their own")
    parser.add_argument("--only", nargs="*", help="only these lines (parts of their names)")
    parser.add_argument(
        "--kinds", action="store_true", help="the product's scores for each kind of task too"
    )
    options = parser.parse_args(arguments)
    tasks = json.loads(options.bench.read_text("utf-8"))
    aliases = json.loads(options.aliases.read_text("utf-8")) if options.aliases else {}
    bench = Bench(tasks, options.tree, aliases, days(options.asof))
    results: dict[str, Any] = {
        "bench": options.bench.name,
        "documents": len(bench.library.paths),
        "chunks": len(bench.library.words.chunk_document),
        "tables": ask_all(bench, options),
    }
    results["abstained"] = bench.abstained()
    nothing = ", ".join(f"{i} {v} ({c})" for i, v, c in results["abstained"])
    print(f"\ntasks that nothing is about: {nothing}")
    results["median_ms"] = bench.milliseconds("query", options.cold)
    print(f"median ms a query: {results['median_ms']}")
    for note in Counter(bench.library.notes):
        print(f"note: {note}")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    if options.markdown:
        options.markdown.write_text(markdown(results), "utf-8")


def ask_all(bench: Bench, options: argparse.Namespace) -> dict[str, Any]:
    """Every wording of the tasks, from the repo worked in and from the senior root, judged under every order and printed."""
    tables: dict[str, Any] = {}
    fields = ["query"] + ["paraphrase"] * any(task.get("paraphrase") for task in bench.tasks)
    repos = any(task.get("cwd") for task in bench.tasks)
    orders = Orders(bench).all()
    for field in fields:
        for at_hand in (True, False) if repos else (True,):
            title = f"{field}, repo at hand {'known' if at_hand else 'unknown'}" if repos else field
            print(f"asking: {title} …", file=sys.stderr)
            if not (asked := bench.ask(field, at_hand=at_hand)):
                continue
            chosen = {
                name: order
                for name, order in orders.items()
                if name == "as shipped"
                or not options.only
                or any(part in name for part in options.only)
            }
            scores = {name: bench.judge(asked, order) for name, order in chosen.items()}
            tables[title] = compared(scores)
            if options.kinds:
                each = [one.task["kind"] for one in asked]
                tables[title] |= kinds(each, scores["as shipped"])
            print(f"\n{title} ({len(asked)} tasks)\n{shown(tables[title])}")
    return tables


if __name__ == "__main__":
    main()
