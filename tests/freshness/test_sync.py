"""``cv sync``: after it the store is what the disk is, and only what has changed was worked on."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from organisation import prose, sections

from backend.errors import Busy, CvError
from backend.freshness.status import pending
from backend.schemas.roles import CHANGELOG_ROLE, CORPUS_ROLE
from backend.tree.config import load_config
from backend.tree.config_edits import set_key
from backend.tree.lock import exclusive

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@pytest.fixture
def tree(site: Any) -> Any:
    """Three repos, nine documents and two changelog entries, synced."""
    for name in ("ferry", "mill"):
        site.repo(name)
    site.document("ferry/context-v/specs/Timetable.md", count=3, tags=["Boats", "Plans"])
    site.document("ferry/context-v/specs/Tickets.md", count=5, authors=["Ada Moss"])
    site.document("ferry/context-v/plans/Pier.md", count=2)
    site.document("ferry/context-v/plans/Winter.md", count=2)
    site.document("mill/context-v/specs/Wheel.md", count=2)
    site.document("mill/context-v/old/Stones.md", count=2)
    site.document("mill/context-v/old/Sacks.md", count=2)
    site.document("inn/context-v/Rooms.md", count=2)
    site.document("inn/context-v/Cellar.md", count=2)
    site.document("ferry/changelog/2025-01-01_first.md", count=1)
    site.document("mill/changelog/2025-02-02_second.md", count=1)
    site.first = site.sync()
    return site


def test_the_first_sync_indexes_every_document_into_its_collection(tree: Any, counts: Any) -> None:
    assert counts(tree.first, CORPUS_ROLE) == (9, 0, 0, 0, 0, 22)
    assert counts(tree.first, CHANGELOG_ROLE) == (2, 0, 0, 0, 0, 2)
    assert tree.first.roles[CORPUS_ROLE].chunks == 22
    assert tree.chunks(CORPUS_ROLE) == {
        "ferry/context-v/plans/Pier.md": 2,
        "ferry/context-v/plans/Winter.md": 2,
        "ferry/context-v/specs/Tickets.md": 5,
        "ferry/context-v/specs/Timetable.md": 3,
        "inn/context-v/Cellar.md": 2,
        "inn/context-v/Rooms.md": 2,
        "mill/context-v/old/Sacks.md": 2,
        "mill/context-v/old/Stones.md": 2,
        "mill/context-v/specs/Wheel.md": 2,
    }
    assert len(tree.chunks(CHANGELOG_ROLE)) == 2
    tree.check()


def test_each_chunk_carries_what_queries_filter_by(tree: Any) -> None:
    text, metadata, vector = tree.records()[CORPUS_ROLE][
        "ferry::ferry/context-v/specs/Tickets.md::0004"
    ]
    assert text.startswith("[Tickets]\n## Part 5\n")
    assert sum(x * x for x in vector) == pytest.approx(1, abs=1e-5)
    assert {key: value for key, value in metadata.items() if value is not None} == {
        "source_path": "ferry/context-v/specs/Tickets.md",
        "source_repo_slug": "ferry",
        "role": CORPUS_ROLE,
        "kind": "specs",
        "chunk_index": 4,
        "heading": "Part 5",
        "modified_at": int(datetime(2025, 3, 14, tzinfo=UTC).timestamp()),
        "ingested_at": int(NOW.timestamp()),
        "fm_title": "Tickets",
        "fm_authors": ["Ada Moss"],
        "fm_date_modified": "2025-03-14",
    }


def test_a_second_sync_does_nothing(tree: Any, counts: Any) -> None:
    tree.sync()  # by now the folders that were made a moment ago have come to rest
    files = {
        p: p.stat().st_mtime_ns for p in tree.kit.rglob("*") if p.is_file() and p.suffix == ".json"
    }
    assert counts(tree.sync()) == (0, 0, 11, 0, 0, 0)
    assert counts(tree.sync(quick=True)) == (0, 0, 11, 0, 0, 0)
    assert {p: p.stat().st_mtime_ns for p in files} == files, (
        "files are rewritten though nothing changed"
    )


def test_a_day_of_work_costs_what_it_changed(tree: Any, counts: Any) -> None:
    """Edit, add, delete, rename, shrink from five sections to three, dismiss, make private; then nothing but touches."""
    tree.edit("ferry/context-v/specs/Timetable.md", "## Part 2\n", "## Part 2\n\nA new line.\n")
    tree.document("ferry/context-v/specs/Added.md", count=4)
    tree.delete("ferry/context-v/plans/Winter.md")
    tree.move("ferry/context-v/plans/Pier.md", "ferry/context-v/plans/Jetty.md")
    text = tree.path("ferry/context-v/specs/Tickets.md").read_text()
    tree.write("ferry/context-v/specs/Tickets.md", text[: text.index("## Part 4")])
    tree.dismiss("mill/context-v/old")
    tree.edit("inn/context-v/Cellar.md", "title: Cellar", "title: Cellar\nprivate: true")

    report = tree.sync()

    # updated: Timetable, Tickets; new: Added, Jetty; gone: Winter, Pier, Stones, Sacks, Cellar.
    # embedded: one part of Timetable, four of Added; Jetty's text is known.
    assert counts(report, CORPUS_ROLE) == (2, 2, 2, 5, 0, 5)
    assert counts(report, CHANGELOG_ROLE) == (0, 0, 2, 0, 0, 0)
    assert report.roles[CORPUS_ROLE].skipped == {"dismissed": 1, "private": 1}
    assert tree.chunks() == {
        "ferry/context-v/plans/Jetty.md": 2,
        "ferry/context-v/specs/Added.md": 4,
        "ferry/context-v/specs/Tickets.md": 3,
        "ferry/context-v/specs/Timetable.md": 3,
        "inn/context-v/Rooms.md": 2,
        "mill/context-v/specs/Wheel.md": 2,
    }
    texts = [text for text, _, _ in tree.records()[CORPUS_ROLE].values()]
    assert sum("A new line." in text for text in texts) == 1
    tree.check()

    for path in tree.fingerprint():
        tree.touch(path, 1_700_000_000)
    assert counts(tree.sync()) == (0, 0, 8, 0, 0, 0)
    tree.check()


def test_touched_files_are_not_behind_afterwards(tree: Any) -> None:
    """After a clone or a checkout every mtime is new: one sync takes that in, and the hook has nothing to do again."""
    for path in tree.fingerprint():
        tree.touch(path, 1_700_000_000)
    tree.sync()
    tree.check()  # also that nothing is pending by the manifests, which the hook reads


WITHOUT_A_CHANGED_FILE: dict[str, tuple[str, Any]] = {
    "a git repo appears": ("inn/cellar/context-v/A.md", lambda t: t.repo("inn/cellar")),
    "a git repo goes": ("inn/loft/context-v/A.md", lambda t: t.delete("inn/loft/.git")),
    "a folder is renamed": ("inn/context-v/A.md", lambda t: t.move("inn", "tavern")),
    "a folder is dismissed": ("inn/context-v/A.md", lambda t: t.dismiss("inn")),
    "a file comes": ("inn/A/context-v/A.md", lambda t: t.document("inn/A/context-v/B.md")),
}


@pytest.mark.parametrize(
    ("path", "change"), WITHOUT_A_CHANGED_FILE.values(), ids=WITHOUT_A_CHANGED_FILE
)
def test_what_is_said_to_be_behind_is_what_the_next_sync_does(
    tree: Any, counts: Any, path: str, change: Any
) -> None:
    """Also where no file has changed, only the repo that it belongs to, which its chunks' ids begin with."""
    tree.repo("inn/loft")
    tree.document(path)
    tree.sync()
    change(tree)
    waiting = pending(tree.root, load_config(tree.root))
    behind = [
        sum(len(getattr(p, part)) for p in waiting.values()) for part in ("new", "changed", "gone")
    ]
    indexed, updated, _, removed, *_ = counts(tree.sync())
    assert (indexed, updated, removed) == tuple(behind)
    assert sum(behind) > 0
    tree.check()


