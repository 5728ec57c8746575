"""Make the environment of dependencies that the launcher runs: once, under a lock, from pinned and hashed requirements.

``bin/cv`` runs this file as a script with any Python from 3.11 on, before there is an environment. So it uses the standard
library only and imports nothing of ours::

    python -I backend/setup/environment.py --requirements requirements.txt --home CV_HOME [--add minilm]
    python -I backend/setup/environment.py --rekey requirements.txt requirements-dev.txt

In CV_HOME/environments it leaves, per key (the key stands in the first line of the requirements file): the folder ``KEY``
with its stamp ``KEY/ready``, written last; ``KEY.log``, all that the installers said; ``KEY.lock``; and ``KEY.said``, the
launcher's note that a hook has spoken of it. A folder without the stamp is a set-up that did not end: it is removed and
made anew (what was downloaded stays in the cache of uv or pip).

The user's own settings of uv and pip (mirrors, proxies, certificates) hold. Failures are one line on stderr, exit code 1.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, NoReturn

OLDEST, NEWEST = (
    (3, 11),
    (3, 14),
)  # NEWEST: the newest Python for which every pinned package has a wheel
KEY_LINE = re.compile(rb"\A# key: ([0-9a-f]{16})\n")
UNUSED_SECONDS = 30 * 24 * 3600  # an environment of other pins is removed when unused for this long
WINDOWS = os.name == "nt"

# Imported at the end of a set-up, so that `ready` means it: the dependencies that hold compiled code or lead to it.
CHECK_IMPORTS = (
    "import chromadb, click, frontmatter, jinja2, msgspec, numpy, portalocker, rich, tokenizers"
)

# What the installers print, and what a person should do about it; the first that matches wins.
REASONS = (
    (r"No space left on device|Errno 28|not enough space|disk quota",
     "the disk is full: free about 1 GB, or set CV_HOME to a folder on another disk"),
    (r"\b407\b|Proxy Authentication Required",
     "the proxy refused (407): put user and password into HTTPS_PROXY (http://user:password@proxy:port)"),
    (r"CERTIFICATE_VERIFY_FAILED|invalid peer certificate|self.signed certificate|UnknownIssuer",
     "the package index's certificate is not trusted: set PIP_CERT and SSL_CERT_FILE to your organisation's"
     " certificate file"),
    (r"\b40[13]\b[^\n]*(Unauthorized|Forbidden|Client Error)|(Unauthorized|Forbidden)[^\n]*\b40[13]\b",
     "the package index refused (401 or 403): check the index and the login in the settings of pip or uv"),
    (r"DO NOT MATCH THE HASHES|[Hh]ash mismatch",
     "a downloaded package is not the pinned one (hash differs): a mirror or proxy changes files; use another index"),
    (r"name resolution|Name or service not known|nodename nor servname|getaddrinfo|dns error|NewConnectionError"
     r"|Connection refused|Network is unreachable|[Tt]imed out|ConnectTimeout|ReadTimeout|error sending request"
     r"|Failed to connect|Could not connect|Failed to establish|ProxyError|Max retries|ConnectionResetError",
     "the package index cannot be reached: connect to the network, or set HTTPS_PROXY or your mirror"
     " (PIP_INDEX_URL, UV_DEFAULT_INDEX)"),
    (r"No matching distribution|no version of|no wheels|not compatible|has no usable wheels|Could not find a version",
     "your package index has no ready-made file of a pinned package for this system (needed: 64-bit macOS 13,"
     " Windows 10, or Linux with glibc 2.28, or later, and CPython 3.11 to 3.13), or it could not be reached"),
    (r"ensurepip is not available|No module named '?(ensurepip|venv)",
     "this Python has no venv module: install it (Debian, Ubuntu: apt install python3-venv) or install uv"),
    (r"Permission denied|Read-only file system|Errno 13|Errno 30|Access is denied",
     "a file could not be written (no permission): see the log for which"),
)  # fmt: skip
NO_FALLBACK = REASONS[0][1]  # trying the other installer would meet the same


class SetupError(Exception):
    """The environment could not be made; the message is one line and says what to do."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line above; returns the exit code."""
    parser = argparse.ArgumentParser(description="Make the environment of dependencies.")
    parser.add_argument(
        "--requirements", type=Path, help="a pinned, hashed file whose first line is its key"
    )
    parser.add_argument("--home", type=Path, help="CV_HOME")
    parser.add_argument("--add", metavar="NAME", help="also requirements-NAME.txt, from now on")
    parser.add_argument(
        "--rekey", type=Path, nargs="+", metavar="FILE", help="write the key line anew and stop"
    )
    options = parser.parse_args(arguments)
    if options.rekey:
        for file in options.rekey:
            file.write_bytes(with_key(file.read_bytes()))
        return 0
    if not (options.requirements and options.home):
        parser.error("--requirements and --home are needed")
    for name in ("SIGTERM", "SIGHUP"):
        if number := getattr(signal, name, None):
            signal.signal(number, _interrupt)
    try:
        make(options.requirements, options.home, options.add)
    except SetupError as error:
        say(f"set-up failed: {error}")
        return 1
    except KeyboardInterrupt:
        say("set-up interrupted; run the same command again, what was downloaded is kept")
        return 1
    except OSError as error:
        say(f"set-up failed: {_os_reason(error)}")
        return 1
    return 0


