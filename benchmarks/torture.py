"""Many processes on one tree, for longer than a test may take: ``python -m benchmarks.torture``.

``crowd``: eight at once sync and query for a minute; ``growth``: a hundred syncs of one changed document each, and what a query
costs meanwhile; ``sessions``: ten sessions open at one moment, and twenty whose hook is killed. Ends with 1 if something is lost.
Kills of the sync itself, beside changes of every kind: ``CV_TORTURE_ROUNDS=40 pytest tests/freshness/test_torture.py -s``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT, cold, folder_mb
from benchmarks.trees import make_tree

PARTS = ("crowd", "growth", "sessions")

READS = (
    ("find", "the harbour crane and its cable", "--json"),
    ("search", "who mends the harbour crane?", "--json"),
    ("catch-up", "--window", "1y", "--json"),
    ("status", "--json"),
)


class Tree:
    """A set-up tree, and real ``cv`` processes on it."""

    def __init__(self, folder: Path, documents: int) -> None:
        self.root = (folder / "tree").resolve()
        self.kit = self.root / ".context-vigilance"
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("CLAUDE", "CV_"))},
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "",
            "CV_HOME": str(folder / "home"),
            "CLAUDE_CODE_SESSION_ATTENDED": "1",
        }
        make_tree(self.root, documents)
        self.wrong: list[str] = []
        self.cv("init", "--senior-root", str(self.root), "--yes", "--no-settings-hook")

    def command(self, *arguments: str) -> list[str]:
        """The words that run ``cv``."""
        return [sys.executable, "-P", "-s", "-X", "utf8", "-m", "backend", *arguments]

    def cv(self, *arguments: str, fine: Sequence[int] = (0,)) -> tuple[int, str, float]:
        """Exit code, output and seconds of one run; one that ends otherwise than ``fine``, or complains, is kept as wrong."""
        start = time.perf_counter()
        done = subprocess.run(
            self.command(*arguments),
            cwd=self.root,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        # How far long work has come (render/progress.py) is no complaint.
        complains = any(not line.startswith("… ") for line in done.stderr.splitlines())
        if done.returncode not in fine or (done.returncode == 0 and complains):
            self.wrong.append(f"{arguments[0]} ended with {done.returncode}: {done.stderr[-300:]}")
        return done.returncode, done.stdout, time.perf_counter() - start

    def documents(self) -> list[Path]:
        """Every document on disk that is no generated copy."""
        found = self.root.rglob("context-v/**/*.md")
        return sorted(path for path in found if "rollup" not in path.parts)

    def check(self, expected: dict[Path, str]) -> None:
        """After one more sync nothing is lost: the newest word in each document is stored, and all parts are sound and agree."""
        self.cv("sync")
        db = sqlite3.connect(self.kit / "index.sqlite")
        if db.execute("PRAGMA integrity_check").fetchone() != ("ok",):
            self.wrong.append("index.sqlite is damaged")
        text = "\n".join(row[0] for row in db.execute("SELECT text FROM chunk"))
        db.close()
        self.wrong += [f"lost: {path}" for path, word in expected.items() if word not in text]
        findings = json.loads(self.cv("doctor", "--json")[1])["findings"]
        self.wrong += [
            f"doctor: {finding['what']}"
            for finding in findings
            if finding["check"] == "store" and finding["level"] != "ok"
        ]


def crowd(tree: Tree, seconds: float) -> dict[str, Any]:
    """Eight processes at any moment: three change a document of their own and sync, five ask."""
    end, ends, expected = time.monotonic() + seconds, Counter[str](), {}
    documents = tree.documents()

    def write(number: int) -> None:
        dice = random.Random(number)
        mine = documents[number::8]
        while time.monotonic() < end:
            path, word = dice.choice(mine), f"word{uuid.uuid4().hex}"
            with path.open("a", encoding="utf-8") as file:
                file.write(f"\nAlso {word}.\n")
            expected[path] = word
            ends[f"sync {tree.cv('sync', *dice.choice(HOWS), fine=(0, 4))[0]}"] += 1

    def ask(number: int) -> None:
        dice = random.Random(number)
        while time.monotonic() < end:
            words = dice.choice(READS)
            ends[f"{words[0]} {tree.cv(*words)[0]}"] += 1

    work = [threading.Thread(target=write if n < 3 else ask, args=(n,)) for n in range(8)]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    tree.check(expected)
    return {
        "seconds": seconds,
        "runs": dict(sorted(ends.items())),
        "documents changed": len(expected),
    }


HOWS: tuple[tuple[str, ...], ...] = (
    (),
    (),
    ("--changed-since",),
    ("--changed-since",),
    ("--force-rebuild",),
)


def growth(tree: Tree, count: int) -> dict[str, Any]:
    """Store size and the latency of a cold ``cv find``, before and after ``count`` syncs of one changed document each."""
    dice, expected = random.Random(5), {}
    documents = tree.documents()

    def latency() -> int:
        """Of CPU time, since other programs may run beside."""
        home = Path(tree.environment["CV_HOME"])
        runs = [cold(tree.command(*READS[0]), folder=tree.root, home=home) for _ in range(5)]
        return round(statistics.median(run.cpu for run in runs) * 1000)

    before = folder_mb(tree.kit)
    finds, syncs = [latency()], []
    for number in range(count):
        path, word = dice.choice(documents), f"word{uuid.uuid4().hex}"
        text = path.read_text("utf-8").split("\nAlso ")[0]  # the size of the documents stays
        path.write_text(f"{text}\nAlso {word}.\n", "utf-8")
        expected[path] = word
        syncs.append(tree.cv("sync", "--changed-since")[2])
        if (number + 1) % (count // 2 or 1) == 0:
            finds.append(latency())
    tree.check(expected)
    after = folder_mb(tree.kit)
    tree.cv("sync", "--force-rebuild")
    clean = folder_mb(tree.kit)
    if after > 1.2 * clean:
        tree.wrong.append(f"the store has grown to {after / clean:.2f} of a clean build")
    tenth = max(1, count // 10)
    return {
        "syncs": count,
        "store MB before, after, clean build": [before, after, clean],
        "after / clean": round(after / clean, 3),
        "cold find, ms of CPU, at the start, halfway, at the end": finds,
        "cold sync ms, first and last tenth": [
            round(statistics.median(part) * 1000) for part in (syncs[:tenth], syncs[-tenth:])
        ],
    }


def sessions(tree: Tree) -> dict[str, Any]:
    """Ten hooks at one moment; then twenty that are killed, as with their terminals. What they leave running ends by itself."""

    def start() -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            tree.command("hook", "session-start"),
            env=tree.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        fields = {
            "session_id": str(uuid.uuid4()),
            "cwd": str(tree.root),
            "hook_event_name": "SessionStart",
            "source": "startup",
        }
        assert process.stdin is not None
        process.stdin.write(json.dumps(fields).encode())
        process.stdin.close()
        return process

    def change() -> None:
        with dice.choice(tree.documents()).open("a", encoding="utf-8") as file:
            file.write(f"\nAlso {uuid.uuid4().hex}.\n")

    def left() -> set[int]:
        return {pid for pid in pids("hook\0sync") if str(tree.root) in cmdline(pid)}

    def waited(begun: float, process: subprocess.Popen[bytes]) -> tuple[float, float]:
        process.wait()
        ended = time.perf_counter()
        return ended - begun, ended

    dice, most, seen = random.Random(3), 0, set[int]()
    change()
    # They are waited for in the kernel: a loop would take a core from the ten.
    with ThreadPoolExecutor(10) as pool:
        first = time.perf_counter()
        opened, ends = [], []
        for _ in range(10):
            begun = time.perf_counter()
            opened.append(start())
            ends.append(pool.submit(waited, begun, opened[-1]))
        while not all(end.done() for end in ends):
            most = max(most, len(left()))
            time.sleep(0.1)
        times = sorted(end.result()[0] for end in ends)
        last = max(end.result()[1] for end in ends)
    most = max(most, len(left()))
    answers = [json.loads(p.stdout.read()) for p in opened if p.stdout is not None]
    alone = []
    while left():
        time.sleep(0.1)
    for _ in range(3):
        begun = time.perf_counter()
        start().wait()
        alone.append(time.perf_counter() - begun)
    for _ in range(20):
        for claim in Path(tree.environment["CV_HOME"]).glob("trees/*/claim-sync.*"):
            claim.unlink()  # so that each of them may start a sync
        change()
        process = start()
        time.sleep(dice.random() * 0.6)
        os.killpg(process.pid, 9)
        process.wait()
        seen |= left()
    killed = time.perf_counter()
    while left() and time.perf_counter() - killed < 60:
        time.sleep(0.1)
    if left():
        tree.wrong.append("a sync is left a minute after its session was killed")
    if most > 1 or len(answers) != 10:
        tree.wrong.append(f"{most} syncs at once, {len(answers)} answers of 10")
    return {
        "ten at once, ms that each waited, fastest and slowest": [
            round(times[0] * 1000),
            round(times[-1] * 1000),
        ],
        "ten at once, ms from the first one's start until all had answered": round(
            (last - first) * 1000
        ),
        "one alone, ms": round(statistics.median(alone) * 1000),
        "syncs started by the ten": most,
        "syncs seen after the kills": len(seen),
        "after twenty kills, seconds until none of our processes is left": round(
            time.perf_counter() - killed, 1
        ),
    }


def pids(words: str) -> set[int]:
    """Processes with ``words`` in their command line (Linux)."""
    return {int(p.name) for p in Path("/proc").glob("[0-9]*") if words in cmdline(int(p.name))}


def cmdline(pid: int) -> str:
    """A process's command line, its words kept apart by NUL; empty when it has gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace")
    except OSError:
        return ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts and print what came of them."""
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=PARTS)
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=60, help="how long the crowd is at it")
    parser.add_argument("--syncs", type=int, default=100)
    options = parser.parse_args(arguments)
    wrong = []
    for part in options.parts:
        with tempfile.TemporaryDirectory() as folder:
            tree = Tree(Path(folder), options.documents)
            if part == "crowd":
                result = crowd(tree, options.seconds)
            elif part == "growth":
                result = growth(tree, options.syncs)
            else:
                result = sessions(tree)
            print(json.dumps({part: result, "wrong": tree.wrong}, indent=1), flush=True)
            wrong += tree.wrong
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
