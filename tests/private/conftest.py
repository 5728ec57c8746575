"""What the tests of this room share: transcripts as Claude Code writes them, and a byte search over all that we store."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

KIT = ".context-vigilance"


class Session:
    """One transcript, written line by line."""

    def __init__(self, path: Path, session: str, cwd: Path | str) -> None:
        self.path, self.session, self.cwd = path, session, str(cwd)
        self.count = 0
        self.day = "2026-02-03"
        path.parent.mkdir(parents=True, exist_ok=True)

    def raw(self, data: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(data)

    def line(self, kind: str, **fields: Any) -> str:
        """A line with what most lines carry; returns its uuid."""
        self.count += 1
        uuid = f"{self.session}-{self.count:04d}"
        common = {
            "parentUuid": None,
            "isSidechain": False,
            "type": kind,
            "uuid": uuid,
            "timestamp": f"{self.day}T10:{self.count // 60 % 60:02d}:{self.count % 60:02d}.500Z",
            "sessionId": self.session,
            "cwd": self.cwd,
            "gitBranch": "main",
            "userType": "external",
            "version": "2.1.332",
        }
        self.raw(json.dumps(common | fields).encode() + b"\n")
        return uuid

    def user(self, content: Any, **fields: Any) -> str:
        return self.line("user", message={"role": "user", "content": content}, **fields)

    def assistant(self, content: Any, **fields: Any) -> str:
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        message = {"id": "msg_1", "type": "message", "role": "assistant", "content": content}
        return self.line("assistant", message=message, **fields)

    def call(self, tool: str, given: dict[str, Any], use: str, **fields: Any) -> str:
        block = {"type": "tool_use", "id": use, "name": tool, "input": given}
        return self.assistant([block], **fields)

    def result(self, content: Any, use: str, *, is_error: bool = False, **fields: Any) -> str:
        block = {
            "type": "tool_result",
            "tool_use_id": use,
            "content": content,
            "is_error": is_error,
        }
        return self.user([block], toolUseResult={"stdout": str(content)}, **fields)


@pytest.fixture
def claude(machine: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Claude Code's folder of transcripts."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(machine / "claude"))
    folder = machine / "claude/projects"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def tree(org: Any, cv: Any) -> Any:
    """A senior root with two repos and a document, without an index yet."""
    org.repo("ferry")
    org.repo("mill")
    org.document("ferry/context-v/specs/Timetable.md", title="The timetable")
    done = cv("init", "--senior-root", str(org.root), "--yes", "--no-index")
    assert done.code == 0, done
    return org


@pytest.fixture
def session(claude: Path, tree: Any) -> Callable[..., Session]:
    """Give a function that begins a transcript; its folder's name says nothing of the project."""

    def begin(
        name: str = "s1", cwd: str | Path | None = None, folder: str = "-some-where"
    ) -> Session:
        place = tree.root / "ferry" if cwd is None else cwd
        return Session(claude / folder / f"{name}.jsonl", name, place)

    return begin


@pytest.fixture
def documents(tree: Any) -> Callable[[str], dict[str, tuple[str, dict[str, Any]]]]:
    """Give a function: a collection's records in the private Chroma folder, id -> (text, metadata)."""

    def read(name: str) -> dict[str, tuple[str, dict[str, Any]]]:
        import chromadb
        from chromadb.api.shared_system_client import SharedSystemClient

        folder = tree.root / KIT / "private/chroma"
        if not folder.exists():
            return {}
        SharedSystemClient.clear_system_cache()
        try:
            collection = chromadb.PersistentClient(str(folder)).get_collection(name)
            rows = collection.get(include=["documents", "metadatas", "embeddings"])
        finally:
            SharedSystemClient.clear_system_cache()
        assert len(rows["embeddings"]) == len(rows["ids"])
        return {
            i: (text, dict(metadata))
            for i, text, metadata in zip(
                rows["ids"], rows["documents"], rows["metadatas"], strict=True
            )
        }

    return read


@pytest.fixture
def stored_files(tree: Any) -> Callable[[], Iterator[Path]]:
    """Give a function: every file below the senior root and ``CV_HOME``."""

    def files() -> Iterator[Path]:
        for top in (tree.root, Path(os.environ["CV_HOME"])):
            yield from (path for path in top.rglob("*") if path.is_file() and not path.is_symlink())

    return files


@pytest.fixture
def holding(stored_files: Callable[[], Iterator[Path]]) -> Callable[[str], list[str]]:
    """Give a function: the names of all files of ours in which a text stands, as UTF-8 or UTF-16."""

    def search(text: str) -> list[str]:
        wanted = [text.encode(), text.encode("utf-16-le")]
        return [
            str(path)
            for path in stored_files()
            if any(form in data for data in [path.read_bytes()] for form in wanted)
        ]

    return search
