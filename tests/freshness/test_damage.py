"""Files of the store that are deleted or damaged: the next sync makes them anew, and embeds no more than it must."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from organisation import prose

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@pytest.fixture
def tree(site: Any) -> Any:
    for number in range(12):
        site.document(f"r{number % 3}/context-v/specs/Doc-{number}.md", count=3)
    site.document("r0/changelog/2025-01-01.md")
    site.sync()
    site.before = site.records()
    return site


def overwrite(path: Path, start: int, length: int, byte: bytes = b"\x5a") -> None:
    with path.open("r+b") as file:
        file.seek(start)
        file.write(byte * length)


INDEX: dict[str, Callable[[Path], Any]] = {
    "deleted": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "garbage": lambda path: path.write_bytes(b"no database at all\n" * 500),
    "truncated to a tenth": lambda path: path.write_bytes(
        path.read_bytes()[: path.stat().st_size // 10]
    ),
    "truncated to half": lambda path: path.write_bytes(
        path.read_bytes()[: path.stat().st_size // 2]
    ),
    "a page of its middle overwritten": lambda path: overwrite(
        path, path.stat().st_size // 2, 20_000
    ),
    "of another version": lambda path: _other_version(path),
}


def _other_version(path: Path) -> None:
    import sqlite3

    db = sqlite3.connect(path)
    db.execute("UPDATE meta SET value = 'a later one' WHERE key = 'schema'")
    db.commit()
    db.close()


@pytest.mark.parametrize("damage", INDEX.values(), ids=INDEX)
def test_a_damaged_index_is_made_anew_from_the_tree(
    tree: Any, damage: Callable[[Path], Any]
) -> None:
    said_of = {
        "missing": [INDEX["deleted"], INDEX["empty"]],
        "of another version": [INDEX["of another version"]],
        "damaged": [INDEX["garbage"], INDEX["truncated to a tenth"], INDEX["truncated to half"]],
    }
    damage(tree.kit / "index.sqlite")
    tree.document("r0/context-v/specs/New.md")
    notes = tree.sync().notes
    tree.check()
    for was in ("missing", "of another version", "damaged"):
        if damage in said_of[was]:
            assert notes == (f"the index was {was}: made again from your documents",)
    assert tree.sync().notes == ()
    records = tree.records()
    assert {i: text for rows in records.values() for i, (text, _, _) in rows.items()} == {
        i: text for rows in tree.before.values() for i, (text, _, _) in rows.items()
    } | {
        "r0::r0/context-v/specs/New.md::0000": records["context-vigilance-corpus"][
            "r0::r0/context-v/specs/New.md::0000"
        ][0]
    }


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE passed_over SET entry = substr(entry, 2)",
        "UPDATE document SET repo = CAST(x'ff' AS TEXT) WHERE id = 3",
    ],
    ids=["no JSON", "no text"],
)
@pytest.mark.parametrize("options", [{}, {"rebuild": True}], ids=["sync", "rebuild"])
def test_cells_of_an_index_that_cannot_be_read_are_made_anew(
    tree: Any, tmp_path: Path, change: str, options: dict[str, Any]
) -> None:
    """A disk that changes a byte leaves SQLite's pages sound."""
    import sqlite3

    tree.document("r0/context-v/specs/Hidden.md", private="true")
    tree.sync()
    db = sqlite3.connect(tree.kit / "index.sqlite")
    assert db.execute(change).rowcount == 1
    db.commit()
    db.close()
    tree.sync(**options)
    tree.check()
    tree.check_against_clean_build(tmp_path / "clean")


CHROMA: dict[str, Callable[[Path], Any]] = {
    "folder deleted": shutil.rmtree,
    "database garbage": lambda folder: (folder / "chroma.sqlite3").write_bytes(
        b"no database\n" * 900
    ),
    "database empty": lambda folder: (folder / "chroma.sqlite3").write_bytes(b""),
    "database truncated": lambda folder: (folder / "chroma.sqlite3").write_bytes(
        (folder / "chroma.sqlite3").read_bytes()[:50_000]
    ),
    "vectors deleted": lambda folder: [
        shutil.rmtree(path) for path in folder.iterdir() if path.is_dir()
    ],
    "vectors garbage": lambda folder: [
        path.write_bytes(b"x" * 100) for path in folder.glob("*/*.bin")
    ],
}


