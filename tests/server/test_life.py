"""How the server lives: beside other processes that write, beside a second client, and no longer than its own client."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the MCP SDK is an optional part")
import anyio

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-P", "-s", "-m", "backend", "mcp"]
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "a test", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def paths(reply: Any) -> list[str]:
    return [one["source_path"] for one in reply.json["candidates"]]


def test_a_long_lived_server_sees_what_another_process_has_synced(
    serve: Any, own_harbour: Any, cv_process: Callable[..., Any]
) -> None:
    new = "berths/context-v/specs/Crane-Hire.md"
    where = {"source_path": new}

    async def live() -> None:
        async with (
            serve(own_harbour.root) as ours,
            serve(own_harbour.root, "--as-chroma") as chroma,
        ):
            corpus = {"collection_name": "context-vigilance-corpus"}
            asked = {**corpus, "query_texts": ["hiring the crane of the quay"], "n_results": 1}
            assert new not in paths(await ours.call("find", task="hiring the crane"))
            before = (await chroma.call("chroma_get_collection_count", **corpus)).json
            await chroma.call("chroma_query_documents", **asked)

            own_harbour.document(
                new, "## Hiring the crane\n\nThe crane of the quay is hired by the hour."
            )
            assert cv_process("sync").code == 0
            assert paths(await ours.call("find", task="hiring the crane"))[0] == new
            assert (await chroma.call("chroma_get_collection_count", **corpus)).json == before + 1
            nearest = (await chroma.call("chroma_query_documents", **asked)).json
            assert nearest["metadatas"][0][0]["source_path"] == new
            assert (await chroma.call("chroma_get_documents", **corpus, where=where)).json["ids"]

            own_harbour.delete(new)
            assert cv_process("sync").code == 0
            assert new not in paths(await ours.call("find", task="hiring the crane"))
            found = (await chroma.call("chroma_get_documents", **corpus, where=where)).json
            assert found["ids"] == []

    anyio.run(live)


def test_a_server_asks_the_disk_itself(serve: Any, own_harbour: Any) -> None:
    new = "lights/context-v/specs/Buoy-Paint.md"

    async def live() -> None:
        async with serve(own_harbour.root, "--as-chroma") as session:
            own_harbour.document(new, "## Paint\n\nBuoys are painted every spring.")
            found = await session.call(
                "chroma_get_documents",
                collection_name="context-vigilance-corpus",
                where={"source_path": new},
            )
            assert found.json["documents"] == [
                "[Buoy Paint]\n## Paint\n\nBuoys are painted every spring."
            ]

    anyio.run(live)


def test_two_clients_at_once(
    serve: Any, own_harbour: Any, start_cv: Callable[..., subprocess.Popen[str]]
) -> None:
    async def ask(session: Any, replies: list[Any], tool: str, arguments: dict[str, Any]) -> None:
        replies.append(await session.call(tool, **arguments))

    async def live() -> list[Any]:
        replies: list[Any] = []
        query = {"collection_name": "context-vigilance-corpus", "query_texts": ["fees"]}
        async with (
            serve(own_harbour.root) as one,
            serve(own_harbour.root, "--as-chroma") as two,
            anyio.create_task_group() as group,
        ):
            start_cv("sync", "--force-rebuild")
            for _ in range(4):
                group.start_soon(ask, one, replies, "find", {"task": "mooring fees"})
                group.start_soon(ask, two, replies, "chroma_query_documents", query)
        return replies

    replies = anyio.run(live)

    assert len(replies) == 8
    assert not any(reply.failed for reply in replies), [reply.texts for reply in replies]
    assert all("Mooring-Fees.md" in reply.texts[0] for reply in replies)


def test_a_ping_and_a_cancellation_are_heard_while_a_call_is_at_work(
    serve: Any, own_harbour: Any
) -> None:
    for number in range(150):  # the first call has to take them all in
        own_harbour.document(f"berths/context-v/notes/Note-{number}.md", count=6)
    seen: list[str] = []

    async def live() -> None:
        async with serve(own_harbour.root) as session:

            async def work() -> None:
                await session.call("find", task="fees")
                seen.append("answer")

            with anyio.CancelScope() as scope:
                async with anyio.create_task_group() as group:
                    group.start_soon(work)
                    await anyio.wait_all_tasks_blocked()
                    await session.sdk.send_ping()
                    seen.append("ping")
                    scope.cancel()
            assert seen == ["ping"]
            reply = await session.call("find", task="fees")  # waits for the work that goes on
            assert reply.json["fresh"]

    anyio.run(live)


# --- no longer than its client -----------------------------------------------------------------------------------------


@pytest.fixture
def raw(harbour: Any) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start the server with pipes, without a client: ``raw(messages)`` sends them."""
    started = []

    def start(*messages: dict[str, Any]) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            COMMAND, cwd=harbour.root, env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        started.append(process)
        assert process.stdin is not None
        for message in messages:
            process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def call(number: int, tool: str, **arguments: Any) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "id": number,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }


