"""A cloned tree is not to be trusted, and neither is a file name that somebody types."""

from __future__ import annotations

import http.server
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def listener() -> Any:
    """A server on this machine that keeps what it is sent."""
    seen: list[bytes] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            self.send_error(500)

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/", seen
    server.shutdown()


def test_an_embedder_that_came_with_the_tree_gets_no_text(
    tree: Any, cv: Any, listener: Any
) -> None:
    url, seen = listener
    config = tree.path(".context-vigilance/config.json")
    raw = json.loads(config.read_text())
    raw["embedding"] = {"name": "huggingface_server", "options": {"url": url}}
    config.write_text(json.dumps(raw))
    tree.document("mill/context-v/New.md", "## Secret\n\nNot for strangers.")
    done = cv("sync")
    assert done.code == 1
    assert "came with the tree" in done.err
    assert cv("find", "secret").code == 0
    assert seen == []


def test_an_embedder_that_there_is_not_is_refused_when_it_is_set(tree: Any, cv: Any) -> None:
    done = cv("config", "set", "embedding.name", "nosuch")
    assert done.code == 2
    assert "expected" in done.err


@pytest.mark.parametrize("part", ["manifests", "hook.log", "chroma"])
def test_a_part_of_the_kit_that_is_a_link_stops_the_sync(
    tree: Any, cv: Any, tmp_path: Path, part: str
) -> None:
    import shutil

    outside = tmp_path / "outside"
    outside.mkdir()
    own = tree.path(f".context-vigilance/{part}")
    if own.is_dir():
        shutil.rmtree(own)
    own.unlink(missing_ok=True)
    own.symlink_to(outside / "log" if part == "hook.log" else outside)
    tree.document("mill/context-v/New.md")
    done = cv("sync")
    assert done.code == 1
    assert "is a link" in done.err
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize(
    "place",
    [
        "mill/context-v/Page.html",
        "mill/changelog/x.html",
        ".context-vigilance/config.json",
        "nowhere/x.html",
    ],
)
def test_a_page_is_not_written_where_documents_or_our_own_files_lie(
    tree: Any, cv: Any, place: str
) -> None:
    before = tree.path(place).read_bytes() if tree.path(place).exists() else None
    done = cv("catch-up", "--html", str(tree.path(place)))
    assert done.code == 2
    assert (tree.path(place).read_bytes() if tree.path(place).exists() else None) == before


def test_a_page_replaces_only_a_page(tree: Any, cv: Any, tmp_path: Path) -> None:
    page, letter = tmp_path / "page.html", tmp_path / "letter.html"
    letter.write_text("Dear all")
    assert cv("catch-up", "--html", str(page)).code == 0
    assert cv("catch-up", "--html", str(page)).code == 0
    assert cv("catch-up", "--html", str(letter)).code == 2
    assert cv("catch-up", "--html", os.devnull).code == 2
    assert letter.read_text() == "Dear all"


def test_the_whole_tree_is_not_dismissed_by_a_slip(tree: Any, cv: Any) -> None:
    assert cv("dismiss").code == 2
    assert cv("dismiss", "").code == 2
    assert not tree.path(".context-vigilance-skip").exists()
