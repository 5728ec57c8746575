"""What all tests share: a machine of their own (home, git, zone), an organisation to build, and ways to run ``cv``."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]


def _load(name: str) -> Any:
    """What the tests share, by its path: they have no packages (importmode=importlib)."""
    spec = importlib.util.spec_from_file_location(name, ROOT / f"tests/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(name, module)
    spec.loader.exec_module(module)
    return module


Organisation = _load("organisation").Organisation
ChromaServer = _load("chroma_server").ChromaServer


class Result(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def machine(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """A home that is empty, no settings of the person who runs the tests, UTC. Returns the home folder."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("GIT_", "CLAUDE", "CV_", "PYTHON", "XDG_")) or name in (
            "VIRTUAL_ENV",
            "FORCE_COLOR",
        ):
            monkeypatch.delenv(name)
    for name, value in {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "CV_HOME": str(home / "cv"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "TZ": "UTC",
        "NO_COLOR": "1",
        "COLUMNS": "100",
        "PYTHONDONTWRITEBYTECODE": "1",
    }.items():
        monkeypatch.setenv(name, value)
    if hasattr(time, "tzset"):
        time.tzset()
    yield home
    monkeypatch.undo()
    if hasattr(time, "tzset"):
        time.tzset()


@pytest.fixture
def org(tmp_path: Path, request: pytest.FixtureRequest) -> Any:
    """An empty organisation (see tests/organisation.py) at a path with a blank and a letter beyond ASCII."""
    if "open_folder" in request.fixturenames:
        return Organisation(request.getfixturevalue("open_folder") / "wörk tree")
    return Organisation(tmp_path / "wörk tree")


def environment(**variables: str | None) -> dict[str, str]:
    """The environment in which the real command line is run."""
    merged: dict[str, str | None] = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    return {name: value for name, value in merged.items() if value is not None}


@pytest.fixture
def start_cv(org: Any) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start the real command line and don't wait for it; what still runs at the test's end is killed."""
    started: list[subprocess.Popen[str]] = []

    def start(
        *arguments: str, cwd: Path | None = None, **variables: str | None
    ) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-P", "-s", "-m", "backend", *arguments],
            cwd=cwd or org.root,
            env=environment(**variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def cv_process(org: Any) -> Callable[..., Result]:
    """Run the real command line in a process of its own, as ``bin/cv`` does. ``prefix``: words before the interpreter."""

    def run(
        *arguments: str,
        cwd: Path | None = None,
        stdin: str | bytes = "",
        prefix: tuple[str, ...] = (),
        **variables: str | None,
    ) -> Result:
        done = subprocess.run(
            [*prefix, sys.executable, "-P", "-s", "-m", "backend", *arguments],
            cwd=cwd or org.root,
            env=environment(**variables),
            input=stdin if isinstance(stdin, bytes) else stdin.encode(),
            capture_output=True,
            timeout=120,
            check=False,
        )
        out, err = done.stdout.decode(), done.stderr.decode()
        assert "Traceback" not in out + err, out + err
        return Result(done.returncode, out, err)

    return run


@pytest.fixture
def killed(org: Any) -> Callable[..., int]:
    """Run the command line in a process that is killed as ``tests/killer.py`` says. Returns whether it came to that; for the
    limit 0 the number of lines instead.
    """

    def run(limit: int | str, *arguments: str, watched: str) -> int:
        done = subprocess.run(
            [sys.executable, "-P", str(ROOT / "tests/killer.py"), str(limit), watched, *arguments],
            cwd=org.root,
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        if limit:
            assert done.returncode in (-signal.SIGKILL, 0), done.stderr
            return done.returncode != 0
        assert done.returncode == 0, done.stderr
        return int(done.stderr.split()[-1])

    return run


@pytest.fixture
def cv(
    org: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Result]:
    """Run the command line in this process, which is quicker. A defect (an error that nobody foresaw) fails the test."""
    import io

    from backend.cli import main

    def run(
        *arguments: str, cwd: Path | None = None, stdin: str = "", defect: bool = False
    ) -> Result:
        monkeypatch.chdir(cwd or org.root)
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        capsys.readouterr()
        code = main(list(arguments))
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err, out + err
        assert defect or "a defect in Context Vigilance" not in out + err, (out + err, _defects())
        return Result(code, out, err)

    return run


def _defects() -> str:
    log = Path(os.environ["CV_HOME"]) / "defects.log"
    return log.read_text() if log.exists() else ""


@pytest.fixture(scope="session")
def _one_chroma_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    program = shutil.which("chroma", path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip("this environment has no chroma program")
    server = ChromaServer(program, tmp_path_factory.mktemp("chroma") / "server")
    yield server
    server.kill()


@pytest.fixture
def team_server(_one_chroma_server: Any) -> Any:
    """A team's Chroma server with nothing in it: one for all tests, since it takes seconds to start."""
    _one_chroma_server.empty()
    return _one_chroma_server


@pytest.fixture
def as_nobody() -> tuple[str, ...]:
    """Words before a command that take root's powers from it; skips where the tests can't give them up.

    Root may read and write everything, so a test of what is forbidden has to be somebody else.
    """
    if os.name == "nt":
        pytest.skip("POSIX permissions")
    if os.geteuid() != 0:
        return ()
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip(
            "the tests run as root, whom no permission stops, and there is no setpriv to become someone else"
        )
    prefix = (setpriv, "--reuid=65534", "--regid=65534", "--clear-groups")
    if subprocess.run(
        [*prefix, sys.executable, "-c", "import msgspec"], capture_output=True, check=False
    ).returncode:
        pytest.skip("the tests run as root, and another user may not read this Python environment")
    return prefix


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can reach, unlike ``tmp_path``; a test that asks for it gets its organisation there.

    Every start of pytest closes its own temporary folder again, so opening that one would not last.
    """
    mask = os.umask(0o022)
    with tempfile.TemporaryDirectory(prefix="cv-tests-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder).resolve()
    os.umask(mask)
