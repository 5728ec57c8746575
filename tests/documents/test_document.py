"""One file in, one Document out: what digest, search and the folding of copies rely on."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.documents.document import PROBLEM_LIMIT, read_document
from backend.schemas.document import Document
from backend.schemas.roles import CORPUS_ROLE

Read = Callable[..., Document]
BLOCK = "---\ntitle: Plant the hedge\ntags: [Hedge]\nauthors:\n  - Ada Moss\ndate_modified: 2026-03-09\n---\n"
BODY = "\n# Plant the hedge\n\nIntro line.\n\n## Steps\n\nDig, café.\n"


# --- bytes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        (BLOCK + BODY).encode("utf-8-sig"),
        (BLOCK + BODY).encode("utf-16"),
        (BLOCK + BODY).encode("utf-32"),
        b"\xfe\xff" + (BLOCK + BODY).encode("utf-16-be"),
        (BLOCK + BODY).replace("\n", "\r\n").encode(),
        (BLOCK + BODY).replace("\n", "\r").encode(),
    ],
    ids=["utf-8 mark", "utf-16", "utf-32", "utf-16 big-endian", "CRLF", "CR"],
)
def test_the_encoding_does_not_matter(read: Read, data: bytes) -> None:
    assert read(data) == read(BLOCK + BODY)


def test_bytes_that_are_not_utf8_are_read_and_reported(read: Read) -> None:
    document = read((BLOCK + BODY).encode("latin-1"))
    assert document.chunks == read(BLOCK + BODY).chunks
    assert [problem.line for problem in document.problems] == [15]


def test_one_broken_byte_does_not_garble_the_other_accents(read: Read) -> None:
    document = read("Beech for Zoë, José and Ada\n\xe9".encode() + b"\n\xff\n")
    assert "Zoë, José" in document.chunks[0].text
    assert document.problems[0].line == 3


def test_nul_characters_vanish(read: Read) -> None:
    document = read("ab\n\x00c\x00d\n")
    assert document.chunks[0].text.endswith("ab\ncd")
    assert document.problems[0].line == 2


# --- titles and ledes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "path", "title"),
    [
        ("---\ntitle: Named\n---\n# Heading\n", "a/X.md", "Named"),
        ("---\ntitle: '{{title}}'\n---\n# Heading\n", "a/X.md", "Heading"),
        ("---\ntitle:\n---\n# Heading #\n", "a/X.md", "Heading"),
        ("```sh\n# no\n```\n## Two\n# One\n", "a/X.md", "One"),
        ("Underlined\n==========\n", "a/X.md", "Underlined"),
        ("prose\n", "specs/Plant-the_Hedge.md", "Plant the Hedge"),
        ("prose\n", "changelog/2026-03-09_01.md", "2026-03-09 01"),
        ("prose\n", "changelog/2026-03-09_02_Gate-Opens.md", "2026-03-09 02 Gate Opens"),
        ("prose\n", "releases/v0.2.0.md", "v0.2.0"),
        ("prose\n", "specs/Page__index.astro.md", "Page index.astro"),
        ("prose\n", "agent-skills/dig/SKILL.md", "dig: SKILL"),
        ("prose\n", "garden/README.md", "garden: README"),
        ("prose\n", "README.md", "README"),
        ("prose\n", "---.md", "---.md"),
        ('---\ntitle: "a\\tb\\e[31m\\nc"\n---\n', "X.md", "a b [31m c"),
        ("---\ntitle: " + "long " * 100 + "\n---\n", "X.md", ("long " * 100)[:199].rstrip() + "…"),
    ],
)
def test_what_a_document_is_called(read: Read, data: str, path: str, title: str) -> None:
    assert read(data, path).title == title


def test_the_lede_is_one_line_from_one_of_three_keys(read: Read) -> None:
    assert (
        read("---\nlede: >-\n  First line\n  and second.\n---\n").lede == "First line and second."
    )
    assert read("---\nlede: ''\ndescription: Digs.\n---\n").lede == "Digs."
    assert read("---\nsummary: Digs.\n---\n").lede == "Digs."
    assert len(read("---\nlede: " + "a long lede " * 200 + "\n---\n").lede) <= 1_000


# --- the document's date -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "day"),
    [
        ("date_modified: 2026-03-09\ndate_created: 2026-03-01", "2026-03-09"),
        ("date_created: 2026-03-01\ndate_last_updated: 2026-03-05\ndate: 2026-03-02", "2026-03-05"),
        ("date: 2026-03-02\ndate_authored_current_draft: 2026-03-04", "2026-03-04"),
        ("date: 2026-03-02\nlastmod: 2026-03-04", "2026-03-04"),
        ("date_authored_initial_draft: 2026-03-01\ndate: 2026-03-02", "2026-03-02"),
        (
            "date_authored_initial_draft: 2026-03-01\ndate_last_updated:\ndate_work_completed: 2026-03-04",
            "2026-03-01",
        ),
        ("date_modified: ''\ndate_created: 2026-03-01", "2026-03-01"),
        ("date_modified: '[]'\ndate_created: 2026-03-01", "2026-03-01"),
        ("date_modified: YYYY-MM-DD\ndate_created: 2026-03-01", "2026-03-01"),
        ("date_modified: 2026-02-30\ndate_created: 2026-03-01", "2026-03-01"),
        ("date_modified: 2026-01-17\ndate_created: 2026-03-16", "2026-01-17"),
        ("date_modified: 2027-01-01", "2026-08-20"),
        ("date_work_completed: 2026-03-04\nrevisions:\n  - 2026-03-05: moved", None),
        ("title: x", None),
    ],
)
def test_which_date_is_the_documents(read: Read, keys: str, day: str | None) -> None:
    found = read(f"---\n{keys}\n---\nx\n", "context-v/plans/2025-01-01_X.md").date
    assert (found.day if found else None) == day
    assert found is None or found.source == "document"


@pytest.mark.parametrize(
    ("keys", "name", "day", "source"),
    [
        ("date: 2026-03-11", "2026-03-09_01", "2026-03-11", "document"),
        ("date_modified: 2026-08-01", "2026-03-09_01", "2026-03-09", "file-name"),
        ("date: YYYY-MM-DD", "2026-03-09_01", "2026-03-09", "file-name"),
        ("date_modified: 2026-08-01\ndate: 2026-03-11", "v0.2.2", "2026-03-11", "document"),
        ("date_modified: 2026-08-01", "20206-05-02_01", "2026-08-01", "document"),
        ("title: x", "2027-01-01", "2026-08-20", "file-name"),
    ],
)
def test_a_changelog_entry_is_of_the_day_it_reports(
    read: Read, keys: str, name: str, day: str, source: str
) -> None:
    found = read(f"---\n{keys}\n---\nx\n", f"garden/changelog/{name}.md").date
    assert found is not None
    assert (found.day, found.source) == (day, source)


def test_a_release_note_without_any_date_has_none(read: Read) -> None:
    assert read("# v0.2.2\n", "garden/changelog/releases/v0.2.2-notes.md").date is None


def test_dates_that_are_none_are_reported_with_their_line(read: Read) -> None:
    document = read(
        "---\ntitle: x\ndate_created: YYYY-MM-DD\ndate_modified: 2027-01-01\ndate:\n---\nx\n"
    )
    assert [problem.line for problem in document.problems] == [3, 4]
    document = read("---\ndate_created: 2026-03-16\ndate_modified: 2026-01-17\n---\nx\n")
    assert [problem.line for problem in document.problems] == [3]
    assert (document.date_created, document.date_modified) == ("2026-03-16", "2026-01-17")


# --- other fields ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "private", "publish"),
    [
        ("true", True, True),
        ("'true'", True, True),
        ("Yes", True, True),
        ("false", False, False),
        ("'false'", False, False),
        ("no", False, False),
        ("", False, None),
        ("perhaps", False, None),
    ],
)
def test_flags_may_be_written_as_text(
    read: Read, value: str, private: bool, publish: bool | None
) -> None:
    assert read(f"---\nprivate: {value}\n---\n").private is private
    assert read(f"---\npublish: {value}\n---\n").publish is publish


def test_nested_values_and_sentences_are_no_trouble(read: Read) -> None:
    document = read(
        "---\nhq: {city: Lund}\nfiles_changed:\n  - a.ts (adds: gate)\nat_semantic_version: 0.0.0.1\nowner: [Ada, Ben]\n"
        "status: Seedling — waiting for the frost\nsupersedes: [[Old Plan]]\n---\nx\n"
    )
    assert document.semantic_version == "0.0.0.1"
    assert document.owner == "Ada, Ben"
    assert document.status == "Seedling — waiting for the frost"
    assert document.supersedes == ("Old Plan",)
    assert document.problems == ()


def test_a_rolled_up_copy_has_the_hash_of_its_source(read: Read) -> None:
    source = read(BLOCK + BODY)
    copy = read(
        "---\ntitle: Hedge\nfrom: garden\nfrom_path: context-v/specs/A.md\n---\n"
        "<!-- Rolled up from garden/context-v/specs/A.md. -->\n"
        + BODY.replace("line.", "line.  ").rstrip()
    )
    assert copy.body_hash == source.body_hash
    assert copy.body_length == source.body_length
    assert (copy.from_repo, copy.from_path) == ("garden", "context-v/specs/A.md")


def test_a_frontmatter_sweep_leaves_the_hash_alone_and_a_word_does_not(read: Read) -> None:
    source = read(BLOCK + BODY).body_hash
    assert read(BLOCK.replace("03-09", "08-01") + "\n" + BODY + "\n\n").body_hash == source
    assert read(BLOCK + BODY.replace("Dig", "Rake")).body_hash != source


# --- whatever comes --------------------------------------------------------------------------------------------------


def test_a_thousand_problems_are_not_a_thousand_lines(read: Read) -> None:
    document = read(("x" * 6_000 + "\n") * 100)
    assert len(document.problems) == PROBLEM_LIMIT + 1
    assert "80 more problems" in document.problems[-1].reason


SCRAPS = st.sampled_from(
    [
        *(b"---\n", b"--- \n", b"title: x\n", b"tags: [", b"- a\n", b"{{x}}", b"&a ", b"*a", b"? "),
        *(
            b"## H\n",
            b"```\n",
            b"~~~",
            b"<!--",
            b"-->",
            b"[[",
            b"]]",
            b"](",
            b"@x.md ",
            b"| ",
            b">",
        ),
        *(
            b"\r",
            b"\x00",
            b"\xff\xfe",
            b"\xef\xbb\xbf",
            b"\n",
            b"\n\n",
            b"\t",
            b": ",
            b"'",
            b'"',
            b"#",
        ),
        *(b"date: ", b"2026-03-09", b"<<<<<<< HEAD\n", b"=======\n", b"private: true\n"),
        b'title: "\\ud800\\e[0m"\n',
    ]
)


@settings(max_examples=300)
@given(
    st.binary(max_size=200) | st.lists(SCRAPS | st.binary(max_size=8), max_size=30).map(b"".join),
    st.text(max_size=20),
)
def test_no_bytes_whatever_stop_the_reader(now: datetime, data: bytes, path: str) -> None:
    document = read_document(data, path, role=CORPUS_ROLE, now=now)
    assert not any("could not be read (" in problem.reason for problem in document.problems)
    assert document.title
    assert document.chunks
    assert [chunk.index for chunk in document.chunks] == list(range(len(document.chunks)))
    # What goes to the store must be writable as UTF-8, and what is shown stays on its line.
    for text in (
        document.title,
        document.lede,
        *document.tags,
        *document.headings,
        *document.links,
    ):
        assert text.encode() is not None
        assert len(text.splitlines()) <= 1
    for chunk in document.chunks:
        assert chunk.text.encode()
