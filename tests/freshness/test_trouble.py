"""A disk that is full, a folder that can't be written to, another owner, no home, a clock that goes back: one clear line, nothing
lost, and the next sync repairs it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
DISK_MB = 24


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small disk of its own, in memory; skips where the tests may not mount one."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = shutil.which("mount")
    if sys.platform != "linux" or mount is None:
        pytest.skip("no small disk can be made here")
    command = [mount, "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("the tests may not mount a small disk (they don't run as root)")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(site: Any) -> Any:
    for number in range(30):
        site.document(f"r{number % 3}/context-v/specs/Doc-{number}.md", count=3)
    site.document("r0/changelog/2025-01-01.md")
    site.sync()
    return site


@pytest.fixture
def small(site: Any, disk: Path) -> Any:
    """A synced tree on a small disk, where no process has a file open."""
    fill(site)
    shutil.copytree(site.root, disk / "wörk tree", symlinks=True)
    return type(site)(disk / "wörk tree")


def change(site: Any, step: int) -> None:
    for number in range(0, 30, 3):
        site.edit(
            f"r{number % 3}/context-v/specs/Doc-{number}.md", "## Part 2", f"## Part 2 {step}"
        )
    site.document(f"r1/context-v/plans/New-{step}.md", count=6)


def one_line(text: str) -> bool:
    return text.startswith("cv: ") and text.count("\n") == 1


@pytest.mark.parametrize(
    ("left_kb", "arguments"),
    [
        *((kb, ()) for kb in (0, 60, 400, 900)),
        *((kb, ("--force-rebuild",)) for kb in (0, 150, 600, 1500)),
    ],
    ids=str,
)
def test_a_full_disk(
    small: Any, cv_process: Any, tmp_path: Path, left_kb: int, arguments: tuple[str, ...]
) -> None:
    """Full from the start, or in the midst of one of the steps."""
    change(small, 1)
    ballast = small.root.parent / "ballast"
    free = shutil.disk_usage(small.root).free - left_kb * 1024
    with ballast.open("wb") as file:
        file.write(b"x" * free)
    done = cv_process("sync", *arguments, cwd=small.root)
    if done.code:  # with a little room a sync may still do
        assert done.code == 1
        assert one_line(done.err), done
        said = done.err.replace(str(small.root), "ROOT")
        assert re.search(r"No space left on device|only [\d.]+ MB are free on this disk", said), (
            done
        )
    assert done.code or left_kb
    found = cv_process("find", "what the ferry needs", "--json", cwd=small.root)
    assert found.code == 0, found
    assert json.loads(found.out)["candidates"], found.out
    ballast.unlink()
    small.sync()
    small.check()
    small.check_against_clean_build(tmp_path / "clean")


def test_a_read_only_disk(small: Any, cv_process: Any, tmp_path: Path) -> None:
    change(small, 1)
    subprocess.run(["mount", "-o", "remount,ro", str(small.root.parent)], check=True)
    try:
        done = cv_process("sync", cwd=small.root)
        assert (done.code, one_line(done.err)) == (1, True), done
        assert "Read-only file system" in done.err
        found = cv_process("find", "what the ferry needs", "--json", cwd=small.root)
        assert found.code == 0, found
        answer = json.loads(found.out)
        assert answer["candidates"]
        assert not answer["fresh"]
        assert any(note.startswith("not refreshed: ") for note in answer["notes"])
        for command in (("catch-up", "--since", "2025-01-01"), ("status",)):
            assert cv_process(*command, "--json", cwd=small.root).code == 0
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(small.root.parent)], check=True)
    small.sync()
    small.check()
    small.check_against_clean_build(tmp_path / "clean")


def test_someone_elses_store_and_no_home(
    site: Any, cv_process: Any, as_nobody: tuple[str, ...], open_folder: Path, tmp_path: Path
) -> None:
    """As under ``sudo`` once, or in a container: the store is of another user, and there is no home to keep anything in."""
    tree = fill(type(site)(open_folder / "wörk tree"))
    if not as_nobody:
        for path in (tree.kit, *tree.kit.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
    change(tree, 1)
    homeless = {"HOME": None, "CV_HOME": None, "XDG_DATA_HOME": None}
    done = cv_process("sync", prefix=as_nobody, cwd=tree.root, **homeless)
    assert (done.code, one_line(done.err)) == (1, True), done
    assert "Permission denied" in done.err
    found = cv_process(
        "find", "what the ferry needs", "--json", prefix=as_nobody, cwd=tree.root, **homeless
    )
    assert found.code == 0, found
    assert json.loads(found.out)["candidates"], found.out
    for path in (tree.kit, *tree.kit.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    tree.sync()
    tree.check()
    tree.check_against_clean_build(tmp_path / "clean")


def test_a_tree_that_may_only_be_read_is_indexed_all_the_same(
    site: Any, cv_process: Any, as_nobody: tuple[str, ...], open_folder: Path
) -> None:
    """Only the kit's own folder is ever written to."""
    tree = fill(type(site)(open_folder / "wörk tree"))
    change(tree, 1)
    for path in (tree.kit, *tree.kit.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    readers = [
        path for path in (tree.root, *tree.root.rglob("*")) if tree.kit not in (path, *path.parents)
    ]
    for path in readers:
        path.chmod(0o555 if path.is_dir() else 0o444)
    done = cv_process("sync", "--json", prefix=as_nobody, cwd=tree.root, HOME=None, CV_HOME=None)
    for path in readers:
        path.chmod(0o755 if path.is_dir() else 0o644)
    assert done.code == 0, done
    assert json.loads(done.out)["roles"]["context-vigilance-corpus"]["updated"] == 10
    tree.check()


@pytest.mark.parametrize("quick", [False, True], ids=["sync", "quick"])
def test_a_clock_that_goes_back(site: Any, tmp_path: Path, quick: bool) -> None:
    """The moment of a sync decides nothing but when a document counts as indexed; a file's own only whether it is another one."""
    tree = fill(site)
    earlier = NOW - timedelta(hours=1)
    change(tree, 1)
    for path in tree.root.rglob("r0/**/*.md"):
        moment = path.stat().st_mtime - 3600
        os.utime(path, (moment, moment))
    tree.path("r9/context-v/plans").mkdir(parents=True)
    tree.document("r9/context-v/plans/Late.md")
    tree.sync(now=earlier, quick=quick)
    tree.check()
    tree.check_against_clean_build(tmp_path / "clean")
    tree.dismiss("r9")
    tree.sync(now=earlier - timedelta(days=400), quick=quick)
    assert "r9/context-v/plans/Late.md" not in tree.chunks()
    tree.check()
