"""What the tests of the launcher share: a plugin's files with a probe for a backend, environments, a small package."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from backend.setup.environment import CHECK_IMPORTS, with_key

ROOT = Path(__file__).resolve().parents[2]
BASE_PYTHON = Path(getattr(sys, "_base_executable", sys.executable)).resolve()

# What stands for the backend here: it tells what it was started with.
PROBE = """
import json, os, sys
print(json.dumps({
    "file": __file__, "arguments": sys.argv[1:], "path": sys.path, "modules": sorted(sys.modules),
    "variables": dict(os.environ), "stdin": "" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.read(),
    "flags": [sys.flags.safe_path, sys.flags.no_user_site, sys.flags.utf8_mode, sys.flags.optimize, sys.flags.inspect,
        sys.flags.dont_write_bytecode],
    "python": sys.executable, "encoding": sys.stdout.encoding,
}))
sys.exit(int(os.environ.get("PROBE_EXIT", "0")))
"""

# A Python whose `-m venv` copies one that was made before, for tests in which that part of a set-up is not the matter. What it
# starts the set-up with takes it for the base as well.
QUICK_PYTHON = """#!/bin/sh
case $* in
  *"/environment.py "*) exec "{python}" -I -c '
import runpy, sys
sys._base_executable, sys.argv = "{itself}", sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
' "$@" ;;
  "-I -m venv "*) exec cp -R "{venv}" "$4" ;;
  *) exec "{python}" "$@" ;;
esac
"""

Run = Callable[..., subprocess.CompletedProcess[str]]


def key_of(requirements: Path) -> str:
    return requirements.read_text("utf-8").split("\n", 1)[0].removeprefix("# key: ")


def make_ready(home: Path, requirements: Path) -> Path:
    """Lay out a ready environment in ``home`` that leads to the one these tests run in."""
    folder = home / "environments" / key_of(requirements)
    folder.mkdir(parents=True)
    for name in ("bin", "lib", "pyvenv.cfg"):
        (folder / name).symlink_to(Path(sys.prefix) / name)
    (folder / "ready").write_text("3.x 2026-01-01T00:00:00Z\n", "utf-8")
    return folder


def write_script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    path.chmod(0o755)


def seen(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def pin_to(plugin: Path, sha256: str) -> None:
    """Let the plugin's requirements be the small package of the workshop, with this hash."""
    pins = with_key(f"cv-probe==1.0 --hash=sha256:{sha256}\n".encode())
    (plugin / "requirements.txt").write_bytes(pins)


def build_wheel(folder: Path) -> str:
    """Write a small package's wheel into ``folder``; returns its SHA-256. It brings an empty module for each name that the
    set-up imports in the end.
    """
    names = CHECK_IMPORTS.removeprefix("import ").split(", ")
    wheel = folder / "cv_probe-1.0-py3-none-any.whl"
    about = "cv_probe-1.0.dist-info"
    files = {f"{name}.py": "" for name in names} | {
        f"{about}/METADATA": "Metadata-Version: 2.1\nName: cv-probe\nVersion: 1.0\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: here\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = f"{about}/RECORD,,\n"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest())
            record += f"{name},sha256={digest.rstrip(b'=').decode()},{len(text)}\n"
        archive.writestr(f"{about}/RECORD", record)
    return hashlib.sha256(wheel.read_bytes()).hexdigest()
