"""Timing things beside their baselines, and printing the result as a table and as JSON.

What is compared runs in turns, round after round, so that a busy machine slows both alike; a line's ratio is the median of the
rounds' ratios. CPU time (own and children's) tells most where other programs run beside.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]

OPEN_STORE = """
import sys
import chromadb
client = chromadb.PersistentClient(sys.argv[1] + "/.context-vigilance/chroma")
print([collection.count() for collection in client.list_collections()])
"""
"""What a query can't do without: the root is its argument."""


class Run(NamedTuple):
    """One run: seconds on the clock, seconds of CPU, peak memory in MB (0 where it can't be told), what it printed."""

    seconds: float
    cpu: float
    peak: float = 0.0
    out: str = ""


def inside(work: Callable[[], object]) -> Run:
    """Run ``work`` in this process."""
    cpu, start = time.process_time(), time.perf_counter()
    work()
    return Run(time.perf_counter() - start, time.process_time() - cpu)


def cold(command: Sequence[str], *, folder: Path = ROOT, home: Path | None = None) -> Run:
    """Run a command as a new process in ``folder``; ``home`` becomes its CV_HOME. Ends the benchmark when it fails."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": ""}
    if home is not None:
        environment["CV_HOME"] = str(home)
    with tempfile.TemporaryFile() as out:
        floor = (
            _own_peak()
        )  # a new process begins as a copy of this one, and the system keeps that peak
        start = time.perf_counter()
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=out, stderr=out)
        _, code, usage = _wait(process)
        seconds = time.perf_counter() - start
        out.seek(0)
        text = out.read().decode("utf-8", "replace")
    if code:
        raise SystemExit(f"{' '.join(command[:6])} … ended with {code}:\n{text[-2000:]}")
    peak = usage[1] if usage[1] > 1.05 * floor else 0
    return Run(seconds, usage[0], peak / (1024 * 1024 if sys.platform == "darwin" else 1024), text)


def _own_peak() -> int:
    """The peak memory of this process so far, in the system's units; 0 on Windows."""
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _wait(process: subprocess.Popen[bytes]) -> tuple[int, int, tuple[float, int]]:
    """Wait for a process: id, exit code, and its CPU seconds and peak memory (units of the system)."""
    if not hasattr(os, "wait4"):  # Windows
        process.wait()
        return process.pid, process.returncode, (0.0, 0)
    pid, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return pid, process.returncode, (usage.ru_utime + usage.ru_stime, usage.ru_maxrss)


def python(*arguments: str) -> list[str]:
    """A command of this interpreter."""
    return [sys.executable, *arguments]


def interleaved(cases: Mapping[str, Callable[[], Run]], rounds: int) -> dict[str, list[Run]]:
    """Run each case once a round, in turns."""
    runs: dict[str, list[Run]] = {name: [] for name in cases}
    for _ in range(rounds):
        for name, case in cases.items():
            runs[name].append(case())
    return runs


class Table:
    """Lines of results. ``add`` takes the runs of one interleaved measurement."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.lines: list[dict[str, Any]] = []
        self.facts: dict[str, Any] = {}

    def add(self, runs: Mapping[str, Sequence[Run]], against: str | Mapping[str, str]) -> None:
        """A line for each case, with ratios against the case named ``against`` (or, by case, the one it maps to)."""
        for name, own in runs.items():
            base_name = against if isinstance(against, str) else against.get(name, "")
            base = runs.get(base_name, ())
            line: dict[str, Any] = {
                "what": name,
                "median_ms": _ms(run.seconds for run in own),
                "fastest_ms": round(min(run.seconds for run in own) * 1000, 1),
                "cpu_ms": _ms(run.cpu for run in own),
                "rounds": len(own),
            }
            if any(run.peak for run in own):
                line["peak_mb"] = round(max(run.peak for run in own), 1)
            if base and name != base_name:
                pairs = list(zip(own, base, strict=True))
                line["ratio"] = round(statistics.median(a.seconds / b.seconds for a, b in pairs), 2)
                if all(b.cpu > 0 for _, b in pairs):
                    line["cpu_ratio"] = round(statistics.median(a.cpu / b.cpu for a, b in pairs), 2)
                line["against"] = base_name
            self.lines.append(line)

    def fact(self, name: str, value: object) -> None:
        """A number beside the timings."""
        self.facts[name] = value

    def show(self) -> None:
        """Print everything."""
        print(f"\n{self.title}")
        width = max((len(line["what"]) for line in self.lines), default=0)
        print(
            f"  {'':{width}} {'median':>9} {'fastest':>9} {'CPU':>9} {'peak':>8} {'ratio':>7} {'CPU r.':>7}  against"
        )
        for line in self.lines:
            ratio, cpu_ratio = line.get("ratio", ""), line.get("cpu_ratio", "")
            peak = f"{line['peak_mb']:.0f} MB" if "peak_mb" in line else ""
            print(
                f"  {line['what']:{width}} {line['median_ms']:>9.1f} {line['fastest_ms']:>9.1f} {line['cpu_ms']:>9.1f} "
                f"{peak:>8} {ratio:>7} {cpu_ratio:>7}  {line.get('against', '')}"
            )
        for name, value in self.facts.items():
            print(f"  {name}: {value}")


def write_json(path: Path | None, tables: Sequence[Table]) -> None:
    """All tables, and the machine they were measured on."""
    if path is None:
        return
    machine = {
        "system": platform.platform(),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load": os.getloadavg() if hasattr(os, "getloadavg") else None,
    }
    body = {
        "machine": machine,
        "tables": [{"title": t.title, "lines": t.lines, "facts": t.facts} for t in tables],
    }
    path.write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")


def options_parser(module_docstring: str) -> argparse.ArgumentParser:
    """The options that benchmarks on a synthetic tree have in common; described by the docstring's words up to its colon."""
    parser = argparse.ArgumentParser(description=module_docstring.split(":")[0])
    parser.add_argument(
        "--documents",
        type=int,
        default=1_100,
        help="files of the tree; 1,100 have some 10,000 chunks",
    )
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--scratch", type=Path, help="where to work (default: a temporary folder)")
    parser.add_argument("--json", type=Path, help="write the results here too")
    return parser


def stat_walk(folders: Sequence[Path], leave_out: frozenset[str] = frozenset()) -> int:
    """The least that a look for changes can cost: list every folder below, stat every Markdown file. Returns how many."""
    count = 0
    todo = [str(folder) for folder in folders]
    while todo:
        with os.scandir(todo.pop()) as listing:
            for entry in listing:
                if entry.is_dir(follow_symlinks=False):
                    if not entry.name.startswith(".") and entry.name not in leave_out:
                        todo.append(entry.path)
                elif entry.name.endswith(".md"):
                    entry.stat()
                    count += 1
    return count


def resident_mb() -> float:
    """Memory of this process now, in MB; 0 where /proc does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return 0.0
    return float(pages * os.sysconf("SC_PAGE_SIZE")) / 1024 / 1024


def folder_mb(folder: Path) -> float:
    """Size of all files below ``folder``."""
    return round(
        sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1024**2, 1
    )


def _ms(seconds: Iterable[float]) -> float:
    return round(statistics.median(seconds) * 1000, 1)
