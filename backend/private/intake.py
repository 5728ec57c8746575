"""Taking transcripts in for one role: from where the last run stopped, in batches that change together with the offset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import BinaryIO

from msgspec.structs import replace

from backend.freshness.embedder import Embedder
from backend.private import turns
from backend.private.ledger import Ledger
from backend.private.plan import where_to_go_on
from backend.private.projects import Projects
from backend.private.redaction import Redactor
from backend.private.stored import Reached, Stored
from backend.private.transcripts import Mark, name_of, read_lines
from backend.schemas.config import Config
from backend.schemas.private import TRACES_ROLE
from backend.schemas.sync import Failure, RoleReport

BATCH = 200
"""Documents in one transaction: about a second of redaction, which a kill can cost."""

Items = list[turns.Turn | turns.Call | turns.Result]


class Intake:
    """One role's pass over the transcripts: ``read`` each, then ask for the ``report``."""

    def __init__(
        self,
        root: Path,
        config: Config,
        ledger: Ledger,
        redactor: Redactor,
        embedder: Embedder,
        role: str,
        now: datetime,
    ) -> None:
        self.ledger, self.redactor, self.embedder, self.role = ledger, redactor, embedder, role
        self.projects = Projects(root, config)
        self.now = int(now.timestamp())
        self.before = ledger.forgotten_before()
        self.indexed = self.updated = self.unchanged = self.removed = self.embedded = 0
        self.failed: list[Failure] = []
        self.skipped: Counter[str] = Counter()

    def report(self) -> RoleReport:
        """What was done, as far as the ledger goes."""
        return RoleReport(
            indexed=self.indexed,
            updated=self.updated,
            unchanged=self.unchanged,
            removed=self.removed,
            failed=tuple(self.failed),
            skipped=dict(sorted(self.skipped.items())),
            embedded=self.embedded,
        )

    def read(self, path: Path) -> None:
        """Take in what is new in one transcript, in batches."""
        try:
            with path.open("rb") as file:
                self._read(name_of(path), file, int(path.stat().st_mtime))
        except OSError as error:
            self.failed.append(Failure(name_of(path), error.strerror or str(error)))

    def _read(self, name: str, file: BinaryIO, modified: int) -> None:
        stem = PurePath(name).stem[:100]
        reached = self.ledger.reached(name, self.role)
        mark = Mark(file)
        offset, rewritten = where_to_go_on(mark, reached)
        if rewritten:
            reached = Reached(generation=reached.generation + 1)
            with self.ledger.transaction():
                self.ledger.set_reached(name, self.role, reached)
                self.ledger.set_fact("chroma", "")  # what is gone from it is to be in no file
        batch: Items = []
        count, end = reached.turns, offset
        for raw in read_lines(file, offset):
            line = turns.read_line(raw.data) if raw.data is not None else None
            if line is None:
                self.skipped["line too long" if raw.data is None else "line unreadable"] += 1
            elif not turns.is_message(line):
                self.skipped["line of another type"] += 1
            else:
                count += 1
                fallback = f"{stem}:{raw.start}"
                if origin := self._origin(line, count, modified, stem, fallback):
                    batch += self._documents(line, origin)
            end = raw.end
            if len(batch) >= BATCH:
                reached = self._keep(name, mark, reached, batch, count, end)
                batch = []
                file.seek(end)
        if end != offset or (end and mark.settles(reached.mark)):
            self._keep(name, mark, reached, batch, count, end)
        if reached.generation:  # also when a kill came between the two
            with self.ledger.transaction():
                self.removed += self.ledger.drop_where(
                    "file = ? AND role = ? AND generation < ?",
                    (name, self.role, reached.generation),
                )

    def _origin(
        self, line: turns.Line, count: int, modified: int, stem: str, fallback: str
    ) -> turns.Origin | None:
        """Where a message comes from; None, counted by reason, for one that is none of ours."""
        project = turns.short_text(line.cwd)
        session = turns.short_text(line.sessionId, stem)
        moment = turns.epoch(line.timestamp)
        moment = max(0, min(modified if moment is None else moment, self.now))
        if not self.projects.has(project):
            self.skipped["outside the tree, or dismissed"] += 1
            return None
        if moment < self.before or self.ledger.is_forgotten(session):
            self.skipped["message forgotten"] += 1
            return None
        # A forked session repeats the lines of the one it comes from; they are the same turns.
        source = line.forkedFrom.get("messageUuid") if isinstance(line.forkedFrom, dict) else None
        return turns.Origin(
            id=turns.short_text(source) or turns.short_text(line.uuid) or fallback,
            session=session,
            project=project,
            branch=turns.short_text(line.gitBranch),
            timestamp=moment,
            turn=count,
            sidechain=line.isSidechain is True,
        )

    def _documents(self, line: turns.Line, origin: turns.Origin) -> Items:
        try:
            if self.role == TRACES_ROLE:
                return list(turns.calls_of(line, origin, self.redactor))
            turn = turns.turn_of(line, origin, self.redactor)
            return [turn] if turn else []
        except Exception:  # the format is not ours: a line that nobody foresaw costs itself, and no traceback quotes it
            self.skipped["line unreadable"] += 1
            return []

    def _keep(
        self,
        name: str,
        mark: Mark,
        reached: Reached,
        batch: Sequence[turns.Turn | turns.Call | turns.Result],
        count: int,
        end: int,
    ) -> Reached:
        """One transaction: the documents of a batch, and the offset up to which they were read."""
        reached = replace(reached, offset=end, mark=mark.at(end), turns=count)
        with self.ledger.transaction():
            changed: dict[str, Stored] = {}
            for item in batch:
                if isinstance(item, turns.Result):
                    self._pair(item, changed)
                else:
                    self._take(name, reached.generation, item, changed)
            documents = list(changed.values())
            if documents:
                vectors = self.embedder.embed([document.text for document in documents])
                for document, vector in zip(documents, vectors, strict=True):
                    self.ledger.put(replace(document, vector=vector.tobytes()))
                self.embedded += len(documents)
            self.ledger.set_reached(name, self.role, reached)
        return reached

    def _take(
        self,
        name: str,
        generation: int,
        item: turns.Turn | turns.Call,
        changed: dict[str, Stored],
    ) -> None:
        known = changed.get(item.id) or self.ledger.find(item.id)
        if self.ledger.was_forgotten(item.id):
            self.skipped["forgotten"] += 1
            return
        if known is not None and (known.file != name or known.generation == generation):
            self.unchanged += 1
            return
        origin = item.origin
        metadata: dict[str, object] = {
            "role": self.role,
            "session_id": origin.session,
            "project_path": origin.project,
            "git_branch": origin.branch or None,
            "timestamp": origin.timestamp,
            "timestamp_iso": datetime.fromtimestamp(origin.timestamp, UTC).strftime(
                "%Y-%m-%dT%H:%M:%SZ"
            ),
            "turn": origin.turn,
            "is_sidechain": origin.sidechain,
            "ingested_at": self.now,
        }
        if isinstance(item, turns.Turn):
            metadata["turn_role"] = item.speaker
        else:
            metadata |= {"tool_name": item.tool, "is_error": False, "has_result": False}
        changed[item.id] = Stored(
            id=item.id,
            role=self.role,
            session=origin.session,
            file=name,
            generation=generation,
            timestamp=origin.timestamp,
            tool_use=item.tool_use if isinstance(item, turns.Call) else "",
            metadata=metadata,
            text=item.text,
        )
        if known is None:
            self.indexed += 1
        elif known.text.startswith(item.text):  # a call is stored together with its result
            self.unchanged += 1
        else:
            self.updated += 1

    def _pair(self, result: turns.Result, changed: dict[str, Stored]) -> None:
        """Put a result to its call, which may have been stored by an earlier run."""
        call = next(
            (
                document
                for document in changed.values()
                if document.tool_use == result.tool_use and document.session == result.session
            ),
            None,
        ) or self.ledger.waiting(result.session, result.tool_use)
        if call is None:
            self.skipped["result without its call"] += 1
            return
        if call.id not in changed:
            self.updated += 1
        metadata = {**call.metadata, "is_error": result.is_error, "has_result": True}
        text = f"{call.text}\n\nresult:\n{result.text}"
        changed[call.id] = replace(call, tool_use="", metadata=metadata, text=text)
