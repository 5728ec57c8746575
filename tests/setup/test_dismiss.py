"""``cv dismiss`` where documents lie: nothing of ours is ever written there, and it is opted out all the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def tree(org: Any, cv: Any) -> Any:
    org.repo("ferry")
    org.document("ferry/context-v/specs/Timetable.md")
    org.document("ferry/context-v/plans/Pier.md")
    org.document("ferry/changelog/2025-06-01_sails.md", day=None)
    assert cv("init", "--senior-root", str(org.root), "--yes").code == 0
    return org


def below_documents(org: Any) -> dict[str, bytes]:
    return {
        str(path.relative_to(org.root)): path.read_bytes()
        for path in org.root.rglob("*")
        if path.is_file() and {"context-v", "changelog"} & set(path.parts)
    }


def indexed(cv: Any, org: Any) -> set[str]:
    assert cv("sync").code == 0
    cards: set[str] = set()
    for name in ("context-vigilance-corpus", "changelog-corpus"):
        manifest = org.path(f".context-vigilance/manifests/{name}.json")
        cards |= set(json.loads(manifest.read_bytes())) if manifest.exists() else set()
    return {path for path in cards if path.endswith(".md")}


def listed(org: Any) -> list[str]:
    config = json.loads(org.path(".context-vigilance/config.json").read_bytes())
    return list(config["dismissed_paths"])


@pytest.mark.parametrize(
    ("folder", "left"),
    [
        ("ferry/context-v", {"ferry/changelog/2025-06-01_sails.md"}),
        (
            "ferry/context-v/specs",
            {"ferry/context-v/plans/Pier.md", "ferry/changelog/2025-06-01_sails.md"},
        ),
        (
            "ferry/changelog",
            {"ferry/context-v/plans/Pier.md", "ferry/context-v/specs/Timetable.md"},
        ),
    ],
)
def test_a_folder_of_documents_is_listed_and_nothing_is_written_there(
    tree: Any, cv: Any, folder: str, left: set[str]
) -> None:
    before, whole = below_documents(tree), indexed(cv, tree)
    done = cv("dismiss", folder)

    assert done.code == 0
    assert "listed in dismissed_paths of config.json" in done.out
    assert listed(tree) == [folder]
    assert indexed(cv, tree) == left
    assert "is dismissed already" in cv("dismiss", folder).out
    assert cv("undismiss", folder).code == 0
    assert listed(tree) == []
    assert indexed(cv, tree) == whole
    assert below_documents(tree) == before


def test_other_folders_get_the_marker(tree: Any, cv: Any) -> None:
    assert cv("dismiss", "ferry").code == 0
    assert tree.path("ferry/.context-vigilance-skip").is_file()
    assert listed(tree) == []


def test_undismiss_names_the_folder_above_that_is_listed(tree: Any, cv: Any) -> None:
    cv("dismiss", "ferry/context-v")
    done = cv("undismiss", "ferry/context-v/specs")

    assert "was not dismissed" in done.out
    assert f"{tree.path('ferry/context-v')} is listed in dismissed_paths" in done.out


def test_undismiss_takes_every_spelling_out(tree: Any, cv: Any) -> None:
    value = json.dumps(["./ferry/context-v/", str(tree.path("ferry/context-v")), "other"])
    assert cv("config", "set", "dismissed_paths", value).code == 0
    assert cv("undismiss", "ferry/context-v").code == 0
    assert listed(tree) == ["other"]


# --- sources.md, the other way to leave a folder out --------------------------------------------------------------------


@pytest.mark.parametrize("path", ["ferry/context-v/spec", "ferry/Context-V/specs", "ferri"])
def test_an_exclusion_that_excludes_nothing_is_reported(
    tree: Any, cv: Any, path: str, tmp_path: Path
) -> None:
    file = tree.path(".context-vigilance/sources.md")
    entry = f"sources:\n  - path: {path}\n    include: false\n"
    file.write_text(file.read_text("utf-8").replace("sources:\n", entry, 1), "utf-8")
    words = f"{path} is not there, so"

    assert words in cv("sync").out
    assert words in " ".join(cv("doctor").out.split())


def test_one_that_excludes_something_is_not(tree: Any, cv: Any) -> None:
    file = tree.path(".context-vigilance/sources.md")
    entry = "sources:\n  - path: ferry/context-v/specs\n    include: false\n"
    file.write_text(file.read_text("utf-8").replace("sources:\n", entry, 1), "utf-8")

    assert "is not there" not in cv("sync").out
    assert "leaves nothing out" not in cv("doctor").out
