"""The digest from real files to what people read: every oddity a tree can hold, in every form, and again after a clone."""

from __future__ import annotations

import re
import shutil
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest
from msgspec.structs import replace
from organisation import KIT, Organisation  # type: ignore[import-not-found]
from syrupy.assertion import SnapshotAssertion

from backend.catchup.answer import answer_catch_up
from backend.errors import UsageError
from backend.freshness.sync import Options, sync
from backend.render.digest_markdown import digest_markdown
from backend.render.digest_text import digest_text
from backend.render.page import digest_page
from backend.schemas.catchup import Digest
from backend.tree.config import create_config, load_config

NOW = datetime(2026, 6, 15, 9, 30, tzinfo=ZoneInfo("Europe/Vienna"))
REPOS = ("harbour", "harbour/pilots", "orchard")


@pytest.fixture
def tree(org: Any) -> Any:
    """Two repos, one inside a repo, a folder without git, and the root's own documents."""
    for repo in REPOS:
        org.repo(repo)
    specs = "harbour/context-v/specs"
    org.document(
        f"{specs}/Berth-Booking.md",
        day="2026-06-12",
        tags=["Booking", "user-flow"],
        authors=["Zoë Lind"],
    )
    org.document(
        f"{specs}/Mooring-Fees.md",
        day="2026-06-03",
        tags=["booking", "User Flow"],
        authors=["Marek Nowák"],
    )
    org.document(
        f"{specs}/Tide-Tables.md",
        day="2026-06-03",
        tags=["booking", "user_flow"],
        owner="Port Office",
    )
    org.document(
        f"{specs}/Thirty-Tags.md", day="2026-06-02", tags=[f"Topic {n:02d}" for n in range(30)]
    )
    org.document(f"{specs}/No-Tags.md", day="2026-06-14", lede="Nobody has sorted it yet.")
    org.document(f"{specs}/West.md", day="2026-06-09T23:30:00-05:00", tags=["zones"])
    org.document(f"{specs}/East.md", day="2026-06-09T01:00:00+13:00", tags=["zones"])
    org.document(f"{specs}/Future.md", day="2031-01-01", tags=["zones"])
    org.write(
        f"{specs}/Broken.md",
        "---\ntitle: Broken frontmatter\ndate_modified: 2026-06-08\ntags: {a: b\n---\n\nStill read.\n",
    )
    org.document(f"{specs}/Private.md", day="2026-06-14", private="true")
    org.document(
        "harbour/pilots/context-v/plans/Radio-Check.md", day="2026-06-10", tags=["Rosters"]
    )
    org.roll_up(
        "harbour/pilots/context-v/plans/Radio-Check.md",
        "harbour/site/context-v/plans/Radio-Check.md",
        repo="pilots",
        inner="context-v/plans/Radio-Check.md",
    )
    org.document(
        "orchard/changelog/2026-06-11_01.md", day=None, title="Grafting calendar", tags=["Trees"]
    )
    org.document("orchard/context-v/issues/Dated-By-Git.md", day=None)
    org.document("mill/context-v/specs/Wheels.md", day=None, title="Wheels", tags=["Rosters"])
    org.document(
        "context-v/specs/House-Rules.md",
        day="2026-05-20",
        tags=["Rules"],
        authors=["Zoe Lind", "Ines Duarte"],
    )
    for repo in reversed(REPOS):
        org.commit(repo, "2026-06-05")
    # Twenty-two documents of last year that say no date, and a sweep over all of them last week.
    for half in (range(11), range(11, 22)):
        for n in half:
            org.document(
                f"orchard/context-v/prompts/Old-{n:02d}.md", day=None, title=f"Frost alarm {n}"
            )
        org.commit("orchard", "2025-08-20")
    for n in range(22):
        org.edit(f"orchard/context-v/prompts/Old-{n:02d}.md", "title:", "status: Draft\ntitle:")
    org.commit("orchard", "2026-06-10", "a sweep")
    create_config(org.root)
    sync(org.root, load_config(org.root), now=NOW, options=Options())
    return org


def ask(root: Path, **options: Any) -> Digest:
    digest = answer_catch_up(root, load_config(root), now=NOW, **options)
    return replace(digest, senior_root="/tree")


def forms(digest: Digest) -> dict[str, str]:
    """The digest as text, Markdown, JSON and page."""
    return {
        "text": digest_text(digest, width=88),
        "markdown": digest_markdown(digest),
        "json": msgspec.json.format(msgspec.json.encode(digest)).decode(),
        "page": digest_page(digest),
    }


def paths(digest: Digest) -> list[str]:
    return sorted(
        {file.source_path for repo in digest.repos for tag in repo.tags for file in tag.files}
    )


@pytest.mark.parametrize("form", ["text", "markdown", "json", "page"])
def test_every_oddity_in_every_form(tree: Any, form: str, snapshot: SnapshotAssertion) -> None:
    text = forms(ask(tree.root, window="1m"))[form]
    for part in ("style", "script"):
        text = re.sub(rf"(?s)<{part}>.*?</{part}>", f"<{part}>…</{part}>", text)
    assert re.sub(r"sha256-[\w+/=]+", "sha256-…", text) == snapshot


