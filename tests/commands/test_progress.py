"""What a person who waits is told on standard error while an index is made again, and what the answer says of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SCRAPS = b"no database at all\n" * 500

DAMAGE: dict[str, tuple[Callable[[Path], Any], str]] = {
    "overwritten": (lambda index: index.write_bytes(SCRAPS), "damaged"),
    "deleted": (lambda index: index.unlink(), "missing"),
}

ASKING = {
    "find": ("find", "what turns the wheel"),
    "search": ("search", "what turns the wheel"),
    "catch-up": ("catch-up", "--since", "2025-01-01"),
    "why": ("why", "mill/context-v/specs/Wheel.md"),
    "folders": ("folders",),
    "sync": ("sync",),
}


@pytest.mark.parametrize("command", ASKING.values(), ids=ASKING)
@pytest.mark.parametrize(("damage", "was"), DAMAGE.values(), ids=DAMAGE)
def test_an_index_that_is_made_again_is_said_at_once_and_noted(
    tree: Any, cv: Any, command: tuple[str, ...], damage: Callable[[Path], Any], was: str
) -> None:
    damage(tree.path(".context-vigilance/index.sqlite"))
    done = cv(*command, "--json")
    assert done.code == 0
    assert done.err == f"the index was {was}: making it again from your documents\n"
    assert json.loads(done.out)["notes"] == [f"the index was {was}: made again from your documents"]
    again = cv(*command, "--json")
    assert (again.err, json.loads(again.out)["notes"]) == ("", [])


def test_the_model_is_given_the_note_alone(tree: Any, cv: Any) -> None:
    """Of a slash command it is given standard error as well."""
    tree.path(".context-vigilance/index.sqlite").write_bytes(SCRAPS)
    done = cv("find", "--markdown", "--inline", stdin="what turns the wheel")
    assert (done.code, done.err) == (0, "")
    assert "Note: the index was damaged: made again from your documents" in done.out
    assert "making it again" not in done.out


@pytest.mark.parametrize("damage", ["header", "pages", "deleted"])
def test_the_status_says_that_the_index_cannot_be_used(tree: Any, cv: Any, damage: str) -> None:
    index = tree.path(".context-vigilance/index.sqlite")
    if damage == "deleted":
        index.unlink()
    else:
        data = bytearray(index.read_bytes())
        start = 0 if damage == "header" else 8_192
        data[start : start + 100_000] = b"\x5a" * len(data[start : start + 100_000])
        index.write_bytes(data)
    done = cv("status")
    assert (done.code, done.err) == (0, "")
    assert "note: the index is missing, damaged, or of another version: the next sync" in done.out
    assert cv("sync").code == 0
    assert "note:" not in cv("status").out


def test_a_first_index_is_no_damage(tree: Any, cv: Any) -> None:
    assert cv("init", "--remove", "--senior-root", str(tree.root), "--yes").code == 0
    done = cv("init", "--senior-root", str(tree.root), "--yes")
    assert (done.code, done.err) == (0, "")
    assert "the index was" not in done.out


def test_a_rebuild_that_was_asked_for_has_nothing_to_say_of_damage(tree: Any, cv: Any) -> None:
    tree.path(".context-vigilance/index.sqlite").write_bytes(SCRAPS)
    done = cv("sync", "--force-rebuild", "--json")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out)["notes"] == []
