"""Doubts about a candidate, in plain words with path and date. A flag never moves a candidate; a person judges."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

import msgspec

from backend.freshness.words import words
from backend.kickoff.library import Library
from backend.schemas import Flag, ManifestEntry
from backend.tree.window import parse_window

_OVER = re.compile(
    r"\b(superseded|archived|deprecated|obsolete|replaced|retired|abandoned|rejected)\b", re.I
)

_ALIKE = 0.5
"""Share of title words that make two documents one topic."""


class Flagger:
    """Flags for the candidates of one search, made at ``now``."""

    def __init__(self, library: Library, now: datetime) -> None:
        self.library = library
        self.since = parse_window(library.config.catch_up.window, now).since.isoformat()
        self._recent: list[tuple[str, ManifestEntry, set[str]]] | None = None

    def flags(self, row: int, entry: ManifestEntry) -> tuple[Flag, ...]:
        """All flags of one candidate."""
        path = self.library.paths[row]
        return (*self.declared(path, entry), *self.newer(path, entry))

    def declared(self, path: str, entry: ManifestEntry) -> list[Flag]:
        """What the document's own frontmatter says, or that of the one which took its place."""
        found = self.library.index.db.execute(
            "SELECT fields FROM document WHERE path = ?", (path,)
        ).fetchone()
        fields = msgspec.json.decode(found[0])
        flags = []
        for target in fields.get("fm_superseded_by") or ():
            home = self.library.resolver.resolve(target, path)
            newer = self.library.index.entry(home) if home else None
            if home is not None and newer is not None:
                text = f"superseded by {home} ({newer.date})"
                flags.append(
                    Flag(kind="superseded", text=text, newer_path=home, newer_date=newer.date)
                )
            else:
                flags.append(
                    Flag(
                        kind="superseded",
                        text=f"says that it is superseded by {target}, which is not in the index",
                    )
                )
        if not flags and (over := _OVER.search(entry.status)):
            flags.append(
                Flag(kind=over.group(1).casefold(), text=f'its status says "{entry.status}"')
            )
        return flags

    def newer(self, path: str, entry: ManifestEntry) -> list[Flag]:
        """A document on the same topic from the catch-up window, when this one is older than that."""
        if entry.date >= self.since:
            return []
        topic = set(words(entry.title))
        best: tuple[float, str, ManifestEntry] | None = None
        for other, card, title in self.recent():
            if other != path and len(topic & title) >= 2:
                alike = len(topic & title) / len(topic | title)
                if alike >= _ALIKE and (best is None or alike > best[0]):
                    best = (alike, other, card)
        if best is None:
            return []
        _, other, card = best
        text = (
            f"from {entry.date[:7]}; there is a more recent document on this topic, "
            f"{other} ({card.date}): possibly superseded?"
        )
        return [Flag(kind="newer", text=text, newer_path=other, newer_date=card.date)]

    def recent(self) -> list[tuple[str, ManifestEntry, set[str]]]:
        """Documents of the catch-up window with the words of their titles."""
        if self._recent is None:
            since = datetime.combine(
                date.fromisoformat(self.since), datetime.min.time(), UTC
            ).timestamp()
            rows = (self.library.documents.modified_at >= since).nonzero()[0].tolist()
            self._recent = []
            for row in rows:
                card = self.library.entry(row)
                self._recent.append((self.library.paths[row], card, set(words(card.title))))
        return self._recent
