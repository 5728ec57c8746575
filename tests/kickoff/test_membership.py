"""``cv why``: for every way a file can be left out, the reason in words; and where an indexed one ranks."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from organisation import KIT

from backend.errors import UsageError
from backend.freshness.sync import sync
from backend.kickoff.membership import membership
from backend.kickoff.named_file import find_file
from backend.kickoff.why import why
from backend.schemas.config import Discovery
from backend.tree.config import change_config, load_config

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
BODY = "## Part\n\n" + "The weir keeps the pond at the height of the mill wheel. " * 12


@pytest.fixture
def tree(small: Any) -> Any:
    """One file of each sort, with a sync behind it."""
    made = small({"mill/context-v/specs/Weir.md": BODY}, repos=("mill", "site"))
    made.write(
        "site/context-v/specs/Weir.md", made.path("mill/context-v/specs/Weir.md").read_text("utf-8")
    )
    made.document("mill/context-v/specs/Private.md", private="true")
    made.document("mill/changelog/2025-04-01_Draft.md", publish="false")
    made.write("mill/changelog/README.md", "# About this folder")
    made.document("mill/context-v/extra/Scratch.md")
    made.document("mill/context-v/skills/x/SKILL.md")
    made.document("barn/context-v/specs/Hay.md")
    made.dismiss("barn")
    made.document("shed/context-v/Tools.md")
    made.document("mill/.hidden/context-v/Secret.md")
    made.document("mill/context-v/.Draft.md")
    made.document("mill/docs/Guide.md")
    made.write("mill/context-v/data.csv", "a,b")
    made.document("mill/node_modules/pack/context-v/Pack.md")
    made.document("mill/context-v/node_modules/Pack.md")
    made.document("old/context-v/specs/Old.md")
    made.document("skipme/context-v/specs/Skip.md")
    made.link("mill/context-v/specs/Link.md", "Weir.md")
    outside = made.root.parent / "Outside.md"
    outside.write_text("# Outside", "utf-8")
    made.link("mill/context-v/specs/Out.md", str(outside))
    made.write(
        f"{KIT}/sources.md",
        "---\nsources:\n  - path: old/context-v\n    include: false\n---\n",
    )
    change_config(made.root, lambda raw: raw.update(dismissed_paths=["shed"]))
    made.sync()
    made.document("mill/context-v/specs/Later.md")
    return made


@pytest.mark.parametrize(
    ("path", "reason", "words"),
    [
        ("mill/context-v/specs/Weir.md", "indexed", "indexed in context-vigilance-corpus as specs of mill"),
        ("site/context-v/specs/Weir.md", "copy", "a copy of mill/context-v/specs/Weir.md"),
        ("mill/context-v/specs/Private.md", "private", "private: true"),
        ("mill/changelog/2025-04-01_Draft.md", "unpublished", "publish: false"),
        ("mill/changelog/README.md", "readme", "no entry"),
        ("mill/context-v/extra/Scratch.md", "opt-in", "subdirs: [extra] at the entry of mill/context-v"),
        ("mill/context-v/skills/x/SKILL.md", "opt-in", "subdirs: [skills]"),
        ("barn/context-v/specs/Hay.md", "dismissed", "barn carries the marker .context-vigilance-skip"),
        ("shed/context-v/Tools.md", "dismissed", "shed is listed in dismissed_paths"),
        ("mill/.hidden/context-v/Secret.md", "hidden", ".hidden is hidden"),
        ("mill/context-v/.Draft.md", "hidden", ".Draft.md is hidden"),
        ("mill/docs/Guide.md", "no-place", "below no folder named context-v or changelog"),
        ("mill/context-v/data.csv", "not-markdown", "only Markdown files"),
        ("mill/node_modules/pack/context-v/Pack.md", "never-entered", "below mill/node_modules/pack"),
        ("mill/context-v/node_modules/Pack.md", "never-entered", "dependencies or caches"),
        ("old/context-v/specs/Old.md", "left-out", "sources.md leaves old/context-v out"),
        ("mill/context-v/specs/Link.md", "symlink", "symlink to mill/context-v/specs/Weir.md"),
        ("mill/context-v/specs/Out.md", "symlink", "symlink out of the tree"),
        ("mill/context-v/specs/Later.md", "not-synced", "run 'cv sync'"),
        ("mill/context-v/specs/Never.md", "missing", "no such file"),
        ("/elsewhere/File.md", "outside", "does not lie under the senior root"),
    ],
)  # fmt: skip
def test_each_reason(tree: Any, path: str, reason: str, words: str) -> None:
    found = membership(tree.root, load_config(tree.root), path)
    assert (found.reason, found.indexed) == (reason, reason == "indexed"), found.text
    assert words in found.text
    assert found.home == ("mill/context-v/specs/Weir.md" if reason == "copy" else "")


def test_a_folder_that_the_config_skips(tree: Any) -> None:
    config = replace(load_config(tree.root), discovery=Discovery(skip_folders=["skipme"]))
    sync(tree.root, config, now=NOW)
    found = membership(tree.root, config, "skipme/context-v/specs/Skip.md")
    assert found.text == "discovery.skip_folders of config.json leaves out skipme"


def test_where_the_date_is_from(small: Any) -> None:
    tree = small({"mill/context-v/specs/Weir.md": BODY}, repos=("mill",))
    tree.document("mill/context-v/specs/Undated.md", day=None)
    tree.document("mill/changelog/2025-06-07_sails.md", day=None)
    tree.commit("mill", "2025-05-04")
    tree.sync()
    texts = {
        path: membership(tree.root, load_config(tree.root), path).text
        for path in (
            "mill/context-v/specs/Weir.md",
            "mill/context-v/specs/Undated.md",
            "mill/changelog/2025-06-07_sails.md",
        )
    }
    assert texts["mill/context-v/specs/Weir.md"].endswith("date 2025-03-14 (the document's own)")
    assert "date 2025-05-04 (of its newest commit" in texts["mill/context-v/specs/Undated.md"]
    assert "2025-06-07 (from the file's name)" in texts["mill/changelog/2025-06-07_sails.md"]


def test_a_file_that_changed_since(tree: Any) -> None:
    tree.edit("mill/context-v/specs/Weir.md", "## Part", "## A part")
    found = membership(tree.root, load_config(tree.root), "mill/context-v/specs/Weir.md")
    assert found.indexed
    assert found.text.endswith("the file has changed since, which the next sync takes in")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_can_t_be_read(tree: Any) -> None:
    file = tree.path("mill/context-v/specs/Later.md")
    file.chmod(0)
    found = membership(tree.root, load_config(tree.root), "mill/context-v/specs/Later.md")
    assert found.reason == "failed"


@pytest.mark.parametrize(
    ("said", "at", "path"),
    [
        ("specs/Weir.md", "mill/context-v", "mill/context-v/specs/Weir.md"),
        ("mill/context-v/specs/Weir.md", "site", "mill/context-v/specs/Weir.md"),
        ("../../mill/docs/Guide.md", "site/context-v", "mill/docs/Guide.md"),
        ("private", "", "mill/context-v/specs/Private.md"),
        ("changelog/2025-04-01_draft", "", "mill/changelog/2025-04-01_Draft.md"),
        ("context-v/None.md", "mill", "context-v/None.md"),
    ],
)
def test_how_a_file_may_be_called(tree: Any, said: str, at: str, path: str) -> None:
    assert find_file(tree.root, tree.root / at, said) == path


def test_a_folder_or_an_ambiguous_name_is_refused(tree: Any) -> None:
    with pytest.raises(UsageError, match="is a folder; name a file"):
        find_file(tree.root, tree.root, "mill/context-v")
    with pytest.raises(UsageError, match=r"could mean mill/.*Weir.md, site/.*Weir.md"):
        find_file(tree.root, tree.root, "weir")


# --- where a document ranks -----------------------------------------------------------------------------------------


def test_the_parts_make_up_the_score_and_the_rank_is_find_s(harbour: Any) -> None:
    task = "how a skipper gets the deposit back after noon"
    found = harbour.found(task)
    for number, path in enumerate(found[:5], 1):
        answer = why(
            harbour.root,
            load_config(harbour.root),
            path,
            task=task,
            folder=harbour.root,
            now=NOW,
        )
        placement = answer.placement
        assert placement is not None
        assert placement.rank == number
        assert abs(sum(placement.parts.values()) - placement.score) < 0.01
        said = {*placement.words_found, *placement.words_missing}
        assert said == {"skipper", "deposit", "back", "noon"}
        text = Path(answer.absolute_path).read_text("utf-8")
        assert all(word in text for word in placement.words_found)


def test_a_copy_is_placed_as_its_home(tree: Any) -> None:
    answer = why(
        tree.root,
        load_config(tree.root),
        "site/context-v/specs/Weir.md",
        task="the weir of the mill",
        folder=tree.root,
        now=NOW,
    )
    assert (answer.reason, answer.indexed) == ("copy", False)
    assert answer.placement is not None
    assert answer.placement.rank == 1
