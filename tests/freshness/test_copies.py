"""Copies fold into one document whichever way they come about, and unfold when the original is no longer theirs."""

from __future__ import annotations

from typing import Any

import pytest
from organisation import prose

from backend.schemas.roles import CHANGELOG_ROLE, CORPUS_ROLE

HOME = "mill/context-v/specs/Wheel.md"
COPY = "splash/context-v/all/mill/Wheel.md"


@pytest.fixture
def pair(site: Any) -> Any:
    """A document, and the copy of it that a roll-up generated elsewhere in the tree."""
    site.repo("mill", remote="https://git.example.org/works/mill.git")
    site.repo("splash")
    site.document(HOME, count=2)
    site.roll_up(HOME, COPY, repo="mill", inner="context-v/specs/Wheel.md")
    return site


def assert_folded(site: Any, home: str, *copies: str) -> None:
    assert [path for path in site.chunks() if path in (home, *copies)] == [home]
    assert site.cards()[home].copies == tuple(sorted(copies))
    assert all(site.passed_over()[copy] == f"copy of {home}" for copy in copies)


def test_a_roll_up_is_indexed_once_under_its_home(pair: Any, counts: Any) -> None:
    report = pair.sync()
    assert counts(report) == (1, 0, 0, 0, 0, 2)
    assert report.roles[CORPUS_ROLE].skipped == {"copy": 1}
    assert_folded(pair, HOME, COPY)
    pair.check()
    assert counts(pair.sync()) == (0, 0, 1, 0, 0, 0)


def test_the_home_counts_even_when_the_copy_lies_nearer_to_the_root(site: Any) -> None:
    site.document("works/deep/mill/context-v/specs/Wheel.md", count=2)
    site.roll_up(
        "works/deep/mill/context-v/specs/Wheel.md",
        "a/context-v/Wheel.md",
        repo="mill",
        inner="context-v/specs/Wheel.md",
    )
    site.sync()
    assert_folded(site, "works/deep/mill/context-v/specs/Wheel.md", "a/context-v/Wheel.md")


def test_a_copy_that_was_there_first_gives_way_when_its_home_comes(pair: Any, counts: Any) -> None:
    text = pair.path(HOME).read_bytes()
    pair.delete(HOME)
    pair.sync()
    assert list(pair.chunks()) == [COPY]
    pair.write(HOME, text)
    assert counts(pair.sync()) == (1, 0, 0, 1, 0, 0)
    assert_folded(pair, HOME, COPY)
    pair.check()


def test_a_copy_out_of_date_still_folds_by_where_it_says_it_is_from(pair: Any) -> None:
    pair.edit(COPY, "## Part 2", "## Part two, as it was called before")
    pair.sync()
    assert_folded(pair, HOME, COPY)


def test_editing_the_home_alone_leaves_a_generated_copy_folded(pair: Any, counts: Any) -> None:
    pair.sync()
    pair.edit(HOME, "## Part 2", "## Part 2, longer")
    assert counts(pair.sync()) == (0, 1, 0, 0, 0, 1)
    assert_folded(pair, HOME, COPY)


@pytest.mark.parametrize("how", ["deleted", "private", "dismissed", "left out"])
def test_the_copy_stands_for_itself_when_its_home_goes(pair: Any, how: str) -> None:
    pair.sync()
    if how == "deleted":
        pair.delete(HOME)
    elif how == "private":
        pair.edit(HOME, "title:", "private: true\ntitle:")
    elif how == "dismissed":
        pair.dismiss("mill")
    else:
        sources = pair.kit / "sources.md"
        head, tail = sources.read_text().split('"mill/context-v"')
        sources.write_text(
            f'{head}"mill/context-v"{tail.replace("include: true", "include: false", 1)}'
        )
    pair.sync()
    assert list(pair.chunks()) == [COPY]
    pair.check()


def test_a_private_copy_stays_out_when_its_home_goes(pair: Any) -> None:
    pair.edit(COPY, "title:", "private: true\ntitle:")
    pair.sync()
    pair.delete(HOME)
    pair.sync()
    assert pair.chunks() == {}


