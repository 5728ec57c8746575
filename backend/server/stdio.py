"""Serving tools over standard input and output, by the official SDK. The only module that imports it.

The event loop does nothing but the protocol, so that a ping or a cancellation is answered at once. Calls are answered one after
another by one thread: Chroma's cache of clients, which the store empties at each use, is one for the process. While serving, the
SDK points the process's own standard output at standard error: whatever a library prints does not get between the messages.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NoReturn

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from backend import __version__
from backend.errors import CvError
from backend.server.tool import Answer, Tool, json_schema
from backend.tree.defects import keep_defect

LOOK = 1.0
"""Seconds between two looks whether the client still lives."""

GRACE = 2.0
"""Seconds that a call at work may still take when the client has gone. It may be cut off anywhere: the next sync repairs."""


def serve(name: str, instructions: str, tools: Sequence[Tool], root: Path | None) -> NoReturn:
    """Serve until the client goes (standard input ends, or the process that started this one does), and end the process."""
    signal.signal(
        signal.SIGINT, lambda *_: os._exit(130)
    )  # the thread that waits for input can't be woken
    worker = ThreadPoolExecutor(1, thread_name_prefix="call")
    code = 0
    try:
        asyncio.run(_serve(name, instructions, tools, root, worker))
    except BaseException as error:  # also the broken pipe of a client that went without a word
        if not _gone(error):
            code = 1
            reason = keep_defect(error) if isinstance(error, Exception) else repr(error)
            print(f"cv: {reason}", file=sys.stderr, flush=True)
    _leave(worker, code)


async def _serve(
    name: str,
    instructions: str,
    tools: Sequence[Tool],
    root: Path | None,
    worker: ThreadPoolExecutor,
) -> None:
    by_name = {tool.name: tool for tool in tools}
    listed = types.ListToolsResult(tools=[_listed(tool) for tool in tools])

    async def list_tools(_: Any, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return listed

    async def call_tool(_: Any, asked: types.CallToolRequestParams) -> types.CallToolResult:
        tool = by_name.get(asked.name)
        if tool is None:
            return _failed(f"{asked.name}: no such tool; there are: {', '.join(by_name)}")
        # A call that is cancelled does not begin any more, or ends unheard.
        return await asyncio.wrap_future(worker.submit(_call, tool, root, asked.arguments or {}))

    server: Server[Any] = Server(
        name,
        version=__version__,
        instructions=instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    watch = asyncio.create_task(_watch_parent(worker))
    try:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
    finally:
        watch.cancel()


def _listed(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=json_schema(tool.arguments),
        output_schema=json_schema(tool.schema) if tool.schema else None,
        annotations=types.ToolAnnotations(
            title=tool.title, read_only_hint=True, idempotent_hint=True, open_world_hint=False
        ),
    )


def _call(tool: Tool, root: Path | None, given: Mapping[str, Any]) -> types.CallToolResult:
    try:
        return _succeeded(tool.answer(root, given))
    except CvError as error:
        return _failed(str(error))
    except BaseException as error:  # in a thread that nobody interrupts: also what is no Exception
        return _failed(keep_defect(error))


def _succeeded(answer: Answer) -> types.CallToolResult:
    texts: list[types.ContentBlock] = [
        types.TextContent(type="text", text=text) for text in answer.texts
    ]
    if answer.data is None:
        return types.CallToolResult(content=texts)
    return types.CallToolResult(content=texts, structured_content=answer.data)


def _failed(message: str) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=message)], is_error=True
    )


async def _watch_parent(worker: ThreadPoolExecutor) -> None:
    """End with the process that started this one, also where somebody else still holds the other end of standard input."""
    parent = os.getppid()
    if os.name == "nt" or parent == 1:  # Windows keeps the number; 1 is nobody who would go
        return
    while os.getppid() == parent:
        await asyncio.sleep(LOOK)
    _leave(worker, 0)


def _leave(worker: ThreadPoolExecutor, code: int) -> NoReturn:
    """End the process without the interpreter's own way out, which waits for every thread."""
    worker.shutdown(wait=False, cancel_futures=True)
    for thread in worker._threads:
        thread.join(GRACE)
    os._exit(code)


def _gone(error: BaseException) -> bool:
    """Whether all that went wrong is that the client does not listen any more."""
    if isinstance(error, BaseExceptionGroup):
        return all(_gone(one) for one in error.exceptions)
    return isinstance(error, BrokenPipeError | ConnectionError)