def test_a_checkout_there_and_back_embeds_nothing(tree: Any, counts: Any) -> None:
    tree.commit("ferry", "2025-05-01")
    tree.git("ferry", "checkout", "--quiet", "-b", "other")
    tree.edit("ferry/context-v/plans/Pier.md", "## Part 1\n", "## Part 1\n\nOn the other branch.\n")
    tree.commit("ferry", "2025-05-02")
    tree.git("ferry", "checkout", "--quiet", "main")
    tree.sync()
    tree.git("ferry", "checkout", "--quiet", "other")
    tree.git("ferry", "checkout", "--quiet", "main")
    assert counts(tree.sync())[5] == 0
    tree.git("ferry", "checkout", "--quiet", "other")
    assert counts(tree.sync()) == (0, 1, 10, 0, 0, 1)
    tree.git("ferry", "checkout", "--quiet", "main")
    assert counts(tree.sync())[1] == 1
    tree.check()


def test_a_sweep_over_all_dates_embeds_nothing(tree: Any, counts: Any) -> None:
    for path in tree.cards():
        tree.edit(path, "date_modified: 2025-03-14", "date_modified: 2025-04-01")
    assert counts(tree.sync(), CORPUS_ROLE) == (0, 9, 0, 0, 0, 0)
    assert {card.date for card in tree.cards().values()} == {"2025-04-01"}
    metadata = [row[1] for row in tree.records()[CORPUS_ROLE].values()]
    assert {m["fm_date_modified"] for m in metadata} == {"2025-04-01"}
    tree.check()


