"""Taking files into the index: read, decide whether a file is a document of its own, embed what is new in it, store it."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from backend.documents.copies import Checkout, Likeness, likeness, preference
from backend.documents.document import read_document
from backend.freshness.dating import Dating
from backend.freshness.embedder import Embedder
from backend.freshness.index import Known
from backend.freshness.writable_index import WritableIndex
from backend.schemas.document import Document, DocumentDate
from backend.schemas.manifest import ManifestEntry, PassedOver
from backend.schemas.roles import CHANGELOG_ROLE
from backend.schemas.sync import Failure
from backend.tree.found import FoundFile, Tree
from backend.tree.repos import identity

BATCH = 64
"""Files in one transaction: what a kill can lose, and how many chunks are embedded at once (some 500)."""

LARGEST_FILE = 32 * 1024 * 1024
"""Bytes. No text that a person wrote is larger (the largest document seen had 2.4 MB)."""


class Read(Struct, frozen=True):
    """A file that was read: what it says, and what it is recognised by."""

    file: FoundFile
    file_hash: str
    document: Document
    checkout: Checkout

    def likeness(self) -> Likeness:
        """What it can be recognised by."""
        return likeness(self.document, self.file.path, self.checkout, self.file_hash)


class Moved(Struct, frozen=True):
    """What a document keeps that has only moved: when it came (epoch seconds), and its date."""

    ingested_at: int
    date: DocumentDate


class Outcome(Struct):
    """What became of the files, by path: ``indexed``, ``updated``, ``unchanged`` (same bytes), ``removed`` (left the store; with
    its role). ``embedded``: chunks per role.
    """

    indexed: set[str]
    updated: set[str]
    unchanged: set[str]
    removed: dict[str, str]
    failed: dict[str, Failure]
    embedded: dict[str, int]

    @classmethod
    def empty(cls) -> Outcome:
        """Nothing has happened yet."""
        return cls(set(), set(), set(), {}, {}, {})


class Intake:
    """One sync's intake. ``known``: what ``index`` has of every document; ``now`` is the moment it counts as, ``entered`` earlier
    moments of entry to keep (by path and hash of the body).
    """

    def __init__(
        self,
        root: Path,
        tree: Tree,
        index: WritableIndex,
        embedder: Callable[[], Embedder],
        dating: Dating,
        *,
        known: dict[str, Known],
        now: datetime,
        entered: dict[tuple[str, str], int] | None = None,
    ) -> None:
        self.root = root
        self.tree = tree
        self.index = index
        self.embedder = embedder
        self.now = now
        self.entered = entered or {}
        self.known = known
        self.dating = dating
        self.outcome = Outcome.empty()
        self.identities: dict[str, str] = {}
        self.todo: deque[FoundFile] = deque()
        self.seen: set[str] = set()
        # By hash of the bytes, and kept in the index: a sync can end before it has read the file at its new path.
        self.moved = msgspec.json.decode(index.fact("moved") or "{}", type=dict[str, Moved])
        self.waiting: list[Read] = []

    def remove(self, paths: Iterable[str]) -> None:
        """Files that are no longer there leave the index; what was folded into them is looked at anew."""
        with self.index.transaction():
            for path in paths:
                self.unfold(path)
                entry = self.index.entry(path)
                if entry is not None:  # the same bytes may have come elsewhere
                    date = DocumentDate(entry.date, entry.modified_at, entry.date_from)
                    self.moved[self.known[path].file_hash] = Moved(entry.ingested_at, date)
                if self.index.remove(path):
                    self.outcome.removed[path] = self.known[path].role
            if self.moved:
                self.index.set_fact("moved", msgspec.json.encode(self.moved).decode())

    def add(self, files: Iterable[FoundFile]) -> None:
        """Queue files. Those nearer to the root come first, since they are the homes that copies fold into."""
        known_worktrees = {path for path, repo in self.tree.repos.items() if repo.worktree}

        def order(file: FoundFile) -> tuple[bool, int, str]:
            return (
                any(file.path.startswith(w + "/") for w in known_worktrees),
                file.path.count("/"),
                file.path,
            )

        self.todo.extend(sorted(files, key=order))

    def left(self) -> int:
        """How many files are still to be taken in."""
        return len(self.todo) + len(self.waiting)

    def run_batch(self) -> None:
        """Take in the next files, in one transaction."""
        with self.index.transaction():
            put: list[int] = []
            for _ in range(BATCH):
                if not self.todo:
                    break
                file = self.todo.popleft()
                read = None if file.path in self.seen else self.read(file)
                self.seen.add(file.path)
                if read is not None and not self.waits(read) and self.place(read):
                    put.append(self.put(read))
            if not self.todo:
                waiting, self.waiting = self.waiting, []
                put += [self.put(read) for read in waiting if self.place(read)]
            self.embed(put)

    def waits(self, read: Read) -> bool:
        """A generated copy whose home has not come by yet waits until every other file is in."""
        if not read.document.from_path or not self.todo:
            return False
        if self.index.marked(read.likeness().seeks):
            return False
        self.waiting.append(read)
        return True

    # --- one file --------------------------------------------------------------------------------------------------

    def read(self, file: FoundFile) -> Read | None:
        """The file's document, or None where there is nothing more to do for it (same bytes, or it can't be read)."""
        try:
            if file.size > LARGEST_FILE:
                raise OSError(0, f"larger than {LARGEST_FILE // 1024**2} MB")
            data = (self.root / file.path).read_bytes()
        except FileNotFoundError:
            return None  # gone since the walk; the next sync removes it
        except OSError as error:
            self.outcome.failed[file.path] = Failure(file.path, error.strerror or str(error))
            return None
        file_hash = hashlib.sha256(data).hexdigest()[:32]
        known = self.known.get(file.path)
        same = known is not None and (known.file_hash, known.role, known.repo) == (
            file_hash,
            file.role,
            file.repo,
        )
        # Not so for one that was folded into another earlier in this run, and is looked at anew.
        if same and self.index.touch(file.path, file.mtime, file.size):
            self.outcome.unchanged.add(file.path)
            return None
        document = read_document(data, file.path, role=file.role, now=self.now)
        return Read(file, file_hash, document, self.checkout(file.path))

    def checkout(self, path: str) -> Checkout:
        """The checkout that a file lies in."""
        repo = self.dating.innermost(path)
        if repo is None:
            return Checkout("", "", path)
        if repo not in self.identities:
            self.identities[repo] = identity(self.root / repo)
        inner = path[len(repo) + 1 :] if repo else path
        worktree = repo in self.tree.repos and self.tree.repos[repo].worktree
        return Checkout(
            self.identities[repo], repo.rsplit("/", 1)[-1] or self.root.name, inner, worktree
        )

    def place(self, read: Read) -> bool:
        """Whether the file is indexed as a document of its own; otherwise it is passed over here, with the reason."""
        document, file = read.document, read.file
        like = read.likeness()
        if file.path in self.known and not set(like.marks) >= self.index.marks(file.path):
            self.unfold(file.path)  # it no longer is what its copies are copies of
        if document.private:
            return self.pass_over(file, "private")
        if file.role == CHANGELOG_ROLE and document.publish is False:
            return self.pass_over(file, "unpublished")
        homes = self.index.marked(like.seeks) - {file.path}
        mine = list(preference(document, file.path, read.checkout))
        best = min(homes, key=self.index.preference, default=None)
        if best is not None and self.index.preference(best) < mine:
            return self.pass_over(file, "copy", best)
        for home in sorted(homes):
            self.demote(home, file.path)
        return True

    def pass_over(self, file: FoundFile, reason: str, home: str = "") -> bool:
        """Leave the file out, with the reason. Always False, the answer of ``place``."""
        self.unfold(file.path)
        entry = PassedOver(
            mtime=file.mtime, size=file.size, role=file.role, reason=reason, copy_of=home
        )
        if self.index.pass_over(file.path, entry):
            self.outcome.removed[file.path] = file.role
        return False

    def demote(self, path: str, home: str) -> None:
        """An indexed document turns out to be a copy of ``home``, which is about to be indexed."""
        self.unfold(path)
        known = self.index.entry(path)
        assert known is not None
        role = self.tree.files[path].role if path in self.tree.files else self.known[path].role
        entry = PassedOver(
            mtime=known.mtime, size=known.size, role=role, reason="copy", copy_of=home
        )
        self.index.pass_over(path, entry)
        self.outcome.indexed.discard(path)
        self.outcome.updated.discard(path)
        if path in self.known:
            self.outcome.removed[path] = role

    def unfold(self, path: str) -> None:
        """Look anew at the files that were folded into ``path``."""
        copies = [copy for copy in self.index.copies_of(path) if copy in self.tree.files]
        for copy in copies:
            self.index.remove(copy)
            self.seen.discard(copy)
        self.add(self.tree.files[copy] for copy in copies)

    # --- into the index --------------------------------------------------------------------------------------------

    def embed(self, documents: list[int]) -> None:
        """Vectors for the chunks of ``documents`` whose text has none yet."""
        missing = self.index.vectors.missing(documents)
        if missing:
            self.index.vectors.put(
                list(missing), self.embedder().embed([text for text, _ in missing.values()])
            )
        for _, role in missing.values():
            self.outcome.embedded[role] = self.outcome.embedded.get(role, 0) + 1

    def put(self, read: Read) -> int:
        """Into the index; returns the document's number there."""
        file, document = read.file, read.document
        moved = None if file.path in self.known else self.moved.get(read.file_hash)
        first = moved.ingested_at if moved is not None else int(self.now.timestamp())
        ingested_at = self.entered.get((file.path, document.body_hash), first)
        date = self.dating.of(file.path, document, ingested_at, moved.date if moved else None)
        entry = ManifestEntry(
            mtime=file.mtime,
            size=file.size,
            ingested_at=ingested_at,
            hash=document.body_hash,
            chunks=len(document.chunks),
            repo=file.repo,
            kind=file.kind,
            title=document.title,
            date=date.day,
            modified_at=date.epoch,
            date_from=date.source,
            lede=document.lede,
            status=document.status,
            tags=document.tags,
            authors=document.authors,
            owner=document.owner,
            problems=document.problems,
        )
        number = self.index.put(
            file.path,
            file.role,
            document,
            entry,
            file_hash=read.file_hash,
            fields=lifted(document),
            marks=read.likeness().marks,
            preference=preference(document, file.path, read.checkout),
            text_hashes=[text_hash(chunk.text) for chunk in document.chunks],
        )
        (self.outcome.updated if file.path in self.known else self.outcome.indexed).add(file.path)
        self.outcome.removed.pop(file.path, None)
        return number


def text_hash(text: str) -> str:
    """Under which a chunk's vector is kept."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def lifted(document: Document) -> dict[str, Any]:
    """The frontmatter that is lifted into Chroma's metadata, as ``fm_*``; None where the document doesn't say."""
    return {
        "fm_title": document.title,
        "fm_lede": document.lede or None,
        "fm_status": document.status or None,
        "fm_type": document.type or None,
        "fm_semantic_version": document.semantic_version or None,
        "fm_tags": list(document.tags) or None,
        "fm_authors": list(document.authors) or None,
        "fm_owner": document.owner or None,
        "fm_date_created": document.date_created or None,
        "fm_date_modified": document.date_modified or None,
        "fm_superseded_by": list(document.superseded_by) or None,
        "fm_supersedes": list(document.supersedes) or None,
        "fm_site_uuid": document.site_uuid or None,
        "fm_publish": document.publish,
    }
