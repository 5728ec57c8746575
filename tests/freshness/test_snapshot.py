"""A sync that finds nothing to do costs a stat for each folder and file; whatever changes is seen all the same."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from organisation import MARKER

from backend.freshness.intake import LARGEST_FILE
from backend.freshness.places import TIE
from backend.freshness.snapshot import load_snapshot
from backend.freshness.tie import LAYOUT
from backend.session.look import look
from backend.tree.config import load_config
from backend.tree.config_edits import set_key
from backend.tree.lock import exclusive

NOTE = "bay-labs/context-v/notes/Ferry.md"


@pytest.fixture
def at_rest(site: Any) -> Any:
    """A synced tree whose folders have not moved for long, as those of yesterday."""
    site.repo("bay-labs")
    site.document(NOTE, "## Ferry\n\nIt crosses twice a day.", day=None)
    site.document("bay-labs/context-v/notes/Kiln.md")
    site.document("bay-labs/changelog/2025-04-01.md")
    site.document("site/context-v/specs/Jetty.md")
    site.document("stores/shared/Signal.md")
    site.link("site/context-v/specs/Later.md", str(site.path("not-yet.md")))
    site.link("site/context-v/specs/Signal.md", "../../../stores/shared/Signal.md")
    site.document("stores/more/Winch.md")
    site.link("later/context-v", "../stores/more")
    site.commit("bay-labs", "2025-03-10")
    for folder, _, _ in os.walk(site.root):
        os.utime(folder, (1_700_000_000, 1_700_000_000))
    site.sync()
    return site


def seen(site: Any) -> Any:
    return load_snapshot(site.root, load_config(site.root))


def test_nothing_changed_is_told_without_the_writers_lock(at_rest: Any) -> None:
    whole = at_rest.sync()
    assert seen(at_rest) is not None
    with exclusive(at_rest.kit / "writer.lock", seconds=0, busy=""):
        quick = at_rest.sync(quick=True)

    assert quick.roles == whole.roles


def test_a_store_of_an_older_layout_is_made_anew_by_the_sessions_sync(at_rest: Any) -> None:
    """Though nothing has changed in the tree: in it, words of deleted text would stay."""
    now = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
    config = load_config(at_rest.root)
    assert not look(at_rest.root, config, now=now).stale
    tie = at_rest.kit / "chroma" / TIE
    older = tie.read_text().removeprefix(f"{LAYOUT}-")
    tie.write_text(older)
    with closing(sqlite3.connect(at_rest.kit / "index.sqlite")) as db, db:
        token = older.partition("\n")[0]
        db.execute("UPDATE meta SET value = ? WHERE key = 'chroma'", (token,))
    found = look(at_rest.root, config, now=now)
    assert (found.changed, found.stale) == (0, True)
    report = at_rest.sync(quick=True)
    assert "the Chroma store was made anew" in report.notes
    assert sum(role.embedded for role in report.roles.values()) == 0
    assert not look(at_rest.root, config, now=now).stale
    at_rest.check()


def touch_same_size(site: Any) -> None:
    path = site.path(NOTE)
    path.write_bytes(path.read_bytes().replace(b"twice", b"never"))


def move_the_repo(site: Any) -> None:
    site.path("bay-labs/notes.txt").write_text("another commit")
    site.commit("bay-labs", "2025-03-20")


def of_another_schema(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE meta SET value = '1' WHERE key = 'schema'")
        db.commit()


CHANGES: dict[str, Callable[[Any], object]] = {
    "edited, same size": touch_same_size,
    "new": lambda site: site.document("bay-labs/context-v/notes/New.md"),
    "new in a new folder": lambda site: site.document("bay-labs/context-v/plans/deep/New.md"),
    "new documents folder": lambda site: site.document("site/web/context-v/New.md"),
    "new repo": lambda site: site.document("another/context-v/New.md"),
    "new documents folder in an old plain one": lambda site: site.document("stores/more/context-v/New.md"),
    "marker above what a link leads to": lambda site: site.dismiss("stores/shared"),
    "marker above the folder that a documents folder leads to": lambda site: site.dismiss("stores"),
    "a link that leads elsewhere": lambda site: (
        site.path("site/context-v/specs/Signal.md").unlink(),
        site.link("site/context-v/specs/Signal.md", "../../../stores/more/Winch.md"),
    ),
    "gone": lambda site: site.path(NOTE).unlink(),
    "gone folder": lambda site: shutil.rmtree(site.path("site/context-v/specs")),
    "renamed": lambda site: site.path(NOTE).rename(site.path(NOTE).with_name("Boat.md")),
    "entry edited": lambda site: site.document(
        "bay-labs/changelog/2025-04-01.md", "## More\n\nAnd more."
    ),
    "marker": lambda site: site.write(f"site/{MARKER}", ""),
    "marker deep": lambda site: site.write(f"bay-labs/context-v/notes/{MARKER}", ""),
    "the target of a dangling link": lambda site: site.document("not-yet.md"),
    "another commit": move_the_repo,
    "sources.md": lambda site: (site.kit / "sources.md").write_text("---\nsources: []\n---\n"),
    "a manifest": lambda site: (site.kit / "manifests/changelog-corpus.json").write_text("{}"),
    "Chroma gone": lambda site: shutil.rmtree(site.kit / "chroma"),
    "a part of Chroma gone": lambda site: shutil.rmtree(
        next(path for path in (site.kit / "chroma").iterdir() if path.is_dir())
    ),
    "index of another schema": lambda site: of_another_schema(site.kit / "index.sqlite"),
    "index damaged": lambda site: (site.kit / "index.sqlite").write_bytes(b"damaged" * 2000),
    "index empty": lambda site: (site.kit / "index.sqlite").write_bytes(b""),
    "Chroma's database damaged": lambda site: (site.kit / "chroma/chroma.sqlite3").write_bytes(b"x" * 9000),
    "index gone": lambda site: (site.kit / "index.sqlite").unlink(),
    "collection's name": lambda site: set_key(
        site.root, "collections.changelog_corpus", "entries"
    ),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_seen(at_rest: Any, change: str) -> None:
    assert seen(at_rest) is not None

    CHANGES[change](at_rest)

    assert seen(at_rest) is None
    at_rest.sync(quick=True)
    at_rest.check()


def test_a_folder_that_moved_at_the_moment_it_was_listed_is_listed_again(at_rest: Any) -> None:
    folder = at_rest.path("bay-labs/context-v/notes")
    at_rest.document("bay-labs/context-v/notes/New.md")
    ahead = 4_000_000_000.5  # a clock that runs ahead: whatever comes next may not move it
    os.utime(folder, (ahead, ahead))
    at_rest.sync(quick=True)
    at_rest.document("bay-labs/context-v/notes/Newer.md")
    os.utime(folder, (ahead, ahead))

    assert seen(at_rest) is None
    assert at_rest.sync(quick=True).roles["context-vigilance-corpus"].indexed == 1


def test_a_file_that_fails_is_tried_again(at_rest: Any) -> None:
    large = at_rest.document("bay-labs/context-v/notes/New.md")
    os.truncate(large, LARGEST_FILE + 1)

    for _ in range(2):
        (failure,) = at_rest.sync(quick=True).roles["context-vigilance-corpus"].failed
        assert failure.path == "bay-labs/context-v/notes/New.md"
    assert seen(at_rest) is None
