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
    assert done.code == 0
    assert "does not lie under the senior root" in " ".join(done.out.split())


def test_wrong_arguments(tree: Any, cv: Any) -> None:
    assert cv("why").code == 2
    assert 'expected FILE, or "TASK" FILE with the task in quotes' in cv("why", "a", "b", "c").err
    assert "is a folder; name a file" in cv("why", "mill").err
    assert "no word to search for" in cv("why", "?!", "Wheel.md").err
