"""The walk: which files are documents, of which role, kind and repo, and what is left out and counted."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from backend.schemas.config import Config, Discovery
from backend.schemas.roles import CHANGELOG_ROLE, CORPUS_ROLE
from backend.tree.found import Tree, role_of
from backend.tree.walk import discover, look_at

Walk = Callable[..., Tree]
posix = pytest.mark.skipif(os.name == "nt", reason="POSIX files")


def paths(tree: Tree) -> list[str]:
    return sorted(tree.files)


def skipped(tree: Tree, role: str = CORPUS_ROLE) -> dict[str, int]:
    return dict(tree.skipped[role])


# --- what is a document ----------------------------------------------------------------------------------------------


def test_markdown_below_context_v_is_corpus_and_below_changelog_is_changelog(
    org: Any, walk: Walk
) -> None:
    for path in (
        "ferry/context-v/specs/deep/A.md",
        "ferry/context-v/B.MD",
        "ferry/changelog/2025-01-01.md",
        "ferry/README.md",
    ):
        org.write(path, "x")
    org.write("ferry/context-v/specs/picture.png", "x")
    files = walk().files
    assert {path: (file.role, file.kind, file.repo) for path, file in files.items()} == {
        "ferry/context-v/specs/deep/A.md": (CORPUS_ROLE, "specs", "ferry"),
        "ferry/context-v/B.MD": (CORPUS_ROLE, "context-v", "ferry"),
        "ferry/changelog/2025-01-01.md": (CHANGELOG_ROLE, "changelog", "ferry"),
    }
    stat = org.path("ferry/context-v/B.MD").stat()
    assert (files["ferry/context-v/B.MD"].mtime, files["ferry/context-v/B.MD"].size) == (
        stat.st_mtime,
        1,
    )


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("context-v", CORPUS_ROLE),
        ("Context-V", CORPUS_ROLE),
        ("changelog", CHANGELOG_ROLE),
        ("changelogs", CHANGELOG_ROLE),
        ("Changelog", CHANGELOG_ROLE),
        ("changelog--code", CHANGELOG_ROLE),
        ("changelog-old", None),
        ("mychangelog", None),
        ("context-v2", None),
        ("context", None),
    ],
)
def test_folder_names_that_announce_documents(name: str, role: str | None) -> None:
    assert role_of(name) == role


def test_a_changelog_within_context_v_is_changelog(org: Any, walk: Walk) -> None:
    org.write("ferry/context-v/changelog/A.md", "x")
    org.write("ferry/context-v/specs/changelogs/B.md", "x")
    tree = walk()
    assert {file.role for file in tree.files.values()} == {CHANGELOG_ROLE}
    assert len(tree.files) == 2


def test_the_readme_of_a_changelog_is_no_entry(org: Any, walk: Walk) -> None:
    for path in (
        "ferry/changelog/README.md",
        "ferry/changelog/deep/readme.MD",
        "ferry/changelog/A.md",
    ):
        org.write(path, "x")
    org.write("ferry/context-v/README.md", "x")
    tree = walk()
    assert paths(tree) == ["ferry/changelog/A.md", "ferry/context-v/README.md"]
    assert skipped(tree, CHANGELOG_ROLE) == {"README of a changelog": 2}


def test_an_empty_tree_holds_nothing(org: Any, walk: Walk) -> None:
    assert replace(walk(), around={}) == Tree()


# --- what the walk never enters --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "folder",
    [
        "node_modules/pkg",
        ".git",
        "venv",
        ".venv",
        "env",
        "dist",
        "build",
        "target",
        "__pycache__",
        ".cache",
        ".obsidian",
    ],
)
def test_dependencies_build_output_caches_and_hidden_folders_are_not_entered(
    org: Any, walk: Walk, folder: str
) -> None:
    org.write(f"ferry/{folder}/context-v/A.md", "x")
    org.write("ferry/context-v/B.md", "x")
    assert paths(walk()) == ["ferry/context-v/B.md"]


def test_below_context_v_a_person_may_call_a_folder_build_or_cache(org: Any, walk: Walk) -> None:
    for path in (
        "build/A.md",
        "cache/B.md",
        "target/C.md",
        "node_modules/D.md",
        ".hidden/E.md",
        "venv/F.md",
    ):
        org.write(f"ferry/context-v/{path}", "x")
    assert paths(walk()) == [
        "ferry/context-v/build/A.md",
        "ferry/context-v/cache/B.md",
        "ferry/context-v/target/C.md",
    ]


def test_page_code_is_no_document(org: Any, walk: Walk) -> None:
    for path in (
        "src/pages/changelog/A.md",
        "src/pages/deep/context-v/B.md",
        "src/components/changelog/C.md",
    ):
        org.write(f"splash/{path}", "x")
    org.write("splash/src/content/changelog/D.md", "x")
    org.write("splash/pages/changelog/E.md", "x")
    assert paths(walk()) == ["splash/pages/changelog/E.md", "splash/src/content/changelog/D.md"]


def test_folders_of_the_config_are_not_entered(org: Any, walk: Walk) -> None:
    org.write("ferry/archive/context-v/A.md", "x")
    org.write("ferry/context-v/B.md", "x")
    assert paths(walk(discovery=Discovery(skip_folders=["archive"]))) == ["ferry/context-v/B.md"]


def test_hidden_files_are_counted_and_left_out(org: Any, walk: Walk) -> None:
    org.write("ferry/context-v/.draft.md", "x")
    tree = walk()
    assert (paths(tree), skipped(tree)) == ([], {"hidden file": 1})


@posix
def test_a_pipe_or_socket_with_a_documents_name_does_not_hang_the_walk(
    org: Any, walk: Walk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading a named pipe waits for ever."""
    org.path("ferry/context-v").mkdir(parents=True)
    os.mkfifo(org.path("ferry/context-v/Pipe.md"))
    org.path("ferry/context-v/Folder.md").mkdir()
    org.link("ferry/context-v/Linked.md", "Pipe.md")
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(org.path("ferry/context-v"))  # a socket's path may have 107 bytes
        server.bind("Socket.md")
        assert paths(walk()) == []


