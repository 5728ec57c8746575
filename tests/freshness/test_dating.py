"""Which day an undated document stands under: git's, when it tells; never the day of a clone or of a sweep."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from organisation import prose

from backend.freshness.index import Index

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def dates(site: Any) -> dict[str, tuple[str, str]]:
    return {
        path.rsplit("/", 1)[-1]: (card.date, card.date_from) for path, card in site.cards().items()
    }


def test_an_undated_document_has_gits_date(site: Any) -> None:
    site.repo("ferry")
    site.document("ferry/context-v/Undated.md", day=None)
    site.document("ferry/context-v/Dated.md", day="2024-02-02")
    site.commit("ferry", "2025-06-06")
    site.document("ferry/context-v/Fresh.md", day=None)
    site.sync()
    assert dates(site) == {
        "Undated.md": ("2025-06-06", "git"),
        "Dated.md": ("2024-02-02", "document"),
        "Fresh.md": ("2026-03-02", "ingest"),
    }
    (metadata,) = [
        m
        for _, m, _ in site.records()["context-vigilance-corpus"].values()
        if m["fm_title"] == "Undated"
    ]
    assert metadata["modified_at"] == int(datetime(2025, 6, 6, 12, tzinfo=UTC).timestamp())


def test_each_repo_is_asked_for_its_own_files(site: Any) -> None:
    site.repo(".")
    site.repo("ferry")
    site.repo("ferry/parts/hull")
    site.document("context-v/Top.md", day=None)
    site.document("ferry/context-v/Middle.md", day=None)
    site.document("ferry/parts/hull/context-v/Inner.md", day=None)
    site.commit("ferry/parts/hull", "2025-03-03")
    site.commit("ferry", "2025-02-02")
    site.commit(".", "2025-01-01")
    site.sync()
    assert {name: day for name, (day, _) in dates(site).items()} == {
        "Top.md": "2025-01-01",
        "Middle.md": "2025-02-02",
        "Inner.md": "2025-03-03",
    }


def test_a_commit_dates_what_was_indexed_before_it(site: Any, counts: Any) -> None:
    site.repo("ferry")
    site.document("ferry/context-v/Early.md", day=None)
    site.sync()
    assert dates(site)["Early.md"][1] == "ingest"
    site.commit("ferry", "2026-03-03")
    report = site.sync(now=NOW + timedelta(days=5))
    assert counts(report)[5] == 0
    assert dates(site)["Early.md"] == ("2026-03-03", "git")
    site.check()


def test_a_commit_that_also_brings_a_new_document_dates_the_old_one(site: Any) -> None:
    site.repo("ferry")
    site.document("ferry/context-v/Early.md", day=None)
    site.sync()
    site.document("ferry/context-v/Later.md", day=None)
    site.commit("ferry", "2026-03-03")
    site.sync(now=NOW + timedelta(days=5))
    assert dates(site) == {"Early.md": ("2026-03-03", "git"), "Later.md": ("2026-03-03", "git")}


def test_a_rebuild_later_does_not_make_old_documents_new(site: Any) -> None:
    site.document("loose/context-v/A.md", day=None)
    site.sync()
    site.sync(rebuild=True, now=NOW + timedelta(days=100))
    assert dates(site) == {"A.md": ("2026-03-02", "ingest")}


def test_an_undated_document_outside_git_that_is_edited_is_news(site: Any) -> None:
    site.document("loose/context-v/A.md", prose("a"), day=None)
    site.sync()
    site.edit("loose/context-v/A.md", "The ", "Now the ")
    site.sync(now=NOW + timedelta(days=100))
    assert dates(site) == {"A.md": ("2026-06-10", "ingest")}


@pytest.mark.parametrize("committed", [True, False])
def test_a_pure_rename_keeps_the_date(site: Any, committed: bool) -> None:
    site.repo("ferry")
    for name in ("Git", "Loose"):
        site.document(f"{'ferry' if name == 'Git' else 'loose'}/context-v/{name}.md", day=None)
    site.commit("ferry", "2025-06-06")
    site.sync()
    site.move("ferry/context-v/Git.md", "ferry/context-v/specs/Git-Moved.md")
    site.move("loose/context-v/Loose.md", "loose/context-v/Loose-Moved.md")
    if committed:
        site.commit("ferry", "2026-03-04")
    kept = {"Git-Moved.md": ("2025-06-06", "git"), "Loose-Moved.md": ("2026-03-02", "ingest")}
    site.sync(now=NOW + timedelta(days=5))
    assert dates(site) == kept
    site.commit("ferry", "2026-03-06")
    site.sync(now=NOW + timedelta(days=6))
    assert dates(site) == kept
    site.check()


@pytest.mark.parametrize("ended", ["stopped", "killed"])
def test_a_rename_keeps_the_date_where_a_sync_ends_in_between(
    site: Any, killed: Callable[..., int], ended: str
) -> None:
    """The old paths are out of the index by then, and the new ones not yet in it."""
    site.repo("ferry")
    site.document("ferry/context-v/Git.md", day=None)
    site.document("loose/context-v/Loose.md", day=None)
    site.commit("ferry", "2025-06-06")
    site.sync()
    kept = dates(site)
    site.move("ferry/context-v/Git.md", "ferry/context-v/specs/Git.md")
    site.move("loose/context-v/Loose.md", "loose/context-v/Moved.md")
    if ended == "stopped":
        site.sync(max_seconds=-1.0)
    else:
        assert killed("run_batch", "sync", watched="/backend/freshness/")
    index = Index.for_reading(site.kit / "index.sqlite")
    assert index
    with index:
        assert (index.known(), index.fact("moved") != "") == ({}, True)
    site.sync(now=NOW + timedelta(days=5))
    assert dates(site) == {"Git.md": kept["Git.md"], "Moved.md": kept["Loose.md"]}
    index = Index.for_reading(site.kit / "index.sqlite")
    assert index
    with index:
        assert index.fact("moved") == ""
    site.check()


def test_a_rename_with_an_edit_is_news(site: Any) -> None:
    site.repo("ferry")
    site.document("ferry/context-v/Old.md", day=None)
    site.commit("ferry", "2025-06-06")
    site.sync()
    site.move("ferry/context-v/Old.md", "ferry/context-v/New.md")
    site.edit("ferry/context-v/New.md", "The ", "Now the ")
    site.sync(now=NOW + timedelta(days=5))
    assert dates(site) == {"New.md": ("2026-03-07", "ingest")}


@pytest.mark.skipif(os.name == "nt", reason="a shell script in git's place")
@pytest.mark.parametrize("again", [{}, {"quick": True}, {"rebuild": True}], ids=str)
def test_where_git_fails_the_dates_stay_and_it_is_asked_again(
    site: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: dict[str, bool]
) -> None:
    site.repo("ferry")
    site.document("ferry/context-v/Undated.md", day=None)
    site.commit("ferry", "2025-06-06")
    site.sync()
    site.document("ferry/context-v/Fresh.md", day=None)
    site.commit("ferry", "2025-07-07")
    path = os.environ["PATH"]
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").write_text("#!/bin/sh\necho fatal: dubious ownership >&2\nexit 128\n")
    (tmp_path / "bin/git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{path}")
    for _ in range(2):
        report = site.sync(**again)
        (note,) = [note for note in report.notes if note.startswith("ferry: git failed")]
        assert "dubious ownership" in note
        assert dates(site) == {
            "Undated.md": ("2025-06-06", "git"),
            "Fresh.md": ("2026-03-02", "ingest"),
        }
    monkeypatch.setenv("PATH", path)
    assert site.sync(quick=True).notes == ()
    assert dates(site) == {
        "Undated.md": ("2025-06-06", "git"),
        "Fresh.md": ("2025-07-07", "git"),
    }
    site.check()
