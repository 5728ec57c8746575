"""All at once, seeded: a tree that changes in every way, syncs that are killed, several writers and readers. After each round one
more sync makes the store the one that a clean build of the same tree makes.

``CV_TORTURE_ROUNDS`` asks for more rounds than the suite has time for, ``CV_TORTURE_SEED`` for other ones.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from organisation import MARKER, prose

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9 on Windows")

ROUNDS = int(os.environ.get("CV_TORTURE_ROUNDS", "3"))
SEED = int(os.environ.get("CV_TORTURE_SEED", "20260302"))
"""Read here, since the tests themselves run without any ``CV_`` of their caller's."""

WRITERS = (
    ("sync", "--json"),
    ("sync", "--json"),
    ("sync", "--json", "--changed-since"),
    ("sync", "--json", "--force-rebuild"),
    ("sync", "--json", "--max-seconds", "0"),
)
READERS = (
    ("find", "the ferry and the pier", "--json"),
    ("catch-up", "--since", "2025-01-01", "--json"),
    ("status", "--json"),
)
GOOD_ENDS = (0, 4, -9)
"""Done, another one is the writer, killed by the test."""


@pytest.fixture
def tree(site: Any) -> Any:
    for number in range(20):
        site.document(f"r{number % 4}/context-v/specs/Doc-{number}.md", count=1 + number % 4)
    for number in range(4):
        site.document(f"r{number}/changelog/2025-01-0{number + 1}.md")
        site.roll_up(
            f"r{number}/context-v/specs/Doc-{number}.md",
            f"splash/context-v/all/Doc-{number}.md",
            repo=f"r{number}",
            inner=f"context-v/specs/Doc-{number}.md",
        )
    return site


class Changes:
    """Changes a tree at random, in every way that a person or git does."""

    def __init__(self, site: Any, dice: random.Random) -> None:
        self.site, self.dice, self.made = site, dice, 0

    def some(self, count: int) -> None:
        for _ in range(count):
            self.made += 1
            self.dice.choice((self.change, self.change, self.change, self.add, self.mark))()

    def documents(self) -> list[str]:
        return sorted(path for path in self.site.fingerprint() if path.endswith(".md"))

    def change(self) -> None:
        documents = self.documents()
        if len(documents) < 8:
            return self.add()
        path = self.dice.choice(documents)
        text = self.site.path(path).read_text("utf-8")
        kind = self.dice.choice(("edit", "shrink", "grow", "delete", "move", "private", "touch"))
        if kind == "edit":
            self.site.write(path, text.replace("## Part 1", f"## Part 1 of {self.made}"))
        elif kind == "shrink":
            self.site.write(path, text.split("## Part 2")[0])
        elif kind == "grow":
            self.site.write(path, f"{text}\n## Part {self.made}\n\n{prose(str(self.made))}\n")
        elif kind == "delete":
            self.site.delete(path)
        elif kind == "move":
            repo = f"r{self.dice.randrange(4)}"
            self.site.move(path, f"{repo}/context-v/moved/Doc-{self.made}.md")
        elif kind == "private":
            flag = "private: true\n"
            flipped = (
                text.replace(flag, "") if flag in text else text.replace("---\n", f"---\n{flag}", 1)
            )
            self.site.write(path, flipped)
        else:
            self.site.touch(path, 1_700_000_000 + self.made)
        return None

    def add(self) -> None:
        path = f"r{self.dice.randrange(4)}/context-v/plans/New-{self.made}.md"
        self.site.document(path, count=self.dice.randint(1, 4))

    def mark(self) -> None:
        """Put the marker into a folder, or take it out of one."""
        marked = [path for path in self.site.fingerprint() if path.endswith(MARKER)]
        if marked:
            self.site.delete(self.dice.choice(sorted(marked)))
        else:
            folders = sorted({path.rsplit("/", 1)[0] for path in self.documents()})
            self.site.dismiss(self.dice.choice(folders))


def test_after_any_round_the_store_is_that_of_a_clean_build(
    tree: Any, start_cv: Any, tmp_path: Path
) -> None:
    dice, ends, started = random.Random(SEED), Counter[str](), time.monotonic()
    changes = Changes(tree, dice)
    tree.sync()
    for number in range(ROUNDS):
        changes.some(dice.randint(3, 12))
        first, second = (start_cv(*arguments) for arguments in dice.sample(WRITERS, 2))
        run_for(first, 0.5)
        readers = [start_cv(*dice.choice(READERS))]
        changes.some(dice.randint(0, 3))
        run_for(first, dice.random() * 0.3)  # a sync takes some 0.6 s on a fast machine
        first.kill()
        third = start_cv(*dice.choice(WRITERS))
        readers.append(start_cv(*dice.choice(READERS)))
        run_for(third, 0.5 + dice.random())
        if dice.random() < 0.7:
            third.kill()
        writers = [first, second, third]
        for process in writers:
            out, err = process.communicate(timeout=120)
            assert process.returncode in GOOD_ENDS, (number, process.args, out, err)
            ends[f"sync {process.returncode}"] += 1
        for process in readers:
            out, err = process.communicate(timeout=120)
            assert (process.returncode, complaints(err)) == (0, []), (number, process.args, out)
            assert json.loads(out)
            ends["read"] += 1
        tree.sync()
        tree.check()
        tree.check_against_clean_build(tmp_path / "clean")
        leftovers = {
            path.name for path in tree.kit.rglob("*") if path.suffix in (".new", ".old", ".tmp")
        }
        assert leftovers == set(), number
    # How many syncs a kill met depends on the machine's speed; test_crash.py has the moments that must be met.
    print(dict(ends))
    seconds = round(time.monotonic() - started)
    print(f"{ROUNDS} rounds, {changes.made} changes, {seconds} s, {dict(ends)}")


def complaints(err: str) -> list[str]:
    """The lines of standard error that don't just say how far it is: a loaded machine can need so long."""
    return [line for line in err.splitlines() if not line.startswith("… ")]


def run_for(process: subprocess.Popen[str], seconds: float) -> None:
    """Let a process go on for so long, or to its end."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=seconds)


def test_queries_go_on_from_the_old_index_while_a_rebuild_runs(
    tree: Any, start_cv: Any, cv_process: Callable[..., Any], tmp_path: Path
) -> None:
    """It builds beside and swaps. The rebuild is stopped in its middle, where it has stored half of the documents."""
    for number in range(200):
        tree.document(f"r1/context-v/many/Doc-{number}.md", count=4)
    tree.sync()
    before = tree.records()
    rebuild = start_cv("sync", "--force-rebuild")
    beside = tree.kit / "chroma.new"
    while not beside.exists():
        assert rebuild.poll() is None, rebuild.communicate()
    os.kill(rebuild.pid, signal.SIGSTOP)
    try:
        found = cv_process("find", "Doc 7", "--json")
        assert found.code == 0
        answer = json.loads(found.out)
        assert len(answer["candidates"]) > 5
        assert answer["notes"][0] == "another sync is at work: this is what was known before it"
        assert "without Chroma" not in str(answer["notes"])
        assert json.loads(cv_process("status", "--json").out)["roles"]["context-vigilance-corpus"][
            "documents"
        ] == len(tree.cards())
    finally:
        os.kill(rebuild.pid, signal.SIGCONT)
    _, err = rebuild.communicate(timeout=120)
    assert (rebuild.returncode, complaints(err)) == (0, [])
    assert not beside.exists()
    tree.check()
    assert tree.records().keys() == before.keys()
    tree.check_against_clean_build(tmp_path / "clean")
