"""Which day a document stands under: its own, its file name's, git's, and only then the day it was first indexed."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from pathlib import Path

from backend.errors import CvError
from backend.freshness.writable_index import WritableIndex
from backend.schemas.document import Document, DocumentDate
from backend.tree.gitdates import git_dates
from backend.tree.repos import Repo, head_commit, innermost_repo


class Dating:
    """Dates of documents in one tree. Git is asked once for each repo and commit; the index keeps what it said. Where git fails
    it keeps what git said before, ``failed`` has the reason by repo, and the next sync asks again.
    """

    def __init__(self, root: Path, repos: dict[str, Repo], index: WritableIndex) -> None:
        self._root = root
        self._repos = repos
        self._index = index
        self._current: set[str] = set()
        self.failed: dict[str, str] = {}

    def of(
        self, path: str, document: Document, ingested_at: int, moved: DocumentDate | None = None
    ) -> DocumentDate:
        """The date of ``document``. Git's day is in UTC, so that it is the same on every machine. ``moved``: the date that the
        same bytes had at another path, which git does not know to have moved before the next commit.
        """
        if document.date is not None:
            return document.date
        date = self.from_outside(path, ingested_at)
        if date.source == "ingest" and moved is not None and moved.source == "git":
            return moved
        return date

    def from_outside(self, path: str, ingested_at: int) -> DocumentDate:
        """The date of a document that says none itself."""
        moment = self._git(path)
        if moment:
            return DocumentDate(_day(moment), moment, "git")
        return DocumentDate(_day(ingested_at), ingested_at, "ingest")

    def forget_gone(self) -> None:
        """Let go of what git said of repos that are no longer in the tree."""
        repos = self._index.db.execute("SELECT repo FROM git_date UNION SELECT repo FROM git_head")
        known = {row[0] for row in repos}
        for repo in known - self._repos.keys() - {""}:
            with self._index.transaction():
                self._index.db.execute("DELETE FROM git_date WHERE repo = ?", (repo,))
                self._index.db.execute("DELETE FROM git_head WHERE repo = ?", (repo,))
                self._index.set_fact("compact", "due")

    def refreshed(self) -> set[str]:
        """Undated documents in repos whose commit has changed since git was last asked."""
        undated = self._undated()
        return {
            path
            for repo, paths in undated.items()
            if head_commit(self._root / repo) != self._known_head(repo)
            for path in paths
        }

    def heads(self) -> dict[str, str]:
        """The repos that date documents, and the commit at which each was last asked."""
        return {repo: self._known_head(repo) for repo in self._undated()}

    def _undated(self) -> dict[str, list[str]]:
        """The documents without a date of their own, by the repo that may know one."""
        found: dict[str, list[str]] = {}
        for path in self._index.undated():
            if (repo := self.innermost(path)) is not None:
                found.setdefault(repo, []).append(path)
        return found

    def innermost(self, path: str) -> str | None:
        """The innermost repo that holds ``path``; the senior root's own is ''. None where there is none."""
        if repo := innermost_repo(path, self._repos):
            return repo
        return "" if (self._root / ".git").exists() else None

    def _git(self, path: str) -> int:
        repo = self.innermost(path)
        if repo is None:
            return 0
        self._ask(repo)
        inner = path[len(repo) + 1 :] if repo else path
        row = self._index.db.execute(
            "SELECT moment FROM git_date WHERE repo = ? AND file = ?", (repo, _key(inner))
        ).fetchone()
        return int(row[0]) if row else 0

    def _known_head(self, repo: str) -> str:
        row = self._index.db.execute("SELECT head FROM git_head WHERE repo = ?", (repo,)).fetchone()
        return row[0] if row else ""

    def _ask(self, repo: str) -> None:
        if repo in self._current:
            return
        self._current.add(repo)
        head = head_commit(self._root / repo)
        if head == self._known_head(repo):
            return
        try:
            dates = git_dates(self._root / repo)
        except CvError as error:
            self.failed[repo] = str(error)
            return
        rows = [(repo, _key(path), date.best) for path, date in dates.items()]
        self._index.db.execute("DELETE FROM git_date WHERE repo = ?", (repo,))
        self._index.db.executemany("INSERT INTO git_date VALUES (?, ?, ?)", rows)
        self._index.db.execute("INSERT OR REPLACE INTO git_head VALUES (?, ?)", (repo, head))


def _key(path: str) -> bytes:
    """What stands for ``path`` in the index: git also tells the names of files that have gone, or are nobody's business here."""
    return hashlib.blake2b(path.encode(errors="surrogateescape"), digest_size=8).digest()


def _day(moment: int) -> str:
    return datetime.fromtimestamp(moment, UTC).date().isoformat()
