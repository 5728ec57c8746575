"""What an answer costs: ``python -m benchmarks.find``.

Makes a synthetic tree, indexes it, and asks: ``cv find`` as a new process against importing chromadb and opening the store alone,
and against ``grep`` for the same words; where the time of the new process goes; ``find`` again in one process; the digest.
"""

from __future__ import annotations

import functools
import io
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.measure import (
    OPEN_STORE,
    Run,
    Table,
    cold,
    inside,
    interleaved,
    options_parser,
    python,
    write_json,
)
from benchmarks.trees import Writer, make_tree

PARTS = (
    "interpreter",
    "imports",
    "refresh",
    "open index",
    "words",
    "model",
    "chroma",
    "rank",
    "describe",
    "the rest",
)


def split(started: float, root: Path, task: str) -> dict[str, float]:
    """Run ``cv find`` in this fresh process (started at ``started``, epoch) and say where its seconds went."""
    spent = dict.fromkeys(PARTS, 0.0)
    spent["interpreter"] = time.time() - started
    begin = time.perf_counter()
    from backend import cli
    from backend.freshness import sync  # noqa: F401
    from backend.kickoff import answers, library, ranking
    from backend.kickoff import find as command  # noqa: F401
    from backend.render import findings_text  # noqa: F401

    spent["imports"] = time.perf_counter() - begin
    running: list[str] = []

    def watch(module: Any, name: str, part: str) -> None:
        function: Callable[..., Any] = getattr(module, name)

        @functools.wraps(function)
        def timed(*args: Any, **kwargs: Any) -> Any:
            outer = running[-1] if running else ""
            running.append(part)
            start = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                elapsed = time.perf_counter() - start
                running.pop()
                spent[part] += elapsed
                if outer:  # what is counted here is not counted there
                    spent[outer] -= elapsed

        setattr(module, name, timed)

    class Model:
        """The embedder, watched."""

        def __init__(self, inner: Any) -> None:
            self.name, self.inner = inner.name, inner

        def embed(self, texts: Sequence[str]) -> Any:
            return self.inner.embed(texts)

    reading = library.reading

    @contextmanager
    def watched_reading(*args: Any) -> Iterator[Any]:
        start = time.perf_counter()
        with reading(*args) as store:
            yield store
        spent["chroma"] += time.perf_counter() - start
        if running:
            spent[running[-1]] -= time.perf_counter() - start

    library.reading = watched_reading
    load = library.load_held

    def loaded(*args: Any) -> Any:
        model = Model(load(*args))
        watch(model, "embed", "model")
        return model

    library.load_held = loaded
    watch(library, "load_held", "model")
    watch(answers, "refresh", "refresh")
    watch(ranking, "score", "words")
    watch(ranking, "rank", "rank")
    watch(ranking.Ranking, "candidate", "describe")
    watch(ranking.Library, "__init__", "open index")
    begin = time.perf_counter()
    with redirect_stdout(io.StringIO()):
        code = cli.main(["find", "--root", str(root), task])
    if code:
        raise SystemExit(code)
    whole = time.perf_counter() - begin
    spent["the rest"] = whole - sum(spent[part] for part in PARTS[2:-1])
    return spent


