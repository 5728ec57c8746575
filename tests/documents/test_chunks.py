"""A body is cut where its author cut it, nothing of it is lost, and every chunk says where it stands in the file."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from backend.documents.chunks import CHUNK_LIMIT, TINY_PIECE
from backend.schemas.document import Document

Read = Callable[..., Document]


def headings(document: Document) -> list[str]:
    """List the headings of the chunks in order."""
    return [chunk.heading for chunk in document.chunks]


def body_of(document: Document) -> str:
    """Join what the chunks hold beside title, lede and heading, without white space."""
    parts = []
    for chunk in document.chunks:
        text = chunk.text.removeprefix(f"[{document.title}]")
        text = text.strip().removeprefix(f"## {chunk.heading}" if chunk.heading else "")
        parts.append(text)
    return "".join("".join(parts).split())


def test_a_chunk_is_title_heading_and_lines(read: Read) -> None:
    document = read(
        "---\ntitle: Hedge\nlede: Why beech.\n---\n\nIntro.\n\n## Steps\n\nDig,\nplant.\n\n## Care\nWater."
    )
    assert [chunk.text for chunk in document.chunks] == [
        "[Hedge]\nWhy beech.\n\nIntro.",
        "[Hedge]\n## Steps\n\nDig,\nplant.",
        "[Hedge]\n## Care\n\nWater.",
    ]
    assert [(chunk.start_line, chunk.end_line) for chunk in document.chunks] == [
        (6, 6),
        (8, 11),
        (13, 14),
    ]
    assert [chunk.index for chunk in document.chunks] == [0, 1, 2]


def test_the_lede_is_embedded_when_the_text_begins_with_a_heading(read: Read) -> None:
    document = read("---\ntitle: Hedge\nlede: Why beech.\n---\n## Steps\n\nDig.\n")
    assert [chunk.text for chunk in document.chunks] == ["[Hedge]\nWhy beech.\n## Steps\n\nDig."]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "[Hedge]"),
        (b"\n\n\n", "[Hedge]"),
        (b"---\ntitle: Wall\nlede: Of stone.\n---\n", "[Wall]\nOf stone."),
        (b"<!-- nothing yet -->\n", "[Hedge]"),
    ],
)
def test_an_empty_document_is_found_by_its_name(read: Read, data: bytes, text: str) -> None:
    document = read(data)
    assert [chunk.text for chunk in document.chunks] == [text]
    assert document.body_length == 0


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("## One\n\n```md\n## no\n```\n\n## Two\n", ["One", "Two"]),
        ("## One\n\n~~~\n## no\n```\n## no\n~~~\n## Two\n", ["One", "Two"]),
        ("## One\n\n````\n```\n## no\n```\n## no\n````\n## Two\n", ["One", "Two"]),
        ("## One\n\n```js\n## no\n```js\n## no\n```\n## Two\n", ["One", "Two"]),
        ("## One\n\n   ```\n## no\n  ```\n## Two\n", ["One", "Two"]),
        ("## One\n```inline``` code\n## Two\n", ["One", "Two"]),
        ("text\n##Heading\nmore\n", [""]),
        ("text\n    ## code\n\\## escaped\n> ## quoted\n", [""]),
        ("text\n   ## One ##\n##\tTwo\n", ["", "One", "Two"]),
        ("## Notes\n\na\n\n## Notes\n\nb\n", ["Notes", "Notes"]),
        ("### Deep\n\n#### Deeper\n", [""]),
        ("# One\n\na\n\n# Two\n\nb\n", [""]),
        ("<details>\n\n## Inside\n\n</details>\n", ["", "Inside"]),
        ("Hedge\n=====\n\nWhy\n---\n\ntext\n", ["", "Why"]),
        ("A sentence stands above the rule.\n---\n\ntext\n", [""]),
        ("two lines\nabove it\n---\n\ntext\n", [""]),
        ("- item\n---\n\n| a | b |\n---\n", [""]),
        ("## Why\u200b beech\u00a0now\u2028line\n\ntext\n", ["Why beech now line"]),
    ],
)
def test_where_a_body_is_cut(read: Read, body: str, expected: list[str]) -> None:
    assert headings(read("---\ntitle: T\n---\n" + body)) == expected


def test_a_fence_that_is_never_closed_hides_no_section(read: Read) -> None:
    document = read("## One\n\n```bash\n# a comment\ndig\n## another\n\n## Two\n\nstill code?\n")
    assert headings(document) == ["One", "Two"]
    assert document.headings == ("One", "Two")
    assert document.problems[0].line == 3


def test_all_headings_are_listed_those_in_fences_apart(read: Read) -> None:
    document = read("# A\n\n## B\n\n```sh\n# no\n```\n\n###### C\n\n####### no\n\nD\n===\n")
    assert document.headings == ("A", "B", "C", "D")


def test_a_long_section_is_cut_at_paragraph_ends(read: Read) -> None:
    paragraphs = [f"Paragraph {number}. " + "Beech grows in clay. " * 20 for number in range(40)]
    document = read("# T\n\n## One\n\n" + "\n\n".join(paragraphs) + "\n")
    assert set(headings(document)) == {"", "One"}
    pieces = document.chunks[1:]
    assert len(pieces) > 8
    assert all(chunk.text.startswith("[T]\n## One\n\nParagraph ") for chunk in pieces)
    assert all(len(chunk.text) <= CHUNK_LIMIT + TINY_PIECE + 20 for chunk in pieces)
    assert body_of(document) == "".join(("#T" + "".join(paragraphs)).split())


def test_a_long_line_of_prose_is_split_between_words(read: Read) -> None:
    line = "hedgerow " * 2_000
    document = read("## One\n\n" + line)
    assert len(document.chunks) > 5
    assert all(chunk.start_line in (1, 3) and chunk.end_line == 3 for chunk in document.chunks)
    assert all(
        set(chunk.text.split("\n\n")[1].split()) == {"hedgerow"} for chunk in document.chunks
    )
    assert body_of(document) == line.replace(" ", "")


def test_text_without_blanks_is_kept_when_it_is_a_script_without_blanks(read: Read) -> None:
    document = read("## One\n\n" + "\u6811\u7bf1" * 4_000)
    assert body_of(document) == "\u6811\u7bf1" * 4_000
    assert document.problems == ()


def test_an_inline_image_is_not_embedded(read: Read) -> None:
    image = "![x](data:image/png;base64," + "QUJD" * 40_000 + ")"
    document = read(f"## One\n\nBefore {image} after it.\n\nMore.\n")
    assert [chunk.text for chunk in document.chunks] == [
        "[Hedge]\n## One\n\nBefore  after it.\n\nMore."
    ]
    assert document.problems[0].line == 3


def test_a_short_rest_joins_the_piece_above(read: Read) -> None:
    document = read("## One\n\n" + "a" * 900 + "\n\n" + "b" * 880 + "\n\nA short end.\n")
    assert len(document.chunks) == 1
    assert document.chunks[0].text.endswith("A short end.")


LINES = st.lists(
    st.sampled_from(
        [
            "",
            "## H",
            "# T",
            "```",
            "~~~",
            "````",
            "text here",
            "---",
            "a: b",
            "> q",
            "w " * 900,
            "x" * 3_000,
        ]
    )
    | st.text(st.characters(codec="utf-8", exclude_characters="\r\n\x00\ufeff"), max_size=40),
    max_size=30,
)


@given(LINES)
@example(["x" * 1_800, "", "y" * 1_799, "z"])
@example(["```", "", "## H", ""])
def test_no_text_is_lost_and_every_line_number_holds(read: Read, lines: list[str]) -> None:
    document = read("---\ntitle: T\n---\nstart\n" + "\n".join(lines))
    file_lines = ["---", "title: T", "---", "start", *lines]
    rest = iter("".join("".join(chunk.text for chunk in document.chunks).split()))
    # Every character of every line is in the chunks, in order (titles and headings stand between).
    assert all(char in rest for char in "".join(_visible(line) for line in file_lines[3:]))
    last = 0
    for chunk in document.chunks:
        assert 1 <= chunk.start_line <= chunk.end_line <= len(file_lines)
        assert chunk.start_line >= last
        assert file_lines[chunk.start_line - 1].strip()
        assert file_lines[chunk.end_line - 1].strip()
        last = chunk.end_line
    assert document.problems == () or all(
        "fence" in problem.reason for problem in document.problems
    )


def _visible(line: str) -> str:
    # The marks of a heading and invisible characters in it are not kept as written; its words are.
    if line.lstrip().startswith("#") or not line.strip("-= "):
        return ""
    return "".join(char for char in line if unicodedata.category(char)[0] not in "CZ")


@given(st.lists(st.sampled_from(["## no", "text", "", "# no", "~~~", "``"]), max_size=12))
def test_no_fence_is_ever_split_at_its_headings(read: Read, inside: list[str]) -> None:
    document = read("\n".join(["## One", "```", *inside, "```", "## Two", "end"]))
    assert headings(document) == ["One", "Two"]
    assert document.headings == ("One", "Two")