# --- opt-in folders --------------------------------------------------------------------------------------------------


def test_scratch_and_agent_skills_are_off_until_sources_md_turns_them_on(
    org: Any, walk: Walk
) -> None:
    for path in ("extra/A.md", "skills/B.md", "agent-skills/x/C.md", "specs/skills/D.md", "E.md"):
        org.write(f"ferry/context-v/{path}", "x")
    tree = walk()
    assert paths(tree) == ["ferry/context-v/E.md"]
    assert skipped(tree) == {"scratch (extra/)": 1, "agent skills": 3}
    tree = walk(included={"ferry/context-v/agent-skills", "ferry/context-v/specs/skills"})
    assert paths(tree) == [
        "ferry/context-v/E.md",
        "ferry/context-v/agent-skills/x/C.md",
        "ferry/context-v/specs/skills/D.md",
    ]


def test_a_repo_called_skills_is_entered(org: Any, walk: Walk) -> None:
    """Only below context-v do these names mean something."""
    org.write("skills/context-v/A.md", "x")
    org.write("extra/context-v/B.md", "x")
    assert paths(walk()) == ["extra/context-v/B.md", "skills/context-v/A.md"]


@pytest.mark.parametrize("excluded", ["mill", "mill/context-v", "mill/context-v/specs"])
def test_what_sources_md_leaves_out_is_left_out_of_every_look(
    org: Any, walk: Walk, excluded: str
) -> None:
    """A query between two syncs must not bring back what a person has left out."""
    org.write("mill/context-v/specs/A.md", "x")
    org.write("ferry/context-v/B.md", "x")
    tree = walk(excluded={excluded})
    assert paths(tree) == ["ferry/context-v/B.md"]
    assert skipped(tree) == {"left out in sources.md": 1}


# --- opting out ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "folder",
    ["", "clients", "clients/acme", "clients/acme/context-v", "clients/acme/context-v/specs"],
)
def test_a_marker_takes_its_folder_and_all_below_out(org: Any, walk: Walk, folder: str) -> None:
    org.write("clients/acme/context-v/specs/A.md", "x")
    org.write("ferry/context-v/B.md", "x")
    before = walk()
    org.dismiss(folder)
    tree = walk()
    assert paths(tree) == ([] if folder == "" else ["ferry/context-v/B.md"])
    assert sum(tree.skipped[CORPUS_ROLE].values()) == 1
    config = Config(senior_root=str(org.root))
    later = look_at(org.root, config, before.places, before.repos, choices=_no_choices())
    assert paths(later) == paths(tree), (
        "a quick look, with the places of a walk before the marker was there, still sees it"
    )


