"""Make the environment of dependencies that the launcher runs: once, under a lock, from pinned and hashed requirements.

``bin/cv`` runs this file as a script with any Python from 3.11 on, before there is an environment. So it, and the modules
beside it that it imports (``installer``, ``kept``, ``failures``), use the standard library only::

    python -I backend/setup/environment.py --requirements requirements.txt --home CV_HOME [--add minilm]
    python -I backend/setup/environment.py --rekey requirements.txt requirements-dev.txt

In CV_HOME/environments it leaves, per key (the key stands in the first line of the requirements file): the folder ``KEY``
with its stamp ``KEY/ready``, written last; ``KEY.log``, all that the installers said; ``KEY.lock``; and until it has ended
well ``KEY.note``, what the next session's hook tells (``KEY.said``, once it has). A folder without the stamp is a set-up that
did not end: it is removed and made anew (what was downloaded stays in the cache of uv or pip).

The user's own settings of uv and pip (mirrors, proxies, certificates) hold. Failures are one line on stderr, exit code 1.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import re
import signal
import sys
import time
from pathlib import Path
from typing import IO, Any, NoReturn

if __name__ == "__main__":  # run by its path and isolated, so that nothing says where `backend` is
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from backend.setup.failures import NEWEST, NO_FALLBACK, OLDEST, SetupError, os_reason
from backend.setup.installer import Installer, clear, find_uv, python_in, say
from backend.setup.kept import forget_notes, is_ready, leave_note, lock, prune, stamp

KEY_LINE = re.compile(rb"\A# key: ([0-9a-f]{16})\n")
BASE_LINE = re.compile(r"(?m)^# on top of (requirements\.txt), key: [0-9a-f]+$")

# Imported at the end of a set-up, so that `ready` means it: the dependencies that hold compiled code or lead to it.
CHECK_IMPORTS = (
    "import chromadb, click, frontmatter, jinja2, msgspec, numpy, portalocker, rich, tokenizers"
)

NOT_ENDED = (
    "its set-up was begun and has not ended. If none is at work now, type /cv-init: what was downloaded is "
    "kept, and the rest is made anew."
)


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
        say(f"set-up failed: {os_reason(error)}")
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
    match = KEY_LINE.match(requirements.read_bytes().replace(b"\r\n", b"\n"))
    if not match:
        raise SetupError(f"{requirements} has no key line: reinstall the plugin")
    home = home.absolute()  # the installers run in another folder
    environments = home / "environments"
    environments.mkdir(parents=True, exist_ok=True)
    folder = environments / match[1].decode()
    extras = wanted_extras(home, requirements, add)
    with lock(folder.with_suffix(".lock")) as held:
        if not is_ready(folder):
            make_anew(folder, [*base_of(requirements), requirements, *extras], held)
        elif add:
            Installer(folder, held).add(find_uv(), extras)
        if add:
            remember_extra(home, add)
    return folder


def base_of(requirements: Path) -> list[Path]:
    """Return the requirements file that this one stands on top of: requirements-dev.txt names requirements.txt, with its key,
    in its second line.
    """
    match = BASE_LINE.search(requirements.read_text("utf-8"))
    return [requirements.with_name(match[1])] if match else []


def make_anew(folder: Path, files: list[Path], held: IO[Any]) -> None:
    """Make ``folder``, with the note for the next session in place from the start: a kill leaves no time to write one.

    What fails is removed, which frees a full disk; only then is there room to note why.
    """
    started = time.monotonic()
    version = ".".join(map(str, sys.version_info[:3]))
    leave_note(folder, NOT_ENDED)
    say(f"first set-up, once, about a minute: Python {version} environment in {folder}")
    try:
        build(folder, files, held)
        stamp(folder, version)
    except BaseException as error:
        with contextlib.suppress(OSError):
            clear(folder)
        if isinstance(error, SetupError | OSError):
            reason = os_reason(error) if isinstance(error, OSError) else error
            leave_note(folder, f"its set-up failed: {reason}. Then type /cv-init.")
        raise
    forget_notes(folder)
    prune(folder.parent, keep=folder)
    say(f"set up in {time.monotonic() - started:.0f} s")


def build(folder: Path, files: list[Path], held: IO[Any]) -> None:
    """Fill ``folder`` with uv where there is one, else (or when that fails) with venv and pip."""
    installer = Installer(folder, held)
    uv = find_uv()
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
        [python_in(folder), "-I", "-c", CHECK_IMPORTS], "the installed packages do not load"
    )


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


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
