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
from backend.freshness import rebuild, renewal, words
from backend.freshness.changes import Changes, find_changes, out_of_sight
from backend.freshness.clients import give_back
from backend.freshness.dating import Dating
from backend.freshness.embedder import (
    Blank,
    Embedder,
    embedder_name,
    load_held,
    serving,
)
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
from backend.tree.found import Tree
from backend.tree.lock import exclusive
from backend.tree.root import KIT_FOLDER, require_plain_kit
from backend.tree.sources import SourcesError, add_places, choices, dangling, gone, load_sources
from backend.tree.walk import discover, look_at

WALK_AGAIN = 3600.0
"""Seconds after which a quick sync walks the whole tree again in any case. Before that it does when a folder has changed in which
a new repo, documents folder or marker would appear; what this misses is one that appears deep in folders without any."""

_NOT_ERASED = "another program has index.sqlite open: what was deleted from it goes for good with the first sync after that"

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is; with a remark and no amount (0, 0) for what a
person who waits should know at once."""


def silent(step: str, done: int, total: int) -> None:
    """A ``Progress`` that shows nothing."""


class Options(Struct, frozen=True, kw_only=True):
    """How to sync. ``quick``: look only into known document folders unless it is time to walk again; ``rebuild``: read,
    embed and store everything anew, beside the store in use; ``max_seconds``: stop between batches after so long, the next
    run goes on; ``asked``: a query waits, so that a Chroma server gets little time, and a model that is new none.
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

    Raises ``Busy`` at once when another writer is at work, ``CvError`` when nothing can be done at all, and, where nobody waits
    for an answer, when all is done but the configured embedder can't be had. A file that fails is named in the report, keeps
    what the store has of it, and is tried again by the next run.
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

        refused: list[str] = []

        def run(was: str = "") -> tuple[SyncReport, bool, dict[str, str] | None]:
            entered = rebuild.begin(root, options.roles) if options.rebuild else {}
            path = new_index_path(root) if options.rebuild else index_path(root)
            with Index.for_writing(path) as index:
                was = was or ("" if options.rebuild else _what_was_wrong(root, index))
                if was:
                    progress(f"the index was {was}: making it again from your documents", 0, 0)
                    notes.append(f"the index was {was}: made again from your documents")
                deadline = started + options.max_seconds
                whole = _Run(root, config, index, tree, now, options, progress, deadline)
                report = whole.report(started, notes, entered)
                refused[:] = whole.refused
                heads = whole.at_rest(report)
                if not index.checkpoint() and whole.erases:
                    report, heads = replace(report, notes=(*report.notes, _NOT_ERASED)), None
                return report, whole.renewing(), heads

        try:
            report, renewing, heads = run()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and not is_damaged(error):
                reason = f"{index_path(root)}: {error}; is the disk full, or the folder read-only?"
                raise CvError(reason) from error
            remove_index(index_path(root))
            report, renewing, heads = run("damaged")
        finally:
            _clear_leftovers(root)
        if heads is not None:
            cards = load_all_cards(root)
            save_snapshot(root, config, tree, cards, report.roles, heads=heads)
    if refused and not options.asked:
        raise CvError(refused[0])
    # A query does not wait for a model; the vectors of the one that ships inside take seconds.
    if renewing and not (options.asked and config.embedding.name != "static"):
        deadline = started + options.max_seconds
        notes = renewal.renew(root, config, until=deadline, progress=progress)
        done = renewal.standing(root, config) is None
        report = replace(
            report,
            seconds=round(time.monotonic() - started, 3),
            embedder=embedder_name(config.embedding) if done else report.embedder,
            notes=(*report.notes, *notes),
        )
    return report


