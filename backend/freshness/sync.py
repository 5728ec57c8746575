"""``cv sync``: one run that brings index, Chroma and manifests in line with the disk."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Struct

from backend.errors import CvError
from backend.freshness import rebuild, renewal, words
from backend.freshness.clients import give_back
from backend.freshness.embedder import embedder_name, serving
from backend.freshness.index_file import is_damaged, remove_index
from backend.freshness.look import is_recent, look
from backend.freshness.manifest import load_all_cards, manifests_stamp, write_manifests
from backend.freshness.mirror import mirror
from backend.freshness.places import index_path, new_index_path
from backend.freshness.run import Run
from backend.freshness.snapshot import Snapshot, forget_snapshot, load_snapshot, save_snapshot
from backend.freshness.writable_index import WritableIndex
from backend.schemas.config import Config
from backend.schemas.roles import ROLES
from backend.schemas.sync import RoleReport, SyncReport
from backend.tree.files import naming_room
from backend.tree.found import Tree
from backend.tree.lock import exclusive
from backend.tree.root import KIT_FOLDER, require_plain_kit

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
    seen = _nothing_changed(root, config, now, options)
    if seen is not None:
        seconds, name = round(time.monotonic() - started, 3), embedder_name(config.embedding)
        return SyncReport(roles=seen.roles, seconds=seconds, embedder=name)
    deadline = started + options.max_seconds
    done = _Writer(root, config, now, options, progress, deadline).work()
    if done.refused is not None and not options.asked:
        raise done.refused
    embedder, notes = done.embedder, done.notes
    # A query does not wait for a model; the vectors of the one that ships inside take seconds.
    if done.renewing and not (options.asked and config.embedding.name != "static"):
        with naming_room(root):
            notes = [*notes, *renewal.renew(root, config, until=deadline, progress=progress)]
        if renewal.standing(root, config) is None:
            embedder = embedder_name(config.embedding)
    seconds = round(time.monotonic() - started, 3)
    return SyncReport(roles=done.roles, seconds=seconds, embedder=embedder, notes=tuple(notes))


def _nothing_changed(
    root: Path, config: Config, now: datetime, options: Options
) -> Snapshot | None:
    """What the last sync saw, where a quick one may go by it and the disk is still the same."""
    if not options.quick or options.rebuild or options.roles != ROLES:
        return None
    seen = load_snapshot(root, config)
    return seen if seen is not None and is_recent(seen.walked_at, now) else None


class _Done(Struct, frozen=True, kw_only=True):
    """What the writer has done. ``embedder``: whose vectors serve; ``renewing``: whether another's are being made; ``refused``:
    why the configured one's can't be. ``heads``: where nothing is left to do, the commits that dates were taken from, so that
    the next look may go by what this one saw.
    """

    roles: dict[str, RoleReport]
    notes: list[str]
    embedder: str
    renewing: bool
    refused: CvError | None
    heads: dict[str, str] | None


class _Writer(Struct, frozen=True):
    """The one writer of a tree: what a sync does under the lock, until ``deadline`` (of the monotonic clock)."""

    root: Path
    config: Config
    now: datetime
    options: Options
    progress: Progress
    deadline: float

    def work(self) -> _Done:
        """Take the lock, look at the tree and bring the store in line; anew where the index in use turns out to be damaged."""
        root = self.root
        busy = "another sync of this tree is at work; it will take in what has changed"
        with exclusive(root / KIT_FOLDER / "writer.lock", seconds=0, busy=busy):
            forget_snapshot(root)
            _clear_leftovers(root)
            tree, notes = look(root, self.config, now=self.now, quick=self.options.quick)
            try:
                with naming_room(root):
                    done = self.bring_in_line_or_anew(tree, notes)
            finally:
                _clear_leftovers(root)
            if done.heads is not None:
                cards = load_all_cards(root)
                save_snapshot(root, self.config, tree, cards, done.roles, heads=done.heads)
        return done

    def bring_in_line_or_anew(self, tree: Tree, notes: list[str]) -> _Done:
        """Index, Chroma and manifests follow ``tree``; an index that turns out to be damaged is made anew for it."""
        index = index_path(self.root)
        try:
            return self.bring_in_line(tree, notes)
        except (sqlite3.DatabaseError, msgspec.MsgspecError) as error:
            if not _is_damage(error):
                raise CvError(f"{index}: {error}; can its folder be written to?") from error
        if not self.options.rebuild:  # that deals with a damaged one itself, at its end
            remove_index(index)
        return self.bring_in_line(tree, notes, was="damaged")

    def bring_in_line(self, tree: Tree, notes: list[str], *, was: str = "") -> _Done:
        """Index, Chroma and manifests follow ``tree``. ``was``: what was wrong with the index, where that is known already."""
        root, config, options = self.root, self.config, self.options
        if options.rebuild:
            rebuild.begin(root, options.roles)
        path = new_index_path(root) if options.rebuild else index_path(root)
        with WritableIndex.open(path) as index:
            was = was or ("" if options.rebuild else _what_was_wrong(root, index))
            if was:
                self.progress(f"the index was {was}: making it again from your documents", 0, 0)
                notes.append(f"the index was {was}: made again from your documents")
            refused = _follow(index, config, root)
            run = Run(
                root, config, index, tree, options.roles, now=self.now, deadline=self.deadline
            )
            entered = rebuild.first_indexed(root) if options.rebuild or was else {}
            roles = run.take_in(entered, partial(self.progress, "reading"))
            words.forget()
            give_back()  # all this memory, before Chroma takes some
            notes = [*notes, *self.store(index, run), *self.left_open(run, refused)]
            at_rest = not (refused or run.left or self.is_unfinished(index, roles))
            if waits := index.compact():
                notes, at_rest = [*notes, waits], False
            return _Done(
                roles=roles,
                notes=notes,
                embedder=index.fact("embedder"),
                renewing=index.fact("new embedder") != "",
                refused=refused,
                heads=run.dating.heads() if at_rest else None,
            )

    def store(self, index: WritableIndex, run: Run) -> list[str]:
        """Chroma and the manifests follow ``index``; a rebuild that is whole takes the place of the one in use. Returns notes."""
        if self.options.rebuild and run.left:
            return []
        served = serving(self.config, index.fact("embedder"), self.root)
        progress = partial(self.progress, "storing")
        before = index.db.total_changes
        if self.options.rebuild:
            notes = rebuild.take_place(self.root, served, index, progress)
        else:
            notes = mirror(
                self.root,
                served,
                index,
                progress,
                seconds=self.deadline - time.monotonic(),
                asked=self.options.asked,
                check=not self.options.quick,
            )
        told = self.options.rebuild or index.db.total_changes > before
        if told or index.fact("manifests") != manifests_stamp(self.root):
            write_manifests(self.root, index)
            index.set_fact("manifests", manifests_stamp(self.root))
        return notes

    def left_open(self, run: Run, refused: CvError | None) -> list[str]:
        """Notes of what ``run`` could not do."""
        notes = [] if refused is None else [str(refused)]
        if run.left and self.options.rebuild:
            notes.append("the rebuild was stopped after its time; the store stays as it was")
        elif run.left:
            notes.append(f"stopped after its time; {run.left} files follow at the next sync")
        return [*notes, *run.undated()]

    def is_unfinished(self, index: WritableIndex, roles: dict[str, RoleReport]) -> bool:
        """Whether the next sync has something to do although nothing changes on disk."""
        return bool(
            self.options.roles != ROLES
            or any(role.failed for role in roles.values())
            or index.fact("new embedder")
            or index.fact("erase")
            or not index.notes.empty()
        )


def _is_damage(error: BaseException | None) -> bool:
    """Whether ``error`` is the fault of the index itself, or came up when an index was closed for one that is."""
    while error is not None:
        if isinstance(error, sqlite3.OperationalError):
            if is_damaged(error):
                return True
        elif isinstance(error, (sqlite3.DatabaseError, msgspec.MsgspecError)):
            return True
        error = error.__context__
    return False


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


def _what_was_wrong(root: Path, index: WritableIndex) -> str:
    """Why ``index`` is empty although this tree had one, in a word or two; empty where it is the first one, or whole."""
    if index.replaced or index.fact("embedder"):
        return index.replaced
    return "missing" if any(load_all_cards(root).values()) else ""


def _follow(index: WritableIndex, config: Config, root: Path) -> CvError | None:
    """Have the configured embedder's vectors made where they are not yet; returns why that can't be."""
    try:
        renewal.follow(index, config, root)
    except CvError as error:
        return CvError(f"{error}; what changed is taken in, with the embedder of before")
    return None
