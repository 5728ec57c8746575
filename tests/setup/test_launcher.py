"""``bin/cv`` as users, hooks and hostile folders start it: real shells, real processes, a real environment.

Making the real environment takes downloads, so most tests hand the launcher one that is ready: a folder of the right key
that leads to the environment these tests run in. The set-up itself is tried with a small requirements file whose one
package is built here: real venv, real pip, no network.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from launching import ROOT, Run, key_of, make_ready, seen, write_script  # type: ignore[import-not-found]

from backend.setup.environment import with_key
from backend.setup.kept import prune

pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="bin/cv is for POSIX shells; Windows has bin/cv.cmd"
)

NOT_SET_UP = "Context Vigilance is installed but not set up yet"
MARK = "1f9a5c07"


# --- with an environment that is ready ------------------------------------------------------------------------------


def test_runs_the_plugins_backend_isolated(run: Run, plugin: Path, home: Path) -> None:
    folder = make_ready(home, plugin / "requirements.txt")
    answer = seen(run("find", "two words", "", "--flag=é", stdin="typed"))

    assert answer["file"] == str(plugin / "backend/__main__.py")
    assert answer["arguments"] == ["find", "two words", "", "--flag=é"]
    assert answer["stdin"] == "typed"
    assert answer["flags"] == [True, 1, 1, 0, 0, 0]
    assert answer["python"] == str(folder / "bin/python")
    assert answer["path"][0] == str(plugin)
    assert answer["variables"]["CV_HOME"] == str(home)
    assert answer["variables"]["CV_LAUNCHER"] == str(plugin / "bin/cv")


def test_passes_the_exit_code_on(run: Run, plugin: Path, home: Path) -> None:
    make_ready(home, plugin / "requirements.txt")

    assert run("status", PROBE_EXIT="3").returncode == 3


def test_a_hostile_folder_changes_nothing(
    run: Run, plugin: Path, home: Path, tmp_path: Path
) -> None:
    make_ready(home, plugin / "requirements.txt")
    hostile = tmp_path / "web project"
    (hostile / "backend").mkdir(parents=True)
    for name in (
        "backend/__init__.py", "backend/__main__.py", "msgspec.py", "json.py", "sitecustomize.py", "usercustomize.py",
    ):  # fmt: skip
        (hostile / name).write_text(f"raise SystemExit('hostile {MARK}')\n", "utf-8")

    answer = seen(run("find", cwd=hostile))
    assert answer["file"] == str(plugin / "backend/__main__.py")
    assert not any(str(hostile) in entry for entry in answer["path"])


def test_a_foreign_python_environment_changes_nothing(
    run: Run, plugin: Path, home: Path, tmp_path: Path
) -> None:
    make_ready(home, plugin / "requirements.txt")
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    for name in ("msgspec.py", "sitecustomize.py"):
        (foreign / name).write_text(f"raise SystemExit('foreign {MARK}')\n", "utf-8")
    usual = seen(run("find", LC_ALL="C"))
    answer = seen(
        run(
            "find",
            PYTHONPATH=str(foreign), PYTHONHOME=str(foreign), VIRTUAL_ENV=str(foreign), PYTHONSAFEPATH="",
            PYTHONSTARTUP=str(foreign / "sitecustomize.py"), PYTHONINSPECT="1", PYTHONOPTIMIZE="2",
            PYTHONWARNINGS="error", PYTHONIOENCODING="latin-1", PYTHONUTF8="0", PYTHONVERBOSE="1",
            PYTHONHASHSEED="no number", PYTHONPLATLIBDIR="nowhere", PYTHONDONTWRITEBYTECODE="1",
            CONDA_PREFIX=str(foreign), LC_ALL="C",
        )
    )  # fmt: skip

    for same in ("path", "flags", "modules", "file", "encoding"):
        assert answer[same] == usual[same]


@pytest.mark.parametrize("shell", ["sh", "dash", "bash", "busybox", "ksh", "mksh", "zsh"])
def test_speaks_every_shells_dialect(run: Run, plugin: Path, home: Path, shell: str) -> None:
    if not (path := shutil.which(shell)):
        pytest.skip(f"no {shell} on this machine")
    make_ready(home, plugin / "requirements.txt")
    arguments: tuple[str, ...] = ("find",)
    launcher: Path | str = plugin / "bin/cv"
    if shell == "busybox":
        launcher, arguments = "sh", (str(plugin / "bin/cv"), "find")

    assert seen(run(*arguments, launcher=launcher, shell=path))["arguments"] == ["find"]


def test_is_found_through_links_and_odd_paths(
    run: Run, plugin: Path, home: Path, tmp_path: Path
) -> None:
    make_ready(home, plugin / "requirements.txt")
    places = tmp_path / "my bin"
    places.mkdir()
    (places / "cv").symlink_to("hop")  # relative, then absolute
    (places / "hop").symlink_to(plugin / "bin/cv")
    (tmp_path / "linked").symlink_to(plugin / "bin")
    (tmp_path / "whole").symlink_to(plugin)
    starts: list[tuple[Path | str, Path]] = [
        (places / "cv", tmp_path),
        (tmp_path / "linked/cv", tmp_path),
        ("./cv", places),
        ("bin/cv", plugin),
        ("../bin/cv", plugin / "backend"),
        (plugin / "backend/../bin//cv", tmp_path),
        (tmp_path / "whole/bin/cv", tmp_path),
    ]
    for launcher, cwd in starts:
        answer = seen(run("find", launcher=launcher, cwd=cwd))
        assert Path(answer["file"]).resolve() == plugin / "backend/__main__.py"
    on_path = run("cv", "find", launcher="/usr/bin/env", PATH=f"{places}:/usr/bin:/bin")
    assert seen(on_path)["file"] == str(plugin / "backend/__main__.py")


def test_runs_where_the_current_folder_has_gone(
    run: Run, plugin: Path, home: Path, tmp_path: Path
) -> None:
    make_ready(home, plugin / "requirements.txt")
    script = 'mkdir gone && cd gone && rmdir ../gone && exec "$1" find'

    done = run("-c", script, "sh", str(plugin / "bin/cv"), launcher="/bin/sh", cwd=tmp_path)
    assert seen(done)["arguments"] == ["find"]


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"XDG_DATA_HOME": "/given/data dir"},
        {"XDG_DATA_HOME": "relative"},
        {"XDG_DATA_HOME": ""},
        {"HOME": None},
        {"HOME": "relative"},
        {"HOME": None, "XDG_DATA_HOME": "/given"},
    ],
)
def test_state_lies_where_platformdirs_says(
    run: Run, plugin: Path, variables: dict[str, str | None]
) -> None:
    bare: dict[str, str | None] = {"CV_HOME": None, **variables}
    ask = "import platformdirs as p; print(p.user_data_dir('context-vigilance', appauthor=False))"
    expected = run("-c", ask, launcher=sys.executable, **bare).stdout.strip()
    # Such a hook writes nothing, so the true home folder is safe; the shell's trace tells what was chosen.
    traced = run("-x", str(plugin / "bin/cv"), "hook", "none", launcher="/bin/sh", **bare)

    assert traced.returncode == 0
    chosen = [line for line in traced.stderr.splitlines() if line.startswith("+ CV_HOME=")][-1]
    assert chosen.removeprefix("+ CV_HOME=").strip("'\"") == expected


def test_test_runs_pytest_on_the_plugin_with_its_own_environment(
    run: Run, plugin: Path, home: Path, tmp_path: Path
) -> None:
    make_ready(home, plugin / "requirements-dev.txt")
    (plugin / "tests").mkdir()
    (plugin / "tests/test_one.py").write_text(
        "import backend, os\n"
        "def test_good(): assert os.path.samefile(os.path.dirname(backend.__file__), 'backend')\n"
        "def test_bad(): assert False\n",
        "utf-8",
    )
    quiet = ("-q", "-p", "no:cacheprovider")

    good = run("test", *quiet, "-k", "test_good", "tests", cwd=tmp_path)
    assert (good.returncode, "1 passed, 1 deselected" in good.stdout) == (0, True), good.stdout
    assert run("test", *quiet, cwd=tmp_path).returncode == 1


# --- hooks ------------------------------------------------------------------------------------------------------------


def test_a_hook_before_the_set_up_says_so_once_and_installs_nothing(
    run: Run, plugin: Path, home: Path
) -> None:
    first = run("hook", "session-start", stdin="{}")
    again = run("hook", "session-start", stdin="{}")
    prompt = run("hook", "user-prompt", stdin="{}")

    assert list(seen(first)) == ["systemMessage", "hookSpecificOutput"]
    assert "/cv-init" in seen(first)["hookSpecificOutput"]["additionalContext"]
    assert NOT_SET_UP in seen(first)["systemMessage"]
    assert [(done.returncode, done.stdout, done.stderr) for done in (again, prompt)] == [
        (0, "", "")
    ] * 2
    key = key_of(plugin / "requirements.txt")
    assert [path.name for path in (home / "environments").iterdir()] == [f"{key}.said"]


def test_a_hook_whose_python_has_gone_says_so_and_ends_well(
    run: Run, plugin: Path, home: Path
) -> None:
    folder = home / "environments" / key_of(plugin / "requirements.txt")
    (folder / "bin").mkdir(parents=True)
    (folder / "ready").write_text("3.x\n", "utf-8")
    (folder / "bin/python").symlink_to("/nowhere/python3")

    assert NOT_SET_UP in seen(run("hook", "session-start"))["systemMessage"]


def test_a_hook_that_cannot_note_it_stays_silent(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a file").touch()
    done = run("hook", "session-start", CV_HOME=str(tmp_path / "a file/home"))

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_hook_ends_with_zero_whatever_the_backend_does(
    run: Run, plugin: Path, home: Path
) -> None:
    make_ready(home, plugin / "requirements.txt")

    assert run("hook", "session-start", PROBE_EXIT="1").returncode == 0
    (plugin / "backend/__main__.py").write_text("this is no Python\n", "utf-8")
    assert run("hook", "session-start").returncode == 0


def test_the_prompt_of_a_run_that_nobody_attends_starts_no_python(
    run: Run, plugin: Path, home: Path
) -> None:
    make_ready(home, plugin / "requirements.txt")
    assert run("hook", "user-prompt", CLAUDE_CODE_SESSION_ATTENDED="1").stdout

    assert run("hook", "user-prompt", CLAUDE_CODE_SESSION_ATTENDED="0").stdout == ""


def test_a_damaged_plugin_is_named_but_breaks_no_hook(run: Run, plugin: Path) -> None:
    (plugin / "requirements.txt").write_text("chromadb\n", "utf-8")
    command, hook = run("find"), run("hook", "session-start")

    assert (command.returncode, command.stdout) == (1, "")
    assert "requirements.txt is missing or damaged: reinstall the plugin" in command.stderr
    assert (hook.returncode, hook.stdout) == (0, "")


# --- the set-up -------------------------------------------------------------------------------------------------------


def start(
    plugin: Path, home: Path, tmp_path: Path, variables: dict[str, str]
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [plugin / "bin/cv", "find"], env={"HOME": str(tmp_path), "CV_HOME": str(home), **variables},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
    )  # fmt: skip


def test_two_at_once_make_one_environment_over_the_remains_of_an_old_one(
    run: Run, plugin: Path, home: Path, tmp_path: Path, workshop: dict[str, str]
) -> None:
    folder = home / "environments" / key_of(plugin / "requirements.txt")
    (folder / "bin").mkdir(parents=True)
    (folder / "ready").write_text("3.x\n", "utf-8")
    (folder / "left over").touch()
    (folder / "bin/python").symlink_to("/nowhere/python3")
    # What would lead an install elsewhere, or what a foreign environment sets.
    foreign = {
        "PIP_TARGET": str(tmp_path / "elsewhere"), "PIP_USER": "1", "PIP_REQUIRE_VIRTUALENV": "1",
        "VIRTUAL_ENV": str(tmp_path), "PYTHONPATH": str(tmp_path), "PYTHONHOME": str(tmp_path),
    }  # fmt: skip

    both = [start(plugin, home, tmp_path, workshop | foreign) for _ in range(2)]
    ends = [(*process.communicate(timeout=120), process.returncode) for process in both]

    assert [code for _, _, code in ends] == [0, 0], ends
    assert sum("first set-up" in said for _, said, _ in ends) == 1, ends
    for answer, _, _ in ends:
        assert json.loads(answer)["python"] == str(folder / "bin/python")
    assert (folder / "ready").read_text("utf-8").startswith("3.")
    assert not (folder / "left over").exists()
    assert not (tmp_path / "elsewhere").exists()
    assert "pip install" in folder.with_suffix(".log").read_text("utf-8")
    # Ready now: nothing more is said, and hooks run.
    later = run("find", **workshop)
    assert (seen(later)["arguments"], later.stderr) == (["find"], "")
    assert seen(run("hook", "session-start"))["arguments"] == ["hook", "session-start"]


UV = """#!/bin/sh
# uv's part in this, played with a venv that is there and its pip: there is no network here to have uv from.
case $1 in
  --version) echo uv ;;
  venv) for folder do :; done; exec cp -R "{venv}" "$folder" ;;
  pip) python=$4; shift 5; exec "$python" -m pip install "$@" ;;
