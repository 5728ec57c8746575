"""``cv list-roots`` follows the trees: one that was moved is listed by any command in it, and what is gone can be taken out."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from backend.errors import Busy, CvError
from backend.tree.home import register_root, registered_roots, standing, unregister_roots
from backend.tree.lock import exclusive

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def bare(org: Any, cv: Any) -> Any:
    """A tree with one document, set up; nothing is indexed."""
    org.document("ferry/context-v/specs/Timetable.md")
    assert cv("init", "--senior-root", str(org.root), "--yes", "--no-index").code == 0
    return org


@pytest.fixture
def moved(bare: Any) -> Path:
    """Where the tree lies after it was moved."""
    there = bare.root.with_name("moved")
    bare.root.rename(there)
    return Path(there)


# --- listing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments", [("config", "get", "kickoff"), ("nudge",), ("doctor",), ("dismiss", "ferry")]
)
def test_any_command_in_a_moved_tree_lists_it(
    moved: Path, cv: Any, arguments: tuple[str, ...]
) -> None:
    assert cv(*arguments, cwd=moved).code == 0
    first, second = cv("list-roots", cwd=moved).out.splitlines()
    assert "(no longer set up there: 'cv doctor --fix'" in first
    assert second == str(moved)


def test_what_fails_and_what_hooks_do_lists_nothing(bare: Any, cv: Any, cv_process: Any) -> None:
    registry = Path(os.environ["CV_HOME"], "roots.json")
    registry.unlink()
    assert cv("config", "set", "kickoff", "perhaps").code == 2
    event = {"session_id": "s", "source": "startup", "cwd": str(bare.root)}
    assert cv_process("hook", "session-start", stdin=json.dumps(event)).code == 0
    assert not registry.exists()


def test_a_list_that_holds_the_tree_is_not_written_again(bare: Any, cv: Any) -> None:
    registry = Path(os.environ["CV_HOME"], "roots.json")
    before = registry.stat()
    assert cv("config", "get", "kickoff").code == 0
    after = registry.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_list_that_cannot_be_written_breaks_no_command(
    bare: Any, cv: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare.write("file", "")
    monkeypatch.setenv("CV_HOME", str(bare.path("file/cv")))
    done = cv("config", "get", "kickoff")
    assert (done.code, done.out, done.err) == (0, "on\n", "")


@pytest.mark.parametrize("damage", ["damaged", "unreadable"])
def test_a_list_that_cannot_be_read_is_never_written_over(bare: Any, cv: Any, damage: str) -> None:
    registry = Path(os.environ["CV_HOME"], "roots.json")
    if damage == "damaged":
        registry.write_text('["/somewhere", "/somewhere/el')
    else:
        registry.unlink()
        registry.mkdir()
    before = registry.read_text() if registry.is_file() else ""

    done = cv("config", "get", "kickoff")
    assert (done.code, done.out, done.err) == (0, "on\n", "")
    for write in (lambda: register_root(bare.root), lambda: unregister_roots([bare.root])):
        with pytest.raises(CvError, match=r"roots\.json"):
            write()
    listed = cv("list-roots")
    assert (listed.code, str(registry) in listed.err) == (1, True), listed
    assert f"roots: {registry}" in cv("doctor").out
    cv("init", "--yes", "--no-index", "--senior-root", str(bare.root))
    assert (registry.read_text() if registry.is_file() else "") == before


def test_who_writes_the_list_is_not_written_over(bare: Any, cv: Any) -> None:
    registry = Path(os.environ["CV_HOME"], "roots.json")
    registry.unlink()
    with exclusive(registry.with_suffix(".lock"), seconds=0, busy=""):
        with pytest.raises(Busy, match=r"roots\.json"):
            register_root(bare.root)
        assert cv("config", "get", "kickoff").code == 0
    assert not registry.exists()
    assert cv("config", "get", "kickoff").code == 0
    assert registered_roots() == [bare.root]


def test_of_many_at_once_none_takes_out_another(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from backend.errors import Busy; from backend.tree.home import register_root\n"
        "for n in range(20):\n"
        "    try: register_root(Path(sys.argv[1], str(n)))\n"
        "    except Busy: continue\n"
        "    print(Path(sys.argv[1], str(n)))\n"
    )
    ours = [
        subprocess.Popen(
            [sys.executable, "-P", "-s", "-c", program, str(tmp_path / name)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in "abc"
    ]
    said = [Path(line) for each in ours for line in each.communicate()[0].splitlines()]
    assert [each.returncode for each in ours] == [0, 0, 0]
    assert said
    assert sorted(registered_roots()) == sorted(said)


# --- what is gone, and what may come back ----------------------------------------------------------------------------


def test_doctor_takes_out_what_is_gone_and_lets_the_config_follow(moved: Path, cv: Any) -> None:
    before = registered_roots()
    done = cv("doctor", cwd=moved)
    assert f"roots: {before[0]} is no longer set up there" in done.out
    assert "run 'cv doctor --fix', or leave it" in done.out
    assert "nothing by hand" not in done.out
    mended = cv("doctor", "--fix", cwd=moved)
    assert mended.code == 0
    assert "mended   what is no longer there was taken out of 'cv list-roots'" in mended.out
    assert "mended   config.json follows the tree" in mended.out
    assert cv("list-roots", cwd=moved).out == f"{moved}\n"


def test_a_place_that_may_be_where_a_disk_belongs_stays_listed(
    bare: Any, cv: Any, tmp_path: Path
) -> None:
    (tmp_path / "disk").mkdir()
    away = [tmp_path / "disk", tmp_path / "disk/tree", tmp_path / "other/disk/tree"]
    for root in away:
        register_root(root)
    assert [standing(root) for root in away] == ["away"] * 3
    assert cv("doctor", "--fix").out.count("is not there now") == 3
    assert registered_roots() == [bare.root, *away]


def test_a_home_that_is_locked_is_not_gone(tmp_path: Path) -> None:
    """What ecryptfs leaves in one: a note, and links to folders elsewhere."""
    home = tmp_path / "home"
    (tmp_path / "elsewhere").mkdir()
    home.mkdir()
    (home / "README.txt").write_text("to mount it: …")
    (home / ".Private").symlink_to(tmp_path / "elsewhere")
    assert [standing(home), standing(home / "work")] == ["away", "away"]
    (home / "Desktop").mkdir()
    assert standing(home / "work") == "gone"


@pytest.mark.parametrize("disk", ["/media/ada/Disk", "/run/media/ada/Disk", "/Volumes/Disk"])
def test_a_disk_that_is_not_connected_is_not_gone(disk: str) -> None:
    assert standing(Path(disk)) == "away"


def test_what_is_gone_for_certain(bare: Any) -> None:
    assert standing(bare.root) == "set up"
    assert standing(bare.root / "no-such-folder") == "gone"
    shutil.rmtree(bare.path(".context-vigilance"))
    assert standing(bare.root) == "gone"


def test_a_dead_entry_is_taken_out_by_its_name(moved: Path, cv: Any) -> None:
    (dead,) = registered_roots()
    done = cv("init", "--remove", "--senior-root", f"{dead}/", stdin="n\n", cwd=moved)
    assert (done.code, registered_roots()) == (1, [dead])
    done = cv("init", "--remove", "--senior-root", str(dead), "--yes", cwd=moved)
    assert done.code == 0
    assert done.out.startswith(f"{dead} is not set up any more, or not there")
    assert "its entry in 'cv list-roots'" in done.out
    assert registered_roots() == []
    assert (moved / ".context-vigilance/config.json").is_file()
