"""All documents ranked for one task, and what a person is shown of each."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, datetime
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from backend.documents.prose import open_fence
from backend.errors import CvError
from backend.freshness.words import surfaces, words
from backend.kickoff.evidence import weigh
from backend.kickoff.excerpt import best_sentence, first_paragraph
from backend.kickoff.flags import Flagger
from backend.kickoff.handoffs import is_handoff, newest_handoff
from backend.kickoff.lexical import Query, Views, score
from backend.kickoff.library import Library, StoredText
from backend.kickoff.rank import Documents, Ranked, rank
from backend.kickoff.typed import typed
from backend.schemas.kickoff import Candidate, Evidence, Handoff
from backend.tree.listing import listed
from backend.tree.repos import innermost_repo

ALIKE = 0.2
"""Cosine from which likeness in meaning is named as a reason; unrelated texts reach as much by chance."""

NAMED_FROM = {"near": 0.1, "news": 0.05}
"""What a part gives to a score from which it is named as a reason: below that it moves a document by a place or two."""

NEAR_TOP = 4
"""Chunks in which a document is expected to say what it is about."""


class Ranking:
    """The documents of a library in their order for one task. Parameters as of ``find``."""

    def __init__(
        self,
        library: Library,
        query: Query,
        task: str,
        *,
        folder: Path,
        now: datetime,
        as_of: date | None = None,
        without: Collection[str] = (),
    ) -> None:
        self.library, self.query, self.task = library, query, task
        self.shown = library.shown(as_of, without)
        self.repo = repo_at_hand(library.root, folder, library.repos)
        self.named = named_repos(task, library.repos)
        self.views: Views = score(library.words, query, self.shown)
        self.nearest = {row: hit for row, hit in library.nearest(task).items() if self.shown[row]}
        self.ranked: list[Ranked] = rank(
            self.views,
            {row: cosine for row, (cosine, _) in self.nearest.items()},
            library.documents,
            repo=self.repo,
            named=self.named,
            now=now.timestamp(),
            links=library.links,
            shown=self.shown,
        )
        self.typed = typed(task)
        self.rarity = dict(zip(query.words, self.views.rarity.tolist(), strict=True))
        self.flagger = Flagger(library, now, self.shown)
        best_similarity = max((cosine for cosine, _ in self.nearest.values()), default=0.0)
        self.evidence: Evidence = weigh(
            query,
            self.views,
            task,
            best_similarity=best_similarity,
            chunks=len(library.words.chunk_document),
            embedder=library.config.embedding.name,
        )

    def second_opinion(self, ranked: list[Ranked]) -> list[Ranked]:
        """``ranked`` with its first files in the order that a reranker, where one is configured, makes of them with ours."""
        reranker = self.library.config.reranker
        first = ranked[: reranker.top]
        if reranker.name == "off" or len(first) < 2:
            return ranked
        from backend.kickoff.rerank import fused, rerank

        try:
            places = rerank(reranker, self.library.root, self.task, [*map(self.text, first)])
        except CvError as error:
            self.library.notes.append(f"ordered without the reranker: {error}")
            return ranked
        theirs = {index: place for place, index in enumerate(places, 1)}
        again = [replace(first[index], reranker=theirs[index]) for index in fused(places)]
        return again + ranked[len(first) :]

    def text(self, ranked: Ranked) -> str:
        """What a reranker is given of a document: its title, and the chunk that matches best."""
        chunk = self.best_chunk(ranked.row)
        return "\n".join((self.library.entry(ranked.row).title, chunk.heading, chunk.body))

    def candidate(self, place: int, ranked: Ranked) -> Candidate:
        """What a person is shown of the document that stands at ``place``."""
        library, row = self.library, ranked.row
        path = library.paths[row]
        entry = library.entry(row)
        chunk = self.best_chunk(row)
        return Candidate(
            rank=place,
            source_path=path,
            absolute_path=str(library.root / path),
            repo=entry.repo,
            role=library.roles[row],
            kind=entry.kind,
            title=entry.title,
            date=entry.date,
            date_from=entry.date_from,
            lede=entry.lede,
            excerpt=self.excerpt(row, chunk),
            heading=chunk.heading,
            status=entry.status,
            tags=entry.tags,
            authors=entry.authors,
            copies=tuple(library.copies.get(path, ())),
            flags=self.flagger.flags(row, entry),
            why=self.why(ranked, chunk.heading),
        )

    def best_chunk(self, row: int) -> StoredText:
        """The chunk of a document that matches best: by words, else by meaning, else the first."""
        best = int(self.views.best[row])
        index = self.nearest[row][1] if row in self.nearest else 0
        if best >= 0:
            index = int(self.library.words.chunk_index[best])
        return self.library.chunk(row, index)

    def excerpt(self, row: int, chunk: StoredText) -> str:
        """The sentence of ``chunk``, or of how its document begins, that says most of the task."""
        fence = ""  # of code that goes on from an earlier chunk of the same section
        for earlier in self.library.section_before(row, chunk):
            fence = open_fence(earlier.body, fence)
        return best_sentence(chunk.body, self.rarity, fence=fence, opening=self.opening(row))

    def opening(self, row: int) -> str:
        """What a document says first of what it is about: its lede, else a paragraph near its beginning."""
        entry = self.library.entry(row)
        if entry.lede:
            return entry.lede
        bodies = (
            self.library.chunk(row, index).body for index in range(min(entry.chunks, NEAR_TOP))
        )
        return next((found for body in bodies if (found := first_paragraph(body))), "")

    def words_found(self, row: int) -> dict[str, int]:
        """How often each word of the task occurs in a document, as the person typed it, the rarest first."""
        times = self._times(row)
        found = []
        for one in self.typed:
            said = one.found(times)
            has = [word for word in (*one.whole, *one.parts) if word in times]
            if said:
                count = times[has[0]] if one.has_whole(times) else max(times[word] for word in has)
                found.append((max(self.rarity[word] for word in has), said, count))
        return {said: count for _, said, count in sorted(found, reverse=True)}

    def words_missing(self, row: int) -> tuple[str, ...]:
        """The words of the task that a document has nothing of, as the person typed them."""
        times = self._times(row)
        return tuple(one.written for one in self.typed if not one.found(times))

    def _times(self, row: int) -> dict[str, int]:
        found = self.views.found[:, row].tolist()
        return {word: int(n) for word, n in zip(self.query.words, found, strict=True) if n > 0}

    def reasons(self, ranked: Ranked) -> dict[str, str]:
        """What a document has beside words, in words: by the part of its score that it gave."""
        row, reasons = ranked.row, {}
        if row in self.nearest:
            reasons["meaning"] = f"similar in meaning ({self.nearest[row][0]:.2f})"
        if ranked.near.why:
            named = {repo: self._named_as(repo) for repo in self.named}
            reasons["near"] = ranked.near.in_words(self.library.documents.repo[row], named)
        reasons["news"] = "recent"
        if ranked.linked_from:
            origins = [self.library.paths[origin] for origin in ranked.linked_from]
            reasons["linked"] = f"linked from {listed(origins, 1)}"
        return reasons

    def _named_as(self, repo: str) -> str:
        """The words that the task names a repo with; empty where they are those of its name."""
        name = repo.rsplit("/", 1)[-1]
        said = [
            next((one.written for one in self.typed if word in (*one.whole, *one.parts)), word)
            for word in words(name)
        ]
        spoken = " ".join(dict.fromkeys(said))
        return "" if spoken.casefold() == " ".join(surfaces(name).values()).casefold() else spoken

    def why(self, ranked: Ranked, heading: str) -> tuple[str, ...]:
        """The reasons for a document's place, in words: the task's words in it, then what gave most to its score."""
        row, parts = ranked.row, ranked.parts
        reasons = self.reasons(ranked)
        if row in self.nearest and self.nearest[row][0] < ALIKE:
            del reasons["meaning"]
        if len(set(self.library.documents.repo)) == 1:
            reasons.pop("near", None)  # of all documents alike, it tells nothing
        told = [name for name in reasons if parts[name] > NAMED_FROM.get(name, 0.0)]
        said = [reasons[name] for name in sorted(told, key=lambda name: -parts[name])]
        found = list(self.words_found(row))
        if found:
            said.insert(0, f"words: {listed(found, 6)}")
        if heading and self.rarity.keys() & set(words(heading)):
            said.append(f"heading: {heading}")
        if ranked.reranker is not None:
            said.append(f"reranker: place {ranked.reranker}")
        return tuple(said)

    def handoff(self) -> Handoff | None:
        """The newest handoff of the repo at hand, whether or not it is about the task."""
        library = self.library
        documents: Documents = library.documents
        rows = [
            row for row in np.flatnonzero(self.shown).tolist() if is_handoff(library.paths[row])
        ]
        moments = {library.paths[row]: float(documents.modified_at[row]) for row in rows}
        path = newest_handoff(moments, moments.__getitem__, library.repos, self.repo)
        if path is None:
            return None
        entry = library.entry(library.row_of[path])
        return Handoff(
            source_path=path,
            absolute_path=str(library.root / path),
            repo=entry.repo,
            title=entry.title,
            date=entry.date,
        )


def repo_at_hand(root: Path, folder: Path, repos: frozenset[str]) -> str | None:
    """The innermost repo that ``folder`` lies in; None at the senior root itself, or outside it."""
    try:
        relative = folder.resolve().relative_to(root).as_posix()
    except (OSError, ValueError, RuntimeError):
        return None
    return innermost_repo(relative + "/x", repos) or None


def named_repos(task: str, repos: frozenset[str]) -> list[str]:
    """Repos whose folder's name stands in ``task``, however it is written."""
    said = f" {' '.join(words(task))} "
    names = {repo: " ".join(words(repo.rsplit("/", 1)[-1])) for repo in sorted(repos)}
    return [repo for repo, name in names.items() if name and f" {name} " in said]
