"""``cv why`` as it is typed."""

from __future__ import annotations

import json
from typing import Any


def test_a_file_by_its_path_from_here(tree: Any, cv: Any) -> None:
    done = cv("why", "specs/Wheel.md", cwd=tree.path("mill/context-v"))
    assert done.code == 0
    assert done.out.splitlines()[0] == "mill/context-v/specs/Wheel.md"
    assert "indexed in context-vigilance-corpus" in done.out


def test_a_task_and_a_file(tree: Any, cv: Any) -> None:
    done = cv("why", "what turns the wheel", "Wheel.md", "--json")
    answer = json.loads(done.out)
    assert (answer["indexed"], answer["reason"]) == (True, "indexed")
    assert answer["placement"]["rank"] == 1
    assert answer["placement"]["words_found"].keys() == {"turns", "wheel"}
    assert answer["entry"]["date_from"] == "document"
    text = cv("why", "what turns the wheel", "Wheel.md").out
    assert "1 of 4 for: what turns the wheel" in text


def test_what_was_just_written_counts(tree: Any, cv: Any) -> None:
    tree.document("mill/context-v/specs/New.md", private="true")
    assert (
        "not indexed: its frontmatter says private: true"
        in cv("why", "New.md", cwd=tree.path("mill/context-v/specs")).out
    )
    tree.edit("mill/context-v/specs/New.md", "private: true", "status: Draft")
    assert "  indexed in " in cv("why", "mill/context-v/specs/New.md").out


def test_a_file_outside(tree: Any, cv: Any, tmp_path: Any) -> None:
    (tmp_path / "Other.md").write_text("# Other", "utf-8")
    done = cv("why", str(tmp_path / "Other.md"))
    assert done.code == 1, "as for a file that is not there"
    assert "does not lie under the senior root" in " ".join(done.out.split())


def test_a_file_that_is_not_there(tree: Any, cv: Any) -> None:
    done = cv("why", "nosuch.md")
    assert (done.code, done.out) == (1, "nosuch.md\n  not indexed: there is no such file\n")
    alone = cv("why", "what turns the wheel")
    assert (alone.code, alone.out) == (2, "")
    assert 'for a task name a file too: cv why "TASK" FILE' in alone.err


def test_the_file_before_the_task_is_understood_and_said(tree: Any, cv: Any) -> None:
    turned = cv("why", "mill/context-v/specs/Wheel.md", "what turns the wheel")
    assert turned.code == 0
    said, rest = turned.out.split("\n", 1)
    assert said.endswith('the task comes first: cv why "TASK" FILE')
    assert rest == cv("why", "what turns the wheel", "mill/context-v/specs/Wheel.md").out
    neither = cv("why", "no such file.md", "what turns the wheel")
    assert (neither.code, "there is no such file" in neither.out) == (1, True)
    folder = cv("why", "mill", "what turns the wheel")
    assert (folder.code, "there is no such file" in folder.out) == (1, True)


def test_a_file_found_elsewhere_is_said_to_be(tree: Any, cv: Any) -> None:
    note = "Wheel.md is not in this folder; taken as mill/context-v/specs/Wheel.md of the tree"
    assert cv("why", "Wheel.md", cwd=tree.path("ferry")).out.startswith(f"{note}\n"), "at once"
    as_json = cv("why", "Wheel.md", "--json", cwd=tree.path("ferry")).out
    assert json.loads(as_json)["notes"] == [note]
    assert (
        "not in this folder" not in cv("why", "Wheel.md", cwd=tree.path("mill/context-v/specs")).out
    )
    assert (
        "not in this folder"
        not in cv("why", "mill/context-v/specs/Wheel.md", cwd=tree.path("ferry")).out
    )


def test_wrong_arguments(tree: Any, cv: Any) -> None:
    assert cv("why").code == 2
    assert 'expected FILE, or "TASK" FILE with the task in quotes' in cv("why", "a", "b", "c").err
    assert "is a folder; name a file" in cv("why", "mill").err
    assert "no word to search for" in cv("why", "?!", "Wheel.md").err
