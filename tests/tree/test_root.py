"""Where the kit applies: which senior root a folder belongs to, and who has opted out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from backend.errors import CvError, NotApplicable
from backend.schemas.config import Config
from backend.tree.config import create_config
from backend.tree.root import MARKER, applicability, find_root, require_plain_kit, require_root


@pytest.fixture
def root(org: Any) -> Path:
    """A senior root with a few folders below it."""
    for folder in ("harbour/docs/deep", "mill/clients"):
        org.path(folder).mkdir(parents=True)
    create_config(org.root)
    return org.root


def test_is_found_from_any_depth(root: Path) -> None:
    assert find_root(root) == root
    assert find_root(root / "harbour/docs/deep") == root


def test_the_nearest_one_counts(root: Path) -> None:
    create_config(root / "harbour")
    assert find_root(root / "harbour/docs") == root / "harbour"
    assert find_root(root / "mill") == root


def test_is_found_through_a_symlinked_folder(root: Path, tmp_path: Path) -> None:
    (tmp_path / "shortcut").symlink_to(root / "harbour/docs")
    assert find_root(tmp_path / "shortcut") == root


def test_a_folder_with_only_the_kit_folder_is_no_root(tmp_path: Path) -> None:
    (tmp_path / ".context-vigilance").mkdir()
    assert find_root(tmp_path) is None


def test_the_walk_does_not_climb_into_home(machine: Path) -> None:
    """A config that lies in the home folder must not capture every folder of the person."""
    create_config(machine)
    project = machine / "projects/garden"
    project.mkdir(parents=True)
    assert find_root(project) is None


def test_a_root_below_home_is_found(machine: Path) -> None:
    create_config(machine / "projects")
    (machine / "projects/garden").mkdir()
    assert find_root(machine / "projects/garden") == machine / "projects"


def test_home_itself_is_looked_at_when_one_stands_in_it(machine: Path) -> None:
    create_config(machine)
    assert find_root(machine) == machine


def test_the_walk_does_not_climb_out_of_home(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session in the home folder itself must not be captured by what a machine's owner put above it."""
    home = machine / "users/ada"
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    create_config(machine / "users")
    assert find_root(home) is None


@pytest.mark.skipif(
    not Path("/dev/shm").is_dir(), reason="needs a second filesystem that can be written to"
)
def test_the_walk_stops_at_a_filesystem_boundary() -> None:
    """A mounted disk is a tree of its own; /dev/shm is mounted below /dev, another filesystem."""
    import tempfile

    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        inside = Path(folder, "a/b")
        inside.mkdir(parents=True)
        if inside.stat().st_dev == Path("/dev").stat().st_dev:
            pytest.skip("/dev/shm is no filesystem of its own here")
        assert find_root(inside) is None
        create_config(Path(folder))
        assert find_root(inside) == Path(folder)


def test_a_folder_that_is_gone_belongs_nowhere(root: Path) -> None:
    assert find_root(root / "was/never/there") is None


@pytest.mark.skipif(os.name == "nt", reason="Windows does not remove a folder that is in use")
def test_a_working_folder_removed_from_under_the_shell_is_no_error(root: Path) -> None:
    script = (
        "import os, sys; from pathlib import Path; sys.path.insert(0, sys.argv[1])\n"
        "os.chdir(sys.argv[2]); os.rmdir(sys.argv[2])\n"
        "from backend.tree.root import find_root; print(find_root(Path('.')))"
    )
    repo = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-c", script, str(repo), str(root / "harbour/docs/deep")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "None"


def test_a_folder_that_may_not_be_entered_is_no_error(
    root: Path, as_nobody: tuple[str, ...], open_folder: Path, tmp_path: Path
) -> None:
    """The kit's folder of someone else on a shared machine must not break every session below it."""
    (root / ".context-vigilance").chmod(0o700 if as_nobody else 0)
    script = "import sys; from pathlib import Path; from backend.tree.root import find_root; print(find_root(Path(sys.argv[1])))"
    repo = Path(__file__).resolve().parents[2]
    command = [*as_nobody, sys.executable, "-c", script, str(root / "harbour")]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(repo)},
        check=False,
    )
    (root / ".context-vigilance").chmod(0o700)
    assert (done.returncode, done.stdout.strip()) == (0, "None"), done.stderr