def test_a_field_that_is_taken_out_leaves_the_metadata_too(tree: Any) -> None:
    """Chroma merges what it is given into what it has."""
    tree.edit("ferry/context-v/specs/Tickets.md", "authors: [Ada Moss]\n", "")
    tree.edit("ferry/context-v/specs/Timetable.md", "tags: [Boats, Plans]\n", "")
    tree.sync()
    for _, metadata, _ in tree.records()[CORPUS_ROLE].values():
        assert metadata.get("fm_authors") is None
        assert metadata.get("fm_tags") is None


def test_a_quick_sync_sees_changes_new_files_and_new_repos(tree: Any, counts: Any) -> None:
    tree.edit("inn/context-v/Rooms.md", "## Part 1\n", "## Part 1\n\nMore.\n")
    tree.document("inn/context-v/deep/er/New.md")
    tree.delete("mill/context-v")
    tree.document("barn/context-v/Hay.md")
    soon = NOW + timedelta(seconds=60)
    assert counts(tree.sync(quick=True, now=soon)) == (2, 1, 7, 3, 0, 3)
    assert "barn/context-v/Hay.md" in tree.chunks()


def test_a_quick_sync_walks_everything_again_after_an_hour(tree: Any, counts: Any) -> None:
    """What appears deep in folders that held no documents is not looked for each time; three levels down it is."""
    tree.path("inn/src/lib/io/ring").mkdir(parents=True)
    for folder, _, _ in os.walk(tree.root):
        os.utime(folder, (1_700_000_000, 1_700_000_000))  # at rest, as those of yesterday
    tree.sync(now=NOW)
    tree.document("inn/src/lib/io/ring/context-v/Deep.md")
    assert counts(tree.sync(quick=True, now=NOW + timedelta(seconds=60)))[0] == 0
    assert counts(tree.sync(quick=True, now=NOW + timedelta(seconds=3601)))[0] == 1
    tree.document("inn/src/lib/context-v/Near.md")
    assert counts(tree.sync(quick=True, now=NOW + timedelta(seconds=3700)))[0] == 1


@pytest.mark.parametrize("how", ["marker above", "dismissed_paths", "sources.md", "private"])
def test_what_is_opted_out_is_gone_with_the_next_quick_sync(tree: Any, how: str) -> None:
    """A query asks for a quick sync first: its answer must not show what was opted out a moment ago."""
    if how == "marker above":
        tree.dismiss("mill")
    elif how == "dismissed_paths":
        set_key(tree.root, "dismissed_paths", '["mill"]')
    elif how == "sources.md":
        text = (tree.kit / "sources.md").read_text()
        head, tail = text.split('path: "mill/context-v"', 1)
        text = head + 'path: "mill/context-v"' + tail.replace("include: true", "include: false", 1)
        (tree.kit / "sources.md").write_text(text)
    else:
        for path in [path for path in tree.cards() if path.startswith("mill/")]:
            tree.edit(path, "title:", "private: true\ntitle:")
    for _ in range(2):  # the second one starts from what the first has kept
        tree.sync(quick=True, now=NOW + timedelta(seconds=5))
        assert not [path for path in tree.chunks() if path.startswith("mill/")]


def test_the_markers_removal_brings_the_documents_back_without_embedding_elsewhere(
    tree: Any, counts: Any
) -> None:
    marker = tree.dismiss("mill")
    assert counts(tree.sync())[3] == 4
    marker.unlink()
    assert counts(tree.sync())[0] == 4
    tree.check()


def test_one_role_alone(tree: Any, counts: Any) -> None:
    tree.document("ferry/context-v/specs/Added.md")
    tree.document("ferry/changelog/2025-03-03_third.md")
    report = tree.sync(roles=(CHANGELOG_ROLE,))
    assert list(report.roles) == [CHANGELOG_ROLE]
    assert counts(report) == (1, 0, 2, 0, 0, 1)
    assert "ferry/context-v/specs/Added.md" not in tree.chunks()
    assert counts(tree.sync())[0] == 1


