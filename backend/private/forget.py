"""``cv forget``: erases private documents for good, and sees to it that they are not read in again."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from backend.errors import CvError
from backend.freshness.store import discard
from backend.private.ledger import Ledger
from backend.private.mirror import mirror
from backend.private.places import (
    PRIVATE_KIT,
    ledger_path,
    private_folder,
    require_plain,
    the_writer,
)
from backend.schemas.config import Config
from backend.schemas.private import PRIVATE_ROLES, Erasure

_HOW = (
    "'cv search --role claude-code-sessions QUESTION' names the session of each turn, "
    "'cv search --role claude-code-tool-traces QUESTION' that of each call"
)
NOTHING = "nothing of any transcript was ever taken in here: there is nothing to forget"


class Choice(Struct, frozen=True):
    """What to forget: one ``session``, all that is older than ``before`` (epoch seconds), or, with neither, everything."""

    session: str = ""
    before: int | None = None

    @property
    def where(self) -> tuple[str, tuple[object, ...]]:
        """The documents meant, as an SQL condition and its values."""
        if self.session:
            return "session = ?", (self.session,)
        return ("timestamp < ?", (self.before,)) if self.before is not None else ("1", ())

    @property
    def words(self) -> str:
        """What is meant, for a person."""
        if self.session:
            return f"session {self.session}"
        if self.before is None:
            return "everything in the private collections"
        moment = datetime.fromtimestamp(self.before, UTC).strftime("%Y-%m-%d %H:%M UTC")
        return f"everything before {moment}"


def look(root: Path, choice: Choice) -> Erasure:
    """What ``erase`` would erase now. Raises ``CvError`` for a session that is none."""
    require_plain(root)
    try:
        ledger = Ledger.for_reading(root)
    except CvError as error:
        if choice != Choice():
            raise
        return _erasure(root, choice, None, (f"what is in it cannot be counted: {error}",))
    if ledger is None:
        return _nothing(root, choice)
    with ledger:
        _require_known(ledger, choice)
        return _erasure(root, choice, ledger, ())


def erase(root: Path, config: Config, choice: Choice, *, now: datetime) -> Erasure:
    """Erase: the words are afterwards in no file of the private folder. Of what was erased only random ids and a time are kept.

    A session that was forgotten, or what is older than the day that was named, is never read in again; after everything was
    forgotten, only what is written from ``now`` (aware) on. Raises ``Busy`` when another run is at work, ``CvError``, also for a
    session that is none.
    """
    require_plain(root)
    if not ledger_path(root).is_file():
        return _nothing(root, choice)
    with the_writer(root):
        with _opened(root, choice) as ledger:
            _require_known(ledger, choice)
            with ledger.transaction():
                erased = _erasure(root, choice, ledger, ())
                _note(ledger, choice, now)
                condition, values = choice.where
                ledger.drop_where(condition, values)
                ledger.set_fact("chroma", "")
            try:  # Chroma first: a reader of the ledger can keep it from being written anew
                discard(root, kit=PRIVATE_KIT)
            finally:
                ledger.compact()
            mirror(root, config, ledger, lambda done, total: None)
        return erased


def _nothing(root: Path, choice: Choice) -> Erasure:
    if choice.session:
        raise CvError(f"no such session: {choice.session}; {NOTHING}")
    return _erasure(root, choice, None, (NOTHING,))


def _require_known(ledger: Ledger, choice: Choice) -> None:
    """A session that was forgotten before may be forgotten again: that ends what was cut off."""
    if choice.session and not ledger.is_forgotten(choice.session):
        query = "SELECT 1 FROM document WHERE session = ? LIMIT 1"
        if ledger.db.execute(query, (choice.session,)).fetchone() is None:
            raise CvError(
                f"no such session in the private collections: {choice.session}. Nothing was erased. {_HOW}"
            )


def _opened(root: Path, choice: Choice) -> Ledger:
    try:
        return Ledger.for_writing(root)
    except CvError:
        if choice != Choice():
            raise
    for path in private_folder(root).iterdir():  # a damaged ledger goes with everything else
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.suffix != ".lock" and path.name != ".gitignore":
            path.unlink()
    return Ledger.for_writing(root)


def _note(ledger: Ledger, choice: Choice, now: datetime) -> None:
    """Remember what is not to be read in again."""
    condition, values = choice.where
    query = f"INSERT OR IGNORE INTO forgotten_document SELECT id FROM document WHERE {condition}"
    ledger.db.execute(query, values)
    if choice.session:
        ledger.db.execute("INSERT OR IGNORE INTO forgotten_session VALUES (?)", (choice.session,))
        return
    before = int(now.timestamp()) + 1 if choice.before is None else choice.before
    ledger.set_fact("forgotten_before", str(max(before, ledger.forgotten_before())))
    if choice.before is None:
        ledger.db.execute("DELETE FROM progress")


def _erasure(root: Path, choice: Choice, ledger: Ledger | None, notes: tuple[str, ...]) -> Erasure:
    documents = dict.fromkeys(PRIVATE_ROLES, 0)
    sessions = 0
    if ledger is not None:
        condition, values = choice.where
        query = f"SELECT role, count(*) FROM document WHERE {condition} GROUP BY role"
        documents |= dict(ledger.db.execute(query, values).fetchall())
        query = f"SELECT count(DISTINCT session) FROM document WHERE {condition}"
        sessions = int(ledger.db.execute(query, values).fetchone()[0])
    return Erasure(
        senior_root=str(root),
        what=choice.words,
        sessions=sessions,
        documents=documents,
        notes=notes,
    )
