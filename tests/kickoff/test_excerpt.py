"""The sentence for a list, and the lines for a quotation."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.kickoff.excerpt import best_lines, best_sentence

ROOT = Path(__file__).resolve().parents[2]
RARITY = {"winch": 3.0, "rope": 2.0, "boat": 1.0}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A boat waits. The winch pulls the rope. Boats boats.", "The winch pulls the rope."),
        ("- first\n- the **winch** of *the boat* `on_deck`\n", "the winch of the boat on_deck"),
        ("See [the winch page](../Winch.md) for more", "See the winch page for more"),
        ("# The winch\n\nA boat.", "A boat."),
        ("# Only a heading with a winch", ""),
        ("Nothing of it. At all.", "Nothing of it."),
        ("船在等。绞车拉绳。", "船在等。"),
        ("", ""),
        ("| --- | --- |\n", ""),
    ],
)
def test_the_best_sentence(text: str, expected: str) -> None:
    assert best_sentence(text, RARITY) == expected


def test_of_two_that_say_the_same_the_first_unless_it_is_long() -> None:
    assert (
        best_sentence("The big winch turns. The old winch turns.", RARITY) == "The big winch turns."
    )
    long = f"The winch, {'which was bought long ago and never painted, ' * 8}turns."
    short = "The old winch on the quay turns slowly."
    assert best_sentence(f"{long} {short}", RARITY) == short


@pytest.mark.parametrize(
    "passed_over",
    [
        "```\nthe winch pulls a rope to the boat.\n```",
        "~~~\nthe winch pulls\n\n```\nthe rope to the boat.\n~~~",
        "- ```sh\n  the winch pulls a rope to the boat.\n  ```",
        "    the winch pulls a rope to the boat.",
        "### The winch pulls a rope to the boat",
        "The winch pulls a rope to the boat\n==================",
        "| winch | rope | the boat is pulled by the winch |\n| --- | --- | --- |",
        "winch | rope\n--- | ---\nthe winch pulls | a rope | to the boat",
        "<!-- The winch pulls a rope\nto the boat. -->",
        '<Note title="The winch pulls\n  a rope to the boat.">',
        'import { winch, rope } from "../the/boat/winch"',
        "[^1]: The winch pulls a rope to the boat.",
        "Date: winch 2026-06-10",
        "- Rope: `src/winch/boat.ts`, `src/winch/rope.ts`",
        "- winch/rope/boat.ts",
        "- {rope}.",
    ],
)
def test_what_is_no_sentence_is_passed_over(passed_over: str) -> None:
    prose = "Here the old winch is told of."
    assert best_sentence(f"{passed_over}\n\n{prose}", RARITY) == prose
    assert best_sentence(f"{prose}\n\n{passed_over}", RARITY) == prose


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A paragraph about the winch\nwhich pulls a\nrope.", "A paragraph about the winch which pulls a rope."),
        ("- an item about the winch\n  that pulls a rope\n- another", "an item about the winch that pulls a rope"),
        ("> A winch is quoted\n> with its rope.", "A winch is quoted with its rope."),
        ("**Date:** 2026-06-10\n**Goal:** Give the winch a rope.", "Goal: Give the winch a rope."),
        ("The winch pulls the rope, e.g. of the boat (i.e. ours).", "The winch pulls the rope, e.g. of the boat (i.e. ours)."),
        ("The [[Winch|old winch]] has a rope[^2] and <b>no</b> boat.", "The old winch has a rope and no boat."),
        ("The winch has a glob `**/*.md` for its `snake_case`.", "The winch has a glob **/*.md for its snake_case."),
        ("绞车在码头上把船\n拉上来，然后停下。", "绞车在码头上把船拉上来，然后停下。"),
    ],
)  # fmt: skip
def test_what_stands_on_several_lines_is_one_sentence(text: str, expected: str) -> None:
    assert best_sentence(text, RARITY) == expected


def test_text_that_begins_in_the_middle_of_code() -> None:
    text = "the winch pulls a rope to the boat.\n```\n\nHere the old winch is told of."
    assert best_sentence(text, RARITY, fence="```") == "Here the old winch is told of."


def test_where_no_sentence_has_a_word_the_document_s_beginning_stands() -> None:
    opening = "This is about harbours. They need depth."
    assert (
        best_sentence("- src/winch.ts\n- Nothing of it.", RARITY, opening=opening)
        == "This is about harbours."
    )
    assert (
        best_sentence("A boat is near.", RARITY, opening="It pulls a rope.") == "It pulls a rope."
    )
    assert best_sentence("- src/winch.ts\n", RARITY) == ""


def test_of_equals_the_first_is_quoted_in_whatever_order_words_come() -> None:
    """Sets of words have another order in each process; 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1."""
    rarity = {f"gear{n}": 0.1 * (n % 7 + 1) for n in range(30)}
    lines = [" ".join(f"gear{n}" for n in range(at % 5, 30, 5)) for at in range(40)]
    code = (
        "from backend.kickoff.excerpt import best_lines\n"
        f"lines, rarity = {lines!r}, {rarity!r}\n"
        "assert best_lines('\\n'.join(lines), rarity, 210).startswith(lines[0])\n"
    )
    for seed in range(4):
        environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, encoding="utf-8"
        )
        assert done.returncode == 0, done.stderr


def test_short_text_is_quoted_whole() -> None:
    assert best_lines("one\n\ntwo", RARITY) == "one\n\ntwo"


def test_long_text_is_quoted_where_it_says_most() -> None:
    lines = [f"Line {n} about nothing much." for n in range(60)]
    lines[40] = "Here the winch takes the rope."
    quoted = best_lines("\n".join(lines), RARITY, 120)
    assert "Here the winch takes the rope." in quoted
    assert quoted.startswith("…\n")
    assert quoted.endswith("\n…")


@given(st.text(st.sampled_from("winch rope.\n灯。 a"), max_size=600), st.integers(20, 200))
def test_a_quotation_is_bounded_and_of_the_text(text: str, limit: int) -> None:
    quoted = best_lines(text, RARITY, limit)
    body = quoted.removeprefix("…\n").removesuffix("\n…")
    assert len(body) <= limit
    for line in body.split("\n"):
        assert line in text
