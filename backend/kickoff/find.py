"""``cv find``: the files for a task, best first, each with the reasons for it. It proposes; a person picks."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt

from backend.freshness.index import Index
from backend.freshness.places import index_path
from backend.freshness.words import surfaces, words
from backend.kickoff.excerpt import best_sentence
from backend.kickoff.flags import Flagger
from backend.kickoff.lexical import Query, Views, score
from backend.kickoff.library import Library
from backend.kickoff.rank import NEWS, Ranked, rank
from backend.schemas import Candidate, Config, Evidence, Findings
from backend.tree.repos import innermost_repo

SHOWN = 20
"""Files proposed when nothing else is asked: measured, they hold nine of ten files that a person would load."""

_COVERS, _COVERS_LITTLE = 0.55, 0.34
"""Shares of the task's words (by rarity) in the best document. On the real tree's 59 tasks the 6 that nothing is about stay
below the second, and the others, but for a few, above the first."""


def find(
    root: Path,
    config: Config,
    task: str,
    *,
    folder: Path,
    now: datetime,
    limit: int = SHOWN,
    scope: str | None = None,
    as_of: date | None = None,
    without: Collection[str] = (),
    fresh: bool = True,
    notes: tuple[str, ...] = (),
) -> Findings:
    """The best ``limit`` files for ``task``, asked by a person who works in ``folder``.

    ``scope``: only below this folder (relative to the root). ``as_of``: as if later documents did not exist, and ``without``:
    nor these (for measuring). ``fresh`` and ``notes`` are handed through from the refresh.
    """
    index = Index.for_reading(index_path(root))
    query = Query.of(task)
    if index is None or query is None:
        why = (
            "there is no index yet: run 'cv sync'"
            if index is None
            else "the task has no word to search for"
        )
        return Findings(
            task=task, senior_root=str(root), fresh=fresh, candidates=(), notes=(*notes, why)
        )
    with index:
        library = Library(root, config, index)
        shown = library.shown(as_of, without)
        repo = repo_at_hand(root, folder, library.repos)
        views = score(library.words, query, shown)
        nearest = {row: hit for row, hit in library.nearest(task).items() if shown[row]}
        ranked = rank(
            views,
            {row: cosine for row, (cosine, _) in nearest.items()},
            library.documents,
            repo=repo,
            named=named_repos(task, library.repos),
            now=now.timestamp(),
            links=library.links,
            shown=shown,
        )
        inside = [
            r for r in ranked if scope is None or library.paths[r.row].startswith(scope + "/")
        ]
        describe = _Describer(library, query, views, nearest, task, now, repo is not None)
        evidence = _evidence(query, views, nearest, task)
        return Findings(
            task=task,
            senior_root=str(root),
            fresh=fresh,
            candidates=tuple(
                describe.candidate(place, r) for place, r in enumerate(inside[:limit], 1)
            ),
            evidence=evidence,
            notes=(*notes, *library.notes, *_verdict_notes(evidence)),
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


class _Describer:
    """Turns a ranked row into what a person is shown."""

    def __init__(
        self,
        library: Library,
        query: Query,
        views: Views,
        nearest: dict[int, tuple[float, int]],
        task: str,
        now: datetime,
        at_hand: bool,
    ) -> None:
        self.at_hand = at_hand
        self.library, self.query, self.views, self.nearest = library, query, views, nearest
        self.surface = surfaces(task)
        self.rarity = dict(zip(query.words, views.rarity.tolist(), strict=True))
        self.flagger = Flagger(library, now)

    def candidate(self, place: int, ranked: Ranked) -> Candidate:
        library, row = self.library, ranked.row
        path = library.paths[row]
        entry = library.entry(row)
        heading, text = self.best_chunk(row)
        return Candidate(
            rank=place,
            source_path=path,
            absolute_path=str(library.root / path),
            repo=entry.repo,
            role=library.roles[row],
            kind=entry.kind,
            title=entry.title,
            date=entry.date,
            lede=entry.lede,
            excerpt=best_sentence(text, self.rarity),
            heading=heading,
            status=entry.status,
            tags=entry.tags,
            authors=entry.authors,
            copies=tuple(library.copies.get(path, ())),
            flags=self.flagger.flags(row, entry),
            why=self.why(ranked, heading),
        )

    def best_chunk(self, row: int) -> tuple[str, str]:
        """Heading and text of the chunk that matches best: by words, else by meaning, else the first."""
        best = int(self.views.best[row])
        index = self.nearest[row][1] if row in self.nearest else 0
        if best >= 0:
            index = int(self.library.words.chunk_index[best])
        found = self.library.index.db.execute(
            "SELECT heading, text FROM chunk c JOIN document d ON d.id = c.document WHERE d.path = ? AND idx = ?",
            (self.library.paths[row], index),
        ).fetchone()
        if found is None:
            return "", ""
        heading, text = found
        body = text.partition("\n")[2].removeprefix(f"## {heading}\n")
        return heading, body

    def why(self, ranked: Ranked, heading: str) -> tuple[str, ...]:
        row, reasons = ranked.row, []
        found = [
            (self.rarity[w], w)
            for w, n in zip(self.query.words, self.views.found[:, row], strict=True)
            if n > 0
        ]
        if found:
            best = [self.surface.get(word, word) for _, word in sorted(found, reverse=True)[:6]]
            reasons.append(
                f"words: {', '.join(best)}"
                + (f" (of {len(self.query.words)})" if len(found) > 6 else "")
            )
        if heading and self.rarity.keys() & set(surfaces(heading)):
            reasons.append(f"heading: {heading}")
        if row in self.nearest:
            reasons.append(f"similar in meaning ({self.nearest[row][0]:.2f})")
        if ranked.parts["near"] > 0.05:
            here = (
                "in or near the repo at hand" if self.at_hand else "from the repo of most matches"
            )
            reasons.append(here)
        if ranked.parts["news"] > NEWS / 4:
            reasons.append("recent")
        if ranked.linked_from:
            origin = self.library.paths[ranked.linked_from[0]]
            others = (
                f" and {len(ranked.linked_from) - 1} more" if len(ranked.linked_from) > 1 else ""
            )
            reasons.append(f"linked from {origin}{others}")
        return tuple(reasons)


def _evidence(
    query: Query, views: Views, nearest: dict[int, tuple[float, int]], task: str
) -> Evidence:
    surface = surfaces(task)
    has: npt.NDArray[np.bool_] = np.greater(views.found, 0)
    coverage = (
        float((views.rarity @ has).max(initial=0.0) / views.rarity.sum())
        if views.rarity.sum()
        else 0.0
    )
    missing = [
        surface.get(w, w)
        for w, known in zip(query.words, np.any(has, axis=1).tolist(), strict=True)
        if not known
    ]
    return Evidence(
        verdict="strong"
        if coverage >= _COVERS
        else "weak"
        if coverage >= _COVERS_LITTLE
        else "none",
        coverage=round(coverage, 3),
        best_similarity=round(max((cosine for cosine, _ in nearest.values()), default=0.0), 3),
        missing_words=tuple(missing),
    )


def _verdict_notes(evidence: Evidence) -> list[str]:
    missing = (
        f"; in no document: {', '.join(evidence.missing_words[:8])}"
        if evidence.missing_words
        else ""
    )
    if evidence.verdict == "none":
        return [
            f"nothing here seems to be about this: the best document has {evidence.coverage:.0%} of its words{missing}"
        ]
    if evidence.verdict == "weak":
        return [
            f"weak matches only: the best document has {evidence.coverage:.0%} of the task's words{missing}"
        ]
    return []
