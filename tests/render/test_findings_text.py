"""What ``cv find`` prints."""

from __future__ import annotations

import re

import pytest
from rich.cells import cell_len
from syrupy.assertion import SnapshotAssertion

from backend.render.findings_text import findings_text
from backend.schemas.kickoff import Candidate, Evidence, Findings, Flag


@pytest.fixture
def findings() -> Findings:
    def candidate(rank: int, path: str, title: str, **more: object) -> Candidate:
        return Candidate(
            rank=rank,
            source_path=path,
            absolute_path=f"/tree/{path}",
            repo=path.split("/")[0],
            role="context-vigilance-corpus",
            kind="specs",
            title=title,
            date="2026-06-12",
            **more,
        )

    first = candidate(
        1,
        "harbour/context-v/specs/Berth-Booking.md",
        "Berth booking",
        excerpt="A skipper reserves a berth from the first click to the mooring line, and may "
        "give it back until noon of the day before without paying for it.",
        status="Draft",
        copies=("harbour/rollup/Berth-Booking.md",),
        why=("words: booking, berth", "meaning, 2nd of 100"),
    )
    old = candidate(
        2,
        "harbour/context-v/specs/Old-Booking.md",
        "Booking as it was",
        lede="How berths were booked on paper.",
        status="Superseded",
        copies=("a.md", "b.md"),
        flags=(
            Flag(
                kind="superseded",
                text="Marked as superseded; newer on this topic: Berth-Booking.md of 2026-06-12.",
                newer_path="harbour/context-v/specs/Berth-Booking.md",
                newer_date="2026-06-12",
            ),
        ),
    )
    bare = candidate(10, "orchard/context-v/issues/X.md", "\x1b[31mred\x1b[0m\ntitle")
    return Findings(
        task="let skippers book a berth",
        senior_root="/tree",
        fresh=True,
        candidates=(first, old, bare),
        notes=("Answered from the word index: the vector store is locked.",),
    )


@pytest.mark.parametrize("width", [50, 100])
def test_the_list(findings: Findings, width: int, snapshot: SnapshotAssertion) -> None:
    text = findings_text(findings, width=width)
    assert text == snapshot
    assert all(cell_len(line) <= width for line in text.splitlines())


def test_colour_only_adds_escapes(findings: Findings) -> None:
    coloured = findings_text(findings, colour=True)
    assert re.sub(r"\x1b\[\d+m", "", coloured) == findings_text(findings)
    assert "\x1b[1mharbour/context-v/specs/Berth-Booking.md\x1b[0m" in coloured


def test_nothing_found_and_not_fresh(snapshot: SnapshotAssertion) -> None:
    nothing = Evidence(verdict="none", coverage=0.0, best_similarity=0.1)
    empty = Findings(
        task="paint the moon", senior_root="/tree", fresh=False, candidates=(), evidence=nothing
    )
    assert findings_text(empty) == snapshot


def test_nothing_searched_is_not_called_no_match() -> None:
    unsearched = Findings(task="paint the moon", senior_root="/tree", fresh=True, candidates=())
    assert findings_text(unsearched).startswith("Nothing was searched for: paint the moon\n")
