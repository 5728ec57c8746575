"""What a digest costs, in time and in context: ``python -m benchmarks.digest``.

Makes a synthetic tree, indexes it, and asks for the digests of two weeks, a month, three months and a year, each as a new process
that prints the agent's Markdown: against the interpreter with the imports alone, and against decoding the manifests alone; where
the time goes; and how much Markdown reaches the agent. The trees' days are fixed, so the digests' today is too.
"""

from __future__ import annotations

import functools
import io
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.measure import Run, Table, cold, interleaved, options_parser, python, write_json
from benchmarks.trees import make_tree

WINDOWS = ("2w", "1m", "3m", "1y")
TODAY = datetime(2026, 6, 30, 12, tzinfo=UTC)
"""The last day of the synthetic trees."""

PARTS = (
    "interpreter",
    "imports",
    "refresh",
    "reading",
    "grouping",
    "vectors",
    "themes",
    "rendering",
    "the rest",
)
CHARACTERS_A_TOKEN = 4
"""A rule of thumb for English text; paths and dates take somewhat more tokens."""

_IMPORTS = """
import os, sys
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as the command does before these imports
from backend import cli
from backend.catchup import answer
from backend.commands import catchup
from backend.render import digest_markdown
"""
_RUN = f"""{_IMPORTS}
import datetime
catchup.now = lambda: datetime.datetime.fromisoformat("{TODAY.isoformat()}")
sys.exit(cli.main(sys.argv[1:]))
"""
_DECODE = (
    "import sys, msgspec; [msgspec.json.decode(open(path, 'rb').read()) for path in sys.argv[1:]]"
)


def split(started: float, root: Path, window: str) -> dict[str, float]:
    """Make one digest in this fresh process (started at ``started``, epoch) and say where its seconds went."""
    spent = dict.fromkeys(PARTS, 0.0)
    spent["interpreter"] = time.time() - started
    begin = time.perf_counter()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as the command does before these imports
    from backend import cli
    from backend.catchup import answer
    from backend.commands import catchup
    from backend.render import digest_markdown

    spent["imports"] = time.perf_counter() - begin

    def watch(module: Any, name: str, part: str) -> None:
        function: Callable[..., Any] = getattr(module, name)

        @functools.wraps(function)
        def timed(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                spent[part] += time.perf_counter() - start

        setattr(module, name, timed)

    watch(answer, "refresh", "refresh")
    watch(answer, "load_all_cards", "reading")
    watch(answer, "load_places", "reading")
    watch(answer, "make_digest", "grouping")
    watch(answer, "document_vectors", "vectors")
    watch(answer, "make_themes", "themes")
    watch(digest_markdown, "digest_markdown", "rendering")
    catchup.now = lambda: TODAY
    begin = time.perf_counter()
    with redirect_stdout(io.StringIO()):
        code = cli.main(_arguments(root, window))
    if code:
        raise SystemExit(code)
    whole = time.perf_counter() - begin
    spent["the rest"] = whole - sum(spent[part] for part in PARTS[2:-1])
    return spent


def _arguments(root: Path, window: str) -> list[str]:
    return ["catch-up", "--root", str(root), "--window", window, "--markdown"]


class Bench:
    """One indexed tree, and the digests asked of it."""

    def __init__(self, root: Path, home: Path, rounds: int) -> None:
        self.root, self.home, self.rounds = root.resolve(), home, rounds

    def index(self) -> None:
        """Make the index."""
        print("indexing …", file=sys.stderr)
        arguments = ["init", "--senior-root", str(self.root), "--yes", "--no-settings-hook"]
        cold(python("-m", "backend", *arguments), folder=self.root, home=self.home)

    def digest(self, window: str) -> Run:
        """A cold digest."""
        return cold(python("-c", _RUN, *_arguments(self.root, window)), home=self.home)

    def time(self, table: Table) -> None:
        """Every window beside the baselines; and the size of what it printed."""
        manifests = sorted((self.root / ".context-vigilance/manifests").glob("*.json"))
        base = "cold: interpreter and imports alone"
        decode = "cold: decoding the manifests alone"
        cases: dict[str, Callable[[], Run]] = {
            base: lambda: cold(python("-c", _IMPORTS), home=self.home),
            decode: lambda: cold(python("-c", _DECODE, *map(str, manifests))),
        }
        for window in WINDOWS:
            cases[f"cold: digest of {window}"] = functools.partial(self.digest, window)
        runs = interleaved(cases, self.rounds)
        table.add(runs, dict.fromkeys(cases, base) | {base: ""})
        for window in WINDOWS:
            name = f"cold: digest of {window}"
            ratio = statistics.median(
                own.seconds / other.seconds
                for own, other in zip(runs[name], runs[decode], strict=True)
            )
            text = runs[name][-1].out
            table.fact(
                f"{window}",
                f"{ratio:.1f} times the decoding; {len(text):,} characters of Markdown, some "
                f"{len(text) // CHARACTERS_A_TOKEN:,} tokens; {_first_line(text)}",
            )

    def parts(self, table: Table) -> None:
        """Where a cold digest spends its time, for the shortest and the longest window."""
        print("where the time goes …", file=sys.stderr)
        for window in (WINDOWS[0], WINDOWS[-1]):
            found = []
            for _ in range(self.rounds):
                command = python(
                    "-m", "benchmarks.digest", "--inside", str(time.time()), str(self.root), window
                )
                found.append(json.loads(cold(command, home=self.home).out.strip().splitlines()[-1]))
            total = statistics.median(sum(each.values()) for each in found)
            for part in PARTS:
                share = statistics.median(each[part] for each in found)
                table.fact(
                    f"of {window}, {part:12}", f"{share * 1000:7.1f} ms  {share / total:5.0%}"
                )


def _first_line(text: str) -> str:
    return text.partition("\n")[0].partition("** ")[2].partition(". ")[0]


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
        bench = Bench(options.tree or Path(folder) / "tree", Path(folder) / "home", options.rounds)
        if options.tree is None:
            make_tree(bench.root, options.documents)
            bench.index()
        tables = [Table("Digest"), Table("Where its time goes")]
        bench.time(tables[0])
        bench.parts(tables[1])
        if hasattr(os, "getloadavg"):
            tables[1].fact("load of the machine, last minute", f"{os.getloadavg()[0]:.1f}")
        for table in tables:
            table.show()
        write_json(options.json, tables)


if __name__ == "__main__":
    main()
