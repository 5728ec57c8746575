"""Which commands of the Bash tool run without a permission prompt: our own reads, and not a word more."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click
import pytest

from backend.cli import cli
from backend.session.permission import _ALLOWED, is_own_read, split_command

LAUNCHER = "/plugins/cache/context vigilance/0.1.0/bin/cv"
CV = f'"{LAUNCHER}"'

posix = pytest.mark.skipif(os.name == "nt", reason="paths of POSIX systems")

READS = [
    "find 'mend the importer' --markdown", 'find "what\'s new in R2, is it done?" --n-results 20 --scope bay-labs',
    "find fares -n 5 --scope mill", "search fares -n 5 --scope mill",
    "find mend the importer", "search 'who chose SQLite' --json", "catch-up --window 2w --markdown",
    "catch-up --since=2026-05-01 --by-author 'Ada Moss'", "status", "status --json",
    "why bay-labs/context-v/specs/A.md", "doctor", "list-roots", "help find", "--version", "find --help", "folders",
    "nudge", "nudge --json", "nudge mute-for-today", "nudge mute-for-week", "config list", "config get nudge.state",
    "session show", "session no-context", "session remember-files '/tree/a/context-v/Two words.md' b.md", "sync",
    "sync --changed-since --json", "sync --dry-run --role changelog-corpus", "find für das Maß", "find '请修复导入器'",
    "search 'what of claude-code-sessions' --role changelog-corpus", "search x --role=context-vigilance-corpus",
]  # fmt: skip

NOT_READS = [
    "", "init --yes", "init", "dismiss", "undismiss .", "config set nudge.state off", "config nudge off",
    "config kickoff off", "config", "nudge off", "nudge on", "doctor --fix", "sync --force-rebuild",
    "sync --with-sessions --yes", "sync --with-traces", "sync x", "catch-up --html /tmp/out.html",
    "catch-up --html=/tmp/out.html", "find x --root /other", "status --root=/other", "hook session-start",
    "hook sync --root / --max-seconds 1", "demo --keep /tmp/x", "test", "ingest", "unknown", "find x --inline",
    "find --scope -- --root /x", "session remember-files a --session other", "Find x", "find -n5 x --html a",
    "search x --role claude-code-sessions", "search x --role=claude-code-tool-traces", "forget --all-private --yes", "mcp",
    "search --role changelog-corpus --role claude-code-sessions x", "mcp --install",
]  # fmt: skip

EVIL = [
    "{cv} find x; touch evil", "{cv} find x && touch evil", "{cv} find x & touch evil", "{cv} find x | sh",
    "{cv} find $(touch evil)", "{cv} find `touch evil`", '{cv} find "$(touch evil)"', "{cv} find $HOME",
    "{cv} find x > out", "{cv} find x >> out", "{cv} find < in", "{cv} find x\ntouch evil", "{cv} find x\rtouch evil",
    "{cv} find x \\\n touch", "{cv} find <(touch evil)", "X=1 {cv} find x", "CV_HOME=/tmp/x {cv} find x",
    "env {cv} find x", "sudo {cv} find x", "sh {cv} find x", "exec {cv} find x", "time {cv} find x",
    "cd /tmp && {cv} find x", "({cv} find x)", "{{ {cv} find x; }}", "! {cv} find x", "{cv} find *", "{cv} find ?",
    "{cv} find [a]", "{cv} find ~", "{cv} find {{a,b}}", "{cv} find x # y", "{cv} find 'x", '{cv} find "x',
    "{cv} find \\x", "{cv} find x\x00y", "{cv}find x", "{cv}\tfind x", "{cv}\u00a0find x", "{cv} find =ls",
    "=cv find x", "{cv}.evil find x", "{cv}/../cv find x", "'{plain}/../../bin/cv' find x", "./bin/cv find x",
    "bin/cv find x", "/tmp/bin/cv find x", "python -m backend find x", "cvx find x", "CV find x",
    "{cv} find " + "x" * 20_000,
]  # fmt: skip


@posix
@pytest.mark.parametrize("words", READS)
def test_reads_pass(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    for cv in (CV, f"'{LAUNCHER}'", "cv"):
        assert is_own_read({"command": f"{cv} {words}", "description": "d"}, launcher=LAUNCHER)


@posix
@pytest.mark.parametrize("words", NOT_READS)
def test_other_commands_of_ours_do_not(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    for cv in (CV, "cv"):
        assert not is_own_read({"command": f"{cv} {words}"}, launcher=LAUNCHER)


@posix
@pytest.mark.parametrize("line", EVIL)
def test_nothing_else_does(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    for cv in (CV, "cv"):
        command = line.format(cv=cv, plain=LAUNCHER.removesuffix("/bin/cv"))
        assert not is_own_read({"command": command}, launcher=LAUNCHER)


@posix
def test_another_program_called_cv_is_not_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "cv"
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)

    monkeypatch.setenv("PATH", f"/nowhere:{tmp_path}")
    assert not is_own_read({"command": "cv status"}, launcher=LAUNCHER)
    assert is_own_read({"command": "cv status"}, launcher=str(other))
    monkeypatch.setenv("PATH", ".:/nowhere")
    assert not is_own_read({"command": "cv status"}, launcher=LAUNCHER)


@posix
def test_the_sandbox_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_own_read(
        {"command": f"{CV} status", "dangerouslyDisableSandbox": True}, launcher=LAUNCHER
    )
    assert not is_own_read({"command": ["cv", "status"]}, launcher=LAUNCHER)
    assert not is_own_read({}, launcher=LAUNCHER)
    assert not is_own_read({"command": f"{CV} status"}, launcher="")


def test_a_windows_path_is_taken_in_quotes_only() -> None:
    path = r"C:\Users\a b\bin\cv"
    assert split_command(f'"{path}" find x', windows=True) == ["C:/Users/a b/bin/cv", "find", "x"]
    assert split_command(r"C:\bin\cv find x", windows=True) == []
    assert split_command(f'"{path}" find x; y', windows=True) == []


@posix
def test_the_hook_answers_where_the_kit_applies(hooks: Any, tree: Any, tmp_path: Path) -> None:
    launcher = hooks.variables["CV_LAUNCHER"]
    hooks.variables["PATH"] = "/usr/bin:/bin"

    def decision(command: str, tool: str = "Bash", **fields: Any) -> str:
        answer = hooks.run("pre-tool", tool_name=tool, tool_input={"command": command}, **fields)
        return str(answer.get("hookSpecificOutput", {}).get("permissionDecision", ""))

    assert decision(f'"{launcher}" find x') == "allow"
    assert decision(f'"{launcher}" find x', cwd=str(tree.root / "site")) == "allow"
    assert decision(f'"{launcher}" find x; ls') == ""
    assert decision("ls") == ""
    assert decision(f'"{launcher}" find x', tool="Write") == ""
    assert decision(f'"{launcher}" find x', cwd=str(tmp_path)) == ""
    tree.dismiss("site")
    assert decision(f'"{launcher}" find x', cwd=str(tree.root / "site")) == ""


@pytest.mark.parametrize("words", _ALLOWED, ids=" ".join)
def test_only_options_that_there_are_run_without_a_prompt(words: tuple[str, ...]) -> None:
    command: click.Command = cli
    for word in words:
        if isinstance(command, click.Group):
            command = command.commands[word]
    there = {option for parameter in command.params for option in parameter.opts}
    assert set(_ALLOWED[words]) <= there | {"-h", "--help", "--json"}
