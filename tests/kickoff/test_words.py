"""Text to words: whatever the text is, what the lexical leg compares is sound."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.freshness.words import LONGEST_WORD, bag, surfaces, word_id, words

SCRIPTS = st.text(
    st.characters(codec="utf-8", categories=("L", "N", "P", "Z", "S", "M")), max_size=80
)


@given(st.one_of(st.text(max_size=80), SCRIPTS))
def test_any_text_gives_sound_words(text: str) -> None:
    found = words(text)
    assert found == words(text)
    assert all(word and not word.isspace() for word in found)
    assert all(len(word) <= 4 * LONGEST_WORD for word in found)
    counts = bag(text)
    assert counts.total() == len(found)
    assert set(counts) == {word_id(word) for word in found}
    plain = unicodedata.normalize("NFKC", text)
    assert surfaces(plain).keys() <= set(found)


@given(st.lists(st.sampled_from("ledger berth tide winch Kran маяк 灯塔".split()), max_size=8))
def test_seams_don_t_matter(parts: list[str]) -> None:
    assert words("-".join(parts)) == words("/".join(parts)) == words("_ ".join(parts))


@given(SCRIPTS, SCRIPTS)
def test_words_of_two_texts_are_those_of_each(one: str, other: str) -> None:
    assert words(f"{one} \n {other}") == words(one) + words(other)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("How do we use the ledgers?", ["ledger"]),
        ("auth-system", ["auth", "system"]),
        ("src/auth/System.ts", ["src", "auth", "system", "ts"]),
        ("parse_label", ["pars", "label"]),
        ("2026-03-02", ["2026", "03", "02"]),
        ("灯塔维护", ["灯塔", "塔维", "维护"]),
        ("灯", ["灯"]),
        ("Маяки маяк", ["маяк", "маяк"]),
        ("", []),
        ("x" * 41, []),
    ],
)
def test_what_a_text_is_compared_by(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize("text", ["AuthSystem", "authSystem"])
def test_camel_case_is_found_whole_and_in_parts(text: str) -> None:
    assert words(text) == ["authsystem", "auth", "system"]
