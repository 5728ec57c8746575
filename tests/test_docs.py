"""What README.md and docs/ say: each command in them runs, on a small organisation; names, keys and links are those there are."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import click
import pytest

from backend.cli import cli
from backend.schemas.config import Config
from backend.tree.config_keys import KEYS, get_key

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]

NOT_RUN = {
    "bin/cv test": "runs this very suite",
    "cv test": "runs this very suite",
    ".ci/run": "runs this suite, and much else",
    "bin/cv demo": "is made of other commands on this list, and .ci/run runs it",
    "cv demo": "is made of other commands on this list, and .ci/run runs it",
    "cv mcp": "serves until its client goes; it has tests of its own",
    "cv config set embedding.name minilm": "installs; tests/commands tries it",
    "cv init": "asks; tests/commands tries it on a terminal, and below it is run with --yes",
    "eval": "goes into a shell's start file; tests/setup tries the completion",
    "mkdir -p ~/.local/bin": "puts a command on the reader's path; tests/setup tries it",
    "tools/lock.sh": "asks the package index for newer pins",
    "python tools": "records docs/session.svg with Claude Code",
    "apt install": "an installer",
    "brew install": "an installer",
    "winget install": "an installer",
    "pipx install": "an installer",
    "pip install": "an installer",
    "uvx": "an installer",
    "uv tool": "an installer",
    "claude": "Claude Code itself; tests/plugin drives it",
    "chroma": "Chroma's own program",
    "docker": "a program of others",
    "ssh": "a program of others",
    "export": "a setting of the reader's shell",
}
"""Commands by their first words, and why they are not run here."""

VALUES = {
    "TASK": "make the pier longer",
    "QUESTION": "what turns the wheel",
    "SLUG": "ferry",
    "FILE": "ferry/context-v/plans/Pier.md",
    "--html FILE": "--html digest.html",
    "FOLDER": "mill",
    "COMMAND": "find",
    "FIELD=VALUE": "tag=Boats",
    "KEY": "nudge.after_days",
    "VALUE": "5",
    "embedding.name NAME": "embedding.name static",
    "changelog_corpus NAME": "changelog_corpus entries",
    "NAME": "Ada",
    "DATE": "2025-01-01",
    "PATH": "{root}",
    "dismiss PATH": "dismiss mill",
    "undismiss PATH": "undismiss mill",
    "DIR": "{root}/../demo",
    "--theme N": "--theme 1",
    "ADDRESS": "http://localhost:8080/v1/rerank",
    "ID": "3f0c2a52-0000-4000-8000-000000000001",
}
"""What stands for a word in capitals; the longer ones, which say where, first."""

MAY_END = {"doctor": {0, 1}, "forget": {0, 1}, "session": {0, 1, 2}}
"""Exit codes other than 0 that are right here: a doctor finds that no session has started; there is no session, and
none that could be forgotten."""

ADDED = {
    "cv forget --before DATE": "--yes",
    "cv forget --all-private": "--yes",
    "cv catch-up --theme N": "--since 2024-01-01",
}
"""What a command needs here that it does not on a terminal, or in a tree with more in it."""

IN_FOLDER = {"cv dismiss": "ferry"}
"""Where a command is run; the senior root otherwise."""

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
_SPAN = re.compile(r"`([^`\n]+)`")
_COMMAND = re.compile(r"(?:bin/)?cv(?: |$)")


def commands(page: Path) -> Iterator[str]:
    """The command lines of a page: lines of its sh blocks, and what stands in backticks and starts with ``cv``."""
    text = page.read_text("utf-8")
    for language, block in _BLOCK.findall(text):
        if language in ("sh", "bash", "console"):
            for line in block.replace("\\\n", " ").splitlines():
                if line := re.sub(r"(^|\s)#.*$", "", line.removeprefix("$ ")).strip():
                    yield line
    for span in _SPAN.findall(_BLOCK.sub("", text)):
        line = span.replace("\\|", "|")
        if _COMMAND.match(line) or reason_not_to_run(line):
            yield line


def reason_not_to_run(line: str) -> str:
    """Why a line is not run, empty where it is. ``cv init`` is on the list as it stands, without an option."""
    for words, reason in NOT_RUN.items():
        if line == words or (words != "cv init" and line.startswith(words + " ")):
            return reason
    return ""


def variants(line: str) -> list[str]:
    """Lines to run for one with ``[parts]`` and ``a|b``: without the parts, with each alone, and each of the choices."""
    parts = re.findall(r" \[([^\]]+)\]", line)
    bare = re.sub(r" \[[^\]]+\]", "", line)
    forms = [bare, *(f"{bare} {part}" for part in parts)]
    return [line for form in forms for line in _choices(form)]


def _choices(line: str) -> list[str]:
    words = [word.split("|") for word in line.split(" ")]
    return [" ".join(choice) for choice in product(*words)]


def is_a_name(line: str) -> bool:
    """Whether the line only names a command: one that can't run without an argument, or with ``…`` for one."""
    words = line.removesuffix(" …").split()[1:]
    command: click.Command = cli
    while words and isinstance(command, click.Group) and words[0] in command.commands:
        command = command.commands[words.pop(0)]
    if "…" in line:
        return True
    needs = any(isinstance(part, click.Argument) and part.required for part in command.params)
    return all(word.startswith("-") for word in words) and (needs or (command is cli and not words))


def filled(line: str, root: Path) -> list[str]:
    """The words to run, with something for each word in capitals."""
    for word in sorted(VALUES, key=lambda word: (" " not in word, -len(word))):
        line = re.sub(rf"(?<![\w.-]){re.escape(word)}(?![\w=])", VALUES[word], line)
    line = line.replace("{root}", "ROOT")
    return [word.replace("ROOT", str(root)) for word in shlex.split(line)]


