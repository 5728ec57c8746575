"""``cv sync``: one run that brings index, Chroma and manifests in line with the disk."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from backend.errors import CvError
from backend.freshness import rebuild
from backend.freshness.changes import Changes, find_changes, out_of_sight
from backend.freshness.dating import Dating
from backend.freshness.embedder import Embedder, embedder_name, load_embedder
from backend.freshness.index import Index, is_damaged, remove_index
from backend.freshness.intake import Intake, Outcome
from backend.freshness.manifest import load_all_cards, manifests_stamp, write_manifests
from backend.freshness.mirror import mirror
from backend.freshness.places import (
    index_path,
    load_places,
    new_index_path,
    save_places,
    still_hold,
)
from backend.freshness.snapshot import forget_snapshot, load_snapshot, save_snapshot
from backend.schemas.config import Config
from backend.schemas.roles import ROLES
from backend.schemas.sync import RoleReport, SyncReport
from backend.tree.discovery import Tree, discover, look_at
from backend.tree.lock import exclusive
from backend.tree.root import KIT_FOLDER, require_plain_kit
from backend.tree.sources import SourcesError, add_places, choices, dangling, gone, load_sources

WALK_AGAIN = 3600.0
"""Seconds after which a quick sync walks the whole tree again in any case. Before that it does when a folder has changed in which
a new repo, documents folder or marker would appear; what this misses is one that appears deep in folders without any."""

EMBED_BATCH = 512
"""Chunks embedded at once when all have to be (another embedder)."""

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""


def silent(step: str, done: int, total: int) -> None:
    """A ``Progress`` that shows nothing."""


class Options(Struct, frozen=True, kw_only=True):
    """How to sync. ``quick``: look only into known document folders unless it is time to walk again; ``rebuild``: read,
    embed and store everything anew, beside the store in use; ``max_seconds``: stop between batches after so long, the next
    run goes on; ``asked``: a query waits, so that a Chroma server gets little time.
    """

    quick: bool = False
    rebuild: bool = False
    roles: tuple[str, ...] = ROLES
    max_seconds: float = float("inf")
    asked: bool = False


def sync(
    root: Path,
    config: Config,
    *,
    now: datetime,
    options: Options = Options(),  # noqa: B008 - frozen
    progress: Progress = silent,
) -> SyncReport:
    """Bring the store in line with the tree below ``root``; ``now`` (aware) is the moment new documents count as indexed.

    Raises ``Busy`` at once when another writer is at work, ``CvError`` when nothing can be done at all. A file that fails
    is named in the report, keeps what the store has of it, and is tried again by the next run.
    """
    started = time.monotonic()
    require_plain_kit(root)
    if options.quick and options.roles == ROLES and not options.rebuild:
        seen = load_snapshot(root, config)
        recent = seen is not None and 0 <= now.timestamp() - seen.walked_at < WALK_AGAIN
        if seen is not None and recent:
            seconds = round(time.monotonic() - started, 3)
            name = embedder_name(config.embedding)
            return SyncReport(roles=seen.roles, seconds=seconds, embedder=name)
    lock = root / KIT_FOLDER / "writer.lock"
    with exclusive(
        lock,
        seconds=0,
        busy="another sync of this tree is at work; it will take in what has changed",
    ):
        forget_snapshot(root)
        _clear_leftovers(root)
        tree, notes = look(root, config, now=now, quick=options.quick)

        def run() -> SyncReport:
            entered = rebuild.begin(root, options.roles) if options.rebuild else {}
            path = new_index_path(root) if options.rebuild else index_path(root)
            with Index.for_writing(path) as index:
                deadline = started + options.max_seconds
                whole = _Run(root, config, index, tree, now, options, progress, deadline)
                return whole.report(started, notes, entered)

        try:
            return run()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and not is_damaged(error):
                reason = f"{index_path(root)}: {error}; is the disk full, or the folder read-only?"
                raise CvError(reason) from error
            notes.append(f"the index was damaged ({error}) and is made anew")
            remove_index(index_path(root))
            return run()
        finally:
            _clear_leftovers(root)


def _clear_leftovers(root: Path) -> None:
    """Remove what a killed sync was about to put into place: it may hold text that has been taken back since."""
    rebuild.clear(root)
    kit = root / KIT_FOLDER
    for path in (
        *(kit / "manifests").glob(".*.tmp"),
        *kit.glob(".sources.md.*.tmp"),
        *(kit / "chroma").glob("*.new"),
    ):
        path.unlink(missing_ok=True)


def look(root: Path, config: Config, *, now: datetime, quick: bool) -> tuple[Tree, list[str]]:
    """The tree as it is, and notes; a full walk also appends new folders to ``sources.md``."""
    known = load_places(root) if quick else None
    recent = known is not None and 0 <= now.timestamp() - known.walked_at < WALK_AGAIN
    if known is not None and recent and still_hold(root, config, known):
        return look_at(root, config, known.places, known.repos, known.choices), []
    sources = load_sources(root)
    chosen = choices(sources)
    tree = discover(root, config, chosen)
    notes = []
    try:
        new = add_places(root, sources, tree.places)
    except SourcesError as error:  # the list is right, only nothing can be added to it
        new = []
        notes.append(str(error))
    if new and sources:
        notes.append(
            f"sources.md: {len(new)} new: {', '.join(new[:5])}{' …' if len(new) > 5 else ''}"
        )
    notes += [
        f"sources.md: {path} is no longer there"
        for path in gone(root, sources)
        if not out_of_sight(path, tree.unreadable)
    ]
    notes += [
        f"sources.md: {path} is not there, so its 'include: false' leaves nothing out; is it misspelt?"
        for path in dangling(root, sources)
    ]
    notes += [
        f"{path or root}: could not be read; what the index has of it is kept"
        for path in tree.unreadable[:5]
    ]
    save_places(root, config, tree, chosen, walked_at=now.timestamp())
    return tree, notes


class _Run:
    def __init__(
        self,
        root: Path,
        config: Config,
        index: Index,
        tree: Tree,
        now: datetime,
        options: Options,
        progress: Progress,
        deadline: float,
    ) -> None:
        self.root, self.config, self.index, self.tree = root, config, index, tree
        self.now, self.options, self.progress, self.deadline = now, options, progress, deadline
        self.notes: list[str] = []
        self.stopped = False
        self._embedder: Embedder | None = None

    def embedder(self) -> Embedder:
        if self._embedder is None:
            self._embedder = load_embedder(self.config.embedding, self.root)
        return self._embedder

    def report(self, started: float, notes: list[str], entered: rebuild.Entered) -> SyncReport:
        self.follow_embedder()
        changes = find_changes(self.tree, self.index, self.options.roles)
        stale = Dating(self.root, self.tree.repos, self.index).refreshed()
        if changes.to_read or changes.gone or stale:
            self.index.set_fact("manifests", "")  # before anything changes: a kill may come later
        outcome = self.take_in(changes, entered)
        self.redate(stale - outcome.indexed - outcome.updated)
        if not self.index.notes.empty():
            with self.index.transaction():
                self.index.vectors.drop_unused()
        before = self.index.db.total_changes
        if self.options.rebuild and self.stopped:
            self.notes.append("the rebuild was stopped after its time; the store stays as it was")
        elif self.options.rebuild:
            notes = notes + rebuild.take_place(
                self.root, self.config, self.index, self.step("storing")
            )
            self.write_manifests()
        else:
            notes = notes + mirror(
                self.root,
                self.config,
                self.index,
                self.step("storing"),
                seconds=self.deadline - time.monotonic(),
                asked=self.options.asked,
                check=not self.options.quick,
            )
            told = self.index.db.total_changes > before
            if told or self.index.fact("manifests") != manifests_stamp(self.root):
                self.write_manifests()
        roles = {role: self.role_report(role, changes, outcome) for role in self.options.roles}
        self.keep_snapshot(roles)
        return SyncReport(
            roles=roles,
            seconds=round(time.monotonic() - started, 3),
            embedder=embedder_name(self.config.embedding),
            notes=(*notes, *self.notes),
        )

    def keep_snapshot(self, roles: dict[str, RoleReport]) -> None:
        """Where nothing is left to do, the next look may go by what this one saw."""
        left = (
            self.stopped
            or tuple(roles) != ROLES
            or any(report.failed for report in roles.values())
            or not self.index.notes.empty()
            or self.index.fact("erase")
        )
        if not left:
            heads = Dating(self.root, self.tree.repos, self.index).heads()
            cards = load_all_cards(self.root)
            save_snapshot(self.root, self.config, self.tree, cards, roles, heads=heads)

    def write_manifests(self) -> None:
        write_manifests(self.root, self.index)
        self.index.set_fact("manifests", manifests_stamp(self.root))

    def follow_embedder(self) -> None:
        """Vectors of another embedder than the configured one are made anew, from the text that the index has."""
        name = embedder_name(self.config.embedding)
        before = self.index.fact("embedder")
        if before != name:
            if before:
                self.embedder()  # so that one that can't be loaded leaves the store as it is
                self.notes.append(
                    f"the embedder changed from {before} to {name}: all vectors are made anew"
                )
            with self.index.transaction():
                self.index.vectors.drop_all()
                self.index.set_fact("embedder", name)
                self.index.set_fact("chroma", "")
        missing = list(self.index.vectors.missing().items())
        for start in range(0, len(missing), EMBED_BATCH):
            batch = missing[start : start + EMBED_BATCH]
            vectors = self.embedder().embed([text for _, (text, _) in batch])
            with self.index.transaction():
                self.index.vectors.put([h for h, _ in batch], vectors)
            self.progress("embedding", start + len(batch), len(missing))

    def take_in(self, changes: Changes, entered: rebuild.Entered) -> Outcome:
        intake = Intake(
            self.root, self.tree, self.index, self.embedder, now=self.now, entered=entered
        )
        intake.remove(changes.gone)
        intake.add(changes.to_read)
        total = intake.left()
        while intake.left():
            if time.monotonic() > self.deadline:
                self.stopped = True
                if not self.options.rebuild:
                    self.notes.append(
                        f"stopped after its time; {intake.left()} files follow at the next sync"
                    )
                break
            intake.run_batch()
            self.progress("reading", max(0, total - intake.left()), total)
        return intake.outcome

    def redate(self, stale: set[str]) -> None:
        """Documents without a date of their own follow git's, when their repo has moved to another commit."""
        dating = Dating(self.root, self.tree.repos, self.index)
        if not stale:
            return
        with self.index.transaction():
            for path in sorted(stale):
                entry = self.index.entry(path)
                if entry is None:  # gone, or passed over by now
                    continue
                date = dating.from_outside(path, entry.ingested_at)
                if (date.day, date.epoch) != (entry.date, entry.modified_at):
                    new = replace(
                        entry, date=date.day, modified_at=date.epoch, date_from=date.source
                    )
                    self.index.redate(path, new)

    def step(self, name: str) -> Callable[[int, int], None]:
        return lambda done, total: self.progress(name, done, total)

    def role_report(self, role: str, changes: Changes, outcome: Outcome) -> RoleReport:
        files = self.tree.files
        known_roles = {path: known.role for path, known in self.index.known().items()}

        def count(paths: set[str]) -> int:
            return sum(
                known_roles.get(path, files[path].role if path in files else "") == role
                for path in paths
            )

        # Stamps may say unchanged, and then a file is folded into one that has come.
        unchanged = changes.unchanged | outcome.unchanged
        unchanged -= outcome.updated | outcome.removed.keys()
        passed_over = Counter(
            entry.reason for entry in self.index.passed_over().values() if entry.role == role
        )
        skipped = self.tree.skipped[role] + passed_over
        return RoleReport(
            indexed=count(outcome.indexed),
            updated=count(outcome.updated),
            unchanged=count(unchanged),
            removed=sum(r == role for r in outcome.removed.values()),
            failed=tuple(
                f for path, f in sorted(outcome.failed.items()) if files[path].role == role
            ),
            skipped=dict(sorted(skipped.items())),
            chunks=self.index.chunk_count(role),
            embedded=outcome.embedded.get(role, 0),
        )
