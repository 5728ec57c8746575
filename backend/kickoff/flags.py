"""Doubts about a candidate, in plain words with path and date. A flag never moves a candidate; a person judges."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, date, datetime
from math import log

import msgspec
import numpy as np
import numpy.typing as npt

from backend.freshness.words import words
from backend.kickoff.library import Library
from backend.schemas.kickoff import Flag
from backend.schemas.manifest import ManifestEntry
from backend.schemas.roles import CHANGELOG_ROLE
from backend.tree.window import parse_window

_OVER = re.compile(
    r"\b(superseded|archived|deprecated|obsolete|replaced|retired|abandoned|rejected)\b", re.I
)

_SHARED = 0.5
"""Share of title words below which two documents are not one topic."""

_ALIKE = 0.55
"""The same share by rarity among all titles. Of 70 pairs of titles in two real trees that pass ``_SHARED``, all above are one
topic; siblings in a family (``cli-list Specification``, ``cli-view Specification``) come to 0.53 at most."""

_NAME = re.compile(r"\w+(?:[-_/:.]\w+)+")


class _Titled(msgspec.Struct):
    """The part of a manifest entry that says what a document is about."""

    title: str


class Flagger:
    """Flags for the candidates of one search, made at ``now``; documents that are not ``shown`` don't exist for it."""

    def __init__(self, library: Library, now: datetime, shown: npt.NDArray[np.bool_]) -> None:
        self.library, self.shown = library, shown
        self.since = parse_window(library.config.catch_up.window, now).since.isoformat()
        self._recent: list[tuple[str, ManifestEntry, set[str]]] | None = None
        self._superseding: dict[str, list[str]] | None = None
        self._titles: Counter[str] = Counter()

    def flags(self, row: int, entry: ManifestEntry) -> tuple[Flag, ...]:
        """All flags of one candidate. Where it is known what took its place, no other newer document is looked for."""
        path = self.library.paths[row]
        declared = self.declared(path, entry)
        if any(flag.newer_path for flag in declared):
            return tuple(declared)
        if self.library.roles[row] == CHANGELOG_ROLE:  # says what was on its day, and stays true
            return tuple(declared)
        return (*declared, *self.newer(path, entry))

    def declared(self, path: str, entry: ManifestEntry) -> list[Flag]:
        """What the document's own frontmatter says, or that of the one which took its place."""
        found = self.library.index.db.execute(
            "SELECT fields FROM document WHERE path = ?", (path,)
        ).fetchone()
        fields = msgspec.json.decode(found[0]) if found else {}
        flags = []
        successors = []
        for target in fields.get("fm_superseded_by") or ():
            home = self.library.resolver.resolve(target, path)
            if home is None or home == path or not self.exists(home):
                text = f"says that it is superseded by {target}, which is not in the index"
                flags.append(Flag(kind="superseded", text=text))
            else:
                successors.append(home)
                flags.append(self.superseded(home, "superseded by {}"))
        flags += [
            self.superseded(home, "{} says that it supersedes this")
            for home in self.superseding().get(path, ())
            if home not in successors
        ]
        if not flags and (over := _OVER.search(entry.status)):
            flags.append(
                Flag(kind=over.group(1).casefold(), text=f'its status says "{entry.status}"')
            )
        return flags

    def superseded(self, newer: str, text: str) -> Flag:
        """The flag that names ``newer`` with its date, ``{}`` in ``text``."""
        day = self.library.entry(self.library.row_of[newer]).date
        return Flag(
            kind="superseded",
            text=text.format(f"{newer} ({day})"),
            newer_path=newer,
            newer_date=day,
        )

    def superseding(self) -> dict[str, list[str]]:
        """For each document that others say they supersede, those others."""
        if self._superseding is None:
            self._superseding = {}
            rows = self.library.index.db.execute(
                "SELECT path, fields FROM document "
                "WHERE instr(CAST(fields AS TEXT), '\"fm_supersedes\":[') > 0 ORDER BY path"
            ).fetchall()
            for path, fields in rows:
                if not self.exists(path):
                    continue
                for target in msgspec.json.decode(fields)["fm_supersedes"]:
                    home = self.library.resolver.resolve(target, path)
                    if home is not None and home != path:
                        self._superseding.setdefault(home, []).append(path)
        return self._superseding

    def exists(self, path: str) -> bool:
        """Whether ``path`` is a document of this search."""
        row = self.library.row_of.get(path)
        return row is not None and bool(self.shown[row])

    def newer(self, path: str, entry: ManifestEntry) -> list[Flag]:
        """A document on the same topic from the catch-up window, when this one is older than that."""
        if entry.date >= self.since:
            return []
        topic = topic_of(entry.title)
        best: tuple[float, str, ManifestEntry] | None = None
        for other, card, title in self.recent():
            if other != path and len(topic & title & set(words(entry.title))) >= 2:
                alike = self.alike(topic, title)
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

    def alike(self, one: set[str], other: set[str]) -> float:
        """How far two titles are of one topic, 0 to 1: a word counts the more, the fewer titles have it."""
        if len(one & other) < _SHARED * len(one | other):
            return 0.0
        if not self._titles:  # only where two titles come near each other: it reads them all
            decode = msgspec.json.Decoder(_Titled).decode
            for (entry,) in self.library.index.db.execute("SELECT entry FROM document"):
                self._titles.update(topic_of(decode(entry).title))
        count = len(self.library.paths)

        def mass(shared: set[str]) -> float:
            return sum(log(1 + count / max(1, self._titles[word])) for word in shared)

        return mass(one & other) / mass(one | other)

    def recent(self) -> list[tuple[str, ManifestEntry, set[str]]]:
        """Documents of the catch-up window with the words of their titles; not those whose day is only that of their first
        indexing.
        """
        if self._recent is None:
            since = datetime.combine(
                date.fromisoformat(self.since), datetime.min.time(), UTC
            ).timestamp()
            news = self.library.documents.modified_at >= since
            rows = np.flatnonzero(news & self.shown).tolist()
            self._recent = []
            for row in rows:
                card = self.library.entry(row)
                if card.date_from != "ingest":
                    self._recent.append((self.library.paths[row], card, topic_of(card.title)))
        return self._recent


def topic_of(title: str) -> set[str]:
    """The words of a title, as they are compared; of a joined name (``schema-which-command``) also its stop words."""
    parts = (part.casefold() for name in _NAME.findall(title) for part in re.split(r"[\W_]", name))
    return {*words(title), *(part for part in parts if len(part) > 1 and not words(part))}