def requirements_key(content: bytes) -> str:
    """Return the key of a requirements file: 16 hex digits over all but its key line, line ends taken as LF."""
    body = KEY_LINE.sub(b"", content.replace(b"\r\n", b"\n"))
    return hashlib.sha256(body).hexdigest()[:16]


def with_key(content: bytes) -> bytes:
    """Return a requirements file's content with its right key as first line."""
    content = content.replace(b"\r\n", b"\n")
    return b"# key: %s\n" % requirements_key(content).encode() + KEY_LINE.sub(b"", content)


def make(requirements: Path, home: Path, add: str | None = None) -> Path:
    """Make the environment of ``requirements`` in ``home`` unless it is there; returns its folder.

    ``add`` names further requirements (``requirements-NAME.txt`` beside the file) that this machine wants from now on: kept
    in ``home/extras.txt``, so that the environment of a later version gets them too. Raises SetupError and OSError.
    """
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        raise SetupError(
            f"Python {sys.version_info[0]}.{sys.version_info[1]} cannot be used: install Python 3.11, 3.12 or 3.13"
        )
    started = time.monotonic()
    match = KEY_LINE.match(requirements.read_bytes().replace(b"\r\n", b"\n"))
    if not match:
        raise SetupError(f"{requirements} has no key line: reinstall the plugin")
    home = home.absolute()  # the installers run in another folder
    environments = home / "environments"
    environments.mkdir(parents=True, exist_ok=True)
    folder = environments / match[1].decode()
    extras = wanted_extras(home, requirements, add)
    with lock(folder.with_suffix(".lock")) as held:
        if is_ready(folder):
            if add:
                Installer(folder, held).add(find_uv(), extras)
                remember_extra(home, add)
            return folder
        version = ".".join(map(str, sys.version_info[:3]))
        say(f"first set-up, once, about a minute: Python {version} environment in {folder}")
        folder.with_suffix(".said").touch()
        build(folder, requirements, extras, held)
        if add:
            remember_extra(home, add)
        stamp(folder, version)
        prune(environments, keep=folder)
        say(f"set up in {time.monotonic() - started:.0f} s")
    return folder


def is_ready(folder: Path) -> bool:
    """Tell whether the environment was finished and its Python still starts (the base Python may have gone)."""
    if not (folder / "ready").is_file():
        return False
    with contextlib.suppress(OSError):
        return (
            subprocess.run([_python(folder), "-I", "-c", ""], capture_output=True).returncode == 0
        )
    return False


def wanted_extras(home: Path, requirements: Path, add: str | None) -> list[Path]:
    """Return the requirements files of the extras that this machine asked for, ``add`` among them."""
    names = [*remembered_extras(home), *([add] if add else [])]
    files = [requirements.with_name(f"requirements-{name}.txt") for name in dict.fromkeys(names)]
    if add and not files[-1].is_file():
        raise SetupError(
            f"there is no {files[-1]}: the extras are the files requirements-NAME.txt beside it"
        )
    return [file for file in files if file.is_file()]


def remembered_extras(home: Path) -> list[str]:
    """Return the names of the extras that were added on this machine before."""
    notes = home / "extras.txt"
    return notes.read_text("utf-8").split() if notes.is_file() else []


def remember_extra(home: Path, name: str) -> None:
    """Note ``name`` for the environments to come."""
    names = dict.fromkeys([*remembered_extras(home), name])
    (home / "extras.txt").write_text("\n".join(names) + "\n", "utf-8")


def build(folder: Path, requirements: Path, extras: list[Path], held: IO[Any]) -> None:
    """Fill ``folder`` with uv where there is one, else (or when that fails) with venv and pip."""
    installer = Installer(folder, held)
    uv = find_uv()
    files = [requirements, *extras]
    if uv:
        try:
            installer.with_uv(uv, files)
        except SetupError as error:
            if str(error).startswith(NO_FALLBACK):
                raise
            say(f"uv could not do it; trying pip. {error}")
            uv = None
    if not uv:
        installer.with_pip(files)
    say("checking that it works")
    installer.run(
        [_python(folder), "-I", "-c", CHECK_IMPORTS], "the installed packages do not load"
    )


