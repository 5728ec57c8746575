"""A team's Chroma server, opened: only where a person on this machine chose it. Its calls go through ``guarded``."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from backend.freshness import clients
from backend.freshness.embedder import chroma_function, embedder_name
from backend.freshness.guarded import (
    Guarded,
    Missing,
    Server,
    ServerError,
    address,
    check_patience,
    not_chosen,
    token_variable,
)
from backend.freshness.records import Store
from backend.schemas.config import Chroma, Config
from backend.tree.home import is_approved

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

CONNECT_SECONDS = 10.0
"""For the first answers: who we are, and whether tenant and database are there."""

CLOUD_RECORDS = 300
CLOUD_ID_BYTES = 128
"""Chroma Cloud's quotas (docs.trychroma.com/cloud/quotas-limits): records in one call, written or given, and bytes of an id."""


class Held(Struct, frozen=True):
    """What the server says of one record: its id there, its document's path and moment (epoch seconds), its version."""

    chroma_id: str
    path: str
    version: str
    modified_at: int


class RemoteStore(Store):
    """An open server. Every call to it is bounded in time and raises ``ServerError``."""

    def __init__(self, client: Any, config: Config, server: Server, *, fills: bool) -> None:
        super().__init__(Guarded(client, server), config)
        self._server = server
        self._fills = fills
        self._embedder = embedder_name(config.embedding)
        self._known: dict[str, Any] = {}
        self._cloud = config.chroma.mode == "cloud"
        if self._cloud:
            self.limit = CLOUD_RECORDS

    def _collection(self, role: str) -> Any:
        if role not in self._known:
            self._known[role] = self.to_read(role)
        return self._known[role]

    def to_read(self, role: str) -> Any:
        """The role's collection. One that is not there is made only by who fills it; one that holds other vectors is refused."""
        name = self.name(role)
        function = chroma_function(self._config.embedding)
        try:
            found = self._client.get_collection(name, embedding_function=function)
        except Missing as error:
            if not self._fills:
                raise Missing(
                    f"{self._server.address} has no collection {name} yet: run 'cv sync'"
                ) from error
            found = self._client.get_or_create_collection(
                name,
                embedding_function=function,
                configuration={"hnsw": {"space": "cosine"}},
                metadata={"embedder": self._embedder},
            )
        held = (found.metadata or {}).get("embedder")
        if held != self._embedder:
            whose = f"vectors of {held}" if held else "what another program put there"
            raise ServerError(
                f"{self._server.address}: its collection {name} holds {whose}, this tree's vectors are of {self._embedder}. "
                "Use the same version and embedder on all machines, or another collection: "
                f"cv config set collections.{role.replace('-', '_')} NAME"
            )
        return Guarded(found, self._server)

    def collection_id(self, role: str) -> str:
        """What tells the role's collection from one of the same name that was made later."""
        return str(self._collection(role).id)

    def id_there(self, chroma_id: str) -> str:
        """The id under which the server keeps a chunk: our own, unless that is too long for Chroma Cloud."""
        if not self._cloud or len(chroma_id.encode()) <= CLOUD_ID_BYTES:
            return chroma_id
        return hashlib.sha256(chroma_id.encode()).hexdigest()

    def query(
        self, role: str, vector: npt.NDArray[np.float32], limit: int
    ) -> list[tuple[str, float]]:
        """The ``limit`` nearest chunks, by our own ids."""
        found = self._collection(role).query(
            query_embeddings=[vector], n_results=limit, include=["distances", "metadatas"]
        )
        rows = zip(found["metadatas"][0], found["distances"][0], strict=True)
        return [(_own_id(data), 1.0 - distance) for data, distance in rows]

    def lacking(self, role: str, chroma_ids: Iterable[str]) -> int:
        """How many of our chunks the server does not have."""
        there = {i for page in self._pages(role, include=[]) for i in page["ids"]}
        return sum(self.id_there(chroma_id) not in there for chroma_id in chroma_ids)

    def _pages(self, role: str, **asked: Any) -> Iterator[Any]:
        offset = 0
        while True:
            page = self._collection(role).get(limit=self.limit, offset=offset, **asked)
            yield page
            if len(page["ids"]) < self.limit:
                return
            offset += self.limit

    def held(self, role: str, paths: Sequence[str]) -> list[Held]:
        """All records of the documents ``paths``, whoever wrote them."""
        where = {"source_path": {"$in": list(paths)}}
        return [
            Held(
                chroma_id=chroma_id,
                path=str(data.get("source_path")),
                version=str(data.get("version")),
                modified_at=int(data.get("modified_at") or 0),
            )
            for page in self._pages(role, where=where, include=["metadatas"])
            for chroma_id, data in zip(page["ids"], page["metadatas"], strict=True)
        ]


def _own_id(data: dict[str, Any]) -> str:
    """The id that the index gives the chunk of which a record says ``data``."""
    index = int(data.get("chunk_index") or 0)
    return f"{data.get('source_repo_slug')}::{data.get('source_path')}::{index:04d}"


@contextmanager
def connected(
    root: Path, config: Config, *, seconds: float, fills: bool = False
) -> Iterator[RemoteStore]:
    """The server of ``config``, which may take ``seconds`` for all that it is asked in the block. ``fills``: collections that are
    not there are made. Raises ``ServerError``; without a connection when nobody on this machine chose the server for ``root``.
    """
    chroma = config.chroma
    if not is_approved(root, chroma):
        raise ServerError(not_chosen(chroma))
    token = _token(chroma)
    check_patience(chroma)
    clients.load()
    server = Server(chroma, token, seconds)
    client = server.call(clients.server_client, (chroma, token), {}, most=CONNECT_SECONDS)
    try:
        yield RemoteStore(client, config, server, fills=fills)
    finally:
        with suppress(Exception):  # a request may still hang in it
            client.close()


def _token(chroma: Chroma) -> str:
    variable = token_variable(chroma)
    if not variable:
        return ""
    token = os.environ.get(variable, "").strip()
    if not token:
        raise ServerError(
            f"{address(chroma)}: its token is to come from the environment variable {variable}, which is not set here"
        )
    if not (token.isascii() and token.isprintable() and " " not in token):
        raise ServerError(
            f"{address(chroma)}: the environment variable {variable} holds characters that no token has"
        )
    return token
