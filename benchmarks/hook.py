#!/usr/bin/env python3
"""How long a session's start waits for the hooks: each against ``true`` as the hook, in paired runs.

    python benchmarks/hook.py [--rounds 21] [--documents 2500]

Run it with the interpreter of an environment that has the backend's dependencies (``cv test`` makes one). The hooks are
started as Claude Code does: ``bin/cv hook …`` with JSON on standard input. Nothing outside a temporary folder is written.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from functools import partial
from pathlib import Path

Case = tuple[list[str], Callable[[], str], Path, dict[str, str]]
ROOT = Path(__file__).resolve().parents[1]
GOAL_MS = 120


def make_tree(root: Path, documents: int) -> None:
    """A tree of 25 repos; one document in five is a changelog entry."""
    for number in range(documents):
        repo = root / f"team-{number % 5}" / f"repo-{number % 25:02}"
        (repo / ".git").mkdir(parents=True, exist_ok=True)
        kind = (
            "changelog"
            if number % 5 == 0
            else f"context-v/{('specs', 'plans', 'notes')[number % 3]}"
        )
        path = repo / kind / f"Part-{number:04}-of-the-Works.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"---\ntitle: Part {number} of the works\ndate_modified: 2025-{number % 12 + 1:02}-11\n"
            f"tags: [works, part-{number % 40}]\n---\n\n## What it is\n\nThe {number}th part, of stone and timber.\n",
            "utf-8",
        )


def ready_home(home: Path) -> None:
    """A CV_HOME whose environment is the one that runs this."""
    key = (ROOT / "requirements.txt").read_text("utf-8").split("\n", 1)[0].removeprefix("# key: ")
    folder = home / "environments" / key
    folder.mkdir(parents=True)
    for name in ("bin", "lib", "pyvenv.cfg"):
        (folder / name).symlink_to(Path(sys.prefix) / name)
    (folder / "ready").write_text("now\n", "utf-8")


def event(name: str, folder: Path, **fields: str) -> str:
    """What Claude Code writes to a hook's standard input."""
    session = {"session_id": str(uuid.uuid4()), "cwd": str(folder), "hook_event_name": name}
    return json.dumps({**session, **fields})


def timed(command: list[str], text: str, folder: Path, environment: dict[str, str]) -> float:
    """Milliseconds from start to end of the process."""
    started = time.perf_counter()
    done = subprocess.run(
        command, input=text.encode(), cwd=folder, env=environment, capture_output=True, check=True
    )
    elapsed = (time.perf_counter() - started) * 1000
    assert not done.stderr, done.stderr
    return elapsed


def main() -> None:
    """Make the tree, measure, print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--documents", type=int, default=2500)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        base = Path(scratch)
        tree, outside = base / "tree", base / "outside"
        outside.mkdir()
        make_tree(tree, options.documents)
        ready_home(base / "home")
        environment = {"PATH": os.environ["PATH"], "HOME": str(base), "CV_HOME": str(base / "home")}
        cv = str(ROOT / "bin/cv")
        subprocess.run(
            [cv, "init", "--senior-root", str(tree), "--yes"],
            env=environment,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        repo = tree / "team-1" / "repo-01"
        start, prompt = [cv, "hook", "session-start"], [cv, "hook", "user-prompt"]
        settled = event(
            "UserPromptSubmit", repo, prompt="please mend the importer of the price lists"
        )
        subprocess.run(
            prompt, input=settled.encode(), env=environment, capture_output=True, check=True
        )
        task = "please mend the importer of the price lists"
        missing = {**environment, "CV_HOME": str(base / "none")}
        call = {"tool_name": "Bash", "cwd": str(repo), "tool_input": {"command": f"{cv} status"}}
        fresh_start = partial(event, "SessionStart", repo, source="startup")
        cases: dict[str, Case] = {
            "true": (["true"], lambda: "", tree, environment),
            "start, unchanged tree": (start, fresh_start, repo, environment),
            "start, not applicable": (
                start,
                partial(event, "SessionStart", outside),
                outside,
                environment,
            ),
            "start, environment missing": (start, fresh_start, repo, missing),
            "first prompt, asks": (
                prompt,
                partial(event, "UserPromptSubmit", repo, prompt=task),
                repo,
                environment,
            ),
            "later prompt": (prompt, lambda: settled, repo, environment),
            "Bash call of ours": (
                [cv, "hook", "pre-tool"],
                lambda: json.dumps(call),
                repo,
                environment,
            ),
        }
        times: dict[str, list[float]] = {name: [] for name in cases}
        for _ in range(options.rounds):
            for name, (command, text, folder, variables) in cases.items():
                times[name].append(timed(command, text(), folder, variables))
    zero = times["true"]
    print(
        f"{options.documents} documents, {options.rounds} rounds; ms, medians of paired differences to true; goal ≤ {GOAL_MS}"
    )
    for name, found in times.items():
        over = statistics.median(a - b for a, b in zip(found, zero, strict=True))
        median = statistics.median(found)
        ratio = median / statistics.median(zero)
        print(
            f"{name:28} median {median:6.1f}  fastest {min(found):6.1f}  over true {over:6.1f}  ratio {ratio:5.1f}"
        )


if __name__ == "__main__":
    main()
