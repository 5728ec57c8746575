"""What a person takes back is gone for good: one sync later its words are in no file below ``.context-vigilance``."""

from __future__ import annotations

import sqlite3
import struct
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from organisation import prose

from backend.tree.config_edits import set_key

SECRET = "ŋanzibarquux"
"""It begins with a letter that no other text has: a full-text index keeps three letters at a time, and of neighbours in its list
only what differs, so that of a plain word not even these would be found.
"""
WORDS = f"The password is {SECRET} and must not be kept."


def traces(folder: Path, word: str) -> list[str]:
    """Give the files below ``folder`` that hold ``word``, or only its first three letters, in any letter case, also as UTF-16."""
    found, word = [], word[:3] if word == SECRET else word
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes().lower()
            if word.encode() in data or word.encode("utf-16-le") in data:
                found.append(path.relative_to(folder).as_posix())
    return found


def _left_out(site: Any, repo: str) -> None:
    sources = site.kit / "sources.md"
    head, tail = sources.read_text().split(f'"{repo}/context-v"')
    tail = tail.replace("include: true", "include: false", 1)
    sources.write_text(f'{head}"{repo}/context-v"{tail}')


def _redact(site: Any, repo: str) -> None:
    site.edit(f"{repo}/context-v/specs/Keys.md", SECRET + repo, "removed")


WAYS: dict[str, Callable[[Any, str], Any]] = {
    "deleted": lambda site, repo: site.delete(f"{repo}/context-v/specs/Keys.md"),
    "foldergone": lambda site, repo: site.delete(repo),
    "private": lambda site, repo: site.edit(
        f"{repo}/context-v/specs/Keys.md", "title:", "private: true\ntitle:"
    ),
    "dismissed": lambda site, repo: site.dismiss(repo),
    "leftout": _left_out,
    "redacted": _redact,
    "dismissedpath": lambda site, repo: set_key(site.root, "dismissed_paths", f'["{repo}"]'),
    "renamed": lambda site, repo: site.move(
        f"{repo}/context-v/specs/{SECRET}{repo}.md", f"{repo}/context-v/specs/Plain.md"
    ),
    "copied": lambda site, repo: [
        site.delete(f"{repo}/context-v/specs/Keys.md"),
        site.edit(f"splash/context-v/all/{repo}.md", "title:", "private: true\ntitle:"),
    ],
}


@pytest.fixture
def tree(site: Any) -> Any:
    """Forty other documents, and for each way one with a secret in body, title, lede, tag, author, heading and name."""
    for number in range(40):
        site.document(f"ferry/context-v/specs/Doc-{number}.md", count=3)
    for way in WAYS:
        word = SECRET + way
        path = f"{way}/context-v/specs/Keys.md"
        fields = {"lede": f"About {word}", "status": word, "owner": word}
        body = f"{prose(way)}\n\n## Part {word}\n\nThe password is {word}, see [[{word}]].\n\n## End\n\nDone."
        site.document(path, body, title=f"Keys {word}", tags=[word], authors=[word], **fields)
    site.delete("renamed/context-v/specs/Keys.md")
    site.document(f"renamed/context-v/specs/{SECRET}renamed.md", prose("r"), title="Only its name")
    site.roll_up(
        "copied/context-v/specs/Keys.md",
        "splash/context-v/all/copied.md",
        repo="copied",
        inner="context-v/specs/Keys.md",
    )
    site.sync()
    assert site.passed_over() == {
        "splash/context-v/all/copied.md": "copy of copied/context-v/specs/Keys.md"
    }
    for way in WAYS:
        assert traces(site.kit, SECRET + way), "the search does not find what is there"
    return site


@pytest.mark.parametrize("how", [{}, {"quick": True}, {"rebuild": True}], ids=str)
def test_the_words_are_in_no_file_of_the_store(tree: Any, how: dict[str, bool]) -> None:
    """Index with its write-ahead log, manifests, lists, logs, and all that Chroma keeps."""
    for way, erase in WAYS.items():
        erase(tree, way)
    tree.sync(**how)
    assert traces(tree.kit, SECRET) == []
    tree.check()


