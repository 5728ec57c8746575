"""The sentence for a list, and the lines for a quotation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.kickoff.excerpt import best_lines, best_sentence

RARITY = {"winch": 3.0, "rope": 2.0, "boat": 1.0}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A boat waits. The winch pulls the rope. Boats boats.", "The winch pulls the rope."),
        ("- first\n- the **winch** of `the_boat`\n", "the winch of the_boat"),
        ("See [the winch page](../Winch.md) for more", "See the winch page for more"),
        ("# The winch\n\nA boat.", "A boat."),
        ("# Only a heading with a winch", "Only a heading with a winch"),
        ("Nothing of it. At all.", "Nothing of it."),
        ("船在等。绞车拉绳。", "船在等。"),
        ("", ""),
        ("| --- | --- |\n", ""),
    ],
)
def test_the_best_sentence(text: str, expected: str) -> None:
    assert best_sentence(text, RARITY) == expected


def test_of_two_that_say_the_same_the_shorter() -> None:
    text = "The winch, which was bought long ago and never painted, turns. The winch turns."
    assert best_sentence(text, RARITY) == "The winch turns."


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
