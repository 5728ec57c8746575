"""Fixtures of the launcher's tests: the plugin's files at an awkward path, a home as awkward, a way to run ``bin/cv``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))  # the tests are no package: importmode=importlib

from launching import (  # type: ignore[import-not-found]
    BASE_PYTHON,
    PROBE,
    QUICK_PYTHON,
    ROOT,
    Run,
    build_wheel,
    pin_to,
    write_script,
)


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """The plugin's own files, at a path with a blank and letters beyond ASCII, with the probe as its backend."""
    root = tmp_path / "plug in é" / "0.1.0"
    (root / "backend/setup").mkdir(parents=True)
    shutil.copytree(ROOT / "bin", root / "bin")
    for name in ("requirements.txt", "requirements-dev.txt"):
        shutil.copy(ROOT / name, root / name)
    for name in ("__init__", "environment", "installer", "kept", "failures"):
        shutil.copy(ROOT / f"backend/setup/{name}.py", root / f"backend/setup/{name}.py")
    (root / "backend/__init__.py").touch()
    (root / "backend/__main__.py").write_text(PROBE, "utf-8")
    return root


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A CV_HOME, still to be made, at a path as awkward."""
    return tmp_path / "state ü dir"


@pytest.fixture
def run(plugin: Path, home: Path, tmp_path: Path) -> Run:
    """Run ``bin/cv`` with a bare environment; ``variables`` are added, a value of None takes one away."""

    def start(
        *arguments: str, cwd: Path = tmp_path, launcher: Path | str = plugin / "bin/cv", stdin: str = "",
        shell: str | None = None, **variables: str | None,
    ) -> subprocess.CompletedProcess[str]:  # fmt: skip
        chosen: dict[str, str | None] = {
            "PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "CV_HOME": str(home), **variables,
        }  # fmt: skip
        return subprocess.run(
            [*([shell] if shell else []), str(launcher), *arguments], cwd=cwd, input=stdin, timeout=120,
            env={name: value for name, value in chosen.items() if value is not None},
            capture_output=True, encoding="utf-8",
        )  # fmt: skip

    return start


@pytest.fixture
def workshop(plugin: Path, tmp_path: Path) -> dict[str, str]:
    """Requirements of one small package, built here; returns the variables that let pip find it without a network.

    The only Pythons on PATH are a broken shim and the one under these tests, without uv.
    """
    links = tmp_path / "links"
    links.mkdir()
    pin_to(plugin, build_wheel(links))
    shims = tmp_path / "shims"
    write_script(shims / "python3.13", "#!/bin/sh\nexit 127\n")
    write_script(shims / "python3.12", f'#!/bin/sh\nexec "{BASE_PYTHON}" "$@"\n')
    return {
        "PATH": f"{shims}:/usr/bin:/bin", "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(links), "PIP_CONFIG_FILE": os.devnull,
        "UV_OFFLINE": "1", "UV_FIND_LINKS": str(links), "UV_NO_CONFIG": "1",
    }  # fmt: skip


@pytest.fixture(scope="session")
def made_venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A venv with pip, made once: that takes longer than all else in a set-up."""
    folder = tmp_path_factory.mktemp("made") / "venv"
    subprocess.run([BASE_PYTHON, "-I", "-m", "venv", folder], check=True)
    return folder


@pytest.fixture
def quick_workshop(workshop: dict[str, str], made_venv: Path, tmp_path: Path) -> dict[str, str]:
    """The workshop, with a Python that does not make its venvs itself."""
    shim = tmp_path / "shims/python3.12"
    write_script(shim, QUICK_PYTHON.format(python=BASE_PYTHON, itself=shim, venv=made_venv))
    return workshop