class Installer:
    """Runs uv or pip for one environment; keeps all they print in its log, and turns their failures into one line."""

    def __init__(self, folder: Path, held: IO[Any]) -> None:
        """Start a new log; ``held`` is the lock's file, which the installers inherit."""
        self.folder = folder
        self.held = held
        self.log = folder.with_suffix(".log")
        self.log.write_bytes(b"")

    def with_uv(self, uv: str, files: list[Path]) -> None:
        """Make the environment with uv."""
        self.clear()
        self.run([uv, "venv", "--quiet", "--no-project", "--python", base_python(), str(self.folder)],
                 "uv venv")  # fmt: skip
        say(f"installing {count_packages(files)} packages with uv")
        self.add(uv, files)

    def with_pip(self, files: list[Path]) -> None:
        """Make the environment with venv and pip."""
        self.clear()
        self.run([base_python(), "-I", "-m", "venv", str(self.folder)], "python -m venv")
        say(f"installing {count_packages(files)} packages with pip")
        self.add(None, files)

    def add(self, uv: str | None, files: list[Path]) -> None:
        """Install exactly what ``files`` pin: ready-made wheels with these hashes, and nothing that they only ask for."""
        rules = ["--require-hashes", "--no-deps", "--only-binary", ":all:"]
        sources = [
            argument for file in files for argument in ("--requirement", str(file.absolute()))
        ]
        if uv:
            python = ["--python", _python(self.folder), "--compile-bytecode"]
            self.run([uv, "pip", "install", *python, *rules, *sources], "uv pip install")
        else:
            if not any(self.folder.glob("**/site-packages/pip")):  # uv made it, and has gone
                self.run([_python(self.folder), "-I", "-m", "ensurepip"], "python -m ensurepip")
            pip = [
                _python(self.folder),
                "-I",
                "-m",
                "pip",
                "install",
                "--no-user",
                "--disable-pip-version-check",
            ]
            counter = Counter(count_packages(files))
            self.run([*pip, "--no-input", *rules, *sources], "pip install", counter)

    def clear(self) -> None:
        """Remove what an unfinished set-up left."""
        if self.folder.is_symlink():
            self.folder.unlink()
        elif self.folder.exists():
            shutil.rmtree(self.folder)

    def run(
        self, command: list[str], what: str, on_line: Callable[[str], None] | None = None
    ) -> None:
        """Run ``command``, its output into the log; a failure raises SetupError with a reason to act on."""
        # The installer holds the lock too: should this process be killed, nobody starts beside the orphan.
        keep: dict[str, Any] = {} if WINDOWS else {"pass_fds": (self.held.fileno(),)}
        output = []
        with self.log.open("a", encoding="utf-8", errors="replace") as log:
            log.write(f"$ {' '.join(command)}\n")
            process = subprocess.Popen(
                command, cwd=self.folder.anchor, env=clean_environment(), stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", **keep,
            )  # fmt: skip
            # (The current folder is the top one: uv would obey a uv.toml or pyproject.toml in it or above it.)
            try:
                for line in process.stdout or ():
                    log.write(line)
                    output.append(line)
                    if on_line:
                        on_line(line)
                code = process.wait()
            except BaseException:
                process.terminate()
                process.wait()
                raise
        if code:
            raise SetupError(f"{explain(''.join(output), what, code)} (log: {self.log})")