@pytest.mark.parametrize("damage", CHROMA.values(), ids=CHROMA.keys())
def test_a_damaged_chroma_is_made_anew_without_embedding(
    tree: Any, counts: Any, damage: Callable[[Path], Any], cv_process: Any
) -> None:
    """In a process of its own: Chroma may crash on what it finds."""
    damage(tree.kit / "chroma")
    tree.document("r0/context-v/specs/New.md")
    done = cv_process("sync", "--json")
    assert done.code == 0, done
    report = json.loads(done.out)
    assert sum(part["embedded"] for part in report["roles"].values()) == 1
    tree.check()
    assert len(tree.chunks()) == 13


PANICS = [
    "collections.schema_str",
    "collections.config_json_str",
    "segments.scope",
    "segments.type",
]
"""Columns of Chroma's own database in which one byte that is no UTF-8 has Chroma 1.5.9 give up with a panic of Rust's."""


def not_utf8(folder: Path, column: str) -> None:
    table, name = column.split(".")
    with closing(sqlite3.connect(folder / "chroma.sqlite3")) as db, db:
        db.execute(f"UPDATE {table} SET {name} = CAST(CAST({name} AS BLOB) || x'FF' AS TEXT)")


@pytest.mark.parametrize("column", PANICS)
def test_a_panic_of_chromas_is_damage_like_any_other(
    tree: Any, column: str, cv_process: Any
) -> None:
    """Nothing of it reaches the person; a query does without Chroma, and the next sync that has something to tell it makes it
    anew, without embedding.
    """
    not_utf8(tree.kit / "chroma", column)
    for asked in ("find", "search"):
        done = cv_process(asked, "anchor", "--json")
        assert (done.code, done.err) == (0, "")
        notes = json.loads(done.out)["notes"]
        assert any("searched without Chroma, in the index's own copy" in note for note in notes)
    tree.document("r0/context-v/specs/New.md")
    done = cv_process("sync", "--json")
    assert (done.code, done.err) == (0, "")
    report = json.loads(done.out)
    assert sum(part["embedded"] for part in report["roles"].values()) == 1
    assert report["notes"][0].startswith("the Chroma store was made anew (")
    tree.check()
    assert "without Chroma" not in cv_process("find", "anchor", "--json").out


def test_a_panic_is_an_error_of_ours_and_standard_error_stays_open(tree: Any) -> None:
    from backend.errors import CvError
    from backend.freshness.store import reading
    from backend.tree.config import load_config

    not_utf8(tree.kit / "chroma", PANICS[0])
    error = os.fstat(2)
    with (
        pytest.raises(CvError, match=r"Chroma at .*Utf8Error"),
        reading(tree.root, load_config(tree.root)) as store,
    ):
        store.to_read("context-vigilance-corpus").count()
    assert os.fstat(2).st_ino == error.st_ino, "it is where it was"


@pytest.mark.skipif(os.name == "nt", reason="ulimit")
def test_few_file_handles_cost_an_answer_not_a_traceback(tree: Any, cv_process: Any) -> None:
    few = ("/bin/sh", "-c", 'ulimit -n 12; exec "$@"', "sh")
    done = cv_process("find", "anchor", "--json", prefix=few)
    assert (done.code, done.err) == (0, "")
    assert "searched without Chroma, in the index's own copy of the vectors (" in done.out
    tree.document("r0/context-v/specs/New.md")
    done = cv_process("sync", prefix=few)
    assert done.code == 1
    assert done.err.startswith("cv: ")
    assert len(done.err.splitlines()) == 1
    assert cv_process("sync").code == 0
    tree.check()


def graph_of(folder: Path) -> Path:
    """Give the folder of the role's graph of vectors: of two the larger one."""
    return max(folder.glob("*/index_metadata.pickle"), key=lambda path: path.stat().st_size).parent


