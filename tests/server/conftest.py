"""The MCP server as clients have it: a real subprocess, driven by the official SDK's client, over a small tree of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from organisation import Organisation  # type: ignore[import-not-found]

ROOT = Path(__file__).resolve().parents[2]
SERVER = ["-P", "-s", "-m", "backend", "mcp"]


class Reply(NamedTuple):
    """What came back for a call."""

    failed: bool
    texts: list[str]
    data: Any

    @property
    def text(self) -> str:
        (text,) = self.texts
        return text

    @property
    def json(self) -> Any:
        assert not self.failed, self.texts
        return json.loads(self.text)


class Session:
    """A connected client. ``sdk`` is the official one; ``log`` what the server said on standard error."""

    def __init__(self, sdk: Any, log: Any) -> None:
        self.sdk, self._log = sdk, log

    @property
    def log(self) -> str:
        self._log.seek(0)
        return str(self._log.read())

    async def tools(self) -> dict[str, Any]:
        return {tool.name: tool for tool in (await self.sdk.list_tools()).tools}

    async def call(self, tool: str, **arguments: Any) -> Reply:
        result = await self.sdk.call_tool(tool, arguments)
        texts = [block.text for block in result.content]
        return Reply(bool(result.is_error), texts, result.structured_content)


Serve = Callable[..., AbstractAsyncContextManager[Session]]


def child_environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.fixture(scope="session")
def serve() -> Serve:
    """A started ``cv mcp`` and a client that is connected to it, as an asynchronous context."""

    @asynccontextmanager
    async def start(
        folder: Path, *arguments: str, python: tuple[str, ...] = ()
    ) -> AsyncIterator[Session]:
        from mcp import ClientSession
        from mcp.client.stdio import StdioServerParameters, stdio_client

        command = StdioServerParameters(
            command=sys.executable,
            args=[*python, *SERVER, *arguments],
            cwd=folder,
            env=child_environment(),
        )
        with tempfile.TemporaryFile("w+", encoding="utf-8") as log:
            async with stdio_client(command, errlog=log) as streams, ClientSession(*streams) as sdk:
                await sdk.initialize()
                yield Session(sdk, log)
            log.seek(0)
            assert "Traceback" not in log.read()

    return start


def run_cv(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-P", "-s", "-m", "backend", *arguments],
        cwd=folder, env=child_environment(), stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
        timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def cv_json() -> Callable[..., Any]:
    """What the command line answers with ``--json``, in a process of its own."""
    return lambda folder, *arguments: json.loads(run_cv(folder, *arguments, "--json"))


def furnish(org: Any) -> Any:
    """A harbour's documents, set up and indexed by the command line."""
    org.repo("berths")
    org.repo("lights")
    org.document(
        "berths/context-v/specs/Mooring-Fees.md",
        "## How fees are computed\n\nA vessel pays by length and by tide.\n\n"
        "## Discounts\n\nFishing boats pay half in winter; the harbour council decided it.",
        title="Mooring fees",
        day="2026-01-20",
        tags=["fees"],
        authors=["Ada Quay"],
        status="Draft",
    )
    org.document(
        "berths/context-v/plans/Berth-Board.md",
        "## The board\n\nA screen on the pier shows which berth is free.",
        title="Berth board",
        day="2026-02-03",
    )
    org.document(
        "lights/context-v/specs/Lantern-Schedule.md",
        "## When lanterns burn\n\nFrom dusk to dawn, longer in fog.",
        title="Lantern schedule",
        day="2025-11-11",
    )
    org.document(
        "lights/changelog/2026-02-10_01.md",
        "## Fog sensor\n\nThe fog sensor now switches the lanterns on.",
        title="Fog sensor",
        day="2026-02-10",
    )
    run_cv(org.root, "init", "--senior-root", str(org.root), "--yes")
    return org


@pytest.fixture(scope="session")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The harbour's tree; tests that change something take ``own_harbour``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CV_HOME", str(tmp_path_factory.mktemp("cv")))
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        org = furnish(Organisation(tmp_path_factory.mktemp("harbour") / "wörk tree"))
    return org


class Client:
    """A session that stays open, for tests that only ask: each call is answered before it returns."""

    def __init__(self, session: Session, portal: Any) -> None:
        self._session, self._portal = session, portal

    def tools(self) -> dict[str, Any]:
        return dict(self._portal.call(self._session.tools))

    def call(self, tool: str, **arguments: Any) -> Reply:
        reply: Reply = self._portal.call(partial(self._session.call, tool, **arguments))
        return reply


@contextmanager
def client(serve: Serve, folder: Path, *arguments: str) -> Iterator[Client]:
    from anyio.from_thread import start_blocking_portal

    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serve(folder, *arguments)) as session,
    ):
        yield Client(session, portal)


@pytest.fixture(scope="session")
def tools(serve: Serve, harbour: Any) -> Iterator[Client]:
    """``cv mcp`` in the harbour, one server for all tests that only ask it."""
    with client(serve, harbour.root) as connected:
        yield connected


@pytest.fixture(scope="session")
def chroma_tools(serve: Serve, harbour: Any) -> Iterator[Client]:
    """``cv mcp --as-chroma`` in the harbour, likewise."""
    with client(serve, harbour.root, "--as-chroma") as connected:
        yield connected


@pytest.fixture
def own_harbour(org: Any) -> Any:
    return furnish(org)