class Counter:
    """Says how far pip has come, at each quarter."""

    def __init__(self, total: int) -> None:
        """Count towards ``total`` packages."""
        self.total, self.seen = total, 0

    def __call__(self, line: str) -> None:
        """Take one line that pip printed."""
        if line.startswith("Collecting "):
            self.seen += 1
            if self.total >= 20 and self.seen % (self.total // 4) == 0 and self.seen < self.total:
                say(f"{self.seen} of {self.total}")
        elif line.startswith("Installing collected"):
            say("all downloaded; unpacking")


def explain(output: str, what: str, code: int) -> str:
    """Return in one line why ``what`` failed, from what it printed and its exit code."""
    for pattern, reason in REASONS:
        if re.search(pattern, output):
            return reason
    if code == -signal.SIGTERM or code == -9:
        return f"{what} was killed (perhaps too little memory): run it again"
    lines = [line.strip() for line in output.splitlines() if line.strip()] or [f"exit code {code}"]
    if "import" in what or "load" in what:
        newest = sys.version_info[:2] == NEWEST
        return f"{what} ({lines[-1]}): " + (
            "Python 3.14 is new; install Python 3.13"
            if newest
            else "send the log with a bug report"
        )
    return f"{what} failed ({lines[-1][:200]}): see the log"


def find_uv() -> str | None:
    """Return uv's path: on PATH, where its installers put it (hosts started from a desktop lack those on PATH), or beside
    this Python.
    """
    name = "uv.exe" if WINDOWS else "uv"
    places = [Path(sys.executable).parent]
    with contextlib.suppress(RuntimeError):  # no home
        places = [
            Path.home() / ".local/bin",
            Path.home() / ".cargo/bin",
            Path("/opt/homebrew/bin"),
            *places,
        ]
    candidates = [shutil.which("uv"), *(str(place / name) for place in places)]
    for candidate in candidates:
        if candidate and os.access(candidate, os.X_OK):
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                probe = subprocess.run([candidate, "--version"], capture_output=True, timeout=20)
                if probe.returncode == 0:
                    return candidate
    return None


def base_python() -> str:
    """Return the Python to build on: never one of a virtual environment, which may go away."""
    return getattr(sys, "_base_executable", None) or sys.executable


def clean_environment() -> dict[str, str]:
    """Return the environment for uv and pip: the user's, without what would lead the install elsewhere."""
    elsewhere = {"PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_REQUIRE_VIRTUALENV", "PIP_PYTHON",
                 "PIP_DRY_RUN", "PIP_REPORT", "UV_SYSTEM_PYTHON", "UV_PYTHON", "UV_TARGET", "UV_PREFIX",
                 "UV_BREAK_SYSTEM_PACKAGES", "UV_PROJECT", "UV_WORKING_DIRECTORY", "UV_WORKING_DIR",
                 "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "__PYVENV_LAUNCHER__"}  # fmt: skip
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in elsewhere and not name.startswith("PYTHON")
    }
    kept.setdefault("PIP_RETRIES", "2")
    kept["PYTHONUTF8"] = "1"
    kept["NO_COLOR"] = "1"
    return kept


def count_packages(files: list[Path]) -> int:
    """Return how many packages the files pin (those of other systems included)."""
    return len(
        {
            name
            for file in files
            for name in re.findall(r"(?m)^([\w.-]+)==", file.read_text("utf-8"))
        }
    )


def stamp(folder: Path, version: str) -> None:
    """Write ``ready``: whole or not at all."""
    draft = folder / "ready.new"
    with draft.open("w", encoding="utf-8") as file:
        file.write(f"{version} {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())}\n")
        file.flush()
        os.fsync(file.fileno())
    draft.replace(folder / "ready")


def prune(environments: Path, keep: Path) -> None:
    """Remove environments of other keys that nobody used for 30 days, going by their stamp's access and change time.

    The launcher reads the stamp at every use (access time, where the system keeps one) and touches it at every command.
    """
    for entry in environments.iterdir():
        if entry == keep or entry.suffix or not entry.is_dir() or entry.is_symlink():
            continue
        with contextlib.suppress(OSError):
            about = (entry / "ready").stat() if (entry / "ready").exists() else entry.stat()
            if time.time() - max(about.st_atime, about.st_mtime) > UNUSED_SECONDS:
                shutil.rmtree(entry, ignore_errors=True)
                for suffix in (".log", ".said"):
                    entry.with_suffix(suffix).unlink(missing_ok=True)


@contextlib.contextmanager
def lock(path: Path) -> Iterator[IO[Any]]:
    """Hold ``path`` exclusively, waiting for another holder. The system frees it when the holders end, however they end."""
    with path.open("a+b") as file:
        if not _try_lock(file):
            say("another set-up is at work; waiting for it")
            while not _try_lock(file):
                time.sleep(0.2)
        yield file


def _try_lock(file: IO[Any]) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:  # a file system without locks: better unlocked than never
        return True
    return True


def _python(folder: Path) -> str:
    return str(folder / ("Scripts/python.exe" if WINDOWS else "bin/python"))


def _os_reason(error: OSError) -> str:
    place = f" {error.filename}" if error.filename else ""
    if error.errno == 28:
        return NO_FALLBACK
    if isinstance(error, PermissionError) or error.errno == 30:
        return f"cannot write{place} ({error.strerror}): make it writable, or set CV_HOME to a folder that is"
    return f"{error.strerror or error}{place}: set CV_HOME to a folder that can be written"


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def say(text: str) -> None:
    """Print a line of progress for the person waiting."""
    print(f"Context Vigilance: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