def cut(path: Path, length: int) -> None:
    path.write_bytes(path.read_bytes()[:length])


EACH = 4 * 65 + 4 * 384 + 8
"""Bytes of a place in ``data_level0.bin``: 64 links and how many they are, a vector of the static embedder, a label."""

GRAPH: dict[str, Callable[[Path], Any]] = {
    "header cut": lambda folder: cut(folder / "header.bin", 80),
    "header cut to half": lambda folder: cut(folder / "header.bin", 40),
    "header emptied": lambda folder: cut(folder / "header.bin", 0),
    "places cut": lambda folder: cut(folder / "data_level0.bin", 10 * EACH),
    "lengths cut": lambda folder: cut(folder / "length.bin", 20),
    "upper links cut": lambda folder: cut(folder / "link_lists.bin", 40),
    "links lead nowhere": lambda folder: overwrite(
        folder / "data_level0.bin", 10 * EACH + 4, 40, b"\xff"
    ),
    "more links than there can be": lambda folder: overwrite(
        folder / "data_level0.bin", 10 * EACH, 2, b"\xff"
    ),
    "upper links overwritten": lambda folder: overwrite(folder / "link_lists.bin", 0, 40, b"\xff"),
}


@pytest.mark.parametrize("damage", GRAPH.values(), ids=GRAPH)
def test_a_graph_that_does_not_fit_together_ends_no_process(
    tree: Any, damage: Callable[[Path], Any], cv_process: Any
) -> None:
    """Chroma itself believes what stands there: a query, a sync after an edit, or each one from then on ended with SIGSEGV."""
    damage(graph_of(tree.kit / "chroma"))
    found = cv_process("find", "anchor", "--json")
    assert (found.code, found.err) == (0, "")
    tree.document("r0/context-v/specs/New.md")
    done = cv_process("sync", "--json")
    assert (done.code, done.err) == (0, "")
    assert sum(part["embedded"] for part in json.loads(done.out)["roles"].values()) == 1
    assert "the Chroma store was made anew" in found.out + done.out
    tree.check()


def test_a_sync_with_nothing_to_do_sees_that_a_graph_is_too_short(tree: Any) -> None:
    cut(graph_of(tree.kit / "chroma") / "header.bin", 80)
    assert tree.sync().notes == ("the Chroma store was made anew",)
    tree.check()
    assert tree.sync().notes == ()


