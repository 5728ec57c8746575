"""Calls to a Chroma server: bounded in time whatever it does, and their failures in plain words, without the token."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
from typing import Any

from backend.errors import CvError
from backend.schemas.config import Chroma

REQUEST_SECONDS = 30.0
"""For one request. Writing the 200 chunks of a batch takes a quarter of a second; what takes this long hangs."""

SLOW_SECONDS = 10.0
"""So long a server that did not answer in time is not asked again by the same process: a query that has just waited for it once,
to tell it of changes, does not wait twice.
"""

CLOUD_KEY = "CHROMA_API_KEY"
"""Where the key of Chroma Cloud is looked for when ``token_env`` names nothing else; Chroma's own name for it."""

_slow: dict[str, tuple[float, str]] = {}
"""Until when (``time.monotonic``) which server is left alone, and the words for it."""


class ServerError(CvError):
    """A Chroma server cannot be used now; the message says which, why, and what to do."""


class Missing(ServerError):
    """The server does not have what was asked for."""


def address(chroma: Chroma) -> str:
    """The server as a person would name it."""
    if chroma.mode == "cloud":
        return "Chroma Cloud"
    return f"the Chroma server at {'https' if chroma.ssl else 'http'}://{chroma.host}:{chroma.port}"


def destination(chroma: Chroma) -> str:
    """What ``chroma`` means for the documents of a tree, in a sentence."""
    if chroma.mode == "persistent":
        return "documents stay in the tree's own folder"
    variable = token_variable(chroma)
    return f"documents of this tree are sent to {address(chroma)}" + (
        f", with the token from the environment variable {variable}" if variable else ""
    )


def not_chosen(chroma: Chroma) -> str:
    """That the server came with the tree, and what to do to use it."""
    return (
        f"config.json: {address(chroma)} came with the tree, so nothing is sent to it; "
        f"to use it on this machine: cv config set chroma.mode {chroma.mode}"
    )


def token_variable(chroma: Chroma) -> str:
    """The environment variable that the token is taken from, empty where none is sent."""
    return chroma.token_env or (CLOUD_KEY if chroma.mode == "cloud" else "")


def check_patience(chroma: Chroma) -> None:
    """Raise ``ServerError`` when this process has just waited for the server in vain."""
    until, words = _slow.get(address(chroma), (0.0, ""))
    if time.monotonic() < until:
        raise ServerError(words)


class Server:
    """Calls to one server until ``seconds`` are over, and what became of them in words."""

    def __init__(self, chroma: Chroma, token: str, seconds: float) -> None:
        self.chroma = chroma
        self.address = address(chroma)
        self._token = token
        self._end = time.monotonic() + seconds

    def call(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        options: dict[str, Any],
        *,
        most: float = REQUEST_SECONDS,
    ) -> Any:
        """Call ``function``, and wait for it ``most`` seconds. In a thread: Chroma's client waits for ever, and no timeout of
        its own would end an answer that comes a byte at a time. A call that hangs is left behind; the process's end ends it.
        """
        seconds = min(most, self._end - time.monotonic())
        if seconds <= 0:
            raise ServerError(f"{self.address} did not answer in time")
        answers: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

        def run() -> None:
            try:
                answers.put((function(*args, **options), None))
            except BaseException as error:  # Chroma's own errors have no common base
                answers.put((None, error))

        threading.Thread(target=run, daemon=True).start()
        try:
            answer, failure = answers.get(timeout=seconds)
        except Empty:
            error = ServerError(f"{self.address} did not answer within {seconds:.1f} s")
            _slow[self.address] = (time.monotonic() + SLOW_SECONDS, str(error))
            raise error from None
        if failure is not None:
            said = self._in_words(failure)
            raise said from None  # not even its traceback, which may hold the token
        return answer

    def _in_words(self, error: BaseException) -> ServerError:
        status = _status(error)
        if status in (401, 403):
            variable = token_variable(self.chroma)
            todo = (
                f"is the token in {variable} right?"
                if variable
                else "it wants a token: cv config set chroma.token_env VARIABLE"
            )
            return ServerError(f"{self.address} refuses this machine ({status}); {todo}")
        if not status and _unreachable(error):
            return ServerError(
                f"{self.address} does not answer (is it running, and is its address right?)"
            )
        text = " ".join(str(error).split()) or type(error).__name__
        if self._token:
            text = text.replace(self._token, "…")
        text = "".join(c for c in text if c.isprintable())[:160]
        kind = Missing if type(error).__name__ == "NotFoundError" else ServerError
        return kind(f"{self.address} failed ({f'{status}: ' if status else ''}{text})")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _status(error: BaseException) -> int:
    """The HTTP status that an error of Chroma's client goes back to, 0 where there is none."""
    for one in _chain(error):
        status = getattr(getattr(one, "response", None), "status_code", 0)
        if status:
            return int(status)
        if type(one).__name__ in ("ChromaAuthError", "AuthorizationError"):
            return 403
    return 0


def _unreachable(error: BaseException) -> bool:
    """Whether no answer came at all: nothing listens, the name is unknown, the connection broke."""
    return any(type(one).__module__.startswith(("httpx", "httpcore")) for one in _chain(error))


class Guarded:
    """An object of Chroma's client whose methods are called through ``Server``."""

    def __init__(self, inner: Any, server: Server) -> None:
        self._inner = inner
        self._server = server

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if not callable(found):
            return found

        def call(*args: Any, **options: Any) -> Any:
            return self._server.call(found, args, options)

        return call
