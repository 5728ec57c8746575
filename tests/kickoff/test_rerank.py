"""A reranker behind HTTP: asked only where a person chose it, heard only as far as it answers, never waited for too long."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from organisation import KIT

from backend.kickoff.rerank import fused
from backend.kickoff.why import why
from backend.render.why_text import why_text
from backend.schemas.doctor import Finding
from backend.setup.checks.reranker import check_reranker
from backend.tree.config import load_config
from backend.tree.config_edits import set_key
from backend.tree.home import approve

ROOT = Path(__file__).resolve().parents[2]
TASK = "how a skipper gets the deposit back"
NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
KEY = "CV_TEST_RERANKER_KEY"


class Server(ThreadingHTTPServer):
    """Answers with ``answer`` of the request's JSON (bytes, or what becomes JSON), and remembers what it was sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer: Callable[[dict[str, Any]], object] = lambda body: {}
        self.code, self.location = 200, ""
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.connections = 0
        self.released = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1/rerank"

    def handle_error(self, *_: object) -> None:
        """Nothing: a client that waits no longer is what some tests are about."""

    def get_request(self) -> Any:
        self.connections += 1
        return super().get_request()


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(body)
        self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
        answer = self.server.answer(body)
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(self.server.code)
        if self.server.location:
            self.send_header("Location", self.server.location)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield made
        made.released.set()
        made.shutdown()
        thread.join()


class Asking:
    """The harbour with a reranker in its config."""

    def __init__(self, harbour: Any, server: Server) -> None:
        self.harbour, self.root = harbour, harbour.root
        self.set(name="http", url=server.url)

    def set(self, *, chosen: bool = True, **keys: object) -> None:
        for key, value in keys.items():
            config = set_key(self.root, f"reranker.{key}", str(value))
        if chosen:
            approve(self.root, config.reranker)

    def found(self, **options: Any) -> list[str]:
        return [candidate.source_path for candidate in self.find(**options).candidates]

    def find(self, **options: Any) -> Any:
        return self.harbour.find(TASK, **options)


@pytest.fixture
def asking(own_harbour: Any, server: Server) -> Asking:
    return Asking(own_harbour, server)


def from_the_last(body: dict[str, Any]) -> object:
    """The last text is the most relevant, the first the least."""
    texts = body.get("documents") or body["texts"]
    return {"results": [{"index": i, "relevance_score": i / 10} for i in range(len(texts))]}


def only_the_tenth(body: dict[str, Any]) -> object:
    return {"results": [{"index": 9, "relevance_score": 7.5}]}


# --- what it is asked, and what comes of it -----------------------------------------------------------------------


def test_it_is_given_the_task_and_the_best_passage_of_each_of_the_first_files(
    asking: Asking, server: Server, harbour: Any
) -> None:
    asking.set(top=5, model="cross-7")
    server.answer = from_the_last
    asking.find()
    (body,) = server.asked
    assert body.keys() == {"model", "query", "documents"}
    assert (body["model"], body["query"]) == ("cross-7", TASK)
    plain = harbour.find(TASK).candidates
    assert [text.split("\n")[0] for text in body["documents"]] == [c.title for c in plain[:5]]
    assert "deposit" in body["documents"][0].casefold()
    assert max(map(len, body["documents"])) <= 1_800
    assert "authorization" not in server.headers[0]


def test_the_first_files_are_reordered_and_everything_else_stays(
    asking: Asking, server: Server, harbour: Any
) -> None:
    asking.set(top=10)
    server.answer = only_the_tenth
    plain, again = harbour.find(TASK), asking.find()
    before = [c.source_path for c in plain.candidates]
    after = [c.source_path for c in again.candidates]
    assert after.index(before[9]) < 5, "its first choice rises"
    assert sorted(after[:10]) == sorted(before[:10])
    assert after[10:] == before[10:]
    assert [c.rank for c in again.candidates] == list(range(1, 21))
    assert (again.evidence, again.notes) == (plain.evidence, plain.notes)
    reasons = {c.source_path: c.why for c in plain.candidates}
    said = [c.why[-1] if place <= 10 else "" for place, c in enumerate(again.candidates, 1)]
    assert said[after.index(before[9])] == "reranker: place 1"
    for candidate in again.candidates:
        assert (
            tuple(r for r in candidate.why if not r.startswith("reranker"))
            == (reasons[candidate.source_path])
        )


def test_one_that_agrees_changes_nothing(asking: Asking, server: Server, harbour: Any) -> None:
    server.answer = lambda body: {
        "results": [{"index": i, "relevance_score": -i} for i in range(len(body["documents"]))]
    }
    assert asking.found() == harbour.found(TASK)