def test_one_role_made_anew_leaves_the_other_as_it_is(tree: Any, same: Any) -> None:
    before = tree.records()
    tree.sync(roles=(CHANGELOG_ROLE,), rebuild=True)
    assert same(tree.records(), before)
    tree.check()


def test_a_rebuild_gives_the_same_store_and_is_no_news(tree: Any, same: Any, counts: Any) -> None:
    """When a document was first indexed is kept: it is the date of those that have no other."""
    before, cards = tree.records(), tree.cards()
    report = tree.sync(rebuild=True, now=NOW + timedelta(days=9))
    assert counts(report)[0] == 11
    assert same(tree.records(), before)
    assert tree.cards() == cards
    tree.check()


def test_a_sync_out_of_time_says_so_and_the_next_one_goes_on(site: Any, counts: Any) -> None:
    for number in range(70):
        site.document(f"ferry/context-v/N{number}.md", prose(str(number), 3))
    report = site.sync(max_seconds=0)
    assert counts(report)[0] == 0
    assert report.notes == ("stopped after its time; 70 files follow at the next sync",)
    assert counts(site.sync())[0] == 70
    site.check()


def test_a_second_writer_returns_at_once(tree: Any) -> None:
    with (
        exclusive(tree.kit / "writer.lock", seconds=0, busy=""),
        pytest.raises(Busy, match="another sync of this tree is at work"),
    ):
        tree.sync()


def test_another_name_for_a_collection_is_filled_and_the_old_one_goes(
    tree: Any, counts: Any
) -> None:
    set_key(tree.root, "collections.changelog_corpus", "log-of-ours")
    assert counts(tree.sync())[5] == 0, "a name is no reason to embed anew"
    records = tree.records()
    assert sorted(records) == [CORPUS_ROLE, "log-of-ours"]
    assert len(records["log-of-ours"]) == 2
    tree.check()


# --- odd files -------------------------------------------------------------------------------------------------------

ODD = {
    "Empty.md": b"",
    "Latin.md": "# Grüße\n\nEine schöne Brücke.\n".encode("latin-1"),
    "Binary.md": bytes(range(256)) * 40,
    "Utf16.md": "# Wide\n\nText in two bytes.\n".encode("utf-16"),
    "Nul.md": b"# Nul\n\nbefore\0after\n",
    "Broken.md": b"---\ntitle: [a\nlede: : :\n---\n\n# Body\n\nStill indexed.\n",
    "Symbols.md": "# \U0001f680\n\n\U0001f680 \U0001f680\n".encode(),
    "Long.md": b"# Long\n\n" + b"x" * 2_000_000 + b"\n\nThe end of a long line.\n",
    "Lines.md": b"# Mac\r\rold line ends\r",
    "Fence.md": b"# Fence\n\n```\n## not a heading\n",
    "Only frontmatter.md": b"---\ntitle: Alone\n---\n",
    "Ids::in the name::0001.md": b"# Colons\n\nText.\n",
}


def test_no_file_ends_the_run_whatever_is_in_it(site: Any, counts: Any) -> None:
    for name, data in ODD.items():
        site.write(f"ferry/context-v/{name}", data)
    site.document("ferry/context-v/Last.md")
    assert counts(site.sync())[:5] == (len(ODD) + 1, 0, 0, 0, 0)
    assert set(site.chunks()) == {f"ferry/context-v/{name}" for name in (*ODD, "Last.md")}
    site.check()
    texts = "\n".join(text for text, _, _ in site.records()[CORPUS_ROLE].values())
    assert "Still indexed." in texts
    assert "The end of a long line." in texts
    assert "schöne Brücke" in texts
    assert "x" * 2000 not in texts


def test_a_file_that_cannot_be_read_is_named_kept_and_tried_again(
    site: Any, same: Any, counts: Any
) -> None:
    """Here it is too large, which holds for root too."""
    site.document("ferry/context-v/A.md", prose("a"))
    site.document("ferry/context-v/B.md", prose("b"))
    site.sync()
    kept = site.records()
    good = site.path("ferry/context-v/A.md").read_bytes()
    with site.path("ferry/context-v/A.md").open("r+b") as file:
        file.truncate(40 * 1024 * 1024)  # a hole, which takes no room
    for _ in range(2):
        report = site.sync()
        assert counts(report) == (0, 0, 1, 0, 1, 0)
        (failure,) = report.roles[CORPUS_ROLE].failed
        assert failure.path == "ferry/context-v/A.md"
        assert failure.reason == "larger than 32 MB"
        assert same(site.records(), kept)
    site.write("ferry/context-v/A.md", good)
    assert counts(site.sync()) == (0, 0, 2, 0, 0, 0)
    site.check()


