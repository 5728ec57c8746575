"""``kill -9`` at any moment: one sync later the store is what a clean build of the same tree makes."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from organisation import prose

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9 on Windows")

ROUNDS = 3


def edit_at_random(site: Any, dice: random.Random, step: int) -> None:
    """Change a third of the tree in every way there is."""
    files = sorted(path for path in site.fingerprint() if path.endswith(".md"))
    for path in dice.sample(files, len(files) // 3):
        kind = dice.choice(["edit", "shrink", "grow", "delete", "move", "private", "touch"])
        text = site.path(path).read_text()
        if kind == "edit":
            site.write(path, text.replace("## Part 1", f"## Part 1 of {step}"))
        elif kind == "shrink":
            site.write(path, text.split("## Part 2")[0])
        elif kind == "grow":
            site.write(path, text + f"\n## Part {step}0\n\n{prose(path + str(step))}\n")
        elif kind == "delete":
            site.delete(path)
        elif kind == "move":
            site.move(path, f"r{dice.randrange(4)}/context-v/moved/{step}-{path.replace('/', '-')}")
        elif kind == "private":
            site.write(path, text.replace("title:", "private: true\ntitle:", 1))
        else:
            site.touch(path, 1_700_000_000 + step)
    for number in range(3):
        site.document(f"r{number}/context-v/specs/New-{step}-{number}.md", count=dice.randint(1, 4))


@pytest.fixture
def tree(site: Any) -> Any:
    for number in range(24):
        site.document(f"r{number % 4}/context-v/specs/Doc-{number}.md", count=1 + number % 4)
    for number in range(6):
        site.document(f"r{number % 4}/changelog/2025-01-0{number + 1}.md", count=1)
        site.roll_up(
            f"r{number % 4}/context-v/specs/Doc-{number}.md",
            f"splash/context-v/all/Doc-{number}.md",
            repo=f"r{number % 4}",
            inner=f"context-v/specs/Doc-{number}.md",
        )
    return site


@pytest.fixture
def killed(tree: Any, killed: Callable[..., int]) -> Callable[..., int]:
    """Sync and kill it in the freshness room."""
    return lambda limit, *options: killed(limit, "sync", *options, watched="/backend/freshness/")


def test_a_kill_anywhere_is_repaired_by_the_next_sync(
    tree: Any, killed: Callable[..., int], tmp_path: Path
) -> None:
    """Seeded. Each round changes the tree, kills a sync at a random line, and compares after one whole sync."""
    dice = random.Random(20260302)
    lines = killed(0)
    died = 0
    for step in range(1, ROUNDS + 1):
        edit_at_random(tree, dice, step)
        died += killed(dice.randint(1, lines // 2))
        if step % 2 == 0:  # a second one, on top of what the first has left
            edit_at_random(tree, dice, step * 100)
            died += killed(dice.randint(1, lines // 2))
        tree.sync()
        tree.check()
    tree.check_against_clean_build(tmp_path / "clean")
    assert died >= ROUNDS, "the kills came too late to test anything"


@pytest.mark.parametrize("call", [900, 9000])
def test_a_kill_in_the_very_first_sync(
    tree: Any, killed: Callable[..., int], tmp_path: Path, call: int
) -> None:
    assert killed(call)
    tree.sync()
    tree.check()
    tree.check_against_clean_build(tmp_path / "clean")


def test_a_kill_in_a_rebuild_loses_nothing(
    tree: Any, killed: Callable[..., int], tmp_path: Path
) -> None:
    tree.sync()
    assert killed(3000, "--force-rebuild")
    tree.sync()
    tree.check()
    tree.check_against_clean_build(tmp_path / "clean")


def test_a_kill_from_outside_at_any_time(tree: Any, start_cv: Any, tmp_path: Path) -> None:
    """As a closed terminal does it: by the clock, wherever the process then is."""
    dice = random.Random(7)
    for step in range(3):
        edit_at_random(tree, dice, step)
        process = start_cv("sync")
        try:
            process.wait(timeout=0.4 + dice.random())
        except subprocess.TimeoutExpired:
            process.kill()
        process.wait()
    tree.sync()
    tree.check()
    tree.check_against_clean_build(tmp_path / "clean")


def test_the_manifests_are_written_even_if_the_kill_came_just_before(
    tree: Any, killed: Callable[..., int]
) -> None:
    """Chroma has it all, only the manifests don't: no later change in the tree would tell."""
    tree.sync()
    tree.document("r1/context-v/specs/Late.md")
    assert killed("write_manifests")
    assert "r1/context-v/specs/Late.md" not in tree.cards()
    tree.sync()
    tree.check()
    assert "r1/context-v/specs/Late.md" in tree.cards()


def test_syncs_that_die_in_chroma_make_it_anew_the_third_time(
    tree: Any, killed: Callable[..., int], tmp_path: Path
) -> None:
    """One may have been killed, and costs nothing. Two in a row, which got nothing done, could go on so for ever: of damage that
    Chroma dies of.
    """
    anew = "the Chroma store was made anew (two syncs in a row ended in it without getting on)"
    tree.sync()
    for kills in (1, 2):
        for number in range(kills):
            tree.document(f"r1/context-v/specs/Late-{kills}-{number}.md")
            assert killed("mirrored")
        assert tree.sync().notes == (() if kills == 1 else (anew,))
        tree.check()
    for number in range(3):  # one that got something done is no reason
        tree.document(f"r1/context-v/specs/Later-{number}.md")
        assert killed("settle")
    assert tree.sync().notes == ()
    tree.check_against_clean_build(tmp_path / "clean")
