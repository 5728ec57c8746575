"""One run over a tree: the index takes in what has changed on disk, and each role's report says what became of it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from functools import cache
from pathlib import Path

from msgspec.structs import replace

from backend.errors import CvError
from backend.freshness.changes import Changes, find_changes
from backend.freshness.dating import Dating
from backend.freshness.embedder import Blank, Embedder, embedder_name, load_held
from backend.freshness.intake import Intake, Outcome
from backend.freshness.rebuild import Entered
from backend.freshness.writable_index import WritableIndex
from backend.schemas.config import Config
from backend.schemas.sync import RoleReport
from backend.tree.found import Tree


class Run:
    """A run over ``tree`` for ``roles``; ``now`` is the moment new documents count as indexed, and after ``deadline`` (of the
    monotonic clock) no further batch begins. ``left``: how many files that leaves to the next run.
    """

    def __init__(
        self,
        root: Path,
        config: Config,
        index: WritableIndex,
        tree: Tree,
        roles: tuple[str, ...],
        *,
        now: datetime,
        deadline: float,
    ) -> None:
        self.root, self.config, self.index, self.tree = root, config, index, tree
        self.roles, self.now, self.deadline = roles, now, deadline
        self.dating = Dating(root, tree.repos, index)
        self.left = 0

    def take_in(
        self, entered: Entered, progress: Callable[[int, int], None]
    ) -> dict[str, RoleReport]:
        """Bring the index in line with the tree, and report of it by role. ``entered``: moments of entry to keep; ``progress`` is
        told how many files are read, of how many.
        """
        changes = find_changes(self.tree, self.index, self.roles)
        self.dating.forget_gone()
        stale = self.dating.refreshed()
        if changes.to_read or changes.gone or stale:
            self.index.set_fact("manifests", "")  # before anything changes: a kill may come later
        outcome = self._read(changes, entered, progress)
        self._redate(stale - outcome.indexed - outcome.updated)
        if not self.index.notes.empty():
            with self.index.transaction():
                self.index.vectors.drop_unused()
        return self._reports(changes, outcome)

    def undated(self) -> list[str]:
        """A note for each repo whose git could not be asked for dates."""
        return [
            f"{repo or 'the senior root'}: {reason}; its documents without a date of their own keep the one they had"
            for repo, reason in sorted(self.dating.failed.items())
        ]

    def _read(
        self, changes: Changes, entered: Entered, progress: Callable[[int, int], None]
    ) -> Outcome:
        intake = Intake(
            self.root,
            self.tree,
            self.index,
            cache(self._embedder),
            self.dating,
            known=changes.known,
            now=self.now,
            entered=entered,
        )
        intake.remove(changes.gone)
        intake.add(changes.to_read)
        total = intake.left()
        while intake.left() and time.monotonic() <= self.deadline:
            intake.run_batch()
            progress(max(0, total - intake.left()), total)
        self.left = intake.left()
        if not self.left and intake.moved:
            self.index.set_fact("moved", "")
        return intake.outcome

    def _embedder(self) -> Embedder:
        """The embedder of the vectors in use. While those of another are being made, it may be one that can't be had any more."""
        held = self.index.fact("embedder")
        try:
            return load_held(self.config, held, self.root)
        except CvError:
            if held == embedder_name(self.config.embedding):
                raise
            self.index.set_fact("blank", "yes")
            return Blank(held, self.index.vectors.length())

    def _redate(self, stale: set[str]) -> None:
        """Documents without a date of their own follow git's, when their repo has moved to another commit."""
        if not stale:
            return
        with self.index.transaction():
            for path in sorted(stale):
                entry = self.index.entry(path)
                if entry is None:  # gone, or passed over by now
                    continue
                date = self.dating.from_outside(path, entry.ingested_at)
                if (date.day, date.epoch) != (entry.date, entry.modified_at):
                    new = replace(
                        entry, date=date.day, modified_at=date.epoch, date_from=date.source
                    )
                    self.index.redate(path, new)

    def _reports(self, changes: Changes, outcome: Outcome) -> dict[str, RoleReport]:
        files = self.tree.files

        def by_role(paths: set[str]) -> Counter[str]:
            return Counter(files[path].role for path in paths if path in files)

        # Stamps may say unchanged, and then a file is folded into one that has come.
        unchanged = changes.unchanged | outcome.unchanged
        unchanged -= outcome.updated | outcome.removed.keys()
        counts = [by_role(paths) for paths in (outcome.indexed, outcome.updated, unchanged)]
        removed = Counter(outcome.removed.values())
        failed = [failure for _, failure in sorted(outcome.failed.items())]
        skipped = {role: Counter(self.tree.skipped[role]) for role in self.roles}
        for entry in self.index.passed_over().values():
            if entry.role in skipped:
                skipped[entry.role][entry.reason] += 1
        return {
            role: RoleReport(
                indexed=counts[0][role],
                updated=counts[1][role],
                unchanged=counts[2][role],
                removed=removed[role],
                failed=tuple(f for f in failed if files[f.path].role == role),
                skipped=dict(sorted(skipped[role].items())),
                chunks=self.index.chunk_count(role),
                embedded=outcome.embedded.get(role, 0),
            )
            for role in self.roles
        }
