"""Windows, as far as it can be tried elsewhere: its paths (drive letters, backslashes, a user name with a blank and letters
beyond ASCII) through each place that takes a path apart, and what the two launchers have in common.
"""

from __future__ import annotations

import json
import ntpath
import os
import re
import subprocess
from pathlib import Path, PureWindowsPath
from types import SimpleNamespace
from typing import Any

import pytest

from backend.commands.inline import inline_arguments
from backend.session import permission, words
from backend.session.references import find_references
from backend.setup.installer import python_in
from backend.setup.settings import installed
from backend.tree.quoting import quoted
from backend.tree.sources import Source, choices

ROOT = Path(__file__).resolve().parents[2]
HOME = r"C:\Users\Zoë Ünal"
PLUGIN = HOME + r"\.claude\plugins\cache\context-vigilance\context-vigilance\0.1.0"
LAUNCHER = PLUGIN + r"\bin\cv.cmd"


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows' ``os`` for the two modules that speak with the agent about the launcher's path."""
    system = SimpleNamespace(
        name="nt", path=ntpath, pathsep=";", access=os.access, X_OK=os.X_OK,
        environ={"CV_LAUNCHER": LAUNCHER, "PATH": r"C:\Windows;C:\Program Files\Git\usr\bin"},
    )  # fmt: skip
    monkeypatch.setattr(permission, "os", system)
    monkeypatch.setattr(words, "os", system)


def is_allowed(command: str) -> bool:
    """As the hook asks; with ``windows=`` given, since its default was taken when the module was loaded."""
    parts = permission.split_command(command, windows=True)
    return bool(
        parts and permission._is_launcher(parts[0], LAUNCHER) and permission._is_read(parts[1:])
    )


# --- what the agent is told, and may run ------------------------------------------------------------------------------


def test_the_agent_gets_a_path_that_git_bash_takes(windows: None) -> None:
    told = words.launcher()

    assert told == f'"{LAUNCHER}"'.replace("\\", "/")
    assert is_allowed(f'{told} find "mend the importer" --markdown')
    assert not is_allowed(f'{told} find "mend the importer"; rm -r x')
    assert not is_allowed(f"{told} init --yes")


@pytest.mark.parametrize(
    "written",
    [
        f'"{LAUNCHER}"',
        f'"{PLUGIN}\\bin\\cv"',  # as the skills have it, with CLAUDE_PLUGIN_ROOT filled in
        f'"{PLUGIN}/bin/cv"',
        '"' + PLUGIN.replace("\\", "/").replace("C:", "/c") + '/bin/cv"',
        f'"{LAUNCHER.lower()}"',
        "cv",
    ],
)
def test_spellings_of_the_launcher_that_are_ours(windows: None, written: str) -> None:
    assert is_allowed(f"{written} status")


@pytest.mark.parametrize(
    "written",
    [
        LAUNCHER,  # without quotes the shell would take the backslashes away, and part it at the blank
        f'"{HOME}\\bin\\cv.cmd"',
        f'"{PLUGIN}\\bin\\..\\..\\cv"',
        '"' + LAUNCHER.replace("C:", "D:") + '"',
        f'"{LAUNCHER}.exe"',
    ],
)
def test_spellings_that_are_not(windows: None, written: str) -> None:
    assert not is_allowed(f"{written} status")


# --- what people type -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "arguments"),
    [
        (r'--senior-root "C:\Users\Zoë Ünal\work" --yes', ["--senior-root", HOME + r"\work", "--yes"]),
        (r"--senior-root D:\new\tree", ["--senior-root", r"D:\new\tree"]),
        ('--by-author "Ada Moss"', ["--by-author", "Ada Moss"]),
        (r"--root \\server\share\tree", ["--root", r"\\server\share\tree"]),
        ("set nudge.not_by O'Neill", ["set", "nudge.not_by", "O'Neill"]),
    ],
)  # fmt: skip
def test_arguments_after_a_slash_command(typed: str, arguments: list[str]) -> None:
    assert inline_arguments(["init"], typed, windows=True) == arguments


def test_a_folder_with_a_blank_needs_no_quotes() -> None:
    folder = HOME + r"\work\old things"
    assert inline_arguments(["dismiss"], folder, windows=True) == ["--", folder]


def test_a_path_to_copy_stands_in_quotes() -> None:
    assert quoted(PureWindowsPath(HOME, "work"), windows=True) == f'"{HOME}\\work"'
    assert quoted(PureWindowsPath("D:/tree"), windows=True) == r'"D:\tree"'
    assert quoted("it's", windows=True) == '"it\'s"'
    assert quoted("2w", windows=True) == "2w"


@pytest.mark.parametrize(
    "prompt",
    [
        r"mend site\context-v\plans\Launch-Plan.md please",
        r"mend .\context-v\plans\Launch-Plan.md please",
        r'mend "site\context-v\plans\Launch-Plan.md" please',
        r"mend @site\context-v\plans\Launch-Plan.md please",
    ],
)
def test_references_with_backslashes(org: Any, cv: Any, prompt: str) -> None:
    org.repo("site")
    org.document("site/context-v/plans/Launch-Plan.md")
    cv("init", "--senior-root", str(org.root), "--yes")
    found = find_references(prompt, org.root, org.path("site"))

    assert found.found == ("site/context-v/plans/Launch-Plan.md",)


def test_sources_with_backslashes() -> None:
    chosen = choices(
        [
            Source(path="site\\context-v\\old\\", include=False),
            Source(path=".\\site\\context-v", subdirs=["extra"]),
        ]
    )
    assert chosen.excluded == {"site/context-v/old"}
    assert chosen.included == {"site/context-v/extra"}


# --- files of ours ----------------------------------------------------------------------------------------------------


def test_the_environments_python() -> None:
    folder = PureWindowsPath(HOME, "AppData/Local/context-vigilance/environments/0a1b")
    made = python_in(folder, windows=True)  # type: ignore[arg-type]

    assert made == HOME + (r"\AppData\Local\context-vigilance\environments\0a1b\Scripts\python.exe")


def test_a_settings_hook_with_backslashes_is_ours(tmp_path: Path) -> None:
    command = f'"{HOME}\\work\\.context-vigilance\\scripts\\session-start.sh"'
    hook = {"type": "command", "command": command}
    (tmp_path / "settings.json").write_text(
        json.dumps({"hooks": {"SessionStart": [{"hooks": [hook]}]}}), "utf-8"
    )
    assert installed(tmp_path / "settings.json").ours == 1


# --- the launchers ----------------------------------------------------------------------------------------------------

SH = (ROOT / "bin/cv").read_text("utf-8")
CMD = (ROOT / "bin/cv.cmd").read_text("utf-8")


@pytest.mark.skipif(os.name == "nt", reason="a POSIX shell that is told it were Git Bash")
@pytest.mark.parametrize(
    ("variables", "home"),
    [
        ({"LOCALAPPDATA": HOME + r"\AppData\Local"}, HOME + r"\AppData\Local/context-vigilance"),
        ({"LOCALAPPDATA": "x", "CV_HOME": r"D:\cv home"}, r"D:\cv home"),
        ({"LOCALAPPDATA": "x", "CV_HOME": "D:/cv"}, "D:/cv"),
    ],
)
def test_state_in_git_bash(variables: dict[str, str], home: str, tmp_path: Path) -> None:
    done = subprocess.run(
        ["/bin/sh", "-x", ROOT / "bin/cv", "hook", "none"], cwd=tmp_path, capture_output=True, check=True,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "OS": "Windows_NT", "LC_ALL": "C.UTF-8", **variables},
    )  # fmt: skip
    trace = done.stderr.decode()
    python = re.findall(r"(?m)^\+ python=(.*)$", trace)[-1].strip("'\"")

    assert python.startswith(f"{home}/environments/")
    assert python.endswith("/Scripts/python.exe")


def test_both_launchers_put_the_same_variables_aside() -> None:
    in_sh = set(re.findall(r"\bPYTHON[A-Z]+\b", SH[SH.index("unset PYTHONHOME") :]))
    in_cmd = set(re.findall(r"\bPYTHON[A-Z]+\b", CMD))

    assert in_sh - in_cmd == set()
    assert in_cmd - in_sh == {"PYTHONLEGACYWINDOWSSTDIO"}


def test_both_launchers_say_the_same() -> None:
    for words_ in (
        "is installed but not set up yet: type /cv-init (about a minute, once).",
        "its set-up failed: there is no Python 3.11 to 3.13.",
        "Do not install anything yourself.",
        "-P -s -X utf8 -m backend",
        "environment.py",
    ):
        assert words_ in SH
        assert words_ in CMD


def test_every_label_of_the_batch_file_is_there() -> None:
    labels = re.findall(r"(?m)^:(\w+)\s*$", CMD)
    targets = re.findall(r"(?:goto|call) :(\w+)", CMD)

    assert len(labels) == len(set(labels))
    assert set(targets) == set(labels)
    assert not re.search(r"(?m)^exit(?! /b)", CMD), "a bare exit would close the person's window"
    # Labels are found by their byte offset: only with CRLF is that reliable, and git is told so.
    assert "*.cmd text eol=crlf" in (ROOT / ".gitattributes").read_text("utf-8")


def test_hooks_are_in_exec_form_and_windows_has_a_program_of_that_name() -> None:
    """No shell takes the path apart. Claude Code looks such a command up as ``which`` does there: with .exe, .cmd or .bat."""
    hooks = json.loads((ROOT / "hooks/hooks.json").read_text("utf-8"))["hooks"]
    for groups in hooks.values():
        for hook in (hook for group in groups for hook in group["hooks"]):
            assert hook["command"] == "${CLAUDE_PLUGIN_ROOT}/bin/cv"
            assert hook["args"][0] == "hook"
    assert (ROOT / "bin/cv.cmd").is_file()
