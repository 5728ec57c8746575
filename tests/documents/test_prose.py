"""Markdown as it is read: whatever the text is, paragraphs are single lines of its words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.documents.prose import open_fence, paragraphs, plain, sentences

MARKDOWN = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "```",
                "````md",
                "~~~",
                "",
                "# H",
                "===",
                "---",
                "| a | b |",
                "<p>",
                "<!--",
                "-->",
                "> q",
            ]
        ),
        st.text(st.sampled_from("ab. !?:*_`[]()|<>-#1灯。\t"), max_size=30),
    ),
    max_size=20,
).map("\n".join)


@given(MARKDOWN, st.sampled_from(["", "```", "~~~~"]))
def test_any_text_gives_single_lines_of_its_words(text: str, fence: str) -> None:
    for paragraph in paragraphs(text, fence):
        assert "\n" not in paragraph
        assert paragraph.strip()
        assert "".join(paragraph.split()) == "".join("".join(sentences(paragraph)).split())
        letters = [character for character in plain(paragraph) if character.isalnum()]
        assert all(character in text for character in letters)


@given(MARKDOWN, MARKDOWN)
def test_code_that_is_cut_in_two_stays_code(first: str, second: str) -> None:
    whole = open_fence(f"{first}\n{second}")
    assert whole == open_fence(second, open_fence(first))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! three? Four", ["One.", "Two! three?", "Four"]),
        ('He said "no." Then he went.', ['He said "no."', "Then he went."]),
        ("See e.g. The Hull, v. 2.1 of it.", ["See e.g. The Hull, v.", "2.1 of it."]),
        ("灯塔。维护！好", ["灯塔。", "维护！", "好"]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_quotations_can_be_left_out() -> None:
    assert list(paragraphs("> A remark.\n\nThe text.", quotes=False)) == ["The text."]