def test_what_is_cut_off_a_graph_is_seen_wherever_that_is(tree: Any) -> None:
    from backend.freshness.graph import Header, damage

    folder = tree.kit / "chroma"
    assert damage(folder, links=True) == ""
    for header in folder.glob("*/header.bin"):
        used, each = Header.read(header).used, Header.read(header).each
        for name, needed in (
            ("header.bin", 100),
            ("data_level0.bin", used * each),
            ("length.bin", used * 4),
            ("link_lists.bin", used * 4),
        ):
            path = header.with_name(name)
            whole = path.read_bytes()
            for length in {0, 1, needed // 3, needed // 2, needed - 4, needed - 1}:
                path.write_bytes(whole[:length])
                assert damage(folder, links=False) != "", (name, length)
            path.write_bytes(whole)
    assert damage(folder, links=True) == ""


@pytest.mark.parametrize("damage", ["deleted", "one deleted", "garbage", "emptied"])
def test_damaged_manifests_are_written_anew(tree: Any, counts: Any, damage: str) -> None:
    before = tree.cards()
    folder = tree.kit / "manifests"
    if damage == "deleted":
        shutil.rmtree(folder)
    elif damage == "one deleted":
        (folder / "context-vigilance-corpus.json").unlink()
    else:
        for path in folder.glob("*.json"):
            path.write_text("{ not json" if damage == "garbage" else "")
    assert counts(tree.sync()) == (0, 0, 13, 0, 0, 0)
    assert tree.cards() == before
    tree.check()


def test_leftovers_of_a_killed_write_do_no_harm(tree: Any) -> None:
    (tree.kit / ".config.json.999999.tmp").write_text("{")
    (tree.kit / "manifests/.places.json.999999.tmp").write_text("{")
    (tree.kit / "writer.lock").write_text("anything")
    tree.sync()
    tree.check()


def test_an_embedder_that_changes_rebuilds_all_vectors_and_no_text(
    tree: Any, same: Any, counts: Any, tmp_path: Path
) -> None:
    """A store never mixes vectors of two embedders. Here the index is told that another one filled it."""
    import sqlite3

    db = sqlite3.connect(tree.kit / "index.sqlite")
    db.execute("UPDATE meta SET value = 'static-00000000' WHERE key = 'embedder'")
    db.execute("UPDATE vector SET data = zeroblob(length(data))")
    db.commit()
    db.close()
    report = tree.sync()
    assert counts(report)[:4] == (0, 0, 13, 0)
    (note,) = report.notes
    assert note.startswith("the embedder changed from static-00000000 to static-")
    assert same(tree.records(), tree.before)
    tree.check()


def test_an_embedder_that_cannot_be_had_leaves_the_store_as_it_is(tree: Any, same: Any) -> None:
    from backend.errors import CvError
    from backend.tree.config_edits import set_key
    from backend.tree.home import approve

    config = set_key(tree.root, "embedding.name", "no-such-embedder")
    approve(tree.root, config.embedding)
    with pytest.raises(CvError, match=r"embedding.name: expected .*got 'no-such-embedder'"):
        tree.sync()
    set_key(tree.root, "embedding.name", "static")
    assert same(tree.records(), tree.before)
    tree.sync()
    tree.check()


def test_a_text_that_comes_back_is_not_embedded_again_while_it_is_elsewhere(
    tree: Any, counts: Any
) -> None:
    """Vectors are kept by content: the same words in two documents cost one embedding."""
    tree.document(
        "a/context-v/One.md",
        f"## Same\n\n{prose('same')}\n\n## Other\n\n{prose('1')}",
        title="Both",
    )
    tree.document(
        "b/context-v/Two.md",
        f"## Same\n\n{prose('same')}\n\n## Other\n\n{prose('2')}",
        title="Both",
    )
    assert counts(tree.sync()) == (2, 0, 13, 0, 0, 3)


@pytest.mark.parametrize("was", ["missing", "of another version", "damaged"])
def test_an_index_made_anew_makes_no_document_new(site: Any, was: str) -> None:
    """When an undated document came is known from its manifest; what changed meanwhile is news all the same."""
    for name in ("Kept", "Edited"):
        site.document(f"ferry/context-v/{name}.md", day=None)
    site.sync()
    path = site.kit / "index.sqlite"
    if was == "missing":
        path.unlink()
    elif was == "damaged":
        path.write_bytes(b"no database" * 999)
    else:
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("UPDATE meta SET value = '1' WHERE key = 'schema'")
    site.edit("ferry/context-v/Edited.md", "The ", "Now the ")
    report = site.sync(now=NOW + timedelta(days=60))
    assert any(f"the index was {was}" in note for note in report.notes)
    days = {path.rsplit("/")[-1]: card.date for path, card in site.cards().items()}
    assert days == {"Kept.md": "2026-03-02", "Edited.md": "2026-05-01"}


@pytest.mark.parametrize("command", ["find", "search", "status"])
def test_a_cell_that_cannot_be_read_is_said_with_its_cure(
    tree: Any, cv_process: Callable[..., Any], command: str
) -> None:
    """A sync reads only what has changed, and does not meet it."""
    with closing(sqlite3.connect(tree.kit / "index.sqlite")) as db, db:
        db.execute("UPDATE document SET fields = X'FF00', entry = X'FF00'")
    done = cv_process(*([command] if command == "status" else [command, "the ferry"]))
    assert "defect" not in done.out + done.err
    if command != "status":
        assert (done.code, "cv doctor --fix" in done.err) == (1, True)
    assert cv_process("doctor", "--fix").code == 0
    assert cv_process("find", "the ferry").code == 0