def test_without_a_root_the_message_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(
        NotApplicable, match=r"no senior root here.*cv init --senior-root PATH.*--root PATH"
    ):
        require_root(tmp_path)


# --- opting out ------------------------------------------------------------------------------------------------------


def says(folder: Path, root: Path, **keys: Any) -> str:
    """Give the reason why the kit does not apply, '' when it does."""
    result = applicability(folder, root, Config(senior_root=str(root), **keys))
    assert result.applicable == (not result.reason)
    return result.reason


def test_applies_below_the_root(root: Path) -> None:
    assert says(root, root) == ""
    assert says(root / "harbour/docs/deep", root) == ""


def test_a_marker_opts_out_its_folder_and_all_below(root: Path) -> None:
    (root / "harbour/docs" / MARKER).touch()
    assert says(root / "harbour", root) == ""
    assert says(root / "harbour/docs", root) == f"harbour/docs carries the marker {MARKER}"
    assert says(root / "harbour/docs/deep", root) == f"harbour/docs carries the marker {MARKER}"
    assert says(root / "mill", root) == ""


def test_a_marker_in_the_root_opts_out_everything(root: Path) -> None:
    (root / MARKER).touch()
    assert says(root / "mill/clients", root) == f"the senior root carries the marker {MARKER}"


@pytest.mark.parametrize(
    "form", ["mill", "mill/", "./mill", "mill/../mill", "{root}/mill", "~/tree/mill"]
)
def test_a_dismissed_path_may_be_written_in_any_form(root: Path, machine: Path, form: str) -> None:
    (machine / "tree").symlink_to(root)
    paths = [form.format(root=root)]
    assert (
        says(root / "mill/clients", root, dismissed_paths=paths)
        == "mill is listed in dismissed_paths of config.json"
    )
    assert says(root / "mill", root, dismissed_paths=paths) != ""
    assert says(root / "harbour", root, dismissed_paths=paths) == ""


def test_a_dismissed_path_of_another_tree_has_no_effect(root: Path, tmp_path: Path) -> None:
    assert (
        says(
            root / "mill",
            root,
            dismissed_paths=[str(tmp_path / "elsewhere/mill"), "~nobody-of-that-name/x"],
        )
        == ""
    )


def test_a_name_that_only_begins_alike_is_not_dismissed(root: Path) -> None:
    (root / "mill-two").mkdir()
    assert says(root / "mill-two", root, dismissed_paths=["mill"]) == ""


def test_a_folder_outside_does_not_apply(root: Path, tmp_path: Path) -> None:
    assert "does not lie under" in says(tmp_path, root)


@pytest.mark.parametrize(
    "name",
    ["hook.log", "chroma", "chroma/chroma.sqlite3", "chroma/part/length.bin", "chroma.new/x", "manifests/places.json"],
)  # fmt: skip
def test_a_link_among_our_own_files_is_refused(root: Path, tmp_path: Path, name: str) -> None:
    kit = root / ".context-vigilance"
    (kit / "chroma/part").mkdir(parents=True)
    require_plain_kit(root)
    link = kit / name
    if name == "chroma":
        (kit / "chroma/part").rmdir()
        link.rmdir()
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CvError, match=f"{re.escape(str(link))}: is a link"):
        require_plain_kit(root)


def test_the_kit_itself_may_be_no_link(root: Path) -> None:
    kit = root / ".context-vigilance"
    kit.rename(root / "elsewhere")
    kit.symlink_to(root / "elsewhere")
    with pytest.raises(CvError, match="is a link"):
        require_plain_kit(root)