@pytest.mark.parametrize(
    "shape",
    [
        lambda scores: {"results": [{"index": i, "relevance_score": s} for i, s in scores]},
        lambda scores: {"data": [{"index": i, "relevance_score": s} for i, s in scores]},
        lambda scores: {"results": [{"index": i, "score": s, "document": "…"} for i, s in scores]},
        lambda scores: [{"index": i, "score": s, "text": None} for i, s in reversed(scores)],
    ],
    ids=["cohere", "voyage", "score", "tei"],
)
def test_each_common_form_of_the_answer_is_understood(
    asking: Asking, server: Server, harbour: Any, shape: Callable[[list[tuple[int, float]]], object]
) -> None:
    server.answer = lambda body: shape([(i, float(i)) for i in range(len(body["documents"]))])
    first = asking.find().candidates[0]
    assert first.source_path in harbour.found(TASK)
    assert [c.why[-1] for c in asking.find().candidates if "reranker" in c.why[-1]]
    assert asking.find().notes == ()


def test_text_embeddings_inference_is_asked_in_its_own_form(asking: Asking, server: Server) -> None:
    asking.set(name="tei", model="ignored")
    server.answer = lambda body: [
        {"index": i, "score": 1 / (1 + i)} for i in range(len(body["texts"]))
    ]
    assert asking.find().notes == ()
    assert server.asked[0].keys() == {"query", "texts", "truncate"}


def test_a_scope_is_reordered_too(asking: Asking, server: Server) -> None:
    server.answer = from_the_last
    found = asking.found(scope="ledger")
    assert all(path.startswith("ledger/") for path in found)
    assert len(server.asked[0]["documents"]) == min(30, len(found))


def test_cv_why_tells_its_place(asking: Asking, server: Server) -> None:
    server.answer = from_the_last
    paths = asking.found(limit=200)
    for path in (paths[0], paths[-1]):
        found = why(
            asking.root, load_config(asking.root), path, task=TASK, folder=asking.root, now=NOW
        )
        assert found.placement is not None
        assert found.placement.rank == paths.index(path) + 1
        among_the_first = found.placement.rank <= 30
        assert (found.placement.reranker is not None) == among_the_first
        assert ("reranker" in why_text(found)) == among_the_first


@given(st.permutations(range(12)))
def test_two_orders_are_fused_into_one_that_keeps_what_both_put_first(places: list[int]) -> None:
    found = fused(places)
    assert sorted(found) == list(range(12))
    theirs = {index: place for place, index in enumerate(places)}
    for before, after in pairwise(found):
        assert before < after or theirs[before] < theirs[after]


# --- the key -------------------------------------------------------------------------------------------------------