esac
"""


def test_uv_is_used_where_its_installers_put_it(
    run: Run, home: Path, plugin: Path, tmp_path: Path, workshop: dict[str, str], made_venv: Path
) -> None:
    """A host that was started from a desktop does not have that folder on its PATH."""
    folder = tmp_path / ".cargo/bin"
    write_script(folder / "uv", UV.format(venv=made_venv))
    done = run("find", **workshop)

    assert seen(done)["arguments"] == ["find"]
    assert "installing 1 packages with uv" in done.stderr
    log = (home / "environments" / f"{key_of(plugin / 'requirements.txt')}.log").read_text("utf-8")
    assert f"$ {folder}/uv pip install --python" in log


def test_where_uv_fails_pip_does_it(
    run: Run, tmp_path: Path, quick_workshop: dict[str, str]
) -> None:
    script = "#!/bin/sh\n[ $1 = --version ] || { echo 'error: no wheels' >&2; exit 2; }\n"
    write_script(tmp_path / ".local/bin/uv", script)
    done = run("find", **quick_workshop)

    assert seen(done)["arguments"] == ["find"]
    assert "uv could not do it; trying pip" in done.stderr


def test_other_pins_get_an_environment_beside_the_old_one(
    run: Run, plugin: Path, home: Path, quick_workshop: dict[str, str]
) -> None:
    """An update of the plugin, while a session of the old version goes on."""
    first = key_of(plugin / "requirements.txt")
    seen(run("find", **quick_workshop))
    pins = plugin / "requirements.txt"
    pins.write_bytes(with_key(pins.read_bytes() + b"# another version\n"))
    seen(run("find", **quick_workshop))

    made = {path.name for path in (home / "environments").iterdir() if (path / "ready").exists()}
    assert made == {first, key_of(pins)}


def test_unused_environments_of_other_pins_are_removed_after_a_month(tmp_path: Path) -> None:
    now = time.time()
    for name, days in (("0a", 31), ("0b", 29), ("0c", 400)):
        (tmp_path / name).mkdir()
        stamp = tmp_path / name / "ready"
        stamp.touch()
        os.utime(stamp, (now - days * 86400, now - 500 * 86400))
        (tmp_path / f"{name}.log").touch()
        (tmp_path / f"{name}.lock").touch()

    prune(tmp_path, keep=tmp_path / "0c")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "0a.lock", "0b", "0b.lock", "0b.log", "0c", "0c.lock", "0c.log",
    ]  # fmt: skip


# --- what the pins leave out --------------------------------------------------------------------------------------------


def test_chroma_needs_none_of_what_the_pins_leave_out(tmp_path: Path) -> None:
    """A store on disk, a server by `chroma run` and its client, with the left-out packages made impossible to import."""
    overrides = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["uv"][
        "override-dependencies"
    ]
    left_out = [line.split()[0].replace("-", "_") for line in overrides]
    assert "kubernetes" in left_out
    without = f"import sys\nfor name in {left_out!r}: sys.modules[name] = None\n"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    serve = without + (
        "from chromadb.cli.cli import app\n"
        f"sys.argv = ['chroma', 'run', '--host', '127.0.0.1', '--port', '{port}', '--path', {str(tmp_path / 's')!r}]\n"
        "app()\n"
    )
    use = (
        without
        + f"""
import chromadb, time
from chromadb.config import Settings
off = Settings(anonymized_telemetry=False)
def connect():
    end = time.monotonic() + 60
    while True:
        try:
            return chromadb.HttpClient('127.0.0.1', {port}, settings=off)
        except Exception:
            if time.monotonic() > end:
                raise
for client in (chromadb.PersistentClient({str(tmp_path / "p")!r}, settings=off), connect()):
    collection = client.get_or_create_collection('notes', embedding_function=None)
    collection.add(ids=['a', 'b'], embeddings=[[0.0, 1.0], [1.0, 0.0]], documents=['x', 'y'])
    print(collection.query(query_embeddings=[[1.0, 0.1]], n_results=1)['ids'])
"""
    )
    variables = {**os.environ, "HOME": str(tmp_path)}
    server = subprocess.Popen(
        [sys.executable, "-c", serve], cwd=tmp_path, env=variables,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        done = subprocess.run(
            [sys.executable, "-c", use], cwd=tmp_path, env=variables, timeout=120,
            capture_output=True, encoding="utf-8",
        )  # fmt: skip
    finally:
        server.kill()
        server.wait()

    assert (done.returncode, done.stdout.split()) == (0, ["[['b']]", "[['b']]"]), done.stderr
