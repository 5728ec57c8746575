"""A team's Chroma server for the tests: the real ``chroma run``."""

from __future__ import annotations

import socket
import subprocess
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from backend.schemas.roles import CORPUS_ROLE


class ChromaServer:
    """A real ``chroma run`` on a port and a folder of its own; it can be killed and started again."""

    def __init__(self, program: str, folder: Path) -> None:
        self.program, self.folder = program, folder
        with closing(socket.create_server(("127.0.0.1", 0))) as free:
            self.port = free.getsockname()[1]
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        where = ("--path", str(self.folder), "--host", "127.0.0.1", "--port", str(self.port))
        self.process = subprocess.Popen(
            [self.program, "run", *where],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        end = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                assert self.process.poll() is None, "chroma run ended by itself"
                assert time.monotonic() < end, "chroma run does not listen"
                time.sleep(0.05)

    def empty(self) -> None:
        """Take all collections out; start it where a test has killed it."""
        if self.process is None or self.process.poll() is not None:
            self.start()
        client = self.client()
        for collection in client.list_collections():
            client.delete_collection(collection.name)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def client(self) -> Any:
        import chromadb

        return chromadb.HttpClient(host="127.0.0.1", port=self.port)

    def records(self, role: str = CORPUS_ROLE) -> dict[str, tuple[str, dict[str, Any]]]:
        """Give id -> (text, metadata) of a collection that is called like its role."""
        found = self.client().get_collection(role).get(include=["documents", "metadatas"])
        rows = zip(found["ids"], found["documents"], found["metadatas"], strict=True)
        return {chroma_id: (text, metadata) for chroma_id, text, metadata in rows}
