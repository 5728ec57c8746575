"""Whatever stands between the fences, the document's text is indexed and every field that can be read is kept."""

from __future__ import annotations

import string
from collections.abc import Callable

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from backend.documents.frontmatter import read_frontmatter
from backend.schemas.document import Document

Read = Callable[..., Document]
BODY = "\n# Plant the hedge\n\nIntro line.\n\n## Why beech\n\nIt keeps its leaves.\n"


def all_text(document: Document) -> str:
    """Join what is embedded of a document."""
    return "\n".join(chunk.text for chunk in document.chunks)


@pytest.mark.parametrize(
    ("block", "title", "line", "words"),
    [
        ("title: Technical note: hedges", "Technical note: hedges", 2, "second colon"),
        ("title: Hedge\npackage: none (crates: a; app: b)", "Hedge", 3, "second colon"),
        ('title: Hedge\npackage: "7leaf" (boxed only)', "Hedge", 3, "where a key was expected"),
        ("title: Hedge\n`tools/dig.sh`", "Hedge", 3, "cannot begin a value"),
        ("title: Hedge\n- [ ] dig the trench", "Hedge", 3, "where a key was expected"),
        ("title: Hedge\nnotes:\n  **Dig** well", "Hedge", 4, "asterisk"),
        ("title: Hedge\nx: > Options for hedges", "Hedge", 3, "sign > or |"),
        ('title: "Hedge\nx: never closed', "Hedge", 3, "quote"),
        ("title: Hedge\n\ttags: x", "Hedge", 3, ""),
        ("title: [Draft] Hedge", "[Draft] Hedge", 2, "where a key was expected"),
        ("title: Hedge\nx: \x07", "Hedge", 2, "control character"),
    ],
)
def test_a_broken_block_costs_neither_title_nor_text(
    read: Read, block: str, title: str, line: int, words: str
) -> None:
    document = read(f"---\n{block}\n---\n{BODY}")
    assert document.title == title
    assert document.headings == ("Plant the hedge", "Why beech")
    assert "It keeps its leaves." in all_text(document)
    (problem,) = document.problems
    assert problem.line == line
    assert words in problem.reason


def test_simple_lines_of_a_broken_block_are_kept(read: Read) -> None:
    document = read(
        "---\ntitle: A note: hedges\nlede: >\n  First line\n  and second.\ntags:\n  - Hedge\n  - 'Wall'\n"
        'authors: [Ada Moss, "Ben Reed"]\nstatus: Draft # for now\ndate_modified: 2026-03-09\nprivate: true\n---\nx\n'
    )
    assert document.lede == "First line and second."
    assert document.tags == ("Hedge", "Wall")
    assert document.authors == ("Ada Moss", "Ben Reed")
    assert document.status == "Draft"
    assert document.date_modified == "2026-03-09"
    assert document.private


@pytest.mark.parametrize(
    "above",
    [
        "",
        "\n",
        "\n\n \n",
        "<!-- copied, edit at the source -->\n",
        "<!--\ntwo\nlines\n-->\n\n",
        "\ufeff",
    ],
)
def test_the_block_need_not_be_on_line_one(read: Read, above: str) -> None:
    document = read(f"{above}---\ntitle: Hedge\n---\n{BODY}")
    assert document.title == "Hedge"
    assert "title:" not in all_text(document)
    assert document.chunks[0].start_line == above.count("\n") + 5


def test_blanks_behind_the_fences_do_not_matter(read: Read) -> None:
    assert read(f"---  \ntitle: Hedge\n--- \t\n{BODY}").title == "Hedge"


def test_an_empty_block_and_none_are_the_same(read: Read) -> None:
    assert read(f"---\n---\n{BODY}").body_hash == read(BODY).body_hash


def test_a_block_that_is_never_closed_ends_at_the_text(read: Read) -> None:
    document = read(
        "---\ntitle: Hedge\ndate_created: 2026-03-01\n\n# Heading\n\nstatus: of the hedge\n"
    )
    assert document.title == "Hedge"
    assert document.date_created == "2026-03-01"
    assert document.status == ""
    assert "status: of the hedge" in all_text(document)
    assert document.problems[0].line == 1


def test_keys_to_the_end_of_the_file_are_a_document_without_text(read: Read) -> None:
    document = read("---\ntitle: Hedge\ntags:\n  - Wall\n\nstatus: Draft")
    assert (document.title, document.tags, document.status) == ("Hedge", ("Wall",), "Draft")
    assert document.body_length == 0


