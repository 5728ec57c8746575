"""What the one writer of ``index.sqlite`` leaves in the file itself."""

from __future__ import annotations

import random
from pathlib import Path

from organisation import prose

from backend.freshness.writable_index import WritableIndex
from backend.schemas.document import Chunk, Document
from backend.schemas.manifest import ManifestEntry, PassedOver
from backend.schemas.roles import CORPUS_ROLE

LETTERS = "ŋʬѬΞЖɮʭɧɕʑɱ"
"""None of them is in any other text."""


def take_in(index: WritableIndex, number: int, word: str, dice: random.Random) -> str:
    """A document that says ``word`` wherever one can, with one to eight chunks. Returns its path."""
    path = f"mill/context-v/{dice.choice('abcd')}/{word}.md"
    chunks = [
        Chunk(idx, word, f"{word} {prose(f'{number} {idx}')} {word}", 1, 2)
        for idx in range(dice.randint(1, 8))
    ]
    document = Document(title=word, body_hash=word, body_length=9, chunks=tuple(chunks))
    entry = ManifestEntry(
        mtime=1.0, size=1, ingested_at=1, hash=word, chunks=len(chunks), repo="mill", kind="notes", title=word,
        date="2026-03-02", modified_at=1, date_from="document", lede=prose(word)[: dice.randint(0, 300)],
    )  # fmt: skip
    index.put(
        path, CORPUS_ROLE, document, entry, file_hash=f"{dice.getrandbits(128):032x}", fields={"fm_title": word},
        marks=[f"name {word}", f"body {dice.getrandbits(64)}"], preference=[False, path],
        text_hashes=[f"{dice.getrandbits(128):032x}" for _ in chunks],
    )  # fmt: skip
    return path


def test_of_what_was_removed_nothing_stays_in_the_file(tmp_path: Path) -> None:
    """SQLite moves rows from page to page, and what it leaves behind then is no deleted row: without the writing anew one to two
    in a hundred of these could be read.
    """
    dice, there = random.Random(7), dict[str, str]()
    file = tmp_path / "index.sqlite"
    with WritableIndex.open(file) as index:
        for number in range(120):
            with index.transaction():
                for _ in range(dice.randint(2, 6)):
                    word = "".join(dice.choices(LETTERS, k=24))
                    there[take_in(index, number, word, dice)] = word
            gone = dice.sample(sorted(there), dice.randint(0, 6)) if len(there) > 30 else []
            with index.transaction():
                for path in gone:
                    index.remove(path)
                    index.db.execute("DELETE FROM to_drop")  # as once Chroma has been told
            assert index.compact() == ""
            data = file.read_bytes()
            assert [there[path] for path in gone if there[path].encode() in data] == []
            assert all(word.encode() in data for path, word in there.items() if path not in gone)
            for path in gone:
                del there[path]
        assert index.db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_file_from_which_nothing_was_removed_is_not_written_anew(tmp_path: Path) -> None:
    dice = random.Random(7)
    with WritableIndex.open(tmp_path / "index.sqlite") as index:
        with index.transaction():
            path = take_in(index, 1, "quay", dice)
            index.pass_over(
                "mill/context-v/Copy.md",
                PassedOver(mtime=1, size=1, role=CORPUS_ROLE, reason="private"),
            )
        index.compact()
        schema = index.db.execute("PRAGMA schema_version").fetchone()  # VACUUM counts it up
        with index.transaction():
            index.touch(path, 2.0, 2)
        index.compact()
        assert index.db.execute("PRAGMA schema_version").fetchone() == schema
        with index.transaction():
            index.remove(path)
        index.compact()
        assert index.db.execute("PRAGMA schema_version").fetchone() != schema
