"""Doubts about a candidate, in plain words with path and date; they never move it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

BODY = "## Why\n\nThe crane lifts boats onto the quay, {}."


def flags_of(tree: Any, path: str, task: str = "crane lifts boats onto the quay") -> list[Any]:
    found = {candidate.source_path: candidate for candidate in tree.find(task).candidates}
    return list(found[path].flags)


@pytest.mark.parametrize(
    "target",
    ["[[Crane-New]]", "Crane-New", "../plans/Crane-New.md", "yard/context-v/plans/Crane-New.md"],
)
def test_superseded_by_is_followed_to_the_document(small: Callable[..., Any], target: str) -> None:
    tree = small(
        {
            "yard/context-v/specs/Crane.md": (BODY.format("old"), {"superseded_by": f'"{target}"'}),
            "yard/context-v/plans/Crane-New.md": (BODY.format("new"), {"day": "2026-02-27"}),
        }
    )
    (flag,) = flags_of(tree, "yard/context-v/specs/Crane.md")
    assert flag.kind == "superseded"
    assert flag.text == "superseded by yard/context-v/plans/Crane-New.md (2026-02-27)"
    assert flag.newer_path == "yard/context-v/plans/Crane-New.md"
    assert flag.newer_date == "2026-02-27"
    assert flags_of(tree, "yard/context-v/plans/Crane-New.md") == []


def test_a_successor_that_is_nowhere_is_named_as_written(small: Callable[..., Any]) -> None:
    tree = small(
        {"yard/context-v/specs/Crane.md": (BODY.format("old"), {"superseded_by": "Winch-Plan"})}
    )
    (flag,) = flags_of(tree, "yard/context-v/specs/Crane.md")
    assert flag.text == "says that it is superseded by Winch-Plan, which is not in the index"
    assert (flag.newer_path, flag.newer_date) == ("", "")


def test_what_another_document_supersedes_is_flagged(small: Callable[..., Any]) -> None:
    tree = small(
        {
            "yard/context-v/specs/Crane.md": BODY.format("old"),
            "yard/context-v/specs/Lift.md": (
                BODY.format("by wire"),
                {"supersedes": '"[[Crane]]"', "day": "2026-02-01"},
            ),
        }
    )
    (flag,) = flags_of(tree, "yard/context-v/specs/Crane.md")
    assert flag.text == "yard/context-v/specs/Lift.md (2026-02-01) says that it supersedes this"
    assert flag.newer_path == "yard/context-v/specs/Lift.md"
    assert flags_of(tree, "yard/context-v/specs/Lift.md") == []


def test_both_sides_saying_it_is_one_flag(small: Callable[..., Any]) -> None:
    tree = small(
        {
            "yard/context-v/specs/Crane.md": (BODY.format("old"), {"superseded_by": "Lift.md"}),
            "yard/context-v/specs/Lift.md": (BODY.format("new"), {"supersedes": "Crane.md"}),
        }
    )
    assert len(flags_of(tree, "yard/context-v/specs/Crane.md")) == 1


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("Archived", "archived"),
        ("superseded", "superseded"),
        ("DEPRECATED (2025)", "deprecated"),
        ("Draft", None),
        ("Unarchived", None),
        ("In-Progress", None),
    ],
)
def test_a_status_that_says_it_is_over(
    small: Callable[..., Any], status: str, kind: str | None
) -> None:
    tree = small({"yard/context-v/specs/Crane.md": (BODY.format("x"), {"status": status})})
    flags = flags_of(tree, "yard/context-v/specs/Crane.md")
    assert [(flag.kind, flag.text) for flag in flags] == (
        [(kind, f'its status says "{status}"')] if kind else []
    )


@pytest.mark.parametrize(
    ("title", "day", "flagged"),
    [
        ("The crane on the north quay, again", "2026-02-28", True),
        ("The crane on the north quay, again", "2026-02-16", True),  # the window's first day
        ("The crane on the north quay, again", "2026-02-15", False),  # before it
        ("The crane", "2026-02-28", False),  # one word in common is no topic
        ("Paint for the boat shed", "2026-02-28", False),
    ],
)
def test_a_newer_document_on_the_topic_inside_the_window(
    small: Callable[..., Any], title: str, day: str, flagged: bool
) -> None:
    tree = small(
        {
            "yard/context-v/specs/A.md": (
                BODY.format("old"),
                {"title": "The crane on the north quay", "day": "2025-06-10"},
            ),
            "yard/context-v/specs/B.md": (BODY.format("new"), {"title": title, "day": day}),
        }
    )
    flags = flags_of(tree, "yard/context-v/specs/A.md")
    text = (
        "from 2025-06; there is a more recent document on this topic, "
        f"yard/context-v/specs/B.md ({day}): possibly superseded?"
    )
    assert [(flag.kind, flag.text) for flag in flags] == ([("newer", text)] if flagged else [])


FAMILY = ("quay-open", "quay-close", "quay-which", "quay-list", "quay-view", "quay-init")


def newer_flags(tree: Any, task: str) -> dict[str, str]:
    return {
        candidate.source_path: flag.newer_path
        for candidate in tree.find(task).candidates
        for flag in candidate.flags
        if flag.kind == "newer"
    }


@pytest.mark.parametrize("edited", FAMILY)
def test_a_sibling_of_the_same_family_is_another_topic(
    small: Callable[..., Any], edited: str
) -> None:
    """Titles that differ in the one word that says what each is about."""
    tree = small(
        {
            f"yard/context-v/specs/{name}.md": (
                f"## Purpose\n\nThe {name} command on the quay.",
                {
                    "title": f"{name}-command Specification",
                    "day": "2026-02-27" if name == edited else "2025-06-10",
                },
            )
            for name in FAMILY
        }
    )
    assert newer_flags(tree, "which command opens the quay") == {}


def test_in_a_family_the_newer_document_on_the_very_topic_is_flagged(
    small: Callable[..., Any],
) -> None:
    documents: dict[str, Any] = {
        f"yard/context-v/specs/{name}.md": (
            f"## Purpose\n\nThe {name} command on the quay.",
            {"title": f"{name}-command Specification", "day": "2025-06-10"},
        )
        for name in FAMILY
    }
    documents["yard/context-v/plans/Again.md"] = (
        "## Purpose\n\nThe command on the quay anew.",
        {"title": "The quay-list command, second specification", "day": "2026-02-27"},
    )
    assert newer_flags(small(documents), "which command opens the quay") == {
        "yard/context-v/specs/quay-list.md": "yard/context-v/plans/Again.md"
    }


def test_the_day_of_a_first_indexing_founds_no_doubt(small: Callable[..., Any]) -> None:
    """A folder that came into the tree today is not news."""
    title = "The crane on the north quay"
    tree = small(
        {
            "yard/context-v/specs/A.md": (
                BODY.format("old"),
                {"title": title, "day": "2025-06-10"},
            ),
            "yard/context-v/specs/B.md": (BODY.format("new"), {"title": title, "day": None}),
        }
    )
    assert newer_flags(tree, "crane lifts boats onto the quay") == {}


def test_a_changelog_entry_is_not_superseded_by_a_later_document(
    small: Callable[..., Any],
) -> None:
    title = "The crane on the north quay"
    tree = small(
        {
            "yard/changelog/A.md": (BODY.format("old"), {"title": title, "day": "2025-06-10"}),
            "yard/context-v/specs/B.md": (
                BODY.format("new"),
                {"title": title, "day": "2026-02-27"},
            ),
        }
    )
    assert newer_flags(tree, "crane lifts boats onto the quay") == {}


@pytest.mark.parametrize("committed", [True, False])
def test_a_pure_rename_founds_no_doubt(small: Callable[..., Any], committed: bool) -> None:
    title = "The crane on the north quay"
    tree = small(
        {
            "yard/context-v/specs/A.md": (
                BODY.format("old"),
                {"title": title, "day": "2025-06-10"},
            ),
            "yard/context-v/specs/B.md": (BODY.format("new"), {"title": title, "day": None}),
        },
        ("yard",),
    )
    tree.commit("yard", "2025-07-07")
    tree.sync()
    tree.move("yard/context-v/specs/B.md", "yard/context-v/specs/C.md")
    if committed:
        tree.commit("yard", "2026-02-27")
    tree.sync()
    task = "crane lifts boats onto the quay"
    assert "yard/context-v/specs/C.md" in tree.found(task)
    assert newer_flags(tree, task) == {}
    tree.edit("yard/context-v/specs/C.md", "boats", "ships")
    tree.commit("yard", "2026-02-28")
    tree.sync()
    assert newer_flags(tree, task) == {"yard/context-v/specs/A.md": "yard/context-v/specs/C.md"}


def test_a_flag_moves_nothing(small: Callable[..., Any]) -> None:
    documents = {
        "yard/context-v/specs/Crane.md": (BODY.format("with a hook and a winch"), {}),
        "yard/context-v/specs/Lift.md": (BODY.format("slowly"), {}),
    }
    tree = small(documents)
    before = tree.found("crane with a hook and a winch")
    tree.edit("yard/context-v/specs/Crane.md", "title:", "status: Archived\ntitle:")
    tree.sync()
    assert tree.found("crane with a hook and a winch") == before
