"""Each way a set-up can fail: one line that says what to do, nothing half-made in use, and the next session knows."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from launching import (  # type: ignore[import-not-found]
    BASE_PYTHON,
    Run,
    key_of,
    pin_to,
    seen,
    write_script,
)

from backend.setup.failures import explain, os_reason

pytestmark = pytest.mark.skipif(os.name == "nt", reason="bin/cv is for POSIX shells")

Done = subprocess.CompletedProcess[str]
NOT_ENDED = "its set-up was begun and has not ended"


@pytest.fixture
def next_session(run: Run) -> Iterator[list[str]]:
    """Words that the next session must tell the user, once."""
    words: list[str] = []
    yield words
    assert words, "a failure that the next session is not tried with"
    told = seen(run("hook", "session-start"))
    for word in words:
        assert word in told["systemMessage"]
    assert "/cv-init" in told["systemMessage"]
    assert "Do not install anything yourself" in told["hookSpecificOutput"]["additionalContext"]
    assert run("hook", "session-start").stdout == "", "said once"


def assert_failed(done: Done, reason: str, home: Path) -> None:
    *_, last = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (1, "")
    assert last.startswith("Context Vigilance: set-up failed: ")
    assert reason in last
    assert_nothing_half_made(home)


def assert_nothing_half_made(home: Path) -> None:
    assert not list(home.glob("environments/*/ready"))


# --- what it is to be made with -----------------------------------------------------------------------------------------


def test_no_python(run: Run, tmp_path: Path, next_session: list[str]) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("mkdir", "mv"):
        (tools / name).symlink_to(str(shutil.which(name)))
    done = run("find", PATH=str(tools), shell="/bin/sh")

    assert done.returncode == 1
    assert done.stderr.startswith("cv: no Python 3.11 to 3.13 found (looked for python3.13, ")
    assert len(done.stderr.splitlines()) == 1
    assert "python3-venv" in done.stderr
    next_session.append("there is no Python 3.11 to 3.13")


def old_python(folder: Path) -> str:
    """A folder whose ``python3`` is 3.9: it refuses what asks for 3.11, and says its version where it is asked. Beside it lies
    what else the launcher needs.
    """
    script = (
        '#!/bin/sh\ncase $* in *sys.version.*) echo "; python3 is 3.9.2" ;; *) exit 1 ;; esac\n'
    )
    write_script(folder / "python3", script)
    for name in ("mkdir", "mv"):
        (folder / name).symlink_to(str(shutil.which(name)))
    return str(folder)


def test_an_old_python_alone_is_named(run: Run, tmp_path: Path, next_session: list[str]) -> None:
    done = run("find", PATH=old_python(tmp_path / "old"), shell="/bin/sh")

    assert done.returncode == 1
    assert "uv; python3 is 3.9.2): install one" in done.stderr
    next_session.append("there is no Python 3.11 to 3.13")


def test_an_old_python_is_passed_over_and_of_a_foreign_venv_the_base_is_taken(
    run: Run, plugin: Path, home: Path, tmp_path: Path, workshop: dict[str, str]
) -> None:
    """A venv of a project may go at any time."""
    venv = tmp_path / "project/.venv"
    subprocess.run([BASE_PYTHON, "-m", "venv", "--without-pip", venv], check=True)
    for name in venv.glob("bin/python*"):
        name.unlink()  # else it is found by a name that the launcher tries first
    (venv / "bin/python").symlink_to(BASE_PYTHON)
    path = f"{old_python(tmp_path / 'old')}:{venv}/bin"
    seen(run("find", **{**workshop, "PATH": path, "VIRTUAL_ENV": str(venv)}))
    shutil.rmtree(venv)

    assert seen(run("find"))["arguments"] == ["find"]
    made = home / "environments" / key_of(plugin / "requirements.txt")
    assert f"home = {BASE_PYTHON.parent}\n" in (made / "pyvenv.cfg").read_text("utf-8")


# --- the network --------------------------------------------------------------------------------------------------------


INDEX = {"PIP_NO_INDEX": "0", "PIP_FIND_LINKS": "", "PIP_RETRIES": "1"}


def test_an_index_that_cannot_be_reached(
    run: Run, home: Path, quick_workshop: dict[str, str], next_session: list[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        closed = f"http://127.0.0.1:{taken.getsockname()[1]}/simple"
    done = run("find", **{**quick_workshop, **INDEX, "PIP_INDEX_URL": closed})

    assert_failed(done, "the package index cannot be reached: connect to the network", home)
    next_session.append("the package index cannot be reached")


def test_a_proxy_that_refuses(
    run: Run, home: Path, quick_workshop: dict[str, str], next_session: list[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=refuse, args=(server,), daemon=True).start()
        proxy = f"http://127.0.0.1:{server.getsockname()[1]}"
        index = {**INDEX, "PIP_INDEX_URL": "https://index.invalid/simple"}
        done = run(
            "find", **{**quick_workshop, **index, "HTTPS_PROXY": proxy, "https_proxy": proxy}
        )

    assert_failed(done, "the proxy refused (407): put user and password into HTTPS_PROXY", home)
    next_session.append("the proxy refused (407)")


def refuse(server: socket.socket) -> None:
    """Answer every request with 407, until ``server`` is closed."""
    answer = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            connection.recv(65536)
            connection.sendall(answer)


def test_a_changed_package_is_refused(
    run: Run, plugin: Path, home: Path, quick_workshop: dict[str, str], next_session: list[str]
) -> None:
    pin_to(plugin, "0" * 64)
    done = run("find", **quick_workshop)

    assert_failed(done, "a downloaded package is not the pinned one", home)
    next_session.append("a downloaded package is not the pinned one")


# --- the disk -----------------------------------------------------------------------------------------------------------


def test_a_home_that_cannot_be_one_is_named(
    run: Run, tmp_path: Path, workshop: dict[str, str]
) -> None:
    (tmp_path / "a file").touch()
    done = run("find", **{**workshop, "CV_HOME": str(tmp_path / "a file/home")})

    assert done.returncode == 1
    assert "set CV_HOME to a folder that" in done.stderr.splitlines()[-1]


def test_a_path_too_long_is_told(run: Run, tmp_path: Path, workshop: dict[str, str]) -> None:
    done = run("find", **{**workshop, "CV_HOME": str(tmp_path / ("long" * 80))})

    assert done.returncode == 1
    assert "a path is too long for this system: set CV_HOME to a short one" in done.stderr
    hook = run("hook", "session-start", CV_HOME=str(tmp_path / ("long" * 80)))
    assert (hook.returncode, hook.stdout) == (0, "")


@contextmanager
def mounts(script: str) -> Iterator[list[str]]:
    """Words before a command that run it where ``script`` has mounted something on ``$CV_HOME``, for itself alone."""
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("no unshare, so nothing can be mounted for a test alone")
    words = [unshare, "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    if subprocess.run(
        [*words, "mount", "-t", "tmpfs", "t", "/mnt"], capture_output=True
    ).returncode:
        pytest.skip("this machine lets nobody mount anything for a process alone")
    yield [*words, "sh", "-c", f'{script} && exec "$@"', "sh"]


BOTH = """
"$0" find; echo "exit $?"
"$0" hook session-start; echo "exit $?"
"$0" hook session-start; echo "exit $?"
"""
"""A set-up, then the next two sessions; ``$0`` is the launcher."""


def set_up_and_two_sessions(
    prefix: list[str], plugin: Path, home: Path, variables: dict[str, str]
) -> tuple[str, list[str]]:
    """The last line that the set-up said, and what came on standard output."""
    done = subprocess.run(
        [*prefix, "sh", "-c", BOTH, plugin / "bin/cv"], stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
        env={"HOME": str(home.parent), "CV_HOME": str(home), **variables}, timeout=120,
    )  # fmt: skip
    return done.stderr.splitlines()[-1], done.stdout.splitlines()


def test_a_full_disk(plugin: Path, home: Path, workshop: dict[str, str]) -> None:
    home.mkdir()
    with mounts('mount -t tmpfs -o size=6m tmpfs "$CV_HOME"') as prefix:
        said, out = set_up_and_two_sessions(prefix, plugin, home, workshop)

    assert "set-up failed: the disk is full: free about 1 GB, or set CV_HOME" in said
    code, told, well, silent = out
    assert (code, well, silent) == ("exit 1", "exit 0", "exit 0")
    assert "the disk is full" in json.loads(told)["systemMessage"]


def test_a_home_that_is_mounted_read_only(
    plugin: Path, home: Path, tmp_path: Path, workshop: dict[str, str]
) -> None:
    """There is nowhere to note why; but a hook has a folder that Claude Code keeps for it."""
    home.mkdir()
    (tmp_path / "data").mkdir()
    host = {**workshop, "CLAUDE_PLUGIN_DATA": str(tmp_path / "data")}
    with mounts(
        'mount --bind "$CV_HOME" "$CV_HOME" && mount -o remount,bind,ro "$CV_HOME"'
    ) as prefix:
        said, out = set_up_and_two_sessions(prefix, plugin, home, host)
        _, without = set_up_and_two_sessions(prefix, plugin, home, workshop)

    assert f"set-up failed: cannot write {home}" in said
    assert "make it writable, or set CV_HOME to a folder that is" in said
    code, told, well, silent = out
    assert (code, well, silent) == ("exit 1", "exit 0", "exit 0")
    assert "its data folder cannot be written" in json.loads(told)["systemMessage"]
    assert without == ["exit 1", "exit 0", "exit 0"], "where nothing can be noted, nothing is said"


# --- broken off ---------------------------------------------------------------------------------------------------------


def test_interrupted_it_says_so_and_leaves_nobody_at_work(
    plugin: Path, home: Path, tmp_path: Path, workshop: dict[str, str], next_session: list[str]
) -> None:
    import fcntl

    script = [str(BASE_PYTHON), "-I", str(plugin / "backend/setup/environment.py")]
    with subprocess.Popen(
        [*script, "--requirements", plugin / "requirements.txt", "--home", home],
        env={"HOME": str(tmp_path), **workshop}, stderr=subprocess.PIPE, encoding="utf-8",
    ) as process:  # fmt: skip
        assert process.stderr
        assert "first set-up" in process.stderr.readline()
        process.terminate()
        rest = process.stderr.read()

    assert process.returncode == 1
    assert "interrupted; run the same command again" in rest
    assert_nothing_half_made(home)
    key = key_of(plugin / "requirements.txt")
    with (home / "environments" / f"{key}.lock").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # held by installers while they live; a hang is a failure
    next_session.append(NOT_ENDED)


def test_killed_at_any_moment_the_next_run_completes(
    run: Run, plugin: Path, home: Path, tmp_path: Path, quick_workshop: dict[str, str]
) -> None:
    """Killed with all its children: at once, and when it has said its first, second and third line."""
    for lines in range(4):
        process = subprocess.Popen(
            [plugin / "bin/cv", "find"], env={"HOME": str(tmp_path), "CV_HOME": str(home), **quick_workshop},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8",
            start_new_session=True,
        )  # fmt: skip
        assert process.stderr
        said = [process.stderr.readline() for _ in range(lines)]
        assert all(said), said
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()

        assert_nothing_half_made(home)
        assert "not set up yet" in run("status", "--inline").stdout
        told = run("hook", "session-start")
        assert told.returncode == 0
        assert not lines or NOT_ENDED in seen(told)["systemMessage"]

    assert seen(run("find", **quick_workshop))["arguments"] == ["find"]
    key = key_of(plugin / "requirements.txt")
    left = sorted(path.name for path in (home / "environments").iterdir())
    assert left == [key, f"{key}.lock", f"{key}.log"], "no note stays once it has ended well"


# --- in other words -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        ("error: Request failed\n  Caused by: dns error: failed to lookup", "index cannot be reached"),
        ("WARNING: Retrying after NewConnectionError('...: [Errno 111] Connection refused')\n"
         "ERROR: No matching distribution found for x==1", "index cannot be reached"),
        ("ERROR: No matching distribution found for x==1", "no ready-made file"),
        ("Downloading x\nERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
         "the disk is full"),
        ("The virtual environment was not created successfully because ensurepip is not\navailable.  On Debian/Ubuntu",
         "apt install python3-venv"),
        ("/usr/bin/python3: No module named venv", "apt install python3-venv"),
        ("ssl.SSLCertVerificationError: [SSL: CERTIFICATE_VERIFY_FAILED] self-signed certificate", "PIP_CERT"),
        ("error: Failed to write\n  Caused by: Permission denied (os error 13)", "no permission"),
        ("ERROR: Could not install packages due to an OSError: [WinError 32] The process cannot access the file because "
         "it is being used by another process: 'x.pyd'", "antivirus"),
        ("error: failed to remove file `x`\n  Caused by: Access is denied. (os error 5)", "antivirus"),
        ("OSError: [Errno 2] No such file or directory: 'C:\\\\x'\nHINT: This error might have occurred since this system "
         "does not have Windows Long Path support enabled.", "a path is too long"),
        ("a surprise\n", "pip install failed (a surprise): see the log"),
        ("", "pip install failed (exit code 1): see the log"),
    ],
)  # fmt: skip
def test_what_installers_print_becomes_one_line(printed: str, reason: str) -> None:
    said = explain(printed, "pip install", 1)

    assert reason in said
    assert "\n" not in said


def windows_error(number: int) -> OSError:
    error = PermissionError(errno.EACCES, "it is in use", "x.pyd")
    error.winerror = number  # type: ignore[attr-defined,unused-ignore]
    return error


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError(errno.ENOSPC, "No space left"), "the disk is full"),
        (OSError(errno.ENAMETOOLONG, "File name too long"), "a path is too long"),
        (windows_error(32), "antivirus scanner"),
        (windows_error(206), "a path is too long"),
        (windows_error(5), "cannot write x.pyd"),
        (OSError(errno.EROFS, "Read-only file system", "/home/x"), "cannot write /home/x"),
    ],
)
def test_what_the_system_says_becomes_one_line(error: OSError, reason: str) -> None:
    assert reason in os_reason(error)
