#!/usr/bin/env python3
"""How long the real Claude Code's first request waits for the plugin's hooks: against ``true`` as the hooks, in paired runs.

    python benchmarks/session.py [--rounds 15] [--documents 2500] [--json FILE]

Two homes with the plugin installed from a git marketplace, the same but for the hooks' commands: the plugin's, and
``true``. Measured is the time until the first request of the main loop reaches the model (a scripted one on the loopback),
in both ways to work: ``claude -p`` from the start of the process, in which start and prompt hooks both run; and a terminal,
from Enter to the request (the start hook ran while the person typed). Needs Claude Code (``CV_CLAUDE_BIN``, or npm installs
it) and an environment that has the backend's dependencies (``cv test`` makes one). Nothing outside a temporary folder is
written.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path += [str(ROOT / "tests/plugin"), str(ROOT / "benchmarks")]

from hook import GOAL_MS, make_tree  # type: ignore[import-not-found]  # noqa: E402
from host import Host, Terminal, find_program  # type: ignore[import-not-found]  # noqa: E402
from model import Model  # type: ignore[import-not-found]  # noqa: E402

TASK = "please mend the importer of the price lists"


def make_host(program: str, base: Path, model: Any, *, hooks: bool) -> Any:
    """A home with the plugin; without ``hooks`` its hooks are ``true``."""
    host = Host(program, base, model)
    host.publish("0.9.0")
    host.install()
    if not hooks:
        path = host.plugin_root() / "hooks/hooks.json"
        found = json.loads(path.read_text("utf-8"))
        for group in (group for groups in found["hooks"].values() for group in groups):
            for hook in group["hooks"]:
                hook |= {"command": "true", "args": []}
        path.write_text(json.dumps(found), "utf-8")
    return host


def from_start(host: Any, folder: Path) -> float:
    """Milliseconds from the start of ``claude -p`` to its first request."""
    host.model.script("hello")
    started = time.monotonic()
    said = host.prompt(TASK, cwd=folder)
    assert len(said) == 1
    return float(host.model.arrived[0] - started) * 1000


def from_enter(host: Any, folder: Path) -> float:
    """Milliseconds from Enter in a new session's terminal to its first request."""
    terminal = Terminal(host, folder).ready()
    try:
        host.model.script("hello")
        terminal.ask(TASK)
        return float(host.model.arrived[0] - terminal.sent) * 1000
    finally:
        terminal.close()


def main() -> None:
    """Make tree and homes, measure, print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--documents", type=int, default=2500)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        base = Path(scratch)
        program, reason = find_program(base / "npm")
        if reason:
            sys.exit(reason)
        model = Model()
        ours = make_host(program, base / "ours", model, hooks=True)
        none = make_host(program, base / "true", model, hooks=False)
        tree = base / "tree"
        make_tree(tree, options.documents)
        ours.cv("init", "--senior-root", str(tree), "--yes", "--no-settings-hook", cwd=tree)
        folder = tree / "team-1/repo-01"
        table = {}
        for name, measure in {"claude -p": from_start, "terminal": from_enter}.items():
            pairs = []
            for number in range(options.rounds + 1):  # the first warms up
                first, second = (ours, none) if number % 2 else (none, ours)
                times = {host: measure(host, folder) for host in (first, second)}
                pairs.append((times[ours], times[none]))
            table[name] = report(name, pairs[1:])
        model.close()
    if options.json:
        options.json.write_text(json.dumps(table, indent=1), "utf-8")


def report(name: str, pairs: list[tuple[float, float]]) -> dict[str, float]:
    """Print one line; returns its figures."""
    found = {
        "ours": statistics.median(a for a, _ in pairs),
        "true": statistics.median(b for _, b in pairs),
        "over": statistics.median(a - b for a, b in pairs),
    }
    print(
        f"{name:10} {len(pairs)} pairs; ms to the first request, medians: plugin {found['ours']:.0f}, true {found['true']:.0f}; "
        f"paired difference {found['over']:.0f} (goal ≤ {GOAL_MS})"
    )
    return found


if __name__ == "__main__":
    main()