def _what_was_wrong(root: Path, index: Index) -> str:
    """Why ``index`` is empty although this tree had one, in a word or two; empty where it is the first one, or whole."""
    if index.replaced or index.fact("embedder"):
        return index.replaced
    return "missing" if any(load_all_cards(root).values()) else ""


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
        self.erases = False
        self.refused: list[str] = []
        self.dating = Dating(root, tree.repos, index)
        self._embedder: Embedder | None = None

    def embedder(self) -> Embedder:
        """The embedder of the vectors in use. While those of another are being made, it may be one that can't be had any more."""
        if self._embedder is None:
            held = self.index.fact("embedder")
            try:
                self._embedder = load_held(self.config, held, self.root)
            except CvError:
                if held == embedder_name(self.config.embedding):
                    raise
                self._embedder = Blank(held, self.index.vectors.length())
                self.index.set_fact("blank", "yes")
        return self._embedder

    def renewing(self) -> bool:
        """Whether vectors are being made beside those in use."""
        return self.index.fact("new embedder") != ""

    def report(self, started: float, notes: list[str], entered: rebuild.Entered) -> SyncReport:
        try:
            renewal.follow(self.index, self.config, self.root)
        except CvError as error:
            self.refused = [f"{error}; what changed is taken in, with the embedder of before"]
            self.notes += self.refused
        served = serving(self.config, self.index.fact("embedder"), self.root)
        roles = self.read_in(entered)
        self.erases = self.index.fact("erase") != ""
        self._embedder = None
        words.forget()
        give_back()  # all this memory, before Chroma takes some
        before = self.index.db.total_changes
        if self.options.rebuild and self.stopped:
            self.notes.append("the rebuild was stopped after its time; the store stays as it was")
        elif self.options.rebuild:
            notes = notes + rebuild.take_place(self.root, served, self.index, self.step("storing"))
            self.write_manifests()
        else:
            notes = notes + mirror(
                self.root,
                served,
                self.index,
                self.step("storing"),
                seconds=self.deadline - time.monotonic(),
                asked=self.options.asked,
                check=not self.options.quick,
            )
            told = self.index.db.total_changes > before
            if told or self.index.fact("manifests") != manifests_stamp(self.root):
                self.write_manifests()
        return SyncReport(
            roles=roles,
            seconds=round(time.monotonic() - started, 3),
            embedder=self.index.fact("embedder"),
            notes=(*notes, *self.notes, *self.undated()),
        )

    def undated(self) -> list[str]:
        """A note for each repo whose git could not be asked for dates."""
        return [
            f"{repo or 'the senior root'}: {reason}; its documents without a date of their own keep the one they had"
            for repo, reason in sorted(self.dating.failed.items())
        ]

    def read_in(self, entered: rebuild.Entered) -> dict[str, RoleReport]:
        """Bring the index in line with the disk, and report of it by role."""
        changes = find_changes(self.tree, self.index, self.options.roles)
        stale = self.dating.refreshed()
        if changes.to_read or changes.gone or stale:
            self.index.set_fact("manifests", "")  # before anything changes: a kill may come later
        outcome = self.take_in(changes, entered)
        self.redate(stale - outcome.indexed - outcome.updated)
        if not self.index.notes.empty():
            with self.index.transaction():
                self.index.vectors.drop_unused()
        return self.role_reports(changes, outcome)

    def at_rest(self, report: SyncReport) -> dict[str, str] | None:
        """Where nothing is left to do, the commits that dates were taken from: the next look may go by what this one saw."""
        left = (
            self.stopped
            or self.renewing()
            or self.refused
            or tuple(report.roles) != ROLES
            or any(role.failed for role in report.roles.values())
            or not self.index.notes.empty()
            or self.index.fact("erase")
        )
        return None if left else self.dating.heads()

    def write_manifests(self) -> None:
        write_manifests(self.root, self.index)
        self.index.set_fact("manifests", manifests_stamp(self.root))

    def take_in(self, changes: Changes, entered: rebuild.Entered) -> Outcome:
        intake = Intake(
            self.root,
            self.tree,
            self.index,
            self.embedder,
            self.dating,
            known=changes.known,
            now=self.now,
            entered=entered,
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

    def step(self, name: str) -> Callable[[int, int], None]:
        return lambda done, total: self.progress(name, done, total)

    def role_reports(self, changes: Changes, outcome: Outcome) -> dict[str, RoleReport]:
        files = self.tree.files

        def by_role(paths: set[str]) -> Counter[str]:
            return Counter(files[path].role for path in paths if path in files)

        # Stamps may say unchanged, and then a file is folded into one that has come.
        unchanged = changes.unchanged | outcome.unchanged
        unchanged -= outcome.updated | outcome.removed.keys()
        counts = [by_role(paths) for paths in (outcome.indexed, outcome.updated, unchanged)]
        removed = Counter(outcome.removed.values())
        failed = [failure for _, failure in sorted(outcome.failed.items())]
        skipped = {role: Counter(self.tree.skipped[role]) for role in self.options.roles}
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
            for role in self.options.roles
        }
