"""What grows with the tree and what does not: ``python -m benchmarks.curves``.

For each size a synthetic tree is made and indexed, then the same is measured on it: the first index, the start hook, a sync with
nothing to do against a bare stat walk, one changed document, ``cv find`` against opening the store, the digest, memory, store.
``--short`` sizes are trees of documents of one paragraph, for numbers of files that would take hours to embed otherwise.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.hook import event
from benchmarks.hook import make_tree as make_short_tree
from benchmarks.measure import (
    OPEN_STORE,
    Run,
    Table,
    cold,
    folder_mb,
    inside,
    interleaved,
    python,
    stat_walk,
    write_json,
)
from benchmarks.trees import make_tree

TASK = "the harbour crane and its cable"
HOOK = "import os, subprocess, sys; subprocess.run([sys.executable, '-P', '-s', '-m', 'backend', 'hook', 'session-start'], "
HOOK += "input=sys.argv[1].encode(), stdout=subprocess.DEVNULL, check=True)"


class Size:
    """One tree and its table."""

    def __init__(self, base: Path, documents: int, rounds: int, *, short: bool) -> None:
        self.root = (base / f"{'short' if short else 'tree'}-{documents}").resolve()
        self.home, self.rounds = base / "home", rounds
        kind = "short documents" if short else "documents"
        self.table = Table(f"{documents:,} {kind}")
        print(f"{documents:,} {kind}: making them …", file=sys.stderr)
        make = make_short_tree if short else make_tree
        make(self.root, documents)

    def cv(self, *arguments: str) -> Run:
        """A cold ``cv`` on the tree."""
        return cold(
            python("-P", "-s", "-m", "backend", *arguments), folder=self.root, home=self.home
        )

    def measure(self) -> Table:
        """The whole table."""
        print("first index …", file=sys.stderr)
        init = ("init", "--senior-root", str(self.root), "--yes", "--no-settings-hook")
        self.table.add({"first index (cv init)": [self.cv(*init)]}, "")
        kit = self.root / ".context-vigilance"
        roles = json.loads(self.cv("status", "--json").out)["roles"].values()
        for name in ("documents", "chunks"):
            self.table.fact(name, sum(role[name] for role in roles))
        self.table.fact("store MB", folder_mb(kit))
        self.nothing_to_do()
        print("changes and questions …", file=sys.stderr)
        opening = python("-c", OPEN_STORE, str(self.root))
        base = "importing chromadb and opening the store"
        asked = {
            base: lambda: cold(opening),
            "cv find": lambda: self.cv("find", TASK, "--json"),
            "cv catch-up --window 2w": lambda: self.cv("catch-up", "--window", "2w", "--json"),
            "one changed document (cv sync --changed-since)": self.one_change,
        }
        self.table.add(interleaved(asked, self.rounds), base)
        return self.table

    def nothing_to_do(self) -> None:
        """A sync and a start hook that find everything as it was."""
        from backend.freshness.places import load_places
        from backend.freshness.sync import Options, sync
        from backend.tree.config import load_config

        config = load_config(self.root)
        quick = lambda: sync(self.root, config, now=datetime.now(UTC), options=Options(quick=True))  # noqa: E731
        quick()
        places = load_places(self.root)
        assert places is not None
        paths = [place.path for place in places.places]
        folders = [
            self.root / path
            for path in paths
            if not any(path.startswith(f"{other}/") for other in paths)
        ]
        walk, nothing = "bare stat walk", "a sync with nothing to do"
        runs = {walk: lambda: inside(lambda: stat_walk(folders)), nothing: lambda: inside(quick)}
        self.table.add(interleaved(runs, self.rounds * 3), walk)
        start = lambda: cold(  # noqa: E731
            python("-c", HOOK, event("SessionStart", self.root, source="startup")), home=self.home
        )
        bare = "python -c pass, started by python"
        script = (
            "import subprocess, sys; subprocess.run([sys.executable, '-P', '-s', '-c', 'pass'])"
        )
        self.table.add(
            interleaved(
                {bare: lambda: cold(python("-c", script)), "start hook": start}, self.rounds
            ),
            bare,
        )

    def one_change(self) -> Run:
        """Append a sentence to a document and sync."""
        documents = sorted(self.root.rglob("context-v/**/*.md"))
        path = documents[len(self.table.lines) * 997 % len(documents)]
        with path.open("a", encoding="utf-8") as file:
            file.write(f"\nOne more remark of {datetime.now(UTC).isoformat()}.\n")
        return self.cv("sync", "--changed-since", "--json")


def summary(tables: list[Table]) -> str:
    """The curves as a Markdown table: a line for each thing measured, a column for each size."""
    names = list(dict.fromkeys(line["what"] for table in tables for line in table.lines))
    rows = [["", *(table.title for table in tables)]]
    rows.append(["chunks", *(f"{table.facts['chunks']:,}" for table in tables)])
    rows.append(["store", *(f"{table.facts['store MB']:,.0f} MB" for table in tables)])
    for name in names:
        lines: list[dict[str, Any]] = [
            next(line for line in table.lines if line["what"] == name) for table in tables
        ]
        rows.append([name, *(_cell(line) for line in lines)])
    rows.insert(1, ["---"] * len(rows[0]))
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _cell(line: dict[str, Any]) -> str:
    ms = line["median_ms"]
    text = f"{ms / 1000:,.2f} s" if ms >= 1000 else f"{ms:.1f} ms"
    if "ratio" in line:
        text += f" ({line['ratio']} times)"
    return text + (f", {line['peak_mb']:.0f} MB" if "peak_mb" in line else "")


def main() -> None:
    """Measure every size, print the tables and the curves."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, nargs="*", default=[1_000, 10_000])
    parser.add_argument("--short", type=int, nargs="*", default=[100_000])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scratch", type=Path, help="where to work (default: a temporary folder)")
    parser.add_argument("--json", type=Path, help="write the results here too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        base = options.scratch or Path(temporary)
        sizes = [(count, False) for count in options.documents]
        sizes += [(count, True) for count in options.short]
        tables = [
            Size(base, count, options.rounds, short=short).measure() for count, short in sizes
        ]
        for table in tables:
            table.show()
        print("\n" + summary(tables))
        write_json(options.json, tables)


if __name__ == "__main__":
    main()
