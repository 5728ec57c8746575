"""What says that it is private is never indexed, in whatever way it says so; and what does not say so is not left out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.documents.hiding import first_paragraph, hiding_lines
from backend.schemas.document import Document

Read = Callable[..., Document]
TEXT = "\n# Plant the hedge\n\nIt keeps its leaves.\n"

YES = [
    "private: true",
    "private: True",
    "Private: yes",
    "PRIVATE: on",
    "private : true",
    "private:true",
    "private:  'true'",
    'private: "true"',
    'private: "true',
    '"private": true',
    "'private': \"yes\",",
    "private = true",
    "private\uff1atrue",
    "private\u00a0: true",
    "private: true # until the spring",
    "private: true, until the spring",
    "private: 1",
    "private: y",
    "private: [true]",
    "private:\n  - true",
    "private: >\n  true",
    "private: !!bool true",
    "  private: true",
    "\tprivate: true",
    "- private: true",
    "sharing:\n  private: true",
    "private: true\nprivate: false",
    "private: false\nprivate: true",
    "private: false\nprivate:true",
    "private: true\nprivate:",
    "`private`: true",
    "x: never: closed\nprivate: true",
    "[draft\nprivate:true",
]

NO = [
    "private: false",
    "private: no",
    "private: off",
    "private: 0",
    "private: 'false'",
    "private:false",
    "private:",
    "private: ~",
    "private: {{private}}",
    "private: <true or false>",
    "private: false # true until the spring",
    "# private: true",
    "privates: true",
    "not-private: true",
    "private-notes: true",
    "tags: [private]",
    "status: private: true to the garden",
]


@pytest.mark.parametrize("line", YES)
@pytest.mark.parametrize(
    "where",
    [
        "---\n{}\n---\n",
        "---\ntitle: Hedge\n{}\nowner: Ada\n---\n",
        "\n<!-- by hand -->\n---\r\n{}\n----\n",
    ],
    ids=["alone", "among others", "below a comment"],
)
def test_what_says_private_is_private(read: Read, where: str, line: str) -> None:
    assert read(where.format(line) + TEXT).private


@pytest.mark.parametrize("line", NO)
@pytest.mark.parametrize(
    "where", ["---\n{}\n---\n", "---\ntitle: Hedge\n{}\n---\n", "{}\n", "+++\n{}\n+++\n"]
)
def test_what_does_not_is_not(read: Read, where: str, line: str) -> None:
    assert not read(where.format(line) + TEXT).private


@pytest.mark.parametrize(
    "text",
    [
        "private: true\n",
        "title: Hedge\nprivate: true\n",
        "---\n{title: Hedge, private: true}\n---\n",
        "+++\ntitle = 'Hedge'\n\nprivate = true\n+++\n",
        "  ---\ntitle: Hedge\nprivate: true\n  ---\n",
        "---\ntitle: Hedge\nprivate:true\n",
        "---\ntitle: Hedge\n\nprivate:true\n",
        "---\ntitle: Hedge\n\nkind: fence\n\nprivate:true\n---\n",
        "---\n\nprivate:true\n\n---\n",
    ],
)
def test_frontmatter_of_another_kind_and_broken_blocks_are_read_too(read: Read, text: str) -> None:
    assert read(text + TEXT).private


@pytest.mark.parametrize(
    "text",
    [
        "# Frontmatter\n\nprivate: true\n",
        "How to hide a document:\n\n```yaml\nprivate: true\n```\n",
        "---\ntitle: Hedge\n---\n\nprivate: true\n",
        "---\ntitle: Hedge\n---\n---\nprivate: true\n---\n",
        "Private: yes, the garden is.\n",
    ],
)
def test_text_about_it_hides_nothing(read: Read, text: str) -> None:
    assert not read(text).private


@pytest.mark.parametrize(
    "lines",
    [
        "publish: true\npublish: false",
        "publish: false\npublish: true",
        "publish:false",
        "Publish : 'no'",
    ],
)
def test_any_no_to_publishing_counts(read: Read, lines: str) -> None:
    assert read(f"---\ntitle: Hedge\n{lines}\n---\n").publish is False


@pytest.mark.parametrize("value", ["perhaps", "tomorrow", "[a, b]"])
def test_a_value_that_is_neither_yes_nor_no_is_named(read: Read, value: str) -> None:
    document = read(f"---\ntitle: Hedge\nprivate: {value}\n---\n{TEXT}")
    assert not document.private
    (problem,) = document.problems
    assert problem.line == 3
    assert "is neither yes nor no; the document is indexed" in problem.reason


def test_a_key_that_stands_twice_says_which_counts(read: Read) -> None:
    (problem,) = read("---\npublish: false\npublish: true\n---\n").problems
    assert problem.line == 3
    assert "stands in line 2 too; the one that hides counts" in problem.reason


@given(st.lists(st.text(st.characters(blacklist_categories=["Cs"]), max_size=60), max_size=12))
def test_any_lines_can_be_looked_through(lines: list[str]) -> None:
    """And none that does not name one of the two keys hides anything."""
    found = hiding_lines(lines) | hiding_lines(first_paragraph(lines), alone=True)
    assert all(any(key in line.casefold() for line in lines) for key in found)


@pytest.mark.parametrize(
    "lines", ["private:true", "private: true\nprivate: false", '"Private" : yes # for now']
)
def test_it_is_in_no_file_of_the_store(org: Any, cv: Any, lines: str) -> None:
    org.document("ferry/context-v/Pier.md")
    path = org.write(
        "ferry/context-v/Hedge.md",
        f"---\ntitle: Hawthorn\n{lines}\n---\n\nQuickthorn and blackthorn.\n",
    )
    assert cv("init", "--senior-root", str(org.root), "--yes").code == 0
    kept = b"".join(
        p.read_bytes() for p in org.path(".context-vigilance").rglob("*") if p.is_file()
    )
    assert b"Pier" in kept
    assert b"Hawthorn" not in kept
    assert b"uickthorn" not in kept
    said = json.loads(cv("why", str(path), "--json").out)
    assert said["indexed"] is False
    assert "private" in json.dumps(said)