def test_what_is_private_a_copy_or_only_swept_is_no_news(tree: Any) -> None:
    found = paths(ask(tree.root, window="1m"))
    assert "harbour/context-v/specs/Private.md" not in found
    assert [path for path in found if path.endswith("Radio-Check.md")] == [
        "harbour/pilots/context-v/plans/Radio-Check.md"
    ]
    assert not [path for path in found if "/Old-" in path]
    assert len([path for path in paths(ask(tree.root, window="1y")) if "/Old-" in path]) == 22


def test_dates_say_where_they_are_from(tree: Any) -> None:
    digest = ask(tree.root, window="1m")
    told = {
        file.source_path.rpartition("/")[2]: (file.date, file.date_from)
        for repo in digest.repos
        for tag in repo.tags
        for file in tag.files
    }
    assert told["Berth-Booking.md"] == ("2026-06-12", "document")
    assert told["2026-06-11_01.md"] == ("2026-06-11", "file-name")
    assert told["Dated-By-Git.md"] == ("2026-06-05", "git")
    assert told["Wheels.md"] == ("2026-06-15", "ingest")
    assert told["Future.md"][0] == "2026-06-15"


@pytest.mark.parametrize("window", ["2w", "1m", "3m", "1y"])
def test_after_a_clone_the_digest_is_the_same_byte_for_byte(
    tree: Any, tmp_path: Path, window: str
) -> None:
    fresh = Organisation(tmp_path / "fresh" / tree.root.name)  # the name is the root's slug
    for repo in REPOS:
        fresh.git(".", "clone", "--quiet", str(tree.path(repo)), repo)
    for path in tree.root.rglob("*.md"):
        place = fresh.path(path.relative_to(tree.root).as_posix())
        if KIT not in path.parts and not place.exists():  # of no repo: copied, dated today
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
    for path in fresh.root.rglob("*.md"):
        fresh.touch(path.relative_to(fresh.root).as_posix(), NOW.timestamp())
    create_config(fresh.root)
    sync(fresh.root, load_config(fresh.root), now=NOW, options=Options())
    assert forms(ask(fresh.root, window=window)) == forms(ask(tree.root, window=window))


def test_one_repo_alone(org: Any) -> None:
    org.repo("only")
    org.document("only/context-v/specs/A.md", day="2026-06-12", tags=["One"])
    create_config(org.root)
    digest = ask(org.root, window="2w")
    assert [repo.repo for repo in digest.repos] == ["only"]
    assert digest.message == "1 file modified in the last 2 weeks."


def test_a_tree_without_documents(org: Any) -> None:
    create_config(org.root)
    digest = ask(org.root, window="2w")
    assert digest.repos == ()
    assert "No document is dated in the last 2 weeks." in digest.message
    assert all(forms(digest).values())


def test_an_edit_that_left_its_date_as_it_was_is_not_said_to_be_none(org: Any) -> None:
    """The author's date counts, so the document is not in the window; that it was edited is still so."""
    org.repo("only")
    org.document("only/context-v/specs/A.md", day="2026-01-12")
    org.commit("only", "2026-01-12")
    create_config(org.root)
    org.edit("only/context-v/specs/A.md", "The ", "Now the ")
    org.commit("only", "2026-06-14")
    digest = ask(org.root, window="2w", scope="only")
    assert digest.message == (
        "No document is dated in the last 2 weeks with --scope only. "
        "The newest before that is of 2026-01-12: --since 2026-01-12 shows it."
    )


def test_an_unknown_scope_names_those_that_are_and_an_ambiguous_one_its_meanings(tree: Any) -> None:
    with pytest.raises(UsageError, match=r"Near it: harbour, harbour/pilots"):
        ask(tree.root, window="1m", scope="harbor")
    tree.document("orchard/pilots/context-v/specs/A.md", day="2026-06-12")
    tree.repo("orchard/pilots")
    sync(tree.root, load_config(tree.root), now=NOW, options=Options())
    with pytest.raises(UsageError, match=r"(?s)harbour/pilots.*orchard/pilots"):
        ask(tree.root, window="1m", scope="pilots")


def test_names_are_found_by_a_part_whatever_case_and_accents(tree: Any) -> None:
    assert paths(ask(tree.root, window="1m", by_author="ZOE")) == [
        "context-v/specs/House-Rules.md",
        "harbour/context-v/specs/Berth-Booking.md",
    ]
    assert paths(ask(tree.root, window="1m", owner="PÓRT")) == [
        "harbour/context-v/specs/Tide-Tables.md"
    ]
    assert "context-v/specs/House-Rules.md" in paths(ask(tree.root, window="1m", not_by="zoe lind"))
    assert "harbour/context-v/specs/Berth-Booking.md" not in paths(
        ask(tree.root, window="1m", not_by="zoe lind")
    )


def test_a_theme_is_only_there_where_the_window_has_themes(tree: Any) -> None:
    year = ask(tree.root, window="1y")
    assert [theme.number for theme in year.themes] == list(range(1, len(year.themes) + 1))
    one = ask(tree.root, window="1y", theme=1, max_files=1000)
    assert one.theme == 1
    assert one.total_files == year.themes[0].count == one.themes[0].count
    month = ask(tree.root, window="1m")
    assert month.themes == ()
    with pytest.raises(UsageError, match="has no themes"):
        ask(tree.root, window="1m", theme=1)


def test_a_window_and_a_first_day_are_not_both(tree: Any) -> None:
    with pytest.raises(UsageError, match="not both"):
        ask(tree.root, window="2w", since="2026-06-01")
