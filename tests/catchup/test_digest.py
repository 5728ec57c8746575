"""What stands in the digest, where and in which order."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import msgspec
import pytest
from syrupy.assertion import SnapshotAssertion

from backend.catchup.digest import make_digest
from backend.errors import UsageError
from backend.schemas.catchup import Digest
from backend.schemas.manifest import ManifestEntry
from backend.schemas.roles import CHANGELOG_ROLE, CORPUS_ROLE
from backend.tree.window import Window, parse_since, parse_window

Cards = dict[str, dict[str, ManifestEntry]]
Crowd = Callable[[int], Cards]
Card = Callable[..., ManifestEntry]


@pytest.fixture
def window(now: datetime) -> Window:
    return parse_window("2m", now)


def shape(digest: Digest) -> dict[str, dict[str, list[str]]]:
    return {
        repo.repo: {tag.tag: [file.source_path for file in tag.files] for tag in repo.tags}
        for repo in digest.repos
    }


def paths(digest: Digest) -> set[str]:
    return {file.source_path for repo in digest.repos for tag in repo.tags for file in tag.files}


def test_the_whole_organisation_as_json(
    cards: Cards, window: Window, snapshot: SnapshotAssertion
) -> None:
    digest = make_digest(cards, window)
    assert msgspec.json.format(msgspec.json.encode(digest)).decode() == snapshot


def test_repos_and_tags_stand_by_their_newest_file_and_untagged_last(card: Card) -> None:
    cards = {
        CORPUS_ROLE: {
            "a/1.md": card("2026-06-10", repo="a", tags=("Old", "Both")),
            "a/2.md": card("2026-06-12", repo="a", tags=("New",)),
            "a/3.md": card("2026-06-14", repo="a"),
            "b/4.md": card("2026-06-15", repo="b", tags=("X",)),
            "b/5.md": card("2026-06-15", repo="b", tags=("B",)),
        }
    }
    digest = make_digest(cards, _june())
    assert shape(digest) == {
        "b": {"B": ["b/5.md"], "X": ["b/4.md"]},
        "a": {"New": ["a/2.md"], "Both": ["a/1.md"], "Old": ["a/1.md"], "(Untagged)": ["a/3.md"]},
    }
    assert [list(tags) for tags in shape(digest).values()] == [
        ["B", "X"],
        ["New", "Both", "Old", "(Untagged)"],
    ]
    assert [repo.latest for repo in digest.repos] == ["2026-06-15", "2026-06-14"]
    assert digest.total_files == 5


def test_alphabetical_orders_repos_tags_and_files_by_name(card: Card) -> None:
    cards = {
        CORPUS_ROLE: {
            "b/Z.md": card("2026-06-15", repo="b", tags=("x", "B")),
            "b/a.md": card("2026-06-11", repo="b", tags=("B",)),
            "A/1.md": card("2026-06-10", repo="A"),
            "A/2.md": card("2026-06-09", repo="A", tags=("Zed",)),
        }
    }
    digest = make_digest(cards, _june(), alphabetical=True)
    order = [(repo, list(tags.items())) for repo, tags in shape(digest).items()]
    assert order == [
        ("A", [("Zed", ["A/2.md"]), ("(Untagged)", ["A/1.md"])]),
        ("b", [("B", ["b/a.md", "b/Z.md"]), ("x", ["b/Z.md"])]),
    ]


def test_tags_fold_and_show_their_most_common_spelling(card: Card) -> None:
    spellings = ["Data Feeds", "data-feeds", "data_feeds", "data-feeds", "DATA-FEEDS"]
    cards = {
        CORPUS_ROLE: {
            f"a/{n}.md": card("2026-06-10", repo="a", tags=(tag,))
            for n, tag in enumerate(spellings)
        }
    }
    assert list(shape(make_digest(cards, _june()))["a"]) == ["data-feeds"]
    cards[CORPUS_ROLE].pop("a/1.md")
    assert list(shape(make_digest(cards, _june()))["a"]) == ["DATA-FEEDS"]


def test_a_file_that_spells_one_tag_twice_stands_there_once(card: Card) -> None:
    cards = {CORPUS_ROLE: {"a/1.md": card("2026-06-10", repo="a", tags=("Auth", "auth", "  "))}}
    assert shape(make_digest(cards, _june())) == {"a": {"Auth": ["a/1.md"]}}


def test_a_file_with_only_empty_tags_is_untagged(card: Card) -> None:
    cards = {CORPUS_ROLE: {"a/1.md": card("2026-06-10", repo="a", tags=("", "-"))}}
    assert shape(make_digest(cards, _june())) == {"a": {"(Untagged)": ["a/1.md"]}}


def test_the_windows_days_are_both_included(card: Card) -> None:
    cards = {
        CORPUS_ROLE: {
            "a/before.md": card("2026-05-31"),
            "a/first.md": card("2026-06-01"),
            "a/last.md": card("2026-06-15"),
        }
    }
    assert paths(make_digest(cards, _june())) == {"a/first.md", "a/last.md"}


def test_a_future_date_counts_as_today_and_is_noted(card: Card) -> None:
    digest = make_digest({CORPUS_ROLE: {"a/1.md": card("2031-01-01")}}, _june())
    assert digest.repos[0].tags[0].files[0].date == "2026-06-15"
    assert digest.notes == ("Dated in the future and counted as today (1): a/1.md.",)


def test_a_card_whose_day_is_no_day_falls_back_to_its_moment(card: Card) -> None:
    odd = msgspec.structs.replace(card("2026-06-10"), date="soon")
    digest = make_digest({CORPUS_ROLE: {"a/1.md": odd}}, _june())
    assert digest.repos[0].latest == "2026-06-10"


def test_fresh_mtimes_change_nothing(cards: Cards, window: Window) -> None:
    cloned = {
        role: {
            path: msgspec.structs.replace(entry, mtime=1.8e9, ingested_at=1_800_000_000)
            for path, entry in entries.items()
        }
        for role, entries in cards.items()
    }
    assert make_digest(cloned, window) == make_digest(cards, window)


@pytest.mark.parametrize(("count", "shown"), [(0, 0), (1, 1), (50, 50), (51, 50), (5000, 50)])
def test_the_cap_shows_the_newest_and_says_so(
    crowd: Crowd, now: datetime, count: int, shown: int, snapshot: SnapshotAssertion
) -> None:
    digest = make_digest(crowd(count), parse_window("6m", now))
    assert (digest.total_files, digest.shown_files) == (count, shown)
    assert len(paths(digest)) == shown
    assert digest.truncated == (count > 50)
    assert sum(sum(days.values()) for days in digest.activity.values()) == count
    assert digest.message == snapshot
    # The whole of it would be 5,000 lines: how many files stand where is what can go wrong with a size.
    counts = {
        repo: {tag: len(files) for tag, files in tags.items()}
        for repo, tags in shape(digest).items()
    }
    assert counts == snapshot


def test_the_sentence_of_a_cut_digest(crowd: Crowd, now: datetime) -> None:
    assert make_digest(crowd(287), parse_window("6m", now)).message == (
        "Showing 50 of 287 files modified in the last 6 months. Narrow by --scope <repo>, "
        "--by-author <name>, shrink the window, or --max-files 100 to widen the cap."
    )
    message = make_digest(crowd(60), parse_since("2026-05-01", now), max_files=20).message
    assert message.startswith("Showing 20 of 46 files modified since 2026-05-01. Narrow by")
    assert "or --max-files 40 to widen" in message


def test_what_the_cap_cuts_is_older_than_what_it_shows(card: Card) -> None:
    entries = {f"a/{n}.md": card(f"2026-06-{n:02d}") for n in range(1, 11)}
    entries["a/00-tie.md"] = card("2026-06-09")
    digest = make_digest({CORPUS_ROLE: entries}, _june(), max_files=2)
    assert paths(digest) == {"a/10.md", "a/00-tie.md"}


def test_a_cap_below_one_is_refused() -> None:
    with pytest.raises(UsageError, match="1 or more; got 0"):
        make_digest({}, _june(), max_files=0)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"by_author": "zoe"}, {"Berth-Booking", "Tide-Tables", "Grafting", "Booking-Opens"}),
        ({"by_author": "LINDQVIST", "scope": "orchard"}, {"Grafting"}),
        ({"by_author": "nowak"}, {"Tide-Tables", "Mooring-Fees", "House-Rules"}),
        ({"by_author": "Nowák", "not_by": "marek"}, {"Tide-Tables"}),
        ({"owner": "port"}, {"Berth-Booking", "House-Rules"}),
        ({"owner": "nobody"}, set()),
        ({"scope": "harbour/pilots"}, {"Radio-Check", "Queue"}),
        ({"scope": "pilots"}, {"Radio-Check", "Queue"}),
        ({"scope": "acme"}, {"House-Rules"}),
        ({"scope": "harbour/context-v/specs"}, {"Berth-Booking", "Mooring-Fees"}),
        ({"paths": {"harbour/pilots/context-v/specs/Queue.md"}}, {"Queue"}),
    ],
)
def test_filters(
    cards: Cards, window: Window, filters: dict[str, object], expected: set[str]
) -> None:
    digest = make_digest(cards, window, repos=["harbour/pilots"], **filters)
    names = {path.rpartition("/")[2].removesuffix(".md") for path in paths(digest)}
    assert {name.removeprefix("2026-06-13_") for name in names} == expected


def test_leaving_out_my_own_keeps_what_others_and_nobody_signed(
    cards: Cards, window: Window
) -> None:
    left = paths(make_digest(cards, window, not_by="Zoë Lindqvist"))
    assert "harbour/context-v/specs/Berth-Booking.md" not in left
    assert "harbour/context-v/plans/Tide-Tables.md" in left
    assert "harbour/context-v/explorations/Loose-Ends.md" in left


def test_both_roles_stand_together_and_say_which(cards: Cards, window: Window) -> None:
    booking = make_digest(cards, window).repos[1].tags[0]
    assert booking.tag == "Booking"
    assert [file.role for file in booking.files[:2]] == [CHANGELOG_ROLE, CORPUS_ROLE]
    assert booking.files[0].date_from == "file-name"


def test_an_empty_digest_says_how_to_widen(cards: Cards, now: datetime) -> None:
    old = make_digest(cards, parse_window("2w", now), scope="mill")
    assert old.message == (
        "No document is dated in the last 2 weeks with --scope mill. "
        "The newest before that is of 2024-02-29: --since 2024-02-29 shows it."
    )
    nobody = make_digest(cards, parse_window("2w", now), by_author="Nemo")
    assert "leave out --by-author Nemo" in nobody.message
    assert "cv status" in make_digest({}, parse_window("2w", now)).message


def _june() -> Window:
    return parse_since("2026-06-01", datetime.fromisoformat("2026-06-15T09:00+02:00"))