@pytest.mark.parametrize(
    "form", ["clients", "./clients/", "clients/acme/context-v", "{root}/clients"]
)
def test_dismissed_paths_take_folders_out(org: Any, walk: Walk, form: str) -> None:
    org.write("clients/acme/context-v/specs/A.md", "x")
    org.write("ferry/context-v/B.md", "x")
    before = walk()
    dismissed = [form.format(root=org.root)]
    tree = walk(dismissed_paths=dismissed)
    assert paths(tree) == ["ferry/context-v/B.md"]
    config = Config(senior_root=str(org.root), dismissed_paths=dismissed)
    assert paths(look_at(org.root, config, before.places, before.repos, _no_choices())) == paths(
        tree
    )


@pytest.mark.parametrize("form", [".", "{root}"])
def test_the_root_itself_may_be_dismissed(org: Any, walk: Walk, form: str) -> None:
    org.write("ferry/context-v/B.md", "x")
    assert paths(walk(dismissed_paths=[form.format(root=org.root)])) == []


# --- links -----------------------------------------------------------------------------------------------------------


@posix
def test_links_out_of_the_tree_are_counted_never_followed(
    org: Any, walk: Walk, tmp_path: Any
) -> None:
    (tmp_path / "outside/context-v").mkdir(parents=True)
    (tmp_path / "outside/context-v/Secret.md").write_text("x")
    org.write("ferry/context-v/A.md", "x")
    org.link("ferry/context-v/Secret.md", str(tmp_path / "outside/context-v/Secret.md"))
    org.link("ferry/context-v/folder", "../../../outside/context-v")
    org.link("mill/context-v", str(tmp_path / "outside/context-v"))
    org.link("inn", str(tmp_path / "outside"))
    tree = walk()
    assert paths(tree) == ["ferry/context-v/A.md"]
    assert skipped(tree) == {"symlink out of the tree": 3}


@posix
def test_a_name_that_only_begins_like_the_root_is_outside(org: Any, walk: Walk) -> None:
    sibling = org.root.with_name(org.root.name + " two")
    (sibling / "context-v").mkdir(parents=True)
    (sibling / "context-v/A.md").write_text("x")
    org.link("ferry/context-v/A.md", str(sibling / "context-v/A.md"))
    assert paths(walk()) == []


@posix
def test_a_link_within_the_tree_to_a_document_adds_nothing(org: Any, walk: Walk) -> None:
    org.write("ferry/context-v/specs/A.md", "x")
    org.link("ferry/context-v/plans/A.md", "../specs/A.md")
    org.link("mill/context-v", "../ferry/context-v")
    org.link("mill-docs/context-v/specs", "../../ferry/context-v/specs")
    tree = walk()
    assert paths(tree) == ["ferry/context-v/specs/A.md"]
    assert skipped(tree) == {"symlink to what is indexed in its own place": 3}


@posix
def test_a_link_to_documents_that_lie_elsewhere_in_the_tree_is_followed(
    org: Any, walk: Walk
) -> None:
    org.write("shared/docs/A.md", "x")
    org.write("shared/Note.md", "x")
    org.link("ferry/context-v", "../shared/docs")
    org.link("mill/context-v/Note.md", "../../shared/Note.md")
    assert paths(walk()) == ["ferry/context-v/A.md", "mill/context-v/Note.md"]


@posix
def test_two_links_to_one_folder_index_it_once(org: Any, walk: Walk) -> None:
    org.write("shared/docs/A.md", "x")
    org.link("a/context-v", "../shared/docs")
    org.link("b/context-v", "../shared/docs")
    assert paths(walk()) == ["a/context-v/A.md"]


@posix
def test_dangling_links_are_counted(org: Any, walk: Walk) -> None:
    org.link("ferry/context-v/A.md", "Gone.md")
    org.link("ferry/context-v/Self.md", "Self.md")
    tree = walk()
    assert (paths(tree), skipped(tree)) == ([], {"dangling symlink": 2})


@posix
@pytest.mark.parametrize("target", [".", "..", "../..", "{root}"])
def test_loops_end(org: Any, walk: Walk, target: str) -> None:
    org.write("ferry/context-v/A.md", "x")
    org.link("ferry/context-v/loop", target.format(root=org.root))
    tree = walk()
    assert paths(tree) == ["ferry/context-v/A.md"]


