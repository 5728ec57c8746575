"""A team's Chroma server: several machines on one, a server that is away or refuses, and that nobody is sent to one unasked."""

from __future__ import annotations

import http.server
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from chroma_server import ChromaServer
from organisation import KIT, prose

from backend.freshness import guarded
from backend.freshness.index import Index
from backend.freshness.places import index_path
from backend.freshness.remote import connected
from backend.freshness.sync import Options, sync
from backend.schemas.roles import CHANGELOG_ROLE, CORPUS_ROLE, ROLES
from backend.tree.config import config_path, load_config
from backend.tree.config_edits import set_key
from backend.tree.home import approve

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
TOKEN = "tk-zanzibarquux-7261"
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def patience() -> None:
    """No server is left alone because it was slow in another test, on the same port."""
    guarded._slow.clear()


class Machine:
    """A copy of the tree somewhere, and the state of a machine of its own."""

    def __init__(self, site: Any, home: Path, patch: pytest.MonkeyPatch) -> None:
        self.site, self.home, self._patch = site, home, patch

    @property
    def root(self) -> Path:
        root: Path = self.site.root
        return root

    def choose(self, **keys: Any) -> Machine:
        """What ``cv config set chroma.…`` does."""
        self._patch.setenv("CV_HOME", str(self.home))
        for key, value in keys.items():
            set_key(self.root, f"chroma.{key}", json.dumps(value))
        approve(self.root, load_config(self.root).chroma)
        return self

    def sync(self, *, now: datetime = NOW, **options: Any) -> Any:
        self._patch.setenv("CV_HOME", str(self.home))
        return self.site.sync(now=now, **options)

    def ids(self) -> set[str]:
        index = Index.for_reading(index_path(self.root))
        assert index is not None
        with index:
            return {row[0] for row in index.db.execute("SELECT chroma_id FROM chunk")}

    def owes(self) -> bool:
        index = Index.for_reading(index_path(self.root))
        assert index is not None
        with index:
            return not index.notes.empty()


