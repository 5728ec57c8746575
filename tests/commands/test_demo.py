"""``cv demo``: where it is refused, and what it says of the folder that it makes; .ci/run runs all of it."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from backend.errors import UsageError
from backend.setup.demo import check_place, run_demo


@pytest.mark.parametrize("folder", [".", "ferry/new/folder"])
def test_inside_a_tree_nothing_is_written(org: Any, cv: Any, folder: str) -> None:
    org.document("ferry/context-v/specs/Timetable.md")
    cv("init", "--senior-root", str(org.root), "--yes", "--no-index")
    before = sorted(org.root.rglob("*"))
    done = cv("demo", "--keep", folder)
    assert (done.code, done.out) == (2, "")
    assert f"belongs to the senior root {org.root}" in done.err
    assert done.err.count("\n") == 1
    assert sorted(org.root.rglob("*")) == before


def test_into_documents_nothing_is_written(org: Any, cv: Any) -> None:
    org.document("ferry/context-v/specs/Timetable.md")
    before = sorted(org.root.rglob("*"))
    done = cv("demo", "--keep", "ferry/context-v/specs")
    assert (done.code, done.out) == (2, "")
    assert "is a documents folder" in done.err
    assert sorted(org.root.rglob("*")) == before


def test_on_a_drive_that_is_not_there_it_is_refused() -> None:
    class Away(type(Path())):  # type: ignore[misc]
        """A path of a drive of Windows, of which not even the top is there."""

        def is_dir(self) -> bool:
            return False

    with pytest.raises(UsageError, match="lies on a drive that is not there"):
        check_place(Away("/demo"), "--keep")


@pytest.mark.parametrize(("keep", "goes"), [(True, False), (False, True)])
def test_it_says_whether_the_folder_stays(tmp_path: Path, keep: bool, goes: bool) -> None:
    said: list[str] = []
    code = run_demo(
        tmp_path, keep=keep, today=date(2026, 3, 9), say=said.append, run=lambda arguments: 7
    )
    assert code == 7, "the first command that fails ends it"
    assert str(tmp_path / "acorn-goods") in said[0]
    assert ("goes again at the end" in said[0]) is goes
