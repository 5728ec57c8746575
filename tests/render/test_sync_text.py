"""What a sync's report says of its counts."""

from __future__ import annotations

from backend.render.counts import size_text
from backend.render.skipped import skipped_text
from backend.render.sync_text import report_text
from backend.schemas.roles import CHANGELOG_ROLE, CORPUS_ROLE
from backend.schemas.sync import RoleReport, SyncReport


def report(corpus: RoleReport, entries: RoleReport) -> str:
    roles = {CORPUS_ROLE: corpus, CHANGELOG_ROLE: entries}
    return report_text(SyncReport(roles=roles, seconds=1.25, embedder="static-1"))


def test_what_was_left_out_is_counted_by_what_it_is() -> None:
    several = {"copy": 3, "dismissed": 2, "private": 2, "symlink to what is left out": 2}
    assert skipped_text(several) == (
        "3 copies, 2 dismissed folders, 2 private documents, 2 symlinks to what is left out"
    )
    assert skipped_text({"copy": 1, "dismissed": 1, "unpublished": 1}) == (
        "1 copy, 1 dismissed folder, 1 unpublished entry"
    )
    assert skipped_text({"forgotten": 3}) == "3 turns or calls that were forgotten"
    assert skipped_text({"a reason of tomorrow": 2}) == "2 a reason of tomorrow"


def test_the_walks_reasons_are_all_in_words() -> None:
    from backend.tree.rules import LEFT_OUT, NOT_UNICODE, OPT_IN

    for reason in (*OPT_IN.values(), LEFT_OUT, NOT_UNICODE):
        assert skipped_text({reason: 2}) != f"2 {reason}"


def test_a_report_names_the_list_of_files_that_were_read_and_left_out() -> None:
    said = report(RoleReport(indexed=1, chunks=1, skipped={"copy": 3}), RoleReport())
    assert "  skipped: 3 copies (named in .context-vigilance/manifests/passed-over.json)\n" in said
    said = report(RoleReport(indexed=1, chunks=1, skipped={"dismissed": 1}), RoleReport())
    assert "  skipped: 1 dismissed folder\n" in said


def test_a_first_index_explains_fewer_embedded_chunks_than_there_are() -> None:
    said = report(
        RoleReport(indexed=9, chunks=2634, embedded=2633),
        RoleReport(indexed=2, chunks=451, embedded=451),
    )
    assert "3084 chunks embedded, 1 more with the same text as another (static-1) in 1.2 s" in said
    said = report(RoleReport(updated=1, unchanged=8, chunks=30, embedded=1), RoleReport(chunks=1))
    assert "; 1 chunk\n1 chunk embedded (static-1)" in said


def test_a_size_is_never_nothing() -> None:
    assert [size_text(n) for n in (1, 2_400, 999_999, 1_000_000, 12_400_000)] == [
        "1 KB", "2 KB", "1000 KB", "1.0 MB", "12.4 MB",
    ]  # fmt: skip