def test_what_a_killed_sync_left_beside_the_store_goes(tree: Any) -> None:
    """Half-written files hold what the tree held then."""
    for path in (
        *("index.sqlite.new", "index.sqlite.new-wal", "chroma.new/data.bin", "chroma.old/data.bin"),
        *("manifests/.context-vigilance-corpus.json.9999.tmp", ".sources.md.9999.tmp"),
        "chroma/chroma.sqlite3.new",
    ):
        tree.write(f".context-vigilance/{path}", WORDS)
    for way, erase in WAYS.items():
        erase(tree, way)
    tree.sync(quick=True)
    assert traces(tree.kit, SECRET) == []
    tree.check()


def test_private_text_never_reaches_the_store(site: Any) -> None:
    site.document("mill/context-v/Keys.md", WORDS, private="true", title=SECRET)
    site.write("mill/context-v/.Hidden.md", WORDS)
    site.write("mill/context-v/extra/Scratch.md", WORDS)
    site.document("inn/context-v/Keys.md", WORDS)
    site.dismiss("inn")
    site.document("ferry/changelog/A.md", WORDS, publish="false")
    site.document("ferry/context-v/B.md")
    site.sync()
    assert traces(site.kit, SECRET) == []
    assert list(site.chunks()) == ["ferry/context-v/B.md"]


def test_no_memory_of_the_process_gets_into_the_store(site: Any) -> None:
    """Chroma writes its table of vectors with the places that are free, as it found them in memory."""
    for number in range(30):
        site.document(f"mill/context-v/Keys-{number}.md", f"{SECRET} " * 400, private="true")
    for number in range(8):
        site.document(f"ferry/context-v/B-{number}.md")
        site.sync()
        assert traces(site.kit, SECRET) == []
        for header in (site.kit / "chroma").glob("*/header.bin"):
            used, each = struct.unpack_from("<i4Q", header.read_bytes())[3:]
            data = header.with_name("data_level0.bin").read_bytes()
            assert len(data) > used * each
            assert not any(data[used * each :])
    site.check()


def test_what_git_tells_of_other_files_is_not_kept_by_name(site: Any) -> None:
    """Of a repo with an undated document git is asked, and knows what was deleted, is private or no document at all."""
    for repo in ("mill", "inn"):
        site.repo(repo)
        site.document(f"{repo}/context-v/Plain.md", day=None)
        site.document(f"{repo}/context-v/{SECRET}{repo}.md")
        site.document(f"{repo}/context-v/{SECRET}{repo}private.md", private="true")
        site.write(f"{repo}/notes/{SECRET}{repo}outside.md", "no document")
        site.commit(repo, "2025-06-06")
    site.sync()
    assert traces(site.kit, f"{SECRET}millprivate"), "that it is passed over, while it is there"
    assert traces(site.kit, f"{SECRET}milloutside") == []
    for path in (f"context-v/{SECRET}mill.md", f"context-v/{SECRET}millprivate.md"):
        site.delete(f"mill/{path}")
    site.commit("mill", "2025-07-07")
    site.delete("inn")
    site.sync()
    assert traces(site.kit, SECRET) == []
    site.check()


def nearest(site: Any, vector: Any) -> dict[str, float]:
    """By collection how near to ``vector`` the nearest one is that stands in Chroma's own file of them, deleted or not."""
    found = {}
    for header in (site.kit / "chroma").glob("*/header.bin"):
        used, each, label, start = struct.unpack_from("<i6Q", header.read_bytes())[3:]
        data = np.frombuffer(header.with_name("data_level0.bin").read_bytes(), np.uint8)
        places = data[: used * each].reshape(used, each)[:, start:label].copy().view(np.float32)
        found[header.parent.name] = float((places @ vector).max())
    return found