@posix
def test_loops_within_a_linked_folder_end(org: Any, walk: Walk) -> None:
    """Two links in it back to it would otherwise double the work at each of forty levels."""
    org.write("shared/docs/A.md", "x")
    org.link("shared/docs/one", ".")
    org.link("shared/docs/two", ".")
    org.link("ferry/context-v", "../shared/docs")
    assert paths(walk()) == ["ferry/context-v/A.md"]


@posix
@pytest.mark.parametrize("look", ["isfile", "isdir"])
def test_what_goes_while_a_link_to_it_is_followed_does_not_end_the_walk(
    org: Any, monkeypatch: pytest.MonkeyPatch, look: str
) -> None:
    """Files and folders come and go under a walk; here each goes right after it was seen to be there."""
    org.write("ferry/context-v/A.md", "x")
    org.write("shared/docs/B.md", "x")
    org.link("ferry/context-v/B.md", "../../shared/docs/B.md")
    going = org.path("shared/docs/B.md" if look == "isfile" else "shared/docs")
    seen = getattr(os.path, look)

    def seen_last(path: Any) -> bool:
        there = bool(seen(path))
        if there and going.exists() and going.samefile(path):
            going.rename(org.path("gone"))
        return there

    monkeypatch.setattr(os.path, look, seen_last)
    tree = discover(org.root, Config(senior_root=str(org.root)))
    assert org.path("gone").exists()
    assert paths(tree) == ["ferry/context-v/A.md"]
    assert tree.unreadable == []


@posix
def test_a_link_does_not_lead_into_what_is_left_out(org: Any, walk: Walk) -> None:
    """A marker, ``dismissed_paths``, ``sources.md`` and hidden folders hold whichever way one comes."""
    org.write("dismissed/docs/A.md", "x")
    org.dismiss("dismissed")
    org.write("listed/docs/B.md", "x")
    org.write("excluded/docs/C.md", "x")
    org.write(".private/D.md", "x")
    org.link("ferry/context-v/A.md", "../../dismissed/docs/A.md")
    org.link("ferry/context-v/b", "../../listed/docs")
    org.link("ferry/context-v/C.md", "../../excluded/docs/C.md")
    org.link("ferry/context-v/D.md", "../../.private/D.md")
    tree = walk(dismissed_paths=["listed"], excluded={"excluded"})
    assert paths(tree) == []
    assert skipped(tree)["symlink to what is left out"] == 4


@posix
def test_a_linked_document_goes_by_the_rules_of_the_place_it_stands_in(
    org: Any, walk: Walk
) -> None:
    org.write("shared/docs/A.md", "x")
    org.write("shared/Note.md", "x")
    for name in ("changelog/README.md", "context-v/.Draft.md", "context-v/extra/Note.md"):
        org.link(f"ferry/{name}", "../" * name.count("/") + "../shared/Note.md")
    org.link("ferry/context-v/extra/more", "../../../shared/docs")
    org.link("ferry/context-v/Note.md", "../../shared/Note.md")
    assert paths(walk()) == ["ferry/context-v/Note.md"]


# --- repos -----------------------------------------------------------------------------------------------------------


def test_the_slug_is_the_outermost_repo(org: Any, walk: Walk) -> None:
    org.repo(".")
    org.repo("bay-labs")
    org.repo("bay-labs/apps/memo")
    org.repo("clients/acme/site")
    for path in (
        "bay-labs/context-v/A.md",
        "bay-labs/apps/memo/context-v/B.md",
        "clients/acme/site/context-v/C.md",
    ):
        org.write(path, "x")
    org.write("loose/deep/context-v/D.md", "x")
    org.write("context-v/E.md", "x")
    org.write("changelog/F.md", "x")
    tree = walk()
    assert {path: file.repo for path, file in tree.files.items()} == {
        "bay-labs/context-v/A.md": "bay-labs",
        "bay-labs/apps/memo/context-v/B.md": "bay-labs",
        "clients/acme/site/context-v/C.md": "clients/acme/site",
        "loose/deep/context-v/D.md": "loose",
        "context-v/E.md": org.root.name,
        "changelog/F.md": org.root.name,
    }
    assert sorted(tree.repos) == ["bay-labs", "bay-labs/apps/memo", "clients/acme/site"]


def test_a_documents_folder_that_is_a_repo_itself(org: Any, walk: Walk) -> None:
    org.repo("context-v")
    org.write("context-v/A.md", "x")
    assert walk().files["context-v/A.md"].repo == "context-v"


