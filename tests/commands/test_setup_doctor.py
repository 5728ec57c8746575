"""``cv doctor``: each kind of damage is found, named with what to do, and mended by ``--fix`` where it is ours to mend."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from backend.session.journal import Record, write_record
from backend.setup.checks import store
from backend.setup.installer import count_packages
from backend.tree.config import load_config
from backend.tree.lock import exclusive

ROOT = Path(__file__).resolve().parents[2]


class Seen:
    """A diagnosis, as JSON."""

    def __init__(self, code: int, text: str) -> None:
        self.code = code
        self.json = json.loads(text)
        self.findings = self.json["findings"]

    def of(self, check: str, *levels: str) -> list[dict[str, Any]]:
        levels = levels or ("note", "warning", "problem")
        return [f for f in self.findings if f["check"] == check and f["level"] in levels]

    def one(self, check: str, *levels: str) -> dict[str, Any]:
        (found,) = self.of(check, *levels)
        assert found["todo"], "each finding says what to do"
        return found

    @property
    def problems(self) -> list[dict[str, Any]]:
        return [f for f in self.findings if f["level"] == "problem"]


@pytest.fixture
def doctor(cv: Any) -> Callable[..., Seen]:
    def run(*arguments: str, **keys: Any) -> Seen:
        done = cv("doctor", "--json", *arguments, **keys)
        assert done.err == ""
        return Seen(done.code, done.out)

    return run


@pytest.fixture
def untouched(tree: Any) -> Any:
    """The tree; at the end of the test every document must be as it was when it was last said to be right."""
    tree.right = tree.fingerprint()
    yield tree
    assert tree.fingerprint() == tree.right


@pytest.fixture
def bare(org: Any, cv: Any) -> Any:
    """The same without an index (so that nothing opens Chroma, which takes its second)."""
    org.document("ferry/context-v/specs/Timetable.md")
    cv("init", "--senior-root", str(org.root), "--yes", "--no-index")
    return org


def kit(tree: Any, path: str) -> Path:
    return tree.path(f".context-vigilance/{path}")


def shown(text: str, steady: Callable[[str], str]) -> str:
    """The report without what is a matter of the machine that the tests run on."""
    text = re.sub(r"(?m)^ok       environment: .*\n(?:         .*\n)*", "", steady(text))
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "MOMENT", text)


# --- well, and in words ----------------------------------------------------------------------------------------------


def test_a_tree_that_is_well(untouched: Any, cv: Any, steady: Any, snapshot: Any) -> None:
    done = cv("doctor")
    assert (done.code, done.err) == (0, "")
    assert shown(done.out, steady) == snapshot


def test_much_that_is_amiss_in_words(untouched: Any, cv: Any, steady: Any, snapshot: Any) -> None:
    for number in range(23):
        untouched.write(
            f"barn/context-v/specs/Odd-{number:02}.md",
            f"---\ntitle: [a\n---\n\nHay and straw, load {number}.\n",
        )
    cv("sync")
    kit(untouched, "manifests/changelog-corpus.json").write_text("{")
    kit(untouched, ".gitignore").unlink()
    untouched.write(".claude/settings.json", "{\n  oops\n}\n")
    untouched.right = untouched.fingerprint()
    done = cv("doctor")
    assert done.code == 1
    assert shown(done.out, steady) == snapshot
    assert shown(cv("doctor", "--fix").out, steady) == snapshot


def test_outside_of_a_root_the_machine_is_looked_at_and_it_ends_3(cv: Any, tmp_path: Path) -> None:
    done = cv("doctor", cwd=tmp_path)
    assert done.code == 3
    assert "environment: Python 3." in done.out
    assert "there is no senior root here: 'cv init --senior-root PATH'" in done.out
    assert ("All is well" in done.out, done.err) == (False, "")


def test_the_set_up_counts_the_packages_that_the_doctor_counts(cv: Any, tmp_path: Path) -> None:
    counted = count_packages([ROOT / "requirements.txt"])
    assert f"; {counted} packages;" in cv("doctor", cwd=tmp_path).out


# --- the machine -----------------------------------------------------------------------------------------------------


def test_missing_packages_and_a_damaged_model_are_problems(bare: Any, tmp_path: Path) -> None:
    plugin = tmp_path / "plugin"
    shutil.copytree(
        ROOT / "backend", plugin / "backend", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copytree(ROOT / ".claude-plugin", plugin / ".claude-plugin")
    pins = "no-such-package==1.0 \\\n    --hash=sha256:00\nclick==0.0.1\nother==2 ; python_version < '3'\n"
    (plugin / "requirements.txt").write_text(pins)
    model = plugin / "backend/freshness/model"
    (model / "table.npy").write_bytes((model / "table.npy").read_bytes()[:-1])
    done = subprocess.run(
        [sys.executable, "-P", "-s", "-m", "backend", "doctor", "--json"],
        cwd=bare.root,
        env={**os.environ, "PYTHONPATH": str(plugin)},
        capture_output=True,
        check=False,
    )
    seen = Seen(done.returncode, done.stdout.decode())
    assert seen.code == 1
    missing, other = seen.of("environment")
    assert missing["what"] == "not installed: no-such-package"
    assert re.fullmatch(
        r"other versions than those that were tried: click \S+ instead of 0.0.1", other["what"]
    )
    assert seen.one("model")["what"] == "missing or not as shipped: table.npy"
    assert "the plugin's hooks are damaged" in seen.of("hooks", "problem")[0]["what"]


def test_a_home_that_cannot_be_written_to(
    bare: Any, doctor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare.write("file", "")
    monkeypatch.setenv("CV_HOME", str(bare.path("file/cv")))
    seen = doctor()
    assert seen.code == 1
    assert "cannot be written to" in seen.one("environment", "problem")["what"]


def test_environments_of_other_versions_and_kept_defects(
    bare: Any, doctor: Any, machine: Path
) -> None:
    old = machine / "cv/environments/0123456789abcdef"
    old.mkdir(parents=True)
    (old / "big").write_bytes(bytes(3 * 1024**2))
    (machine / "cv/defects.log").write_text("--- 0.1 KeyError\nx\n--- 0.1 TypeError\ny\n")
    environments, defects = doctor().of("environment", "note")
    assert environments["what"] == "one environment of other versions, 3 MB: 0123456789abcdef"
    assert defects["what"] == "2 unforeseen errors were kept"
    assert old.is_dir()


def test_the_environment_of_the_tests_is_called_so(bare: Any, doctor: Any, machine: Path) -> None:
    for name in ("requirements.txt", "requirements-dev.txt"):
        key = (ROOT / name).read_text().split()[2]
        (machine / "cv/environments" / key).mkdir(parents=True)
    found = doctor().one("environment", "note")
    assert found["what"] == f"the environment that 'cv test' made for itself, 0 MB: {key}"
    assert "delete it" in found["todo"]


# --- config and sources ----------------------------------------------------------------------------------------------


def test_a_broken_config_is_a_problem_that_a_person_mends(bare: Any, doctor: Any) -> None:
    path = kit(bare, "config.json")
    path.write_text('{\n  "kickoff": "on",\n}\n')
    for arguments in ((), ("--fix",)):
        seen = doctor(*arguments)
        assert seen.code == 1
        assert "line 3, column 1" in seen.one("config")["what"]
    assert path.read_text() == '{\n  "kickoff": "on",\n}\n'


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("config.json", '{"nudge": {"after_days": "5 days"}}', 'got "5 days"'),
        ("config.json", '{"chroma": 5}', "chroma: expected an object"),
        ("config.json", '{"kickoff": "on"', "not valid JSON"),
        ("sources.md", "---\nsources:\n  - path: [\n---\n", "mend the frontmatter there"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_once(
    tree: Any, cv: Any, doctor: Any, file: str, text: str, words: str
) -> None:
    """Not by every check and run that came to grief over it as well."""
    kit(tree, file).write_text(text)
    error = cv("sync").err.removeprefix("cv: ").strip()
    assert words in error
    now = int(time.time())
    write_record(tree.root, "hook", Record(at=now, ok=False, error=error))
    write_record(tree.root, "sync", Record(at=now, ok=False, error=f"the sync failed: {error}"))
    seen = doctor()
    assert seen.code == 1
    assert [words in each["what"] for each in seen.json["findings"]].count(True) == 1
    assert seen.of("doctor") == []


def test_each_wrong_value_is_a_problem_with_the_command_that_mends_it(
    bare: Any, doctor: Any
) -> None:
    raw = json.loads(kit(bare, "config.json").read_text()) | {"kickoff": "sometimes", "nudge": 3}
    kit(bare, "config.json").write_text(json.dumps(raw))
    for arguments in ((), ("--fix",)):
        first, second = doctor(*arguments).of("config", "problem")
        assert "'cv config unset nudge' gives" in first["todo"]
        assert "'cv config set kickoff VALUE' mends it, 'cv config unset kickoff'" in second["todo"]
    assert json.loads(kit(bare, "config.json").read_text()) == raw


def test_unknown_keys_and_dismissed_paths_that_are_gone(bare: Any, doctor: Any) -> None:
    path = kit(bare, "config.json")
    path.write_text(
        json.dumps(json.loads(path.read_text()) | {"kickof": "on", "dismissed_paths": ["old"]})
    )
    unknown, dismissed = doctor().of("config")
    assert "unknown key kickof (did you mean kickoff?)" in unknown["what"]
    assert (dismissed["level"], "names old" in dismissed["what"]) == ("note", True)


def test_a_moved_tree_is_said_and_healed(bare: Any, doctor: Any, tmp_path: Path) -> None:
    bare.root.rename(tmp_path / "moved")
    seen = doctor(cwd=tmp_path / "moved")
    assert f"senior_root names {bare.root}" in seen.one("config")["what"]
    seen = doctor("--fix", cwd=tmp_path / "moved")
    assert "config.json follows the tree" in seen.json["mended"]
    assert seen.of("config") == []
    config = json.loads((tmp_path / "moved/.context-vigilance/config.json").read_text())
    assert config["senior_root"] == str(tmp_path / "moved")
    bare.root.mkdir()


def test_a_root_that_is_dismissed(bare: Any, cv: Any, doctor: Any) -> None:
    cv("dismiss", str(bare.root))
    assert "itself is dismissed" in doctor().one("config")["what"]


def test_sources_that_cannot_be_read(bare: Any, doctor: Any) -> None:
    path = kit(bare, "sources.md")
    path.write_text("---\nsources:\n  - path: [\n---\n")
    seen = doctor("--fix")
    assert seen.code == 1
    assert "line 3" in seen.one("sources")["what"]
    assert path.read_text() == "---\nsources:\n  - path: [\n---\n"


def test_sources_that_stand_there_twice_or_lead_nowhere(bare: Any, doctor: Any) -> None:
    kit(bare, "sources.md").write_text(
        "---\nsources:\n  - path: ferry/context-v\n  - path: ./ferry/context-v/\n    include: false\n"
        "  - path: gone/context-v\n  - path: ../elsewhere\n---\n"
    )
    twice, outside, *gone = doctor().of("sources")
    assert "ferry/context-v has 2 entries" in twice["what"]
    assert "../elsewhere does not lie below the senior root" in outside["what"]
    assert [one["what"] for one in gone] == ["gone/context-v is not there (any more)"]


def test_folders_that_have_gone_are_one_finding_that_names_them_all(bare: Any, doctor: Any) -> None:
    names = [f"tree-{n}/context-v" for n in range(10)]
    entries = "".join(f"  - path: {name}\n" for name in names)
    kit(bare, "sources.md").write_text(f"---\nsources:\n{entries}---\n")
    (gone,) = doctor().of("sources")
    assert gone["what"] == f"10 folders are not there (any more): {', '.join(names)}"


# --- the store -------------------------------------------------------------------------------------------------------


def garble(path: Path) -> None:
    path.write_bytes(b"no database " * 500)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize("damage", [garble, cut], ids=["garbled", "cut"])
def test_a_damaged_index_is_found_and_made_again(
    untouched: Any, doctor: Any, cv: Any, damage: Any
) -> None:
    damage(kit(untouched, "index.sqlite"))
    seen = doctor()
    assert seen.code == 1
    assert "the index cannot be used" in seen.of("store", "problem")[0]["what"]
    seen = doctor("--fix")
    assert (seen.code, seen.of("store")) == (0, [])
    assert seen.json["mended"] == ["the store was brought in line with the documents"]
    found = json.loads(cv("find", "timetable", "--json").out)
    assert found["candidates"][0]["source_path"] == "ferry/context-v/specs/Timetable.md"


def test_deleted_text_that_waits_for_a_reader_to_end_is_told(tree: Any, cv: Any) -> None:
    uri = f"{kit(tree, 'index.sqlite').as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM document").fetchone()
        tree.delete("ferry/context-v/specs/Timetable.md")
        assert "another program has index.sqlite open" in cv("sync").out
    (found,) = store.check_index(tree.root)
    assert (found.level, found.fixable) == ("warning", True)
    assert "can still be read" in found.what
    assert cv("doctor", "--fix").code == 0
    assert [f.level for f in store.check_index(tree.root)] == ["ok"]


def test_an_index_of_another_version(untouched: Any, cv: Any) -> None:
    with closing(sqlite3.connect(kit(untouched, "index.sqlite"))) as db, db:
        db.execute("UPDATE meta SET value = '0' WHERE key = 'schema'")
    (found,) = store.check_index(untouched.root)
    assert (found.level, found.fixable) == ("problem", True)
    assert "it is of another version" in found.what
    assert cv("sync").code == 0
    assert [f.level for f in store.check_index(untouched.root)] == ["ok"]


def test_no_index_yet(org: Any, doctor: Any, cv: Any) -> None:
    org.document("ferry/context-v/A.md")
    cv("init", "--senior-root", str(org.root), "--yes", "--no-index")
    seen = doctor()
    assert seen.code == 0
    assert "there is no index yet" in seen.of("store", "warning")[0]["what"]
    assert doctor("--fix").of("store") == []


def whiten(path: Path) -> None:
    path.write_bytes(b"\xff" * path.stat().st_size)


def blank_a_part(path: Path) -> None:
    """Of the first vector, which stands behind the numbers of its neighbours."""
    with path.open("r+b") as file:
        file.seek(600)
        file.write(bytes(64))


def break_header(path: Path) -> None:
    """As a torn page might: whatever opens it reads beyond its memory, and dies."""
    data = bytearray(path.read_bytes())
    data[20:28] = b"\xff" * 8
    path.write_bytes(data)


def tear_a_page(path: Path) -> None:
    """Of the full-text index, which no question of ours reads."""
    with closing(sqlite3.connect(path)) as db:
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'embedding_fulltext_search_data'"
        (page,) = db.execute(query).fetchone()
        (size,) = db.execute("PRAGMA page_size").fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xa5" * 256)


def chroma_files(tree: Any, name: str) -> list[Path]:
    found = list(kit(tree, "chroma").rglob(name))
    assert found
    return found


def change_cells(change: str) -> Callable[[Path], None]:
    """Change what stands in the cells of a database, as a disk does: no page, no index and no time of the file tells of it."""

    def damage(path: Path) -> None:
        stat = path.stat()
        with closing(sqlite3.connect(path)) as db, db:
            assert db.execute(change).rowcount > 0
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    return damage


OTHER_TEXT = change_cells(
    "UPDATE embedding_metadata SET string_value = replace(string_value, 'e', 'o') "
    "WHERE key = 'chroma:document' AND id = 1"
)


@pytest.mark.parametrize(
    ("name", "damage", "says"),
    [
        ("chroma.sqlite3", garble, "Chroma cannot be used"),
        ("chroma.sqlite3", cut, "Chroma cannot be used"),
        ("chroma.sqlite3", tear_a_page, "Chroma cannot be used"),
        ("*.bin", garble, "Chroma cannot be used"),
        ("header.bin", break_header, "Chroma cannot be used"),
        ("data_level0.bin", whiten, "Chroma cannot be used"),
        ("data_level0.bin", blank_a_part, "Chroma differs from the index: 2 other vectors"),
        ("chroma.sqlite3", OTHER_TEXT, "Chroma differs from the index: 1 other texts"),
    ],
    ids=[
        "garbled",
        "cut",
        "torn page",
        "garbled files",
        "dies",
        "white",
        "other vectors",
        "other text",
    ],
)
def test_a_damaged_chroma_is_found_and_made_again_without_embedding(
    untouched: Any, doctor: Any, cv: Any, name: str, damage: Any, says: str
) -> None:
    for path in chroma_files(untouched, name):
        damage(path)
    seen = doctor()
    assert seen.code == 1
    assert says in seen.one("store")["what"]
    seen = doctor("--fix")
    assert (seen.code, seen.of("store")) == (0, [])
    report = json.loads(cv("sync", "--json").out)
    assert sum(role["embedded"] for role in report["roles"].values()) == 0


def test_fields_of_chroma_that_are_not_those_of_the_index_cost_both(
    untouched: Any, doctor: Any, cv: Any
) -> None:
    """Neither has a sum that tells which of them is right; the documents do."""
    change_cells(
        "UPDATE embedding_metadata SET string_value = 'a longer pied' "
        "WHERE key = 'fm_title' AND string_value = 'A longer pier'"
    )(kit(untouched, "chroma/chroma.sqlite3"))
    found = doctor().one("store", "problem")
    assert "differ in what 1 chunks carry beside text and vector" in found["what"]
    assert doctor("--fix").of("store") == []


MINUS = bytes(range(256)).translate(bytes([*range(128, 256), *range(128)]))
"""Each byte with its highest bit turned, which of a number in a vector is the sign."""


def turned(vector: bytes) -> bytes:
    """A vector of the right length that points elsewhere."""
    return vector[:3] + vector[3:4].translate(MINUS) + vector[4:]


INDEX_CELLS: dict[str, tuple[str, str]] = {
    "text": ("UPDATE chunk SET text = replace(text, 'e', 'o') WHERE id = 1", "1 of its texts"),
    "hash": ("UPDATE chunk SET text_hash = upper(text_hash) WHERE id = 1", "1 of its texts"),
    "no text": ("UPDATE chunk SET text = CAST(x'ff' || text AS TEXT) WHERE id = 1", "of its texts"),
    "vector": (
        "UPDATE vector SET data = CAST(zeroblob(64) || substr(data, 65) AS BLOB) WHERE rowid = 2",
        "1 of its vectors",
    ),
    "no numbers": (
        "UPDATE vector SET data = CAST(substr(data, 1, 4) || x'0000c07f' || substr(data, 9) AS BLOB) "
        "WHERE rowid = 2",
        "1 of its vectors",
    ),
    "short vector": (
        "UPDATE vector SET data = CAST(substr(data, 1, 700) AS BLOB) WHERE rowid = 2",
        "the same number of dimensions",
    ),
    "empty vector": (
        "UPDATE vector SET data = zeroblob(length(data)) WHERE rowid = 2",
        "1 of its vectors are not those of their texts",
    ),
    "turned vector": (
        "UPDATE vector SET data = turned(data) WHERE rowid = 2",
        "1 of its vectors are not those of their texts",
    ),
    "entry": ("UPDATE document SET entry = substr(entry, 2) WHERE id = 2", "of a document"),
    "fields": (
        "UPDATE document SET fields = replace(fields, 'longer pier', 'longer pied') WHERE id > 0",
        "carry beside text",
    ),
}


@pytest.mark.parametrize(("change", "says"), INDEX_CELLS.values(), ids=INDEX_CELLS)
def test_a_cell_of_the_index_that_is_another_is_found_and_made_again(
    untouched: Any, doctor: Any, cv: Any, change: str, says: str
) -> None:
    """SQLite itself finds nothing amiss."""

    def cells() -> list[Any]:
        with closing(sqlite3.connect(path)) as db:
            rows = "SELECT chroma_id, text, text_hash, data, entry, CAST(fields AS TEXT) "
            rows += "FROM chunk c JOIN vector USING (text_hash) JOIN document d ON d.id = document"
            return db.execute(f"{rows} ORDER BY chroma_id").fetchall()

    path = kit(untouched, "index.sqlite")
    before, stat = cells(), path.stat()
    with closing(sqlite3.connect(path)) as db, db:
        db.create_function("turned", 1, turned)
        db.execute(change)
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    seen = doctor()
    assert seen.code == 1
    found = seen.one("store", "problem")
    assert says in found["what"]
    assert "cv doctor --fix" in found["todo"]
    seen = doctor("--fix")
    assert (seen.code, seen.of("store")) == (0, [])
    assert cells() == before


def test_an_entry_of_an_index_that_is_another_is_found_and_made_again(
    untouched: Any, doctor: Any
) -> None:
    """One byte of SQLite's own index of the chunks' ids, which its quick check passes over."""
    path = kit(untouched, "index.sqlite")
    data = bytearray(path.read_bytes())
    name = b"mill::mill/context-v/specs/Wheel.md::0000"
    assert data.count(name) == 2  # in the table, and behind it in the index
    data[data.rfind(name) + 30] ^= 1
    path.write_bytes(data)
    seen = doctor()
    assert seen.code == 1
    assert "missing from index" in seen.one("store", "problem")["what"]
    seen = doctor("--fix")
    assert (seen.code, seen.of("store")) == (0, [])


def test_of_a_large_collection_some_chunks_are_compared_and_it_says_so(
    untouched: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from backend.setup.checks import comparison, probe

    monkeypatch.setattr(comparison, "MOST", 2)
    monkeypatch.setattr(probe, "ask", probe.look)
    (found,) = store.check_chroma(untouched.root)
    assert found.level == "ok"
    assert found.what.endswith("(3 of 5 chunks compared)")


def test_what_chroma_has_not_been_told_of_is_no_difference(untouched: Any) -> None:
    """As after a sync that was stopped: the next one does the rest."""
    with closing(sqlite3.connect(kit(untouched, "index.sqlite"))) as db, db:
        db.execute("UPDATE chunk SET chroma_id = replace(chroma_id, '0000', '0007')")
        db.execute(
            "INSERT INTO to_drop SELECT replace(chroma_id, '0007', '0000'), role "
            "FROM chunk c JOIN document d ON d.id = document"
        )
        db.execute("INSERT INTO to_mirror SELECT id FROM document")
    assert [f.level for f in store.check_chroma(untouched.root)] == ["ok"]


def test_a_missing_chroma_is_a_warning(untouched: Any, doctor: Any) -> None:
    shutil.rmtree(kit(untouched, "chroma"))
    seen = doctor()
    assert (seen.code, seen.one("store")["level"]) == (0, "warning")
    assert not kit(untouched, "chroma").exists(), "looking makes nothing"
    assert doctor("--fix").of("store") == []


def test_a_chroma_that_lacks_chunks_of_the_index(untouched: Any, doctor: Any) -> None:
    from backend.freshness.store import writing
    from backend.schemas.roles import CORPUS_ROLE

    with writing(untouched.root, load_config(untouched.root), erase=False) as chroma:
        chroma.delete(CORPUS_ROLE, sorted(chroma.ids(CORPUS_ROLE))[:2])
    assert "differs from the index: 2 chunks lacking" in doctor().one("store", "problem")["what"]
    assert doctor("--fix").of("store") == []


@pytest.mark.parametrize(
    ("text", "says"),
    [("{", "cannot be read"), ("{}", "differ in 3 documents"), ('{"a": 1}', "cannot be read")],
)
def test_a_manifest_that_is_not_the_index(untouched: Any, cv: Any, text: str, says: str) -> None:
    kit(untouched, "manifests/context-vigilance-corpus.json").write_text(text)
    (found,) = store.check_manifests(untouched.root)
    assert says in found.what
    assert found.fixable
    assert cv("sync").code == 0
    assert [f.level for f in store.check_manifests(untouched.root)] == ["ok"]


def test_behind_the_disk(untouched: Any, doctor: Any) -> None:
    untouched.document("ferry/context-v/New.md")
    untouched.touch("mill/context-v/specs/Wheel.md", 1_700_000_000)
    untouched.delete("ferry/context-v/plans/Pier.md")
    untouched.right = untouched.fingerprint()
    found = doctor().one("store")
    assert found["level"] == "note"
    assert found["what"] == "behind the disk by 3: 1 changed, 1 new, 1 gone"
    assert doctor("--fix").of("store") == []


def test_a_sync_at_work_is_waited_for_not_broken(untouched: Any, doctor: Any) -> None:
    kit(untouched, "manifests/changelog-corpus.json").write_text("{")
    lock = kit(untouched, "writer.lock")
    with exclusive(lock, seconds=0, busy=""):
        seen = doctor("--fix")
    assert seen.code == 1
    assert seen.json["mended"][0].startswith("not mended: another sync")
    assert lock.exists()
    with exclusive(kit(untouched, "chroma.lock"), seconds=0, busy=""):
        assert "Chroma is being written to" in doctor().of("store", "note")[0]["what"]


# --- documents -------------------------------------------------------------------------------------------------------


def test_frontmatter_is_named_with_line_and_reason_and_left_alone(
    untouched: Any, doctor: Any, cv: Any
) -> None:
    untouched.write("ferry/context-v/specs/Odd.md", "---\ntitle: Odd\ntags: [a\n---\n\nText.\n")
    untouched.right = untouched.fingerprint()
    cv("sync")
    seen = doctor("--fix")
    assert seen.code == 0
    found = seen.one("documents", "warning")
    assert re.fullmatch(r"ferry/context-v/specs/Odd\.md:[34]", found["where"])
    assert found["what"]
    assert not found["fixable"]


def test_a_sign_is_shown_as_it_stands_in_the_file(untouched: Any, cv: Any) -> None:
    """What the author looks for is what the file has."""
    untouched.write("ferry/context-v/specs/Odd.md", "---\ntitle: Odd\nlede: > a\n---\n\nText.\n")
    untouched.right = untouched.fingerprint()
    assert cv("sync").code == 0
    said = "text right behind the sign > or | (put it on the next line, indented)"
    assert said in " ".join(cv("doctor").out.split())
    assert said in " ".join(cv("why", "ferry/context-v/specs/Odd.md").out.split())


def test_a_file_that_cannot_be_indexed_is_named(untouched: Any, doctor: Any, cv: Any) -> None:
    with untouched.path("ferry/context-v/Huge.md").open("wb") as file:
        file.truncate(33 * 1024**2)
    untouched.right = untouched.fingerprint()
    assert cv("sync").code == 1
    found = doctor().one("documents")
    assert (found["where"], found["what"]) == (
        "ferry/context-v/Huge.md",
        "not indexed: larger than 32 MB",
    )
    untouched.delete("ferry/context-v/Huge.md")
    untouched.right = untouched.fingerprint()


def test_superseded_without_a_successor(untouched: Any, doctor: Any, cv: Any) -> None:
    untouched.document("ferry/context-v/Alone.md", status="Superseded")
    untouched.document("ferry/context-v/Old.md", status="Superseded", superseded_by="Timetable.md")
    untouched.document("ferry/context-v/Older.md", status="superseded")
    untouched.document("ferry/context-v/Newer.md", supersedes="'[[Older]]'")
    untouched.right = untouched.fingerprint()
    cv("sync")
    assert doctor().one("documents", "note")["where"] == "ferry/context-v/Alone.md"


# --- hooks -----------------------------------------------------------------------------------------------------------

OURS = {"type": "command", "command": '"$X"/.context-vigilance/scripts/session-start.sh'}
FOREIGN = {"type": "command", "command": "date"}

SETTINGS: dict[str, tuple[Any, str, str]] = {
    "flat": ([OURS], "problem", "our hook lacks the level"),
    "twice": ([{"hooks": [OURS]}, {"hooks": [FOREIGN, OURS]}], "warning", "stands there 2 times"),
    "foreign flat": ([{"hooks": [OURS]}, FOREIGN], "warning", "1 of the SessionStart entries"),
}


@pytest.mark.parametrize(("entries", "level", "says"), SETTINGS.values(), ids=SETTINGS)
def test_hooks_of_the_settings(
    bare: Any, doctor: Any, cv: Any, entries: Any, level: str, says: str
) -> None:
    path = bare.write(".claude/settings.json", json.dumps({"hooks": {"SessionStart": entries}}))
    found = doctor().one("hooks", "problem", "warning")
    assert (found["level"], says in found["what"], found["fixable"]) == (level, True, False)
    cv("init", "--senior-root", str(bare.root), "--yes", "--no-index")
    after = json.loads(path.read_text())["hooks"]["SessionStart"]
    if FOREIGN in entries:
        assert after == entries, "what others wrote is theirs to mend"
        return
    assert doctor().of("hooks", "problem", "warning") == []
    assert (FOREIGN in [h for group in after for h in group["hooks"]]) == (says[-7:] == "2 times")


def test_settings_that_cannot_be_read_and_those_of_one_person(bare: Any, doctor: Any) -> None:
    bare.write(
        ".claude/settings.local.json", json.dumps({"hooks": {"SessionStart": [{"hooks": [OURS]}]}})
    )
    assert "stands there 2 times" in doctor().one("hooks", "warning")["what"]
    bare.write(".claude/settings.local.json", "{\n,}")
    seen = doctor()
    assert seen.code == 1
    assert "line 2, column 1" in seen.one("hooks", "problem")["what"]


def test_no_settings_hook_is_worth_a_note(org: Any, doctor: Any, cv: Any) -> None:
    cv("init", "--senior-root", str(org.root), "--yes", "--no-settings-hook")
    seen = doctor()
    assert seen.code == 0
    assert "no hook of ours in the root's settings" in seen.of("hooks", "note")[0]["what"]


def edit_script(path: Path) -> None:
    path.write_text("#!/bin/sh\nexit 1\n")


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (edit_script, "is of another version, or was edited"),
        (lambda path: path.chmod(0o644), "is not executable"),
        (lambda path: path.unlink(), "is missing"),
    ],
    ids=["edited", "not executable", "missing"],
)
def test_the_script_of_the_settings_hook(bare: Any, doctor: Any, damage: Any, says: str) -> None:
    script = kit(bare, "scripts/session-start.sh")
    before = script.read_bytes()
    damage(script)
    assert says in doctor().one("hooks", "problem")["what"]
    seen = doctor("--fix")
    assert seen.code == 0
    assert "the script of the settings hook was written" in seen.json["mended"]
    assert script.read_bytes() == before
    assert os.access(script, os.X_OK)


def test_a_launcher_that_is_gone(
    bare: Any, doctor: Any, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = machine / "cv/launcher"
    note.parent.mkdir(exist_ok=True)
    note.write_text("/not/there/bin/cv\n")
    assert "names /not/there/bin/cv, which is gone" in doctor().of("hooks", "note")[0]["what"]
    monkeypatch.setenv("CV_LAUNCHER", str(ROOT / "bin/cv"))
    assert doctor().one("hooks", "warning")["fixable"]
    assert doctor("--fix").of("hooks", "warning") == []
    assert note.read_text() == f"{ROOT / 'bin/cv'}\n"


def test_how_the_last_hook_went(bare: Any, doctor: Any) -> None:
    root = bare.root
    assert "no session has started here yet" in doctor().of("hooks", "note")[-1]["what"]
    now = int(time.time())
    for record, says in (
        (Record(at=now, ms=40, ok=False, error="ValueError at look.py:7"), "look.py:7"),
        (Record(at=now, ms=8000), "took 8.0 s"),
    ):
        write_record(root, "hook", record)
        assert says in doctor().one("hooks", "warning")["what"]
    write_record(root, "hook", Record(at=now, ms=40))
    write_record(root, "sync", Record(at=now, ok=False, error="the disk is full"))
    assert "the disk is full" in doctor().one("hooks", "warning")["what"]
    write_record(root, "sync", Record(at=now, ms=900))
    assert doctor().of("hooks", "warning") == []
