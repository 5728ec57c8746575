"""A second opinion on the first files: a reranker behind HTTP, where a person on this machine has set one up.

It reads task and text together, so that it knows better than words and vectors what a text is about; but not what is recent,
near or linked, which is worth as much here. So its order and ours are fused, and neither rules.
"""

from __future__ import annotations

import ipaddress
import math
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from backend.errors import CvError, UsageError
from backend.schemas.config import Reranker
from backend.tree.home import is_approved

TEXT_LIMIT, TASK_LIMIT = 1_800, 2_000
"""Characters of a text (a chunk's size) and of a task. With both, most models still read all of it (512 word pieces)."""

_LARGEST_ANSWER = 1_000_000
"""Bytes. A score for each of 100 texts takes some 5,000, some 200,000 where the server repeats the texts."""

_RRF = 60
"""Reciprocal rank fusion's customary constant (Cormack, Clarke and Büttcher, SIGIR 2009)."""


NO_ADDRESS = (
    "reranker.url is not set; 'cv config set reranker.url ADDRESS' says where the reranker is"
)
"""What is said where a reranker is switched on that has no address."""


class _Score(msgspec.Struct):
    """What is said of one text: Cohere, Jina, vLLM and llama.cpp call it ``relevance_score``, TEI ``score``."""

    index: int
    relevance_score: float | None = None
    score: float | None = None


class _Answer(msgspec.Struct):
    """Cohere, Jina, vLLM and llama.cpp answer with ``results``, Voyage with ``data``; TEI with the bare list."""

    results: list[_Score] | None = None
    data: list[_Score] | None = None


def rerank(reranker: Reranker, root: Path, task: str, texts: Sequence[str]) -> list[int]:
    """The places of ``texts`` from the most relevant to ``task`` to the least, as the configured server says.

    Texts that it leaves out come last, in the order that they have. Takes no longer than the config allows. Raises ``CvError``
    for whatever goes wrong, and when nobody on this machine has chosen the server; then no connection is made.
    """
    if not reranker.url:
        raise CvError(NO_ADDRESS)
    if not is_approved(root, reranker):
        raise CvError(
            "its address came with the tree, and texts would be sent there; "
            f"to use it on this machine: cv config set reranker.url {reranker.url}"
        )
    body: dict[str, Any] = {"query": task[:TASK_LIMIT]}
    if reranker.name == "tei":
        body |= {"texts": [text[:TEXT_LIMIT] for text in texts], "truncate": True}
    else:
        body |= {"documents": [text[:TEXT_LIMIT] for text in texts]}
        if reranker.model:
            body["model"] = reranker.model
    scores = _scores(_post(reranker, body), len(texts))
    said = sorted(scores, key=lambda index: (-scores[index], index))
    return said + [index for index in range(len(texts)) if index not in scores]


def fused(places: Sequence[int]) -> list[int]:
    """Our order (0, 1, 2 …) and the reranker's (``places``, best first) as one, by reciprocal rank; of equals, ours first."""
    theirs = {index: place for place, index in enumerate(places)}
    return sorted(theirs, key=lambda ours: (-1 / (_RRF + ours) - 1 / (_RRF + theirs[ours]), ours))


def destination(reranker: Reranker) -> str:
    """Where texts go from now on, in words."""
    if reranker.name == "off" or not reranker.url:
        return "no reranker is asked: that takes both reranker.url and reranker.name"
    return (
        f"cv find and cv why send the task and the best passage of the first {reranker.top} files "
        f"to {reranker.url}"
    )


def check_url(url: str) -> None:
    """Raise ``UsageError`` unless ``url`` is a full address."""
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fine = False
    if not fine:
        raise UsageError(
            'config.json: reranker.url: expected a full address such as "http://localhost:8080/v1/rerank", '
            f"got {url!r}"
        )


def _headers(reranker: Reranker) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if reranker.api_key_env:
        key = os.environ.get(reranker.api_key_env, "").strip()
        if not key:
            raise CvError(
                f"config.json: reranker.api_key_env: the environment variable {reranker.api_key_env} is not set"
            )
        if urlsplit(reranker.url).scheme != "https" and not _is_here(reranker.url):
            raise CvError(
                "config.json: reranker.url: expected https, so that the key is not readable on its way"
            )
        headers["Authorization"] = f"Bearer {key}"
    return headers


def _is_here(url: str) -> bool:
    """Whether ``url`` leads to this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _post(reranker: Reranker, body: dict[str, Any]) -> bytes:
    """The server's answer. A thread of its own, because a timeout of the socket bounds each wait but not all of them."""
    check_url(reranker.url)
    headers, sent = _headers(reranker), msgspec.json.encode(body)
    outcome: list[bytes | str] = []

    def work() -> None:
        try:
            outcome.append(_exchange(reranker, headers, sent))
        except Exception as error:  # whatever a broken server or network brings about; only said
            outcome.append(_reason(error))

    thread = threading.Thread(target=work, name="reranker", daemon=True)
    thread.start()
    thread.join(reranker.max_seconds)
    if not outcome:
        raise CvError(f"no answer within {reranker.max_seconds:g} seconds")
    answer = outcome[0]
    if isinstance(answer, str):
        raise CvError(answer)
    return answer


def _exchange(reranker: Reranker, headers: dict[str, str], body: bytes) -> bytes:
    from urllib import request

    class Stay(request.HTTPRedirectHandler):
        """Follows no redirection: it could lead to a host that nobody chose."""

        def redirect_request(self, *_: Any, **__: Any) -> None:
            return None

    proxies = request.ProxyHandler({} if _is_here(reranker.url) else None)
    asked = request.Request(reranker.url, body, headers, method="POST")
    longest = reranker.max_seconds + 1  # by then nobody waits any more; it ends the thread
    with request.build_opener(proxies, Stay).open(asked, timeout=longest) as answer:
        read: bytes = answer.read(_LARGEST_ANSWER + 1)
    if len(read) > _LARGEST_ANSWER:
        raise CvError("its answer is longer than a list of scores can be")
    return read


def _reason(error: Exception) -> str:
    """Why it failed, in our words: what the server itself says is not repeated."""
    if isinstance(error, CvError):
        return str(error)
    code = getattr(error, "code", None)
    if isinstance(code, int):
        return f"it answered with HTTP {code}"
    reason = getattr(error, "reason", None)
    named = reason if isinstance(reason, OSError) else error
    said = named.strerror if isinstance(named, OSError) and named.strerror else ""
    return f"it could not be reached ({said or type(named).__name__})"


def _scores(answer: bytes, texts: int) -> dict[int, float]:
    """The score of each text, by its place. Raises ``CvError`` for anything else than that."""
    try:
        found = msgspec.json.decode(answer, type=list[_Score] | _Answer)
    except msgspec.MsgspecError as error:
        raise CvError("its answer is not a list of scores") from error
    listed = (found.results or found.data or []) if isinstance(found, _Answer) else found
    scores: dict[int, float] = {}
    for one in listed:
        score = one.relevance_score if one.relevance_score is not None else one.score
        if not 0 <= one.index < texts or score is None or not math.isfinite(score):
            raise CvError("its answer does not fit the texts that it was sent")
        scores.setdefault(one.index, score)
    if not scores:
        raise CvError("its answer is not a list of scores")
    return scores
