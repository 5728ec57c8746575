"""What our SQLite files have in common: a table ``meta`` of facts, and changes that happen whole or not at all."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager


class Database:
    """An open file. ``db`` is its connection, which commits by itself outside of ``transaction``."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.db = connection

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All of the block, or nothing of it."""
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")

    def fact(self, key: str) -> str:
        """A remembered fact, empty when there is none."""
        row = self.db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else ""

    def set_fact(self, key: str, value: str) -> None:
        """Remember a fact."""
        self.db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))
