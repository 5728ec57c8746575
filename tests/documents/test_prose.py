"""Markdown as it is read: whatever the text is, paragraphs are single lines of its words."""

from __future__ import annotations

import time

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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A berth is 5 * 3 * 2 metres.", "A berth is 5 * 3 * 2 metres."),
        ("**Two** of *them* and ***both***: 2 ** 3.", "Two of them and both: 2 ** 3."),
        ("It stands in __init__ or __main__.py, not _here_.", "It stands in __init__ or __main__.py, not here."),
        ("__Note well__ the dunder __all_of_it__.", "Note well the dunder __all_of_it__."),
    ],
)  # fmt: skip
def test_signs_and_names_are_no_emphasis(text: str, expected: str) -> None:
    assert plain(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "<b>Note</b> that the winch is oiled.",
        "<kbd>Esc</kbd> stops it.",
        '<a href="Winch.md">The winch</a> is oiled.',
        "import the data into the 'raw' table",
        "It is built\nfrom an import of last year, with 'raw' rows.",
        "It takes\nimport {x} as a name.",
        "The lever has the places up | down | off.",
        "The lever, which\nhas up | down | off as\nits places, is oiled.",
        "Type `up | down | off` and press it",
    ],
)
def test_prose_that_begins_like_something_else(text: str) -> None:
    assert list(paragraphs(text)) == [" ".join(text.split("\n"))]


@pytest.mark.parametrize(
    "text",
    [
        "<details>",
        '<span\n  class="x">',
        'import Winch from "./winch"',
        'import Winch, { rope } from "./winch"',
        'import type { Rope } from "./winch"\nimport "./rope.css"',
        "from harbour.winch import rope, hook",
        "export const winch = 3",
        "Status: Draft | Owner: the yard | Version: 2",
        "**Status:** Draft | **Owner:** the yard | **Version:** 2",
        "- up | down | off",
        "place | what\n:-- | ---\nthe lever is up | it is off.\nthe lever is down | it turns.",
        "a|b\n-|-\nThe lever|is off.",
    ],
)
def test_what_is_no_prose(text: str) -> None:
    assert list(paragraphs(text)) == []
    assert list(paragraphs(f"The lever.\n\n{text}\n\nThe hook.")) == ["The lever.", "The hook."]


@pytest.mark.parametrize(
    "unit",
    [
        "|", ".", "S | ", "a | b ", "| ", "-|", "* ", "*", " *", "_", "a_", "[^", "[", "[[a|", "!", ". ", "<a ", "`", "<b",
        "import ", "a\t", "**Aa ", "1. ", "> ", "…\"", "[a](", "-",
    ],
)  # fmt: skip
def test_no_line_takes_the_square_of_its_length(unit: str) -> None:
    """A line may be a whole file, such as one that was generated; what is slow here is the command that shows it."""
    line = f"The winch {unit * (200_000 // len(unit))}x\n{unit * (200_000 // len(unit))}x"
    start = time.process_time()
    for paragraph in paragraphs(line):
        assert sentences(plain(paragraph))
    assert time.process_time() - start < 5


def test_quotations_can_be_left_out() -> None:
    assert list(paragraphs("> A remark.\n\nThe text.", quotes=False)) == ["The text."]
