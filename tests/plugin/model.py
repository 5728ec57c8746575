"""A model that follows a script: the Messages API as far as Claude Code needs it, on the loopback, in a thread.

Every request of the main loop takes the script's next turn. A turn is a text; a ``Use`` of a tool; or a function from
the request's text to one of these, for what only the conversation so far can tell. Others (titles, probes) get "ok".
"""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import urlsplit


class Use(NamedTuple):
    """A call of a tool."""

    tool: str
    input: dict[str, Any]


Turn = str | Use | Callable[[str], "str | Use"]


def bash(command: str) -> Use:
    return Use("Bash", {"command": command, "description": "run it"})


def read(path: str) -> Use:
    return Use("Read", {"file_path": path})


class Model:
    """The server. ``requests``: the bodies of the main loop's requests so far, ``arrived`` their ``time.monotonic``."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.arrived: list[float] = []
        self._script: list[Turn] = []
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)  # messages with one ID count as one
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                """Say nothing."""

            def do_HEAD(self) -> None:
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def do_GET(self) -> None:
                self.reply(b"{}", "application/json")

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("content-length") or 0))
                body = json.loads(raw or b"{}")
                if urlsplit(self.path).path != "/v1/messages":
                    self.reply(b'{"input_tokens": 1}', "application/json")
                    return
                message = model.answer(body)
                if body.get("stream"):
                    self.reply(events(message), "text/event-stream")
                else:
                    self.reply(json.dumps(message).encode(), "application/json")

            def reply(self, data: bytes, kind: str) -> None:
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def script(self, *turns: Turn) -> None:
        """The turns to come; what was asked before is forgotten."""
        with self._lock:
            self._script, self.requests, self.arrived = list(turns), [], []

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        turn: Turn = "ok"
        if body.get("tools") and body.get("max_tokens") != 1:
            with self._lock:
                self.arrived.append(time.monotonic())
                self.requests.append(body)
                turn = self._script.pop(0) if self._script else "(the script is over)"
        if callable(turn):
            turn = turn(said(body))
        block: dict[str, Any] = {"type": "text", "text": turn}
        if isinstance(turn, Use):
            block = {
                "type": "tool_use",
                "id": f"toolu_{next(self._numbers):04}",
                "name": turn.tool,
                "input": turn.input,
            }
        return {
            "id": f"msg_{next(self._numbers):04}", "type": "message", "role": "assistant",
            "model": body.get("model", "scripted"), "content": [block],
            "stop_reason": "tool_use" if isinstance(turn, Use) else "end_turn", "stop_sequence": None,
            "usage": {"input_tokens": 9, "output_tokens": 9, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
        }  # fmt: skip


def said(body: dict[str, Any]) -> str:
    """All that a request's messages say, as one text: prompts, contexts, tool calls and their results."""
    parts: list[str] = []
    for message in body["messages"]:
        content = message["content"]
        for block in [content] if isinstance(content, str) else content:
            if isinstance(block, str):
                parts.append(block)
            elif block.get("type") == "tool_result":
                inner = block.get("content")
                parts += (
                    [inner]
                    if isinstance(inner, str)
                    else [str(b.get("text", "")) for b in inner or []]
                )
            else:
                parts.append(
                    block.get("text") or json.dumps(block.get("input", {}), ensure_ascii=False)
                )
    return "\n".join(parts)


def events(message: dict[str, Any]) -> bytes:
    """A whole message as the API streams it."""
    (block,) = message["content"]
    if block["type"] == "tool_use":
        empty, delta = (
            {**block, "input": {}},
            {"type": "input_json_delta", "partial_json": json.dumps(block["input"])},
        )
    else:
        empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    lines: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": stop, "usage": message["usage"]},
        {"type": "message_stop"},
    ]
    return "".join(
        f"event: {line['type']}\ndata: {json.dumps(line)}\n\n" for line in lines
    ).encode()