def test_the_same_text_in_two_repos_folds_and_unfolds_by_an_edit(site: Any, counts: Any) -> None:
    """A document that was moved to another repo and stayed in the first."""
    body = prose("a shared text", 20)
    site.document("a/context-v/One.md", body, title="One")
    site.document("b/context-v/Other name.md", body, title="Other title")
    assert counts(site.sync())[0] == 1
    assert_folded(site, "a/context-v/One.md", "b/context-v/Other name.md")
    site.edit("a/context-v/One.md", body[:20], "Now it reads otherwise here.")
    assert counts(site.sync())[:2] == (1, 1)
    assert list(site.chunks()) == ["a/context-v/One.md", "b/context-v/Other name.md"]
    site.check()
    site.edit("a/context-v/One.md", "Now it reads otherwise here.", body[:20])
    site.sync()
    assert_folded(site, "a/context-v/One.md", "b/context-v/Other name.md")


def test_short_stubs_that_are_alike_by_accident_stay_apart(site: Any) -> None:
    """Templates and stubs share a body; only the same title and name as well, or the same bytes, make them copies."""
    site.document("a/context-v/One.md", "To be written.")
    site.document("b/context-v/Two.md", "To be written.")
    site.document("c/context-v/One.md", "To be written.", day="2025-01-01")
    site.sync()
    assert list(site.chunks()) == ["a/context-v/One.md", "b/context-v/Two.md"]
    assert_folded(site, "a/context-v/One.md", "c/context-v/One.md")


def test_one_uuid_in_two_documents_is_one_document_only_if_title_or_name_agree(site: Any) -> None:
    """People start a new document by duplicating another, uuid included."""
    uuid = "5f1c9f6e-0000-4000-8000-1234567890ab"
    site.document("a/context-v/One.md", prose("1"), site_uuid=uuid)
    site.document("b/context-v/One.md", prose("2"), title="Another", site_uuid=uuid)
    site.document("c/context-v/Three.md", prose("3"), site_uuid=uuid)
    site.sync()
    assert list(site.chunks()) == ["a/context-v/One.md", "c/context-v/Three.md"]


def test_an_entry_of_a_changelog_folds_into_one_of_another(site: Any) -> None:
    site.document("mill/changelog/2025-01-01.md", count=2)
    site.roll_up(
        "mill/changelog/2025-01-01.md",
        "splash/changelog/mill.md",
        repo="mill",
        inner="changelog/2025-01-01.md",
    )
    site.sync()
    assert list(site.chunks(CHANGELOG_ROLE)) == ["mill/changelog/2025-01-01.md"]


def test_generated_copies_without_a_home_fold_into_one_of_them(site: Any) -> None:
    for name in "ab":
        site.document(
            f"{name}/context-v/Wheel.md", **{"from": "mill", "from_path": "context-v/Wheel.md"}
        )
    site.sync()
    assert_folded(site, "a/context-v/Wheel.md", "b/context-v/Wheel.md")


def test_a_copy_that_was_folded_twice_in_one_run(site: Any) -> None:
    """A known copy first gives way to a better one, which then gives way to the original, all in one sync."""
    body = prose("wheel", 20)
    generated = {"from": "mill", "from_path": "context-v/Wheel.md"}
    site.document("c/deep/er/context-v/Wheel.md", body, **generated)
    site.sync()
    site.document("a/context-v/Wheel.md", body, **generated)
    site.document("works/deep/mill/context-v/Wheel.md", body)
    site.sync()
    assert_folded(
        site,
        "works/deep/mill/context-v/Wheel.md",
        "a/context-v/Wheel.md",
        "c/deep/er/context-v/Wheel.md",
    )
    site.check()
    site.delete("works/deep/mill/context-v/Wheel.md")
    site.sync()
    assert_folded(site, "a/context-v/Wheel.md", "c/deep/er/context-v/Wheel.md")
    site.check()


# --- checkouts -------------------------------------------------------------------------------------------------------