@pytest.fixture
def here(site: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine with eight documents in two collections."""
    for number in range(6):
        site.document(f"ferry/context-v/specs/Doc-{number}.md", count=2)
    site.document(
        "mill/context-v/plans/Sluice.md", f"## Gate\n\n{prose('gate')}\n\n## Wheel\n\nA weir."
    )
    site.document("mill/changelog/2025-03-14_Weir.md")
    return Machine(site, tmp_path / "home A", monkeypatch)


@pytest.fixture
def second(here: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Machine]:
    """Give a second machine: the same tree, as it is now, under another path."""

    def copy() -> Machine:
        root = tmp_path / "elsewhere" / "deep" / "tree"
        shutil.copytree(here.root, root, ignore=shutil.ignore_patterns(KIT))
        return Machine(type(here.site)(root), tmp_path / "home B", monkeypatch)

    return copy


def pull(source: Machine, target: Machine, path: str) -> None:
    """Bring one file to the other machine, as git would."""
    new = source.root / path
    if new.exists():
        shutil.copyfile(new, target.root / path)
    else:
        (target.root / path).unlink()


# --- several machines ----------------------------------------------------------------------------------------------------


def test_two_machines_at_once_make_no_duplicates_and_both_find(
    here: Machine, second: Callable[[], Machine], team_server: ChromaServer
) -> None:
    """Two processes, two paths, two homes, one server; both sync for the first time at the same moment."""
    there = second()
    for one in (here, there):
        one.choose(host="127.0.0.1", port=team_server.port, mode="http")

    def cv(one: Machine, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-P", "-s", "-m", "backend", *words],
            cwd=one.root,
            env={**os.environ, "PYTHONPATH": str(ROOT), "CV_HOME": str(one.home)},
            stdout=subprocess.PIPE,
            text=True,
        )

    syncs = [cv(one, "sync", "--json") for one in (here, there)]
    for process in syncs:
        out, _ = process.communicate(timeout=120)
        assert json.loads(out)["notes"] == []
    both = team_server.records() | team_server.records(CHANGELOG_ROLE)
    assert both.keys() == here.ids() == there.ids()
    assert (
        len(team_server.records()) == team_server.client().get_collection(CORPUS_ROLE).count() == 14
    )
    for one in (here, there):
        out, _ = cv(one, "find", "the gate of the sluice", "--json").communicate(timeout=120)
        found = json.loads(out)
        assert found["candidates"][0]["source_path"] == "mill/context-v/plans/Sluice.md"
        assert not [note for note in found["notes"] if "Chroma" in note]
        assert not (one.root / KIT / "chroma").exists()


def test_what_is_there_already_is_not_written_again(
    here: Machine, second: Callable[[], Machine], team_server: ChromaServer
) -> None:
    """Each record says when it was written, and the second machine's moment is in none."""
    here.choose(host="127.0.0.1", port=team_server.port, mode="http").sync()
    before = {role: team_server.records(role) for role in ROLES}
    there = second().choose(host="127.0.0.1", port=team_server.port, mode="http")
    assert there.sync(now=NOW + timedelta(days=3)).notes == ()
    assert {role: team_server.records(role) for role in ROLES} == before
    here.site.edit("ferry/context-v/specs/Doc-1.md", "## Part 2", "## Part two")
    here.sync(now=NOW + timedelta(days=4))
    changed = team_server.records()
    assert changed != before[CORPUS_ROLE]
    pull(here, there, "ferry/context-v/specs/Doc-1.md")
    there.sync(now=NOW + timedelta(days=5))
    assert team_server.records() == changed


def test_an_older_tree_does_not_answer_a_newer_one(
    here: Machine, second: Callable[[], Machine], team_server: ChromaServer
) -> None:
    """It tells of its own changes and of nothing else, however often it syncs; what it pulls later brings it in line."""
    there = second()
    for one in (here, there):
        one.choose(host="127.0.0.1", port=team_server.port, mode="http").sync()
    here.site.delete("ferry/context-v/specs/Doc-0.md")
    here.site.document("ferry/context-v/specs/Doc-2.md", count=1)
    here.site.document("ferry/context-v/specs/New.md")
    here.sync()
    newest = team_server.records()
    assert newest.keys() == {i for i in here.ids() if "changelog" not in i}
    for _ in range(2):
        there.sync()
        there.sync(quick=True)
    assert team_server.records() == newest
    there.site.edit("ferry/context-v/specs/Doc-5.md", "## Part 1", "## Part one")
    there.sync()
    mixed = team_server.records()
    assert {i for i in mixed if mixed[i] != newest.get(i)} == {
        "ferry::ferry/context-v/specs/Doc-5.md::0000"
    }
    here.sync()
    assert team_server.records() == mixed
    for name in ("Doc-0", "Doc-2", "New"):
        pull(here, there, f"ferry/context-v/specs/{name}.md")
    there.sync()
    assert team_server.records() == mixed


def test_a_document_s_records_are_of_one_version(
    here: Machine, second: Callable[[], Machine], team_server: ChromaServer
) -> None:
    """One machine makes a document longer, the other shorter; neither knows of the other's."""
    there = second()
    for one in (here, there):
        one.choose(host="127.0.0.1", port=team_server.port, mode="http").sync()
    here.site.document("ferry/context-v/specs/Doc-3.md", count=5)
    here.sync()
    there.site.document("ferry/context-v/specs/Doc-3.md", "## Only\n\nOne wharf.")
    there.sync()
    of_it = {i: text for i, (text, _) in team_server.records().items() if "Doc-3" in i}
    assert list(of_it) == ["ferry::ferry/context-v/specs/Doc-3.md::0000"]
    assert "One wharf." in of_it["ferry::ferry/context-v/specs/Doc-3.md::0000"]


def test_a_new_machine_with_an_old_tree_leaves_what_is_newer(
    here: Machine, second: Callable[[], Machine], team_server: ChromaServer
) -> None:
    there = second()
    here.site.document("ferry/context-v/specs/Doc-4.md", "## Newer\n\nA lantern.", day="2025-06-01")
    here.choose(host="127.0.0.1", port=team_server.port, mode="http").sync()
    there.site.document("ferry/context-v/specs/Doc-5.md", "## Newest\n\nA kiln.", day="2025-07-01")
    there.choose(host="127.0.0.1", port=team_server.port, mode="http").sync()
    texts = " ".join(text for text, _ in team_server.records().values())
    assert "A lantern." in texts
    assert "A kiln." in texts
    assert not there.owes()


def test_other_vectors_and_other_people_s_collections_are_refused(
    here: Machine, team_server: ChromaServer
) -> None:
    team_server.client().create_collection(CORPUS_ROLE).add(
        ids=["theirs"], documents=["theirs"], embeddings=[[0.5] * 384]
    )
    here.choose(host="127.0.0.1", port=team_server.port, mode="http")
    (note,) = here.sync().notes
    assert "holds what another program put there" in note
    assert "cv config set collections.context_vigilance_corpus NAME" in note
    assert list(team_server.records()) == ["theirs"]
    set_key(here.root, "collections.context_vigilance_corpus", "ours")
    assert here.sync().notes == ()
    assert len(team_server.records("ours")) == 14
    team_server.client().get_collection("ours").modify(metadata={"embedder": "static-00000000"})
    here.site.edit("ferry/context-v/specs/Doc-1.md", "## Part 2", "## Part two")
    (note,) = here.sync().notes
    assert "holds vectors of static-00000000" in note


# --- nothing is lost -----------------------------------------------------------------------------------------------------


def test_a_server_that_is_killed_in_the_middle_loses_nothing(
    here: Machine, team_server: ChromaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It dies after the first batch of a first sync; then again after it was told of one deletion of two collections."""
    for number in range(12):
        here.site.document(f"inn/context-v/Long-{number}.md", count=40)
    here.choose(host="127.0.0.1", port=team_server.port, mode="http")
    seen: list[int] = []

    def kill_after_a_batch(step: str, done: int, total: int) -> None:
        if step == "storing" and not seen:
            seen.append(done)
            team_server.kill()

    config = load_config(here.root)
    report = sync(here.root, config, now=NOW, options=Options(), progress=kill_after_a_batch)
    assert seen, "nothing was stored before it died"
    assert "told at the next sync" in report.notes[-1]
    assert here.owes()
    assert set(here.site.cards()) == {
        p.relative_to(here.root).as_posix() for p in here.root.glob("*/context-v/**/*.md")
    }, "the digest must not wait for a server"
    here.site.delete("inn/context-v/Long-0.md")
    here.site.delete("mill/changelog/2025-03-14_Weir.md")
    assert "does not answer" in here.sync().notes[0]
    team_server.start()
    assert here.sync(quick=True).notes == ()
    assert (team_server.records() | team_server.records(CHANGELOG_ROLE)).keys() == here.ids()
    assert not here.owes()


def test_a_server_that_lost_everything_is_filled_again(
    here: Machine, team_server: ChromaServer
) -> None:
    here.choose(host="127.0.0.1", port=team_server.port, mode="http").sync()
    team_server.kill()
    shutil.rmtree(team_server.folder)
    team_server.start()
    assert here.sync().notes == ()
    assert (team_server.records() | team_server.records(CHANGELOG_ROLE)).keys() == here.ids()


def test_a_rebuild_tells_all_again_and_leaves_what_others_wrote(
    here: Machine, second: Callable[[], Machine], team_server: ChromaServer
) -> None:
    there = second()
    there.site.document("ferry/context-v/specs/Theirs.md")
    for one in (here, there):
        one.choose(host="127.0.0.1", port=team_server.port, mode="http").sync()
    lost = "ferry::ferry/context-v/specs/Doc-1.md::0001"
    team_server.client().get_collection(CORPUS_ROLE).delete(ids=[lost])
    here.site.delete("ferry/context-v/specs/Doc-0.md")
    assert here.sync(rebuild=True).notes == ()
    ids = team_server.records().keys()
    assert lost in ids
    assert "ferry::ferry/context-v/specs/Theirs.md::0000" in ids
    assert not any("Doc-0" in i for i in ids)


def test_from_the_folder_to_a_server_and_back(here: Machine, team_server: ChromaServer) -> None:
    """The folder goes, and with it what it held; what is taken back leaves server and tree alike."""
    here.site.document("ferry/context-v/specs/Keys.md", "## Key\n\nIt is zanzibarquux.")
    here.sync()
    assert (here.root / KIT / "chroma").exists()
    here.choose(host="127.0.0.1", port=team_server.port, mode="http").sync()
    assert not (here.root / KIT / "chroma").exists()
    here.site.edit("ferry/context-v/specs/Keys.md", "title:", "private: true\ntitle:")
    here.sync()
    assert not any("zanzibarquux" in text for text, _ in team_server.records().values())
    assert not list(holding(here.root / KIT, "zanzibarquux"))
    here.choose(mode="persistent").sync()
    here.site.check()
    assert len(team_server.records()) == 14, "what the server has stays there"


def holding(folder: Path, word: str) -> Iterator[Path]:
    """The files below ``folder`` that hold ``word``."""
    for path in folder.rglob("*"):
        if path.is_file() and word.encode() in path.read_bytes():
            yield path


# --- a server that is away, slow, or refuses -----------------------------------------------------------------------------


class Answering(http.server.BaseHTTPRequestHandler):
    """Answers everything with the server's ``status``, and repeats the token in the body as a careless proxy would."""

    def do_GET(self) -> None:
        self.server.seen.append(dict(self.headers))  # type: ignore[attr-defined]
        body = f"<p>{self.headers.get('Authorization')} {self.headers.get('X-Chroma-Token')}</p>"
        self.send_response(self.server.status)  # type: ignore[attr-defined]
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def answering(status: int) -> Iterator[Any]:
    """A small HTTP server; ``seen`` holds the headers of each request."""
    small: Any = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    small.status, small.seen = status, []
    threading.Thread(target=small.serve_forever, daemon=True).start()
    yield small
    small.shutdown()
    small.server_close()


@contextmanager
def silent() -> Iterator[int]:
    """A port that takes connections and never answers."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        yield listener.getsockname()[1]


@contextmanager
def dripping() -> Iterator[int]:
    """A port that answers a byte at a time, for ever."""
    over = threading.Event()

    def serve(listener: socket.socket) -> None:
        while not over.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=drip, args=(connection,), daemon=True).start()

    def drip(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n")
            while not over.wait(0.1):
                connection.sendall(b" ")

    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        yield listener.getsockname()[1]
        over.set()


@contextmanager
def trouble(kind: str) -> Iterator[int]:
    """The port of a server that has the named trouble."""
    if kind == "away":
        with closing(socket.create_server(("127.0.0.1", 0))) as free:
            port = free.getsockname()[1]
        yield port
    elif kind in ("silent", "dripping"):
        with {"silent": silent, "dripping": dripping}[kind]() as port:
            yield port
    else:
        with answering(int(kind)) as small:
            yield small.server_address[1]


TROUBLES = {
    "away": "does not answer (is it running, and is its address right?)",
    "silent": "did not answer within",
    "dripping": "did not answer within",
    "401": "refuses this machine (401); it wants a token: cv config set chroma.token_env VARIABLE",
    "403": "refuses this machine (403)",
    "500": "failed (500: ",
    "200": "failed (",
    "307": "failed (307: ",
}


@pytest.mark.parametrize("kind", TROUBLES)
def test_a_server_in_trouble_ends_no_question_and_is_named(
    here: Machine, cv: Any, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Find, search and catch-up answer as ever, also where it would never end; status, doctor and the notes say what is wrong."""
    monkeypatch.setattr(guarded, "SLOW_SECONDS", 0.0)
    with trouble(kind) as port:
        here.choose(host="127.0.0.1", port=port, mode="http")
        report = here.sync(max_seconds=2.0)
        assert TROUBLES[kind] in report.notes[0], report.notes
        assert f"http://127.0.0.1:{port}" in report.notes[0]
        found = json.loads(cv("find", "the gate of the sluice", "--json").out)
        assert found["candidates"][0]["source_path"] == "mill/context-v/plans/Sluice.md"
        assert any(TROUBLES[kind] in note for note in found["notes"]), found["notes"]
        assert any("similar in meaning" in why for c in found["candidates"] for why in c["why"])
        passages = json.loads(cv("search", "what of the weir", "--json").out)
        assert "weir" in passages["passages"][0]["text"]
        digest = json.loads(cv("catch-up", "--since", "2025-01-01", "--json").out)
        assert digest["total_files"] == 8
        assert f"127.0.0.1:{port}" in json.loads(cv("status", "--json").out)["server"]
        monkeypatch.setattr("backend.setup.checks.server.PATIENCE", 1.0)
        checks = json.loads(cv("doctor", "--json").out)["findings"]
        (named,) = [f for f in checks if str(port) in f["what"]]
        assert named["level"] == "warning"
        assert "cv sync" in named["todo"]


def test_a_slow_server_is_waited_for_once_a_query(here: Machine, cv: Any) -> None:
    """The sync before the query has waited already, so the query itself does not."""
    with silent() as port:
        here.choose(host="127.0.0.1", port=port, mode="http")
        here.sync(max_seconds=0.5)
        guarded._slow.clear()
        found = json.loads(cv("find", "the gate of the sluice", "--json").out)
    waited = [note for note in found["notes"] if "did not answer within 1.5 s" in note]
    assert len(waited) == 2


# --- secrets, and servers that nobody here chose -------------------------------------------------------------------------


def test_the_token_goes_to_the_server_and_nowhere_else(
    here: Machine, cv: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TEAM_CHROMA", TOKEN)
    with answering(401) as small:
        port = small.server_address[1]
        here.choose(host="127.0.0.1", port=port, token_env="TEAM_CHROMA", mode="http")
        notes = " ".join(here.sync().notes)
        printed = [
            cv(*words.split()) for words in ("sync", "find weir", "status", "doctor", "config list")
        ]
    assert {seen["Authorization"] for seen in small.seen} == {f"Bearer {TOKEN}"}
    assert "is the token in TEAM_CHROMA right?" in notes
    assert TOKEN not in notes + "".join(result.out + result.err for result in printed)
    assert not list(holding(here.root, TOKEN)) + list(holding(here.home, TOKEN))


def test_a_token_in_an_answer_is_not_repeated(
    here: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAM_CHROMA", TOKEN)
    with answering(500) as small:
        port = small.server_address[1]
        here.choose(host="127.0.0.1", port=port, token_env="TEAM_CHROMA", mode="http")
        (note,) = here.sync().notes
    assert "failed (500: <p>Bearer …" in note


@pytest.mark.parametrize(
    ("value", "says"), [(None, "is not set here"), ("two\nlines", "characters that no token has")]
)
def test_a_token_that_cannot_be_had(
    here: Machine, monkeypatch: pytest.MonkeyPatch, value: str | None, says: str
) -> None:
    if value:
        monkeypatch.setenv("TEAM_CHROMA", value)
    with answering(200) as small:
        port = small.server_address[1]
        here.choose(host="127.0.0.1", port=port, token_env="TEAM_CHROMA", mode="http")
        (note,) = here.sync().notes
    assert "TEAM_CHROMA" in note
    assert says in note
    assert "lines" not in note
    assert small.seen == []


def test_a_token_pasted_for_its_variable_is_refused_and_not_repeated(
    here: Machine, cv: Any
) -> None:
    done = cv("config", "set", "chroma.token_env", TOKEN)
    assert done.code == 2
    assert "never the token itself" in done.err
    assert TOKEN not in done.out + done.err
    assert not list(holding(here.root, TOKEN))


@pytest.mark.parametrize("mode", ["http", "cloud"])
def test_a_tree_that_brings_its_server_sends_nothing(
    here: Machine, cv: Any, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    """Whatever is run, until a person here chooses the server; its other keys choose nothing."""
    monkeypatch.setenv("OTHER_SECRET", TOKEN)
    monkeypatch.setenv("CHROMA_API_KEY", TOKEN)
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        port = listener.getsockname()[1]
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):  # so that Cloud's would be seen too
            monkeypatch.setenv(name, f"http://127.0.0.1:{port}")
        chroma = {"mode": mode, "host": "127.0.0.1", "port": port}
        raw = json.loads(config_path(here.root).read_text())
        raw["chroma"] = chroma | ({} if mode == "cloud" else {"token_env": "OTHER_SECRET"})
        config_path(here.root).write_text(json.dumps(raw))
        (note,) = here.sync().notes
        assert "came with the tree, so nothing is sent to it" in note
        assert f"cv config set chroma.mode {mode}" in note
        assert cv("config", "set", "chroma.ssl", "false").code == 0
        here.site.edit("ferry/context-v/specs/Doc-1.md", "## Part 2", "## Part two")
        found = json.loads(cv("find", "the gate of the sluice", "--json").out)
        assert found["candidates"][0]["source_path"] == "mill/context-v/plans/Sluice.md"
        assert [("nothing is sent" in note) for note in found["notes"]].count(True) == 1
        assert "nobody on this machine has chosen it" in cv("status").out
        assert "nobody on this machine has chosen it" in " ".join(cv("doctor").out.split())
        assert cv("sync", "--force-rebuild").code == 0
        assert select.select([listener], [], [], 0)[0] == [], "somebody connected"
        assert not list(holding(here.root, TOKEN))

        out = cv("config", "set", "chroma.mode", mode).out
        assert "documents of this tree are sent to" in out
        here.sync(max_seconds=2.0)
        assert select.select([listener], [], [], 0)[0], "chosen, and yet nobody connected"


def test_a_choice_ends_when_the_config_changes_under_it(here: Machine) -> None:
    here.choose(host="127.0.0.1", mode="http", port=1)
    raw = json.loads(config_path(here.root).read_text())
    raw["chroma"]["host"] = "127.0.0.2"
    config_path(here.root).write_text(json.dumps(raw))
    (note,) = here.sync().notes
    assert "came with the tree" in note


def test_an_environment_file_in_the_tree_is_not_obeyed(
    here: Machine, team_server: ChromaServer, cv_process: Any
) -> None:
    """Chroma's client reads ``.env`` of the folder it is started in, and could be told there to send its traces somewhere."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        port = listener.getsockname()[1]
        here.choose(host="127.0.0.1", port=team_server.port, mode="http")
        here.site.write(
            ".env",
            f"CHROMA_OTEL_COLLECTION_ENDPOINT=http://127.0.0.1:{port}\nCHROMA_OTEL_GRANULARITY=all\n"
            f"CHROMA_SERVER_HOST=127.0.0.1\nCHROMA_SERVER_HTTP_PORT={port}\n",
        )
        done = cv_process("sync", "--json", CV_HOME=str(here.home))
        assert json.loads(done.out)["notes"] == []
        assert select.select([listener], [], [], 0)[0] == []
    assert len(team_server.records()) == 14


@pytest.fixture
def cloud_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], list[dict[str, Any]]]:
    """Point Chroma's real Cloud client at a port of this machine, by its arguments for tests; gives what it is asked."""

    def point(port: int) -> list[dict[str, Any]]:
        import chromadb

        real, asked = chromadb.CloudClient, []

        def client(**arguments: Any) -> Any:
            asked.append({name: arguments[name] for name in ("tenant", "database", "api_key")})
            return real(**arguments, cloud_host="127.0.0.1", cloud_port=port, enable_ssl=False)

        monkeypatch.setattr(chromadb, "CloudClient", client)
        return asked

    return point


def test_chroma_cloud_that_refuses(
    here: Machine, monkeypatch: pytest.MonkeyPatch, cloud_at: Callable[[int], list[dict[str, Any]]]
) -> None:
    monkeypatch.setenv("TEAM_CHROMA", TOKEN)
    with answering(401) as small:
        asked = cloud_at(small.server_address[1])
        here.choose(tenant="team", database="documents", token_env="TEAM_CHROMA", mode="cloud")
        (note,) = here.sync().notes
    assert note.startswith(
        "Chroma Cloud refuses this machine (401); is the token in TEAM_CHROMA right?"
    )
    assert asked == [{"tenant": "team", "database": "documents", "api_key": TOKEN}]
    sent = [{name.lower(): value for name, value in seen.items()} for seen in small.seen]
    assert {seen["x-chroma-token"] for seen in sent} == {TOKEN}


def test_chroma_cloud_within_its_quotas(
    here: Machine,
    team_server: ChromaServer,
    cv: Any,
    monkeypatch: pytest.MonkeyPatch,
    cloud_at: Callable[[int], list[dict[str, Any]]],
) -> None:
    """No id over 128 bytes and no more than 300 records a call; what is stored under another id is found all the same."""
    long = f"mill/context-v/specs/{'-'.join(prose('name', 2).split())[:150]}.md"
    here.site.document(long, "## Zanzibarquux\n\nA zanzibarquux at the weir of the mill.")
    here.site.document("inn/context-v/Long.md", count=420)
    monkeypatch.setenv("CHROMA_API_KEY", TOKEN)
    cloud_at(team_server.port)
    here.choose(tenant="default_tenant", database="default_database", mode="cloud")
    assert here.sync().notes == ()
    records = team_server.records()
    assert len(records) == 14 + 1 + 420
    assert max(len(chroma_id.encode()) for chroma_id in records) <= 128
    with connected(here.root, load_config(here.root), seconds=30) as store:
        pages = [len(page["ids"]) for page in store._pages(CORPUS_ROLE, include=[])]
    assert pages == [300, 135]
    found = json.loads(cv("find", "zanzibarquux weir mill", "--json").out)
    assert [note for note in found["notes"] if "Chroma" in note] == []
    assert found["candidates"][0]["source_path"] == long
    assert any("similar in meaning" in why for why in found["candidates"][0]["why"])
    doctor = json.loads(cv("doctor", "--json").out)["findings"]
    assert [f["level"] for f in doctor if "Chroma Cloud" in f["what"]] == ["ok"]
    here.site.delete(long)
    here.site.document("inn/context-v/Long.md", count=2)
    assert here.sync().notes == ()
    assert len(team_server.records()) == 14 + 2


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("mode", "remote", 'expected "persistent", "http" or "cloud", got "remote"'),
        ("host", "http://chroma.example", "expected a host's name or address, without http://"),
        ("host", "user@chroma.example", "expected a host's name or address"),
        ("host", "chroma.example/path", "expected a host's name or address"),
        ("host", "chroma.example\\n", "expected a host's name or address"),
        ("port", "0", "expected a whole number from 1 to 65535, got 0"),
        ("port", "http", "expected a whole number from 1 to 65535"),
        ("ssl", "yes", 'expected true or false, got "yes"'),
        ("tenant", "../other", "expected null or a tenant's name"),
    ],
)
def test_a_wrong_value_is_told_what_is_allowed(
    here: Machine, cv: Any, key: str, value: str, says: str
) -> None:
    done = cv("config", "set", f"chroma.{key}", value)
    assert done.code == 2
    assert f"chroma.{key}: {says}" in " ".join(done.err.split())
    assert load_config(here.root).chroma.mode == "persistent"