def test_a_later_rule_does_not_swallow_the_text_above_it(read: Read) -> None:
    for prose in ("1. **Dig** first\nand then water", "Plain words."):
        document = read(f"---\ntitle: Hedge\n\n## Rules\n\n{prose}\n\n---\n\n## More\n\ntext\n")
        assert document.headings == ("Rules", "More")
        assert prose in all_text(document)
        assert document.chunks[0].start_line == 4


def test_comments_between_good_keys_are_no_text(read: Read) -> None:
    document = read("---\ntitle: Hedge\n\n## dates\ndate_modified: 2026-03-09\n---\ntext\n")
    assert document.date_modified == "2026-03-09"
    assert document.headings == ()


def test_two_rules_around_prose_are_no_frontmatter(read: Read) -> None:
    document = read("---\nJust a sentence between rules.\n---\nAnd another.\n")
    assert "Just a sentence between rules." in all_text(document)
    assert document.problems == ()


def test_a_second_block_is_text(read: Read) -> None:
    document = read("---\ntitle: First\n---\n---\ntitle: Second\nprivate: true\n---\ntext\n")
    assert document.title == "First"
    assert not document.private
    assert "title: Second" in all_text(document)


def test_the_last_of_two_equal_keys_counts_and_is_reported(read: Read) -> None:
    document = read("---\ntitle: Old\ntags: [A]\ntitle: New\ntags: [B]\n---\nx\n")
    assert (document.title, document.tags) == ("New", ("B",))
    assert [problem.line for problem in document.problems] == [4, 5]


def test_both_sides_of_an_unfinished_merge_are_read(read: Read) -> None:
    document = read(
        "---\n<<<<<<< HEAD\ntitle: Ours\nprivate: false\n=======\ntitle: Theirs\nstatus: Draft\nprivate: true\n"
        ">>>>>>> branch\n---\nx\n"
    )
    assert (document.title, document.status) == ("Ours", "Draft")
    assert document.private  # one side hides it
    assert document.problems[0].line == 2


def test_template_text_is_no_value(read: Read) -> None:
    document = read(
        "---\ntitle: Hedge\nsite_uuid: {{generate-uuid}}\nowner: '{{owner}}'\nstatus: <status>\n---\nx\n"
    )
    assert (document.title, document.site_uuid, document.owner, document.status) == (
        "Hedge",
        "",
        "",
        "",
    )


def test_values_stay_what_the_author_wrote(read: Read) -> None:
    document = read("---\ntitle: 2026\nversion: 1.10\nstatus: yes\ntype: 0x10\nowner: ~\n---\nx\n")
    assert (document.title, document.semantic_version, document.status) == ("2026", "1.10", "yes")
    assert (document.type, document.owner) == ("0x10", "")


def test_keys_compare_without_case_blank_and_hyphen(read: Read) -> None:
    document = read("---\nTitle: Hedge\ndate modified: 2026-03-09\nsuperseded-by: New\n---\nx\n")
    assert (document.title, document.date_modified, document.superseded_by) == (
        "Hedge",
        "2026-03-09",
        ("New",),
    )


@pytest.mark.parametrize(
    "block",
    [
        "k: " + "[" * 60_000,
        "k: " + "{a: " * 15_000,
        "- " * 30_000,
        "k: &a [*a]",
        "a: &a [lol, lol]\n" + "".join(f"b{n}: [{', '.join(['*a'] * 9)}]\n" for n in range(9)),
        "k: |\n" + "  filling text\n" * 10_000,
    ],
)
def test_monstrous_blocks_are_read_line_by_line(read: Read, block: str) -> None:
    document = read(f"---\ntitle: Hedge\n{block}\n---\nThe text.\n")
    assert document.title == "Hedge"
    assert "The text." in all_text(document)
    assert any("cannot be read as YAML" in problem.reason for problem in document.problems)


def test_a_laughing_list_of_tags_stays_small(read: Read) -> None:
    levels = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 2)}]\n" for n in range(1, 10))
    document = read(f"---\na0: &a0 [ha, ho]\n{levels}tags: *a9\n---\nx\n")
    assert len(document.tags) <= 2


@given(
    st.dictionaries(
        st.text(string.ascii_lowercase, min_size=1, max_size=8),
        st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=60),
        min_size=1,
        max_size=5,
    )
)
def test_any_text_survives_the_way_through_yaml(values: dict[str, str]) -> None:
    written = yaml.safe_dump(values, allow_unicode=True, default_style='"', width=10_000)
    front = read_frontmatter(["---", *written.split("\n")[:-1], "---", "text"])
    assert {key: value or "" for key, value in front.fields.values.items()} == values
    assert front.fields.problems == []
