"""Repos: what they are called, when two checkouts are one repo, and which commit is checked out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.tree.repos import (
    head_commit,
    identity,
    innermost_repo,
    is_repo,
    is_worktree,
    repo_slug,
)


@pytest.mark.parametrize(
    ("path", "slug"),
    [
        ("bay-labs/context-v/specs/A.md", "bay-labs"),
        ("bay-labs/memo/context-v/A.md", "bay-labs"),
        ("clients/acme/site/context-v/A.md", "clients/acme/site"),
        ("clients/acme/context-v/A.md", "clients"),
        ("loose/notes/context-v/A.md", "loose"),
        ("A.md", "tree"),
    ],
)
def test_the_outermost_repo_names_a_document(path: str, slug: str) -> None:
    assert repo_slug(path, {"bay-labs", "bay-labs/memo", "clients/acme/site"}, "tree") == slug


def test_the_innermost_repo_holds_a_document() -> None:
    repos = {"bay-labs", "bay-labs/memo"}
    assert innermost_repo("bay-labs/memo/context-v/A.md", repos) == "bay-labs/memo"
    assert innermost_repo("bay-labs/memory/A.md", repos) == "bay-labs"
    assert innermost_repo("loose/A.md", repos) == ""


folder = st.text("abc-.", min_size=1, max_size=4).filter(lambda name: name.strip("."))
folders = st.lists(folder, min_size=1, max_size=4).map("/".join)


@given(
    paths=st.lists(folders, min_size=1, max_size=12, unique=True),
    repos=st.sets(folders, max_size=6),
)
def test_ids_are_unique_whatever_the_folders_are_called(paths: list[str], repos: set[str]) -> None:
    """``{repo_slug}::{path}::{idx}``: no two documents share an id, and a slug is a folder above its document."""
    files = [f"{path}/context-v/Doc.md" for path in paths]
    ids = {f"{repo_slug(file, repos, 'tree')}::{file}::0000" for file in files}
    assert len(ids) == len(files)
    assert all(file.startswith(repo_slug(file, repos, "tree") + "/") for file in files)


@pytest.mark.parametrize(
    "address",
    [
        "https://git.example.org/harbour/ferry.git",
        "https://git.example.org/harbour/ferry",
        "https://git.example.org/harbour/ferry/",
        "https://ada:secret@git.example.org/harbour/ferry.git",
        "https://git.example.org:8443/harbour/ferry.git",
        "ssh://git@git.example.org/harbour/ferry.git",
        "ssh://git@git.example.org:2222/harbour/ferry.git",
        "git@git.example.org:harbour/ferry.git",
        "git://git.example.org/Harbour/Ferry.git",
    ],
)
def test_one_repo_has_one_identity_however_it_was_cloned(org: Any, address: str) -> None:
    org.repo("ferry", remote=address)
    assert identity(org.path("ferry")) == "git.example.org/harbour/ferry"


def test_other_remotes_are_other_repos(org: Any) -> None:
    org.repo("a", remote="https://git.example.org/harbour/ferry.git")
    org.repo("b", remote="https://git.example.org/harbour/ferry-two.git")
    org.repo("c")
    org.repo("d")
    assert len({identity(org.path(name)) for name in "abcd"}) == 4
    assert identity(org.root) == ""


def test_a_worktree_is_the_same_repo(org: Any) -> None:
    org.repo("ferry")
    org.commit("ferry", "2025-01-01")
    org.git("ferry", "worktree", "add", "--quiet", "../ferry-next", "-b", "next")
    assert is_worktree(org.path("ferry-next"))
    assert not is_worktree(org.path("ferry"))
    assert identity(org.path("ferry-next")) == identity(org.path("ferry")) != ""


def test_a_plain_repo_in_a_folder_called_worktrees_is_none(org: Any) -> None:
    org.repo("worktrees", remote="https://git.example.org/harbour/ferry.git")
    assert is_repo(org.path("worktrees"))
    assert not is_worktree(org.path("worktrees"))
    assert identity(org.path("worktrees")) == "git.example.org/harbour/ferry"


def test_a_submodule_is_a_repo_of_its_own_and_no_worktree(org: Any) -> None:
    org.repo("origin")
    org.commit("origin", "2025-01-01")
    org.repo("parent")
    org.git("parent", "submodule", "--quiet", "add", str(org.path("origin")), "parts/ferry")
    module = org.path("parent/parts/ferry")
    assert (module / ".git").is_file()
    assert is_repo(module)
    assert not is_worktree(module)
    assert identity(module) == str(org.path("origin")).casefold()
    assert head_commit(module) == head_commit(org.path("origin")) != ""


@pytest.mark.parametrize("content", ["", "gitdir", "nonsense\n", "\0\1\2"])
def test_a_git_file_that_says_nothing_makes_no_repo(org: Any, content: str) -> None:
    org.write("odd/.git", content)
    assert not is_repo(org.path("odd"))
    assert identity(org.path("odd")) == ""
    assert head_commit(org.path("odd")) == ""


def test_a_git_file_that_leads_nowhere_has_no_commit(org: Any) -> None:
    org.write("odd/.git", "gitdir: ../gone/.git/modules/odd\n")
    assert head_commit(org.path("odd")) == ""
    assert identity(org.path("odd")) == ""


def test_the_commit_is_read_wherever_git_keeps_it(org: Any) -> None:
    org.repo("ferry")
    assert head_commit(org.path("ferry")) == ""  # none yet
    first = org.commit("ferry", "2025-01-01")
    assert head_commit(org.path("ferry")) == first  # a file for each branch
    second = org.commit("ferry", "2025-01-02")
    org.git("ferry", "pack-refs", "--all")
    assert head_commit(org.path("ferry")) == second  # all in one file
    third = org.commit("ferry", "2025-01-03")
    assert head_commit(org.path("ferry")) == third  # both: the branch's own file counts
    org.git("ferry", "checkout", "--quiet", "--detach", first)
    assert head_commit(org.path("ferry")) == first  # no branch
    org.git("ferry", "worktree", "add", "--quiet", "../next", "-b", "next", second)
    assert (
        head_commit(org.path("next")) == second
    )  # a worktree's branch, in the main checkout's folder
    org.git("ferry", "pack-refs", "--all")
    assert head_commit(org.path("next")) == second