LINES = sorted(
    {
        form
        for page in PAGES
        for line in commands(page)
        if not reason_not_to_run(line)
        for form in variants(line)
        if not reason_not_to_run(form) and not is_a_name(form)
    }
)


@pytest.fixture(scope="module")
def pattern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree of two repos, set up and indexed once; each command gets a copy of it."""
    from backend.cli import main

    organisation = sys.modules["organisation"]
    base = tmp_path_factory.mktemp("docs")
    kept = {name: os.environ.get(name) for name in ("CV_HOME", "HOME")}
    os.environ |= {"CV_HOME": str(base / "home"), "HOME": str(base)}
    org = organisation.Organisation(base / "wörk tree")
    for name in ("ferry", "mill"):
        org.repo(name)
    org.document("ferry/context-v/plans/Pier.md", title="A longer pier", tags=["Boats"])
    org.document("ferry/context-v/specs/Timetable.md", authors=["Ada Moss"], tags=["Boats"])
    org.document("mill/context-v/specs/Wheel.md", title="The wheel", lede="What turns it.")
    for number in range(12):
        org.document(f"mill/context-v/notes/Sails-{number}.md", title=f"Sails and wind {number}")
    org.document("mill/changelog/2025-06-01_sails.md", day=None)
    assert main(["init", "--senior-root", str(org.root), "--yes"]) == 0
    for name, value in kept.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})
    return Path(org.root)


@pytest.mark.parametrize("line", LINES)
def test_each_command_runs(line: str, pattern: Path, cv: Any, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    shutil.copytree(pattern, root, symlinks=True)
    folder = root / IN_FOLDER.get(line, "")
    program, *arguments = filled(f"{line} {ADDED.get(line, '')}", root)
    assert program in ("cv", "bin/cv"), f"{line}: neither a command of ours nor on the list NOT_RUN"
    done = cv(*arguments, cwd=folder, stdin="y\n")

    name = arguments[0] if arguments else ""
    assert done.code in MAY_END.get(name, {0}), done


def test_the_list_of_what_is_not_run_holds_nothing_else() -> None:
    lines = [line for page in PAGES for line in commands(page)]
    for words in ("bin/cv test", ".ci/run", "bin/cv demo", "eval", "cv init"):
        assert any(line.startswith(words) for line in lines), f"{words}: nowhere in the docs"
    assert len(LINES) > 30


def test_the_readme_names_every_command_and_no_other() -> None:
    named = {
        words[1].split("|")[0]
        for line in commands(README)
        if len(words := line.split()) > 1 and _COMMAND.match(line) and words[1][0].isalpha()
    }
    assert named == set(cli.commands)


def test_slash_commands_are_those_there_are() -> None:
    there = {path.stem for path in (ROOT / "commands").glob("*.md")}
    text = README.read_text("utf-8")
    named = set(re.findall(r"(?m)(?:^|`)/([a-z][a-z0-9-]+)", text)) - {"plugin"}
    assert named == there


# --- settings -----------------------------------------------------------------------------------------------------------


def settings_table() -> str:
    """The README's table of keys, as it is to be."""
    defaults = Config(senior_root="PATH")
    rows = ["| key | default | what it does | what it takes |", "|---|---|---|---|"]
    for key, entry in KEYS.items():
        default = json.dumps(get_key(defaults, key), ensure_ascii=False)
        default = "where the file lies" if key == "senior_root" else f"`{default}`"
        rows.append(f"| `{key}` | {default} | {entry.meaning} | {entry.expected} |")
    return "\n".join(rows)


def test_the_readme_lists_every_key_with_its_default() -> None:
    table = settings_table()
    assert table in README.read_text("utf-8"), f"the table of settings is to be:\n{table}"


# --- the pages themselves -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text("utf-8")):
        assert target.startswith("https://") or (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_a_page_names_are_there(page: Path) -> None:
    pattern = r"`((?:backend|bin|benchmarks|docs|hooks|skills|tests|tools)/[\w./-]*)`"
    for name in re.findall(pattern, page.read_text("utf-8")):
        assert (ROOT / name).exists(), name


def test_every_failure_of_the_set_up_is_in_the_table() -> None:
    from backend.setup.failures import REASONS

    text = (ROOT / "docs/troubleshooting.md").read_text("utf-8")
    for _, reason in REASONS:
        start = re.split(r"[:(]", reason)[0].strip()
        assert start[:40] in text or start == "a file could not be written", start


def test_help_has_a_line_for_each_command() -> None:
    def walk(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
        yield name, command
        if isinstance(command, click.Group):
            for sub, inner in command.commands.items():
                yield from walk(inner, f"{name} {sub}")

    for name, command in walk(cli, "cv"):
        assert command.help, name
        for option in command.params:
            if isinstance(option, click.Option):
                assert option.help, f"{name} {option.opts}"


# --- what users receive -------------------------------------------------------------------------------------------------


def test_the_plugin_stays_under_15_mb(run_git: Callable[..., str]) -> None:
    """A clone's work tree, which is what Claude Code copies for each version; the embedder's table is most of it."""
    names = [
        name
        for name in run_git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split(
            "\0"
        )
        if name
    ]
    sizes = {name: (ROOT / name).stat().st_size for name in names if (ROOT / name).is_file()}
    largest = sorted(sizes, key=lambda name: -sizes[name])[:5]
    assert sum(sizes.values()) < 15_000_000, [(name, sizes[name]) for name in largest]


@pytest.fixture
def run_git() -> Callable[..., str]:
    import subprocess

    def run(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=False)
        if done.returncode:
            pytest.skip("these are the tests of a package, not of a clone")
        return done.stdout.decode()

    return run