class Bench:
    """One indexed tree, and what is asked of it."""

    def __init__(self, root: Path, home: Path, rounds: int) -> None:
        self.root, self.home, self.rounds = root.resolve(), home, rounds
        words = Writer(3)
        self.tasks = [" ".join(words.some(7)) for _ in range(25)]
        self._next = 0

    def ask_for_titles(self) -> None:
        """Ask for titles of documents of the tree, so that a tree that is not ours has something to find."""
        from backend.freshness.manifest import load_all_cards

        cards = [card for cards in load_all_cards(self.root).values() for card in cards.values()]
        titles = sorted({card.title for card in cards if len(card.title) > 12})
        self.tasks = titles[:: max(1, len(titles) // 25)] or self.tasks

    def task(self) -> str:
        """Another task each time."""
        self._next += 1
        return self.tasks[self._next % len(self.tasks)]

    def cv(self, *arguments: str) -> Run:
        """A cold ``cv`` on the tree."""
        return cold(python("-m", "backend", *arguments), folder=self.root, home=self.home)

    def index(self) -> None:
        """Make the index."""
        print("indexing …", file=sys.stderr)
        self.cv("init", "--senior-root", str(self.root), "--yes", "--no-settings-hook")

    def find(self, table: Table) -> None:
        """``cv find``, cold and warm."""
        from backend.kickoff.find import find
        from backend.tree.config import load_config

        config = load_config(self.root)
        base = "cold: import chromadb and open the store"
        opening = python("-c", OPEN_STORE, str(self.root))
        grep = shutil.which("grep")
        cases = {
            "cold: python -c pass": lambda: cold(python("-c", "pass")),
            base: lambda: cold(opening),
            "cold: cv find": lambda: self.cv("find", self.task()),
            "warm: find in one process": lambda: inside(
                lambda: find(
                    self.root, config, self.task(), folder=self.root, now=datetime.now(UTC)
                )
            ),
        }
        if grep:
            cases["grep -ril of the task's words"] = lambda: self.grep(grep)
        runs = interleaved(cases, self.rounds)
        names = {name: base for name in cases if name != base and not name.endswith("pass")}
        table.add(runs, names)

    def grep(self, program: str) -> Run:
        """Files with any word of the task, as a person would look for them."""
        words = [part for word in self.task().split() for part in ("-e", word)]
        command = [program, "-ril", "--include=*.md", *words, str(self.root)]
        return cold(["sh", "-c", '"$0" "$@" || [ $? -eq 1 ]', *command])  # 1: it found nothing

    def parts(self, table: Table) -> None:
        """Where a cold ``cv find`` spends its time."""
        print("where the time goes …", file=sys.stderr)
        found = []
        for _ in range(self.rounds):
            command = python(
                "-m", "benchmarks.find", "--inside", str(time.time()), str(self.root), self.task()
            )
            found.append(json.loads(cold(command, home=self.home).out.strip().splitlines()[-1]))
        total = statistics.median(sum(each.values()) for each in found)
        for part in PARTS:
            share = statistics.median(each[part] for each in found)
            table.fact(
                f"of a cold find, {part:12}", f"{share * 1000:7.1f} ms  {share / total:5.0%}"
            )

    def digest(self, table: Table) -> None:
        """``cv catch-up`` over a year, cold and warm."""
        from backend.catchup.digest import make_digest
        from backend.freshness.manifest import load_all_cards

        del make_digest  # imported so that the warm runs don't pay for it
        manifests = [
            str(path)
            for path in sorted((self.root / ".context-vigilance/manifests").glob("*.json"))
        ]
        read = (
            "import sys, msgspec; [msgspec.json.decode(open(p, 'rb').read()) for p in sys.argv[1:]]"
        )
        base = "cold: decoding the manifests alone"
        runs = interleaved(
            {
                base: lambda: cold(python("-c", read, *manifests)),
                "cold: cv catch-up --window 2w": lambda: self.cv(
                    "catch-up", "--window", "2w", "--json"
                ),
                "cold: cv catch-up --window 1y": lambda: self.cv(
                    "catch-up", "--window", "1y", "--json"
                ),
                "warm: cards of both manifests": lambda: inside(lambda: load_all_cards(self.root)),
                "warm: cv catch-up --window 1y": lambda: inside(self.warm_digest),
            },
            self.rounds,
        )
        table.add(runs, base)

    def warm_digest(self) -> None:
        """The command, in this process."""
        from backend.cli import main as run

        os.environ["CV_HOME"] = str(self.home)
        with redirect_stdout(io.StringIO()):
            run(["catch-up", "--window", "1y", "--json", "--root", str(self.root)])


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    if arguments is None and sys.argv[1:2] == ["--inside"]:
        print(json.dumps(split(float(sys.argv[2]), Path(sys.argv[3]), sys.argv[4])))
        return
    parser = options_parser(__doc__)
    parser.add_argument(
        "--tree", type=Path, help="ask this tree, which has an index, instead of making one"
    )
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        root = options.tree or Path(folder) / "tree"
        bench = Bench(root, Path(folder) / "home", options.rounds)
        if options.tree is None:
            make_tree(root, options.documents)
            bench.index()
        else:
            bench.ask_for_titles()
        tables = [Table("Find"), Table("Digest")]
        bench.find(tables[0])
        bench.parts(tables[0])
        bench.digest(tables[1])
        for table in tables:
            table.show()
        write_json(options.json, tables)


if __name__ == "__main__":
    main()
