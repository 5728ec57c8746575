"""The digest in a terminal."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from msgspec.structs import replace
from rich.cells import cell_len
from syrupy.assertion import SnapshotAssertion

from backend.render.digest_markdown import digest_markdown
from backend.render.digest_text import digest_text
from backend.schemas.catchup import Digest, DigestFile, Theme

Crowd = Callable[..., Digest]


@pytest.mark.parametrize("width", [48, 80, 120])
def test_the_organisation(digest: Digest, width: int, snapshot: SnapshotAssertion) -> None:
    assert digest_text(digest, width=width) == snapshot


@pytest.mark.parametrize("count", [0, 1, 50, 51, 5000])
def test_sizes(crowd_digest: Crowd, count: int, snapshot: SnapshotAssertion) -> None:
    assert digest_text(crowd_digest(count), width=100) == snapshot


@pytest.mark.parametrize("width", [30, 48, 80, 120, 200])
def test_no_line_is_wider_than_asked_unless_one_word_is(digest: Digest, width: int) -> None:
    for line in digest_text(digest, width=width).splitlines():
        if cell_len(line) > width:
            # A path with its date, or one long word: nothing that could have been broken.
            words = re.sub(r"^ +(- )?(→ )?", "", line)
            assert re.fullmatch(r"\S+( › \S+( \(\w+\))?)?", words), line


def test_every_word_survives_the_wrapping(digest: Digest) -> None:
    narrow = digest_text(digest, width=40).split()
    assert sorted(narrow) == sorted(digest_text(digest, width=400).split())


def test_colour_only_adds_escapes(digest: Digest) -> None:
    plain = digest_text(digest, width=80)
    coloured = digest_text(digest, width=80, colour=True)
    assert "\x1b" not in plain
    assert coloured != plain
    assert re.sub(r"\x1b\[\d+m", "", coloured) == plain


def test_a_documents_escapes_do_not_reach_the_terminal(digest: Digest) -> None:
    hostile = DigestFile(
        source_path="harbour/a\x1b]0;owned\x07.md",
        title="\x1b[2J\x9b31mgone\r\nsecond line",
        date="2026-06-10",
        date_from="document",
    )
    tag = replace(digest.repos[0].tags[0], tag="t\x1b[31m\nag", files=(hostile,))
    repo = replace(digest.repos[0], repo="har\x1bbour", tags=(tag,))
    text = digest_text(replace(digest, repos=(repo,), notes=("n\x1b[1mote",)), width=80)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)
    assert text.count("second line") == 1


@pytest.mark.parametrize(
    ("themes", "shown", "named", "files"),
    [(4, 50, 4, 8), (14, 50, 14, 14), (14, 5, 5, 5), (14, 1, 3, 3), (2, 1, 2, 4)],
)
def test_themes_leave_room_for_the_files(
    digest: Digest, themes: int, shown: int, named: int, files: int
) -> None:
    """Where there are many, or few files are wanted, the themes take fewer lines; all are named, to drill into."""
    leading = digest.repos[0].tags[0].files[:2]
    each = [
        Theme(number=n, name=f"Frost {n}", count=9, repos={"orchard": 9}, files=leading)
        for n in range(1, themes + 1)
    ]
    whole = replace(digest, themes=tuple(each), repos=(), shown_files=shown)
    text = digest_text(whole, width=100, command="cv catch-up --window 1y")
    assert len(re.findall(r"^  \(", text, re.M)) == named
    assert text.count("      - ") == files
    more = f"  … and {themes - named} more themes: ({named + 1}) Frost {named + 1} "
    assert (more in text) == (named < themes)
    assert all(f"({n}) Frost {n}" in " ".join(text.split()) for n in range(1, themes + 1))
    assert "Drill into one: cv catch-up --window 1y --theme N\n" in text


@pytest.mark.parametrize("scope", ["s" * 400, "two  blanks", "a\u202eb"])
def test_no_command_is_shown_that_would_not_run(digest: Digest, scope: str) -> None:
    theme = Theme(number=1, name="Frost", count=2, repos={"orchard": 2}, files=())
    whole = replace(digest, themes=(theme,))
    command = f"cv catch-up --scope '{scope}'"
    for text in (digest_text(whole, command=command), digest_markdown(whole, command=command)):
        assert "--theme N" not in text
        assert "--scope" not in text
    for text in (digest_text(whole), digest_markdown(whole)):
        assert "cv catch-up --theme N" in text


def test_themes_come_first(digest: Digest, snapshot: SnapshotAssertion) -> None:
    leading = digest.repos[0].tags[0].files[:2]
    theme = Theme(
        number=1, name="Alarms, frost", count=22, repos={"orchard": 20, "harbour": 2}, files=leading
    )
    assert digest_text(replace(digest, themes=(theme,), repos=()), width=90) == snapshot