def test_a_second_checkout_of_a_repo_adds_nothing(site: Any, counts: Any, tmp_path: Any) -> None:
    site.repo("ferry", remote="https://git.example.org/works/ferry.git")
    site.document("ferry/context-v/specs/A.md", count=2)
    site.document("ferry/context-v/specs/B.md", count=2)
    site.commit("ferry", "2025-01-01")
    site.sync()
    site.git(".", "clone", "--quiet", str(site.path("ferry")), "apps/memo/ferry-old")
    site.git(
        "apps/memo/ferry-old", "remote", "set-url", "origin", "git@git.example.org:works/ferry.git"
    )
    site.edit("apps/memo/ferry-old/context-v/specs/B.md", "## Part 2", "## Part 2 as it was")
    assert counts(site.sync()) == (0, 0, 2, 0, 0, 0)
    for name in "AB":
        assert_folded(
            site,
            f"ferry/context-v/specs/{name}.md",
            f"apps/memo/ferry-old/context-v/specs/{name}.md",
        )
    site.document("apps/memo/ferry-old/context-v/specs/Only here.md")
    assert counts(site.sync())[0] == 1
    site.delete("apps")
    assert counts(site.sync())[3] == 1
    assert {card.copies for card in site.cards().values()} == {()}
    site.check()


def test_a_worktree_embeds_only_what_only_it_has(site: Any, counts: Any) -> None:
    site.repo("ferry")
    for name in "ABC":
        site.document(f"ferry/context-v/{name}.md", count=2)
    site.commit("ferry", "2025-01-01")
    site.sync()
    site.git("ferry", "worktree", "add", "--quiet", "../a-next", "-b", "next")
    site.document("a-next/context-v/New.md", count=3)
    site.edit("a-next/context-v/A.md", "## Part 1", "## Part 1 in the worktree")
    assert counts(site.sync()) == (1, 0, 3, 0, 0, 3)
    assert list(site.chunks()) == [
        "a-next/context-v/New.md",
        *(f"ferry/context-v/{name}.md" for name in "ABC"),
    ]
    assert_folded(site, "ferry/context-v/A.md", "a-next/context-v/A.md")
    site.git("ferry", "worktree", "remove", "--force", "../a-next")
    assert counts(site.sync())[3] == 1
    site.check()


def test_submodules_of_one_repo_in_two_parents_fold(site: Any) -> None:
    site.repo("lib", remote="https://git.example.org/works/lib.git")
    site.document("lib/context-v/A.md", count=2)
    site.commit("lib", "2025-01-01")
    for parent in ("one", "two"):
        site.repo(parent)
        site.git(parent, "submodule", "--quiet", "add", str(site.path("lib")), "parts/lib")
        site.git(
            f"{parent}/parts/lib",
            "remote",
            "set-url",
            "origin",
            "https://git.example.org/works/lib",
        )
    site.sync()
    assert_folded(
        site, "lib/context-v/A.md", "one/parts/lib/context-v/A.md", "two/parts/lib/context-v/A.md"
    )


def test_the_order_in_which_files_come_makes_no_difference(site: Any, tmp_path: Any) -> None:
    """The store after many syncs is the one that a single first sync makes."""
    body = prose("wheel", 20)
    steps = [
        lambda: site.document("b/context-v/Two.md", body, title="Two"),
        lambda: site.document("c/deep/context-v/Three.md", body, title="Three"),
        lambda: site.document("a/context-v/One.md", body, title="One"),
        lambda: site.edit("b/context-v/Two.md", body[:30], "Two is its own now."),
        lambda: site.move("a/context-v/One.md", "a/context-v/plans/One.md"),
        lambda: site.delete("b/context-v/Two.md"),
        lambda: site.document("d/context-v/Four.md", body, title="Four", private="true"),
        lambda: site.delete("a/context-v/plans/One.md"),
    ]
    for number, step in enumerate(steps):
        step()
        site.sync()
        site.check()
        if number in (2, 5, 7):
            site.check_against_clean_build(tmp_path / "clean")