def test_submodules_and_worktrees_are_entered(org: Any, walk: Walk) -> None:
    org.repo("origin")
    org.write("origin/context-v/A.md", "x")
    org.commit("origin", "2025-01-01")
    org.repo("parent")
    org.git("parent", "submodule", "--quiet", "add", str(org.path("origin")), "parts/ferry")
    org.git("origin", "worktree", "add", "--quiet", "../next", "-b", "next")
    tree = walk()
    assert paths(tree) == [
        "next/context-v/A.md",
        "origin/context-v/A.md",
        "parent/parts/ferry/context-v/A.md",
    ]
    assert {path: repo.worktree for path, repo in tree.repos.items()} == {
        "origin": False,
        "parent": False,
        "parent/parts/ferry": False,
        "next": True,
    }


# --- what the disk may hold ------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names are always Unicode there")
def test_names_that_are_not_unicode_are_counted(org: Any, walk: Walk) -> None:
    for path in (
        *(b"caf\xe9/context-v/A.md", b"caf\xe9/B.md", b"ferry/context-v/\xff.md"),
        *(b"ferry/context-v/d\xe9/C.md", b"shared/\xe8/D.md", b"shared/E.md"),
    ):
        org.write(os.fsdecode(path), "x")
    org.path(os.fsdecode(b"caf\xe9/.git")).mkdir()
    org.link(os.fsdecode(b"ferry/context-v/l\xe9"), "../../shared")
    org.link("ferry/context-v/D.md", os.fsdecode(b"../../shared/\xe8/D.md"))
    org.link("ferry/context-v/shared", os.fsdecode(b"../../shared/\xe8"))
    tree = walk()
    assert paths(tree) == []
    assert skipped(tree) == {"name is not Unicode": 7}
    assert [place.path for place in tree.places] == ["ferry/context-v"]
    assert tree.repos == {}
    assert msgspec.json.encode(tree), "such a name can stand in no file of ours"


WALK_ALONE = """
import json, sys
from pathlib import Path
from backend.schemas.config import Config
from backend.tree.found import Place
from backend.tree.sources import Choices
from backend.tree.walk import discover, look_at
root = Path(sys.argv[1])
config = Config(senior_root=str(root))
tree = discover(root, config)
quick = look_at(root, config, [Place("closed/context-v", "context-vigilance-corpus"),
    Place("open/context-v", "context-vigilance-corpus")], {}, Choices())
print(json.dumps([sorted(tree.files), tree.unreadable, sorted(quick.files), quick.unreadable]))
"""


@posix
@pytest.mark.parametrize("mode", [0o000, 0o044], ids=["no access", "names only"])
def test_a_folder_that_cannot_be_read_is_out_of_sight_not_gone(
    org: Any, as_nobody: tuple[str, ...], open_folder: Path, mode: int
) -> None:
    import json
    import subprocess

    org.write("closed/context-v/A.md", "x")
    org.write("open/context-v/B.md", "x")
    org.path("closed/.git").mkdir()
    org.path("closed").chmod(mode | 0o700 if as_nobody else mode)
    repo = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [*as_nobody, sys.executable, "-c", WALK_ALONE, str(org.root)],
        env={**os.environ, "PYTHONPATH": str(repo)},
        capture_output=True,
        text=True,
        check=False,
    )
    org.path("closed").chmod(0o700)
    assert done.returncode == 0, done.stderr
    files, unreadable, quick_files, quick_unreadable = json.loads(done.stdout)
    assert files == quick_files == ["open/context-v/B.md"]
    assert unreadable, "nobody would know that something is missing"
    assert all(
        "closed/context-v/A.md".startswith(folder) for folder in [*unreadable, *quick_unreadable]
    )
    assert quick_unreadable


def test_a_folder_that_vanishes_is_gone(org: Any, walk: Walk) -> None:
    org.write("ferry/context-v/A.md", "x")
    before = walk()
    org.delete("ferry")
    later = look_at(
        org.root, Config(senior_root=str(org.root)), before.places, before.repos, _no_choices()
    )
    assert (later.files, later.unreadable) == ({}, [])


def test_the_order_of_files_does_not_depend_on_the_disk(org: Any) -> None:
    for name in "cabd":
        org.write(f"{name}/context-v/{name}.md", "x")
    assert list(discover(org.root, Config(senior_root=str(org.root))).files) == [
        f"{n}/context-v/{n}.md" for n in "abcd"
    ]


def _no_choices() -> Any:
    from backend.tree.sources import Choices

    return Choices()