def test_an_unpublished_changelog_entry_is_left_out(site: Any) -> None:
    site.document("ferry/changelog/A.md", publish="false")
    site.document("ferry/changelog/B.md", publish="true")
    site.document("ferry/context-v/C.md", publish="false")
    report = site.sync()
    assert list(site.chunks(CHANGELOG_ROLE)) == ["ferry/changelog/B.md"]
    assert list(site.chunks()) == ["ferry/context-v/C.md"], (
        "a document of context-v has no such switch"
    )
    assert report.roles[CHANGELOG_ROLE].skipped == {"unpublished": 1}


def test_a_broken_sources_md_indexes_nothing_and_loses_nothing(tree: Any, same: Any) -> None:
    before = tree.records()
    (tree.kit / "sources.md").write_text("---\nsources: [\n---\n")
    with pytest.raises(CvError, match=r"sources\.md: line"):
        tree.sync()
    assert same(tree.records(), before)


def test_a_sources_md_that_nothing_can_be_added_to_still_syncs_and_says_so(
    tree: Any, counts: Any
) -> None:
    (tree.kit / "sources.md").write_text(
        "---\nsources: [{path: mill/context-v, include: false}]\n---\n"
    )
    report = tree.sync()
    assert counts(report)[3] == 3
    assert any("Add by hand: ferry/context-v, ferry/changelog" in note for note in report.notes)


def test_new_and_vanished_folders_are_said(tree: Any) -> None:
    tree.document("barn/context-v/Hay.md", sections("hay", 1))
    tree.delete("inn")
    assert tree.sync().notes == (
        "sources.md: 1 new: barn/context-v",
        "sources.md: inn/context-v is no longer there",
    )


def test_many_vanished_folders_are_one_note_of_a_sync_and_none_of_a_question(tree: Any) -> None:
    """Temporary worktrees, say; a walk that a question starts keeps quiet about what only its owner cares for."""
    folders = [f"trees/t{n}/context-v" for n in range(10)]
    for folder in folders:
        tree.document(f"{folder}/{folder[6:8]}.md")
    tree.sync()
    tree.delete("trees")
    quick = tree.sync(quick=True)
    assert not any("no longer there" in note for note in quick.notes)
    assert tree.sync().notes == (
        "sources.md: 10 folders are no longer there: trees/t0/context-v, trees/t1/context-v and 8 more; "
        "cv doctor names them",
    )


def test_a_worktree_that_came_and_went_leaves_nothing_behind(site: Any) -> None:
    site.repo("ferry")
    site.document("ferry/context-v/A.md")
    site.commit("ferry", "2025-01-01")
    site.sync()
    before = (site.kit / "sources.md").read_bytes()
    site.git("ferry", "worktree", "add", "--quiet", "../next", "-b", "next")
    assert site.sync().notes == ()
    assert site.passed_over() == {"next/context-v/A.md": "copy of ferry/context-v/A.md"}
    site.git("ferry", "worktree", "remove", "../next")
    assert site.sync().notes == ()
    assert (site.kit / "sources.md").read_bytes() == before


@pytest.mark.parametrize("role", ["context-v", "changelog"])
@pytest.mark.parametrize("others", [0, 1, 2])
def test_the_last_chunk_of_a_collection_can_be_edited(site: Any, role: str, others: int) -> None:
    """Chroma leaves the old vector to a record that is updated when it is alone."""
    site.document(f"ferry/{role}/Last.md", "honeymoon volcano", title="Last")
    for number in range(others):
        site.document(f"ferry/{role}/{number}.md")
    site.sync()
    for text in ("harmless public text", "tide table"):
        for number in range(others):
            site.delete(f"ferry/{role}/{number}.md")
        site.document(f"ferry/{role}/Last.md", text, title="Last")
        site.sync()
        site.check()
        others = 0


def test_a_document_that_shrinks_to_the_last_chunk(site: Any) -> None:
    site.document("ferry/context-v/Last.md", count=12)
    site.sync()
    site.document("ferry/context-v/Last.md", "harmless public text")
    site.sync()
    site.check()
