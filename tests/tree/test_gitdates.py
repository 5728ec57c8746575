"""Git's dates, for documents that say none: the newest commit that was about them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from backend.errors import CvError
from backend.tree.gitdates import MASS_EDIT, GitDate, git_dates
from backend.tree.repos import head_commit


def noon(day: str) -> int:
    return int(datetime.fromisoformat(f"{day}T12:00:00").replace(tzinfo=UTC).timestamp())


def days(org: Any, folder: str = "ferry") -> dict[str, str]:
    return {
        path: datetime.fromtimestamp(date.best, UTC).date().isoformat()
        for path, date in git_dates(org.path(folder)).items()
    }


def test_the_newest_commit_counts(org: Any) -> None:
    org.repo("ferry")
    org.write("ferry/context-v/A.md", "one")
    org.write("ferry/context-v/B.md", "one")
    org.commit("ferry", "2025-01-01")
    org.write("ferry/context-v/A.md", "two")
    org.commit("ferry", "2025-02-02")
    assert days(org) == {"context-v/A.md": "2025-02-02", "context-v/B.md": "2025-01-01"}


def test_a_sweep_over_many_documents_is_no_news(org: Any) -> None:
    """A commit of twenty documents and more is a mass edit; the newest smaller one counts; where there is none, the oldest."""
    org.repo("ferry")
    org.write("ferry/context-v/Old.md", "one")
    org.commit("ferry", "2025-01-01")
    for number in range(MASS_EDIT - 1):
        org.write(f"ferry/context-v/N{number}.md", "new")
    org.write("ferry/context-v/Old.md", "two")
    org.commit("ferry", "2025-06-06")
    dates = git_dates(org.path("ferry"))
    assert dates["context-v/Old.md"] == GitDate(noon("2025-01-01"), noon("2025-01-01"))
    assert dates["context-v/Old.md"].best == noon("2025-01-01")
    assert dates["context-v/N0.md"] == GitDate(0, noon("2025-06-06"))
    assert dates["context-v/N0.md"].best == noon("2025-06-06")


def test_what_was_imported_and_only_swept_since_is_as_old_as_the_import(org: Any) -> None:
    org.repo("ferry")
    for day in ("2025-01-01", "2025-06-06", "2025-12-12"):
        for number in range(MASS_EDIT):
            org.write(f"ferry/context-v/N{number}.md", f"as of {day}")
        org.commit("ferry", day)
    assert git_dates(org.path("ferry"))["context-v/N0.md"].best == noon("2025-01-01")


def test_one_document_fewer_is_news(org: Any) -> None:
    org.repo("ferry")
    for number in range(MASS_EDIT - 1):
        org.write(f"ferry/context-v/N{number}.md", "new")
    org.commit("ferry", "2025-06-06")
    assert git_dates(org.path("ferry"))["context-v/N0.md"].own == noon("2025-06-06")


def test_other_files_of_the_commit_do_not_make_it_a_sweep(org: Any) -> None:
    org.repo("ferry")
    org.write("ferry/context-v/A.md", "one")
    for number in range(40):
        org.write(f"ferry/src/n{number}.py", "pass")
    org.commit("ferry", "2025-06-06")
    assert git_dates(org.path("ferry")) == {
        "context-v/A.md": GitDate(noon("2025-06-06"), noon("2025-06-06"))
    }


def test_a_rename_without_a_change_of_text_dates_nothing(org: Any) -> None:
    org.repo("ferry")
    org.write("ferry/context-v/Old.md", "the same text before and after\n" * 9)
    org.commit("ferry", "2025-01-01")
    org.write("ferry/context-v/Old.md", "another text before and after\n" * 9)
    org.commit("ferry", "2025-02-02")
    org.move("ferry/context-v/Old.md", "ferry/context-v/specs/New.md")
    org.commit("ferry", "2025-03-03")
    org.move("ferry/context-v/specs/New.md", "ferry/context-v/plans/Newest.md")
    org.commit("ferry", "2025-04-04")
    dates = git_dates(org.path("ferry"))
    assert dates["context-v/plans/Newest.md"] == GitDate(noon("2025-02-02"), noon("2025-01-01"))
    org.write("ferry/context-v/plans/Newest.md", "a third text\n" * 9)
    org.commit("ferry", "2025-05-05")
    assert days(org)["context-v/plans/Newest.md"] == "2025-05-05"


def test_a_rename_with_a_change_of_text_dates(org: Any) -> None:
    org.repo("ferry")
    org.write("ferry/context-v/Old.md", "the same text before and after\n" * 9)
    org.commit("ferry", "2025-01-01")
    org.move("ferry/context-v/Old.md", "ferry/context-v/New.md")
    org.write("ferry/context-v/New.md", "the same text before and after\n" * 9 + "a line more\n")
    org.commit("ferry", "2025-03-03")
    assert days(org)["context-v/New.md"] == "2025-03-03"


def test_there_and_back_and_others_under_the_old_name(org: Any) -> None:
    """What came later under a name that has become free has its own dates, and so has what was there before a rename to it."""
    org.repo("ferry")
    org.write("ferry/context-v/A.md", "the boat\n" * 9)
    org.write("ferry/context-v/C.md", "the oar\n" * 9)
    org.commit("ferry", "2025-01-01")
    org.move("ferry/context-v/A.md", "ferry/context-v/B.md")
    org.commit("ferry", "2025-02-02")
    org.move("ferry/context-v/B.md", "ferry/context-v/A.md")
    org.commit("ferry", "2025-03-03")
    assert days(org)["context-v/A.md"] == "2025-01-01"
    org.write("ferry/context-v/C.md", "the long oar\n" * 9)
    org.commit("ferry", "2025-04-04")
    org.delete("ferry/context-v/C.md")
    org.commit("ferry", "2025-05-05")
    org.move("ferry/context-v/A.md", "ferry/context-v/C.md")
    org.commit("ferry", "2025-06-06")
    org.write("ferry/context-v/A.md", "a pier\n" * 9)
    org.commit("ferry", "2025-07-07")
    assert {name: day for name, day in days(org).items() if "B" not in name} == {
        "context-v/A.md": "2025-07-07",
        "context-v/C.md": "2025-01-01",
    }


def test_a_move_of_a_whole_folder_dates_nothing(org: Any) -> None:
    org.repo("ferry")
    for number in range(MASS_EDIT):
        org.write(f"ferry/context-v/specs/N{number}.md", f"text {number}\n" * 9)
        org.commit("ferry", f"2025-01-{number + 1:02}")
    org.move("ferry/context-v/specs", "ferry/context-v/plans")
    org.commit("ferry", "2025-06-06")
    assert days(org)["context-v/plans/N3.md"] == "2025-01-04"


@pytest.mark.parametrize(
    "name",
    [
        "with blank.md",
        'quo"te.md',
        "Änderung.md",
        "日本語.md",
        "em—dash’s.md",
        "back\\slash.md",
        "UPPER.MD",
        "-dash.md",
    ],
)
def test_names_that_git_would_quote(org: Any, name: str) -> None:
    org.repo("ferry")
    org.write(f"ferry/context-v/{name}", "one")
    org.commit("ferry", "2025-01-01")
    assert days(org) == {f"context-v/{name}": "2025-01-01"}


def test_where_there_are_no_commits_git_fails(org: Any) -> None:
    """Nobody asks it there: a repo without a commit has no head to ask for."""
    org.repo("ferry")
    org.write("ferry/context-v/A.md", "one")
    org.path("plain").mkdir()
    for folder in ("ferry", "plain", "gone"):
        assert head_commit(org.path(folder)) == ""
        with pytest.raises(CvError, match="git"):
            git_dates(org.path(folder))


def test_variables_of_a_git_hook_do_not_lead_to_another_repo(
    org: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session that was started from a git hook has GIT_DIR and GIT_INDEX_FILE of that repo in its environment."""
    for name, day in (("ferry", "2025-01-01"), ("other", "2025-09-09")):
        org.repo(name)
        org.write(f"{name}/context-v/A.md", name)
        org.commit(name, day)
    monkeypatch.setenv("GIT_DIR", str(org.path("other/.git")))
    monkeypatch.setenv("GIT_WORK_TREE", str(org.path("other")))
    monkeypatch.setenv("GIT_LITERAL_PATHSPECS", "1")
    assert days(org) == {"context-v/A.md": "2025-01-01"}


def test_a_machine_without_git(org: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    org.repo("ferry")
    org.write("ferry/context-v/A.md", "one")
    org.commit("ferry", "2025-01-01")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(CvError, match="git could not be started"):
        git_dates(org.path("ferry"))
