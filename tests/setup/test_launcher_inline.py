"""``bin/cv … --inline``, as slash commands run it: it never installs, never fails, and says on stdout what is wrong."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="bin/cv is for POSIX shells")

ROOT = Path(__file__).resolve().parents[2]
NOT_SET_UP = "Context Vigilance is not set up yet: type /cv-init (about a minute, once).\n"

Run = Callable[..., subprocess.CompletedProcess[str]]


def lay_out(root: Path) -> Path:
    """The launcher and what it reads, with the real backend; returns ``bin/cv``."""
    shutil.copytree(ROOT / "bin", root / "bin")
    for name in ("requirements.txt", "requirements-dev.txt"):
        shutil.copy(ROOT / name, root / name)
    (root / "backend").symlink_to(ROOT / "backend")
    return root / "bin/cv"


def make_ready(home: Path) -> None:
    """An environment of the right key in ``home`` that leads to the one these tests run in."""
    key = (ROOT / "requirements.txt").read_text("utf-8").split("\n", 1)[0].split()[-1]
    folder = home / "environments" / key
    folder.mkdir(parents=True)
    for name in ("bin", "lib", "pyvenv.cfg"):
        (folder / name).symlink_to(Path(sys.prefix) / name)
    (folder / "ready").write_text("3.x 2026-01-01T00:00:00Z\n", "utf-8")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def launcher(tmp_path: Path) -> Path:
    return lay_out(tmp_path / "plug in")


@pytest.fixture
def run(launcher: Path, home: Path, tmp_path: Path) -> Run:
    def start(
        *arguments: str, stdin: str = "", path: Path | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(path or launcher), *arguments],
            cwd=tmp_path,
            env={
                "PATH": "/usr/bin:/bin",
                "HOME": str(tmp_path),
                "CV_HOME": str(home),
                "PYTHONDONTWRITEBYTECODE": "1",
                **variables,
            },
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
        )

    return start


@pytest.mark.parametrize(
    "arguments",
    [("status", "--inline"), ("--inline", "status"), ("catch-up", "--window", "2w", "--inline")],
)
def test_before_the_set_up_it_says_what_to_type_and_installs_nothing(
    run: Run, home: Path, arguments: tuple[str, ...]
) -> None:
    done = run(*arguments, stdin="typed words\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, NOT_SET_UP, "")
    assert not home.exists()


def test_a_word_that_only_contains_it_is_none(run: Run, tmp_path: Path) -> None:
    done = run("find", "x--inline", PATH=str(tmp_path))  # no Python there to install with
    assert done.returncode == 1
    assert "no Python" in done.stderr


def test_once_set_up_it_runs_and_errors_are_said_on_stdout(run: Run, home: Path) -> None:
    make_ready(home)
    done = run("status", "--inline")
    assert done.returncode == 0
    assert done.stdout.startswith("cv: no senior root here")
    assert run("status").returncode == 3, "without it the exit code stands"


def test_an_environment_that_does_not_start_is_said_and_ends_with_zero(
    run: Run, home: Path, tmp_path: Path
) -> None:
    make_ready(home)
    broken = lay_out(tmp_path / "broken")
    (broken.parents[1] / "backend").unlink()
    done = run("status", "--inline", path=broken)
    assert done.returncode == 0
    assert "cv: it could not be started (exit code 1)" in done.stdout


def test_a_damaged_plugin_is_said_on_stdout(run: Run, launcher: Path) -> None:
    (launcher.parents[1] / "requirements.txt").write_text("chromadb\n", "utf-8")
    done = run("status", "--inline")
    assert (done.returncode, done.stderr) == (0, "")
    assert "requirements.txt is missing or damaged: reinstall the plugin" in done.stdout


def test_a_plugin_below_a_folder_with_a_colon_says_so(run: Run, home: Path, tmp_path: Path) -> None:
    make_ready(home)
    odd = lay_out(tmp_path / "a:b")
    done, inline, hook = (
        run(*words, path=odd) for words in (["status"], ["status", "--inline"], ["hook", "x"])
    )
    assert done.returncode == 1
    assert f"a colon in its name ({tmp_path / 'a:b'})" in done.stderr
    assert (inline.returncode, inline.stdout) == (0, done.stderr)
    assert (hook.returncode, hook.stdout) == (0, "")


# --- completion and version ------------------------------------------------------------------------------------------


def test_the_shell_completes_commands_options_and_values(run: Run, home: Path) -> None:
    make_ready(home)
    script = run(_CV_COMPLETE="bash_source")
    assert script.returncode == 0
    assert "complete -o nosort -F _cv_completion cv" in script.stdout

    def complete(line: str) -> list[str]:
        words = line.split(" ")
        done = run(_CV_COMPLETE="bash_complete", COMP_WORDS=line, COMP_CWORD=str(len(words) - 1))
        return [entry.split(",", 1)[1] for entry in done.stdout.splitlines()]

    assert complete("cv st") == ["status"]
    assert {"--senior-root", "--propose", "--remove"} <= set(complete("cv init --"))
    assert complete("cv config nudge o") == ["on", "off"]


@pytest.mark.skipif(sys.platform == "darwin", reason="the README's line as it is for Linux")
@pytest.mark.parametrize("folder", ["", "own data"])
def test_the_readmes_line_puts_cv_on_the_path_and_follows_the_plugin(
    run: Run, home: Path, tmp_path: Path, launcher: Path, folder: str
) -> None:
    make_ready(home)
    text = (ROOT / "README.md").read_text("utf-8")
    line = text[text.index("mkdir -p ~/.local/bin") :].split("\n```")[0]
    data = tmp_path / (folder or ".local/share") / "context-vigilance"
    data.mkdir(parents=True)
    variables = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "CV_HOME": str(home)}
    if folder:
        variables["XDG_DATA_HOME"] = str(tmp_path / folder)

    def shell(command: str) -> str:
        done = subprocess.run(
            ["sh", "-ec", command], env=variables, capture_output=True, encoding="utf-8", check=False
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    shell(line)
    for path in (launcher, lay_out(tmp_path / "an update")):
        (data / "launcher").write_text(f"{path}\n", "utf-8")
        assert shell("~/.local/bin/cv --version").startswith("cv, version ")
    assert (
        shell("_CV_COMPLETE=bash_complete COMP_WORDS='cv st' COMP_CWORD=1 ~/.local/bin/cv")
        == "plain,status\n"
    )


def test_a_shell_that_asks_for_completions_before_the_set_up_gets_nothing(
    run: Run, home: Path
) -> None:
    done = run(_CV_COMPLETE="bash_source")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not home.exists()


def test_the_version_is_the_plugins(run: Run, home: Path) -> None:
    from backend import __version__

    make_ready(home)
    assert run("--version").stdout == f"cv, version {__version__}\n"