def test_only_the_protocol_is_on_standard_output(raw: Any) -> None:
    process = raw(HELLO, READY, call(2, "find", task="fees"), call(3, "nonsense"))
    answers = [json.loads(process.stdout.readline()) for _ in range(3)]
    rest, said = process.communicate(timeout=30)

    assert {answer["id"] for answer in answers} == {1, 2, 3}
    assert all(answer["jsonrpc"] == "2.0" and "result" in answer for answer in answers)
    assert rest == b""
    assert said == b""
    assert process.returncode == 0


@pytest.mark.parametrize("messages", [[], [HELLO], [HELLO, READY, call(2, "find", task="fees")]])
def test_it_ends_when_its_input_ends(raw: Any, messages: list[dict[str, Any]]) -> None:
    process = raw(*messages)
    if messages:
        process.stdout.readline()
    _, said = process.communicate(timeout=30)  # closes its input

    assert process.returncode == 0
    assert said == b""


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -15)])
def test_it_ends_by_a_signal(raw: Any, number: signal.Signals, code: int) -> None:
    process = raw(HELLO)
    process.stdout.readline()
    process.send_signal(number)

    assert process.wait(30) == code


CLIENT = """
import json, subprocess, sys
server = subprocess.Popen(json.loads(sys.argv[1]), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
held = subprocess.Popen(["sleep", "300"], pass_fds=[server.stdin.fileno()], stdout=subprocess.DEVNULL)
server.stdin.write(sys.argv[2].encode() + b"\\n")
server.stdin.flush()
server.stdout.readline()
print(server.pid, held.pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_it_ends_when_its_client_is_killed(harbour: Any) -> None:
    """Also while another process of the client's holds the pipe open, so that the input never ends."""
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT, json.dumps(COMMAND), json.dumps(HELLO)],
        cwd=harbour.root, env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert client.stdout is not None
    server, held = (int(word) for word in client.stdout.readline().split())
    try:
        client.kill()
        client.wait()
        end = time.monotonic() + 30
        while running(server) and time.monotonic() < end:
            pass  # looking takes its time
        assert not running(server)
        assert running(held)
    finally:
        os.kill(held, signal.SIGKILL)
        client.communicate()


def running(number: int) -> bool:
    """Whether a process still runs; one that has ended and that nobody has waited for doesn't."""
    done = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(number)], capture_output=True, text=True, check=False
    )
    return done.stdout.strip()[:1] not in ("", "Z")


# --- without the SDK ---------------------------------------------------------------------------------------------------

WITHOUT = "import sys; sys.modules['mcp'] = None; from backend.cli import main; sys.exit(main(sys.argv[1:]))"


@pytest.mark.parametrize("as_chroma", [[], ["--as-chroma"]])
def test_without_the_sdk_it_says_how_to_install_it(
    harbour: Any, tmp_path: Path, as_chroma: list[str]
) -> None:
    def run(**variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", WITHOUT, "mcp", *as_chroma], cwd=harbour.root,
            env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip

    done = run()
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        f'cv: the MCP SDK is not installed; to install it: {sys.executable} -m pip install "mcp>=2.3,<3"\n'
    )

    launcher = tmp_path / "plug in/bin/cv"
    launcher.parent.mkdir(parents=True)
    (tmp_path / "plug in/requirements-mcp.txt").write_text("mcp==2.3.0\n")
    said = run(CV_LAUNCHER=str(launcher)).stderr
    assert said == (
        f"cv: the MCP SDK is not installed; to install it: '{launcher}' mcp --install\n"
    )


def test_an_environment_that_is_somebody_elses_is_left_alone(cv: Callable[..., Any]) -> None:
    result = cv("mcp", "--install")

    assert result.code == 2
    assert f'{sys.executable} -m pip install "mcp>=2.3,<3"' in result.err
