"""Chroma's clients: the only module that imports chromadb (the embedder takes its other embedding functions)."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from backend.schemas.config import Chroma

_M_ARENA_MAX = -8
"""GNU's malloc.h."""


@contextmanager
def folder_client(folder: Path) -> Iterator[Any]:
    """A client of the Chroma in ``folder``, opened anew: one that has lived longer reads stale vectors. The caller holds the lock
    of that folder.
    """
    chromadb = _chromadb()
    from chromadb.api.shared_system_client import SharedSystemClient

    with _panics_unheard():
        SharedSystemClient.clear_system_cache()
        client = chromadb.PersistentClient(str(folder), settings=_settings())
        try:
            yield client
        finally:
            client.close()
            SharedSystemClient.clear_system_cache()
            del client
            gc.collect()  # a client is a ring of objects: without this its threads and vectors stay (16 openings: 105 threads)
            give_back()


def is_panic(error: BaseException) -> bool:
    """Whether ``error`` is how Chroma's part in Rust gives up, on a damaged file or without file handles: no ``Exception``."""
    return type(error).__module__ == "pyo3_runtime"


@contextmanager
def _panics_unheard() -> Iterator[None]:
    """Rust prints each panic to file handle 2 as well, beside what Python is told: within the block that goes nowhere. Python's
    own standard error is another handle (``backend.__main__``), and is not touched. Raises ``OSError``.

    On Windows Rust goes by another number, and is heard.
    """
    with Path(os.devnull).open("wb") as nowhere:
        kept = os.dup(2)
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def server_client(chroma: Chroma, token: str) -> Any:
    """A client of the server that ``chroma`` names, ``token`` empty where it wants none. It asks the server who we are, and
    raises whatever comes of that; nothing in it is limited in time.
    """
    chromadb = _chromadb()
    if chroma.mode == "cloud":
        return chromadb.CloudClient(
            tenant=chroma.tenant, database=chroma.database, api_key=token, settings=_settings()
        )
    from chromadb.config import DEFAULT_DATABASE, DEFAULT_TENANT

    return chromadb.HttpClient(
        # As a full address, since the client takes a name such as "httpd" for one and then leaves out the port.
        host=f"{'https' if chroma.ssl else 'http'}://{chroma.host}:{chroma.port}",
        port=chroma.port,
        ssl=chroma.ssl,
        headers={"Authorization": f"Bearer {token}"} if token else None,
        settings=_settings(),
        tenant=chroma.tenant or DEFAULT_TENANT,
        database=chroma.database or DEFAULT_DATABASE,
    )


def load() -> None:
    """Import chromadb, so that the time which that takes is not counted against a server."""
    _chromadb()


def _settings() -> Any:
    """Chroma's settings, from our config alone: left to itself Chroma also reads a file ``.env`` of the folder it is started in,
    which a cloned tree can bring, and which could send its traces elsewhere.
    """
    from chromadb.config import Settings

    ours: dict[str, Any] = {
        "_env_file": None,
        "anonymized_telemetry": False,
        "chroma_otel_collection_endpoint": "",
        "chroma_otel_granularity": None,
        "chroma_server_host": None,
        "chroma_server_http_port": None,
        "chroma_server_headers": None,
        "chroma_client_auth_provider": None,
        "chroma_client_auth_credentials": None,
    }
    return Settings(**ours)


def _chromadb() -> Any:
    """The package. Nothing of what an import makes is garbage, so it is not looked for, now or at the process's end: of the .74 s
    that ``python -c "import chromadb"`` takes, .13 s. Half of the rest compares signatures (below).
    """
    os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")
    if "chromadb" not in sys.modules:
        _share_one_heap()
        collects = gc.isenabled()
        gc.disable()
        try:
            with _signatures_trusted():
                import chromadb
        finally:
            gc.freeze()
            if collects:
                gc.enable()
    import chromadb

    return chromadb


def _share_one_heap() -> None:
    """On Linux each of Chroma's threads would get a heap of its own, which keeps what they free: after 16 openings of a store of
    10,000 chunks 244 MB instead of 145, and 272 MB at the peak of filling it instead of 235, in the same time.
    """
    if sys.platform == "linux":
        with suppress(AttributeError, OSError):  # another C library than GNU's
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def give_back() -> None:
    """Give the memory that is free back to the system: GNU's C library keeps what small pieces were freed in."""
    if sys.platform == "linux":
        with suppress(AttributeError, OSError):
            ctypes.CDLL(None).malloc_trim(0)


@contextmanager
def _signatures_trusted() -> Iterator[None]:
    """While Chroma is imported, ``@override`` only marks a method: the package ``overrides`` would compare each one's signature
    with its base class's, at every import again (.15 to .2 s), which is for Chroma's authors to know.
    """
    import overrides

    checks = vars(sys.modules[overrides.override.__module__])
    if "_overrides" not in checks:  # another release of the package
        yield
        return

    def mark(method: Any, *_: object) -> Any:
        method.__override__ = True
        return method

    before = checks["_overrides"]
    checks["_overrides"] = mark
    try:
        yield
    finally:
        checks["_overrides"] = before