def test_a_key_comes_from_the_environment_alone(
    asking: Asking, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answer = from_the_last
    asking.set(api_key_env=KEY)
    assert asking.find().notes == (
        "ordered without the reranker: config.json: reranker.api_key_env: "
        f"the environment variable {KEY} is not set",
    )
    assert server.connections == 0
    monkeypatch.setenv(KEY, "not-a-real-key")
    assert asking.find().notes == ()
    assert server.headers[0]["authorization"] == "Bearer not-a-real-key"
    assert "not-a-real-key" not in (asking.root / KIT / "config.json").read_text()


def test_a_key_is_not_sent_in_the_clear(
    asking: Asking, monkeypatch: pytest.MonkeyPatch, harbour: Any
) -> None:
    monkeypatch.setenv(KEY, "not-a-real-key")
    asking.set(url="http://reranker.invalid/rerank", api_key_env=KEY)
    findings = asking.find()
    assert "expected https" in findings.notes[0]
    assert [c.source_path for c in findings.candidates] == harbour.found(TASK)


# --- nobody here chose it ------------------------------------------------------------------------------------------


def test_an_address_that_came_with_the_tree_is_not_connected_to(
    own_harbour: Any, server: Server, harbour: Any
) -> None:
    set_key(own_harbour.root, "reranker.name", "http")
    set_key(own_harbour.root, "reranker.url", server.url)
    findings = own_harbour.find(TASK)
    assert server.connections == 0
    (note,) = findings.notes
    assert note.startswith("ordered without the reranker: its address came with the tree")
    assert f"cv config set reranker.url {server.url}" in note
    assert [c.source_path for c in findings.candidates] == harbour.found(TASK)


def test_an_address_that_changed_since_it_was_chosen_is_not_connected_to(
    asking: Asking, server: Server
) -> None:
    with Server() as other:
        asking.set(url=other.url, chosen=False)
        assert asking.find().notes[0].startswith("ordered without the reranker: its address came")
        assert (server.connections, other.connections) == (0, 0)


def set_by_hand(root: Path, key: str, value: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "backend", "config", "set", key, value, "--root", str(root)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def test_only_who_names_the_address_chooses_it(own_harbour: Any, server: Server) -> None:
    root, went = own_harbour.root, f"of the first 7 files to {server.url}"
    server.answer = from_the_last
    set_key(root, "reranker.url", server.url)  # as it lies in a cloned tree
    assert "send" not in set_by_hand(root, "reranker.name", "http")
    assert "send" not in set_by_hand(root, "reranker.top", "7")
    assert own_harbour.find(TASK).notes[0].startswith("ordered without the reranker: its address")
    assert server.connections == 0
    assert went in set_by_hand(root, "reranker.url", server.url)
    assert own_harbour.find(TASK).notes == ()
    assert len(server.asked[0]["documents"]) == 7
    assert "send the task" in set_by_hand(root, "reranker.top", "5")
    assert own_harbour.find(TASK).notes == ()
    assert "expected a full address" in set_by_hand(root, "reranker.url", "localhost:8080")


def test_the_doctor_asks_it_once_and_says_how_that_went(asking: Asking, server: Server) -> None:
    def doctor() -> Finding:
        (found,) = check_reranker(asking.root, load_config(asking.root))
        return found

    server.answer = from_the_last
    assert (doctor().level, doctor().what) == ("ok", f"{server.url} answers")
    assert [len(body["documents"]) for body in server.asked] == [2, 2]
    server.code = 500
    assert (doctor().level, doctor().what) == (
        "warning",
        f"{server.url}: it answered with HTTP 500",
    )
    asked = len(server.asked)
    asking.set(chosen=False, url=server.url + "/other")
    assert "came with the tree" in doctor().what
    assert len(server.asked) == asked
    set_key(asking.root, "reranker.name", "off")
    assert check_reranker(asking.root, load_config(asking.root)) == []


def test_off_is_off(asking: Asking, server: Server, harbour: Any) -> None:
    asking.set(name="off")
    assert asking.found() == harbour.found(TASK)
    assert server.connections == 0


# --- whatever goes wrong is one note, and the order is ours -------------------------------------------------------


def oops(server: Server) -> None:
    server.code = 500


def moved(server: Server) -> None:
    server.code, server.location = 307, "http://127.0.0.1:9/elsewhere"


def silent(server: Server) -> None:
    server.answer = lambda body: server.released.wait(30) and {}


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        (oops, "it answered with HTTP 500"),
        (moved, "it answered with HTTP 307"),
        (silent, "no answer within 0.4 seconds"),
        (b"<html>busy</html>", "its answer is not a list of scores"),
        (b"\xff\xfe\x00", "its answer is not a list of scores"),
        (b"", "its answer is not a list of scores"),
        ({"results": []}, "its answer is not a list of scores"),
        ({"error": "no such model"}, "its answer is not a list of scores"),
        ({"results": [{"index": "1"}]}, "its answer is not a list of scores"),
        ({"results": [{"index": 99, "score": 1.0}]}, "its answer does not fit the texts"),
        ({"results": [{"index": -1, "score": 1.0}]}, "its answer does not fit the texts"),
        ({"results": [{"index": 0}]}, "its answer does not fit the texts"),
        (b'{"results": [{"index": 0, "score": 1e999}]}', "its answer"),
        (b" " * 1_000_001, "its answer is longer than a list of scores can be"),
    ],
)
def test_trouble_is_said_once_and_the_order_is_ours(
    asking: Asking, server: Server, harbour: Any, trouble: Any, said: str
) -> None:
    asking.set(max_seconds=0.4 if trouble is silent else 20)
    if callable(trouble):
        trouble(server)
    else:
        server.answer = lambda body: trouble
    findings = asking.find()
    (note,) = findings.notes
    assert note.startswith(f"ordered without the reranker: {said}")
    plain = harbour.find(TASK)
    assert [(c.source_path, c.why) for c in findings.candidates] == [
        (c.source_path, c.why) for c in plain.candidates
    ]
    assert findings.evidence == plain.evidence


def test_nobody_listens(asking: Asking, server: Server, harbour: Any) -> None:
    server.server_close()
    findings = asking.find()
    assert findings.notes[0].startswith("ordered without the reranker: it could not be reached")
    assert [c.source_path for c in findings.candidates] == harbour.found(TASK)


@pytest.mark.parametrize("chosen", [True, False])
def test_an_address_that_is_not_set_is_said_to_be_so(asking: Asking, chosen: bool) -> None:
    asking.set(url="", chosen=chosen)
    assert (
        asking.find().notes[0].startswith("ordered without the reranker: reranker.url is not set")
    )
    (found,) = check_reranker(asking.root, load_config(asking.root))
    assert found.what.startswith("reranker.url is not set; 'cv config set reranker.url ADDRESS'")


@pytest.mark.parametrize("url", ["localhost:8080", "file:///etc/passwd", "ftp://x/y", "http://[x/"])
def test_what_is_no_address_is_said(asking: Asking, url: str) -> None:
    asking.set(url=url)
    assert "reranker.url: expected a full address" in asking.find().notes[0]
