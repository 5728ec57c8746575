"""Chromium, spoken to over two pipes (the DevTools protocol): no driver, no port, no network."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

PROGRAM = next(
    (
        found
        for name in (os.environ.get("CV_CHROMIUM", ""), "chromium", "chromium-browser")
        if name and (found := shutil.which(name))
    ),
    None,
)
"""Chromium here, or None; ``CV_CHROMIUM`` names another one."""

_OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)

_AT_3_AND_4 = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
for place, end in enumerate(ends, 3):
    os.dup2(end, place)
    os.close(end)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""The protocol is read at descriptor 3 and written at 4, whatever ours are called."""


class Browser:
    """One Chromium with one page: open a file, evaluate, type, take its picture."""

    def __init__(self, profile: Path) -> None:
        """Start it with an empty ``profile`` folder."""
        there, self._write = os.pipe()
        self._read, back = os.pipe()
        assert PROGRAM is not None
        command = [PROGRAM, *_OPTIONS, f"--user-data-dir={profile}", "about:blank"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _AT_3_AND_4, str(there), str(back), *command],
            pass_fds=(there, back),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(there)
        os.close(back)
        self._answers = os.fdopen(self._read, "rb")
        self._session = ""
        self._number = 0
        self.requests: list[str] = []
        self.errors: list[str] = []
        target = next(
            info for info in self.send("Target.getTargets")["targetInfos"] if info["type"] == "page"
        )
        self._session = self.send(
            "Target.attachToTarget", targetId=target["targetId"], flatten=True
        )["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.send(f"{domain}.enable")

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the browser."""
        os.close(self._write)  # its end of input: it closes by itself
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._answers.close()

    def send(self, method: str, **parameters: Any) -> Any:
        """Send a command and return its result; what the page reports meanwhile is kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def open(self, file: Path, *, width: int = 1200, dark: bool = False) -> None:
        """Show a page from disk at ``width`` pixels, in the dark or the light."""
        self.requests, self.errors = [], []
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=900, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        scheme = "dark" if dark else "light"
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.send("Emulation.setEmulatedMedia", features=features)
        self.send("Page.navigate", url=file.as_uri())
        while self._next().get("method") != "Page.loadEventFired":
            pass

    def evaluate(self, expression: str) -> Any:
        """Return what a JavaScript expression, or the promise it gives, comes to."""
        result = self.send(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"].get("description"))
        return result["result"].get("value")

    def press(self, key: str, times: int = 1) -> None:
        """Press a key by its name, such as ``Tab``."""
        codes = {"Tab": 9, "Enter": 13, "ArrowDown": 40}
        for _ in range(times):
            for kind in (
                ("rawKeyDown", "char", "keyUp") if key == "Enter" else ("rawKeyDown", "keyUp")
            ):
                text = {"text": "\r"} if kind == "char" else {}
                self.send(
                    "Input.dispatchKeyEvent",
                    type=kind, key=key, code=key, windowsVirtualKeyCode=codes[key], **text,
                )  # fmt: skip

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self.send("Input.insertText", text=text)

    def picture(self) -> bytes:
        """Return the whole page as PNG."""
        size = self.send("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 4000)}
        data = self.send(
            "Page.captureScreenshot", clip={**clip, "scale": 1}, captureBeyondViewport=True
        )["data"]
        return base64.b64decode(data)

    def pdf(self) -> bytes:
        """Return the page as PDF."""
        return base64.b64decode(self.send("Page.printToPDF")["data"])

    def _next(self) -> dict[str, Any]:
        data = bytearray()
        while (byte := self._answers.read(1)) != b"\0":
            if not byte:
                raise RuntimeError("Chromium ended")
            data += byte
        message: dict[str, Any] = json.loads(data)
        parameters = message.get("params", {})
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif message.get("method") == "Log.entryAdded":
            self.errors.append(parameters["entry"]["text"])
        elif message.get("method") == "Runtime.exceptionThrown":
            self.errors.append(parameters["exceptionDetails"]["text"])
        return message