def test_the_vectors_go_too(site: Any) -> None:
    """The words of a short text can be read back from its vector, which Chroma would keep as a place of its graph."""
    for number in range(30):
        site.document(f"ferry/context-v/B-{number}.md")
    site.document("mill/context-v/Keys.md", "zebra password hippopotamus")
    site.document("mill/context-v/Near.md", "zebra password hippopotamus and its keeper")
    site.sync()
    for name in ("Keys", "Near"):  # the vector of the one may stand in the other's place
        path = f"mill/context-v/{name}.md"
        records = [
            one for role in site.records().values() for one in role.items() if path in one[0]
        ]
        ((_, (_, _, numbers)),) = records
        vector = np.array(numbers, np.float32)
        assert max(nearest(site, vector).values()) > 0.999
        assert vector.tobytes() in (site.kit / "index.sqlite").read_bytes()
        site.delete(path)
        site.sync()
        assert max(nearest(site, vector).values()) < 0.9
        assert vector.tobytes()[:64] not in (site.kit / "index.sqlite").read_bytes()
        site.check()
    site.delete("ferry")
    site.sync()
    site.check()


@pytest.mark.parametrize(
    ("gone", "name"),
    [
        (f"mill/context-v/{SECRET}.md", ""),
        (f"mill/context-v/{SECRET}", "/Keys.md"),
        (f"inn/changelog/{SECRET}.md", ""),
    ],
)
def test_of_a_sync_that_only_deletes_no_name_stays(site: Any, gone: str, name: str) -> None:
    """The newest record of Chroma's log stays there, whatever it is; the changelog is then empty."""
    site.document("ferry/context-v/B.md")
    site.document(gone + name)
    site.sync()
    assert traces(site.kit, SECRET)
    site.delete(gone)
    site.sync()
    assert traces(site.kit, SECRET) == []
    site.document("mill/context-v/C.md")
    site.sync()
    site.check()


def test_beside_a_reader_that_does_not_end_it_says_so_and_does_it_afterwards(site: Any) -> None:
    site.document("ferry/context-v/B.md")
    site.document("mill/context-v/Keys.md", WORDS)
    site.sync()
    uri = f"{(site.kit / 'index.sqlite').as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM document").fetchone()
        site.delete("mill/context-v/Keys.md")
        report = site.sync()
        assert traces(site.kit, SECRET) != []
    assert any("another program has index.sqlite open" in note for note in report.notes)
    assert not any("another program" in note for note in site.sync(quick=True).notes)
    assert traces(site.kit, SECRET) == []
    site.check()


@pytest.mark.parametrize("made_anew", ["renamed", "lost", "damaged"])
def test_nothing_stays_of_a_store_that_is_made_anew(site: Any, made_anew: str) -> None:
    site.document("ferry/context-v/B.md")
    site.document("mill/context-v/Keys.md", WORDS, tags=[SECRET], authors=[SECRET])
    site.sync()
    if made_anew == "renamed":
        set_key(site.root, "collections.context_vigilance_corpus", "other-corpus")
    elif made_anew == "lost":
        next((site.kit / "chroma").glob("*/header.bin")).unlink()
    else:
        (site.kit / "chroma/context-vigilance.txt").write_text("another's")
    site.delete("mill/context-v/Keys.md")
    site.sync()
    assert traces(site.kit, SECRET) == []
    site.check()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9 on Windows")
@pytest.mark.parametrize(
    "moment",
    [
        *("drop_unused erase_free_pages write_manifests settle".split()),
        *("mirror_beside --force-rebuild", "_swapped_index --force-rebuild"),
        *("erase_free_pages --force-rebuild", "write_manifests --force-rebuild"),
    ],
)
def test_the_words_go_even_when_the_sync_that_erases_is_killed(
    tree: Any, killed: Callable[..., int], moment: str
) -> None:
    """At the call of a function; the next sync finds nothing changed in the tree, and yet has to erase."""
    for way, erase in WAYS.items():
        erase(tree, way)
    function, *options = moment.split()
    assert killed(function, "sync", *options, watched="/backend/freshness/"), "it was never called"
    tree.sync()
    tree.check()
    assert traces(tree.kit, SECRET) == []
