"""A tree that is set up, and its hooks run as Claude Code runs them: JSON on standard input, a process each."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


class Hooks:
    """Runs hooks in ``root``; ``variables`` are what Claude Code adds to the environment of every one of them."""

    def __init__(self, root: Path, launcher: Path) -> None:
        self.root = root
        self.session = "3f0c2a52-0000-4000-8000-000000000001"
        self.variables: dict[str, str] = {
            "CLAUDE_CODE_ENTRYPOINT": "cli",
            "CLAUDE_CODE_SESSION_ATTENDED": "1",
            "CV_LAUNCHER": str(launcher),
            "PYTHONPATH": str(ROOT),
        }

    def command(self, event: str, *options: str) -> list[str]:
        return [sys.executable, "-P", "-s", "-X", "utf8", "-m", "backend", "hook", event, *options]

    def environment(self) -> dict[str, str]:
        return {**os.environ, **self.variables}

    def fields(self, event: str, **fields: Any) -> dict[str, Any]:
        names = {
            "session-start": "SessionStart",
            "user-prompt": "UserPromptSubmit",
            "pre-tool": "PreToolUse",
        }
        return {
            "session_id": self.session,
            "transcript_path": "/nowhere/transcript.jsonl",
            "cwd": str(self.root),
            "hook_event_name": names[event],
            **fields,
        }

    def raw(self, event: str, data: bytes, *options: str) -> str:
        """Standard output; the exit code must be 0 and nothing may be on standard error."""
        done = subprocess.run(
            self.command(event, *options),
            input=data,
            env=self.environment(),
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == b""
        return done.stdout.decode()

    def run(self, event: str, *options: str, **fields: Any) -> dict[str, Any]:
        """The one JSON object of the answer; empty where there is none."""
        out = self.raw(event, json.dumps(self.fields(event, **fields)).encode(), *options)
        if not out:
            return {}
        answer = json.loads(out)
        assert isinstance(answer, dict)
        return answer

    def start(self, source: str = "startup", **fields: Any) -> dict[str, Any]:
        return self.run("session-start", source=source, **fields)

    def context(self, source: str = "startup", **fields: Any) -> str:
        return context_of(self.start(source, **fields))

    def prompt(self, text: str, **fields: Any) -> str:
        return context_of(self.run("user-prompt", prompt=text, **fields))

    def new_session(self) -> str:
        self.session = str(uuid.uuid4())
        return self.session

    def config(self) -> dict[str, Any]:
        return dict(json.loads((self.root / ".context-vigilance/config.json").read_text("utf-8")))

    def configure(self, **keys: Any) -> None:
        path = self.root / ".context-vigilance/config.json"
        path.write_text(json.dumps({**self.config(), **keys}), "utf-8")

    def log(self) -> str:
        path = self.root / ".context-vigilance/hook.log"
        return path.read_text("utf-8") if path.exists() else ""

    def documents(self) -> dict[str, Any]:
        path = self.root / ".context-vigilance/manifests/context-vigilance-corpus.json"
        return dict(json.loads(path.read_text("utf-8"))) if path.exists() else {}


def context_of(answer: dict[str, Any]) -> str:
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def wait_until(true: Callable[[], bool], seconds: float = 60.0) -> None:
    """For what a process that nobody waits for does."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


@pytest.fixture
def until() -> Callable[..., None]:
    return wait_until


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Two repos with documents, indexed; made once, since each test gets a copy."""
    from organisation import Organisation  # type: ignore[import-not-found]

    base = tmp_path_factory.mktemp("built")
    org = Organisation(base / "w\u00f6rk tree")
    org.repo("bay-labs")
    org.repo("site")
    for name in ("Price-List-Importer", "Rate-Limits", "Order-Desk-Handbook"):
        org.document(f"bay-labs/context-v/specs/{name}.md", title=name.replace("-", " "))
    org.document("site/context-v/plans/Launch-Plan.md")
    org.document("site/context-v/notes/Two words Here.md")
    org.document("site/changelog/2025-03-02_01.md")
    subprocess.run(
        [
            sys.executable,
            "-P",
            "-s",
            "-m",
            "backend",
            "init",
            "--senior-root",
            str(org.root),
            "--yes",
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(base), "CV_HOME": str(base / "cv")},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return org


@pytest.fixture
def tree(built: Any, tmp_path: Path) -> Any:
    """A copy of that tree, as a restored backup or a moved disk is one: every time of a file is kept."""
    from organisation import Organisation

    target = tmp_path / built.root.name
    shutil.copytree(built.root, target, symlinks=True, dirs_exist_ok=True)
    org = Organisation(target)
    path = target / ".context-vigilance/config.json"
    config = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**config, "senior_root": str(target)}), "utf-8")
    return org


@pytest.fixture
def hooks(tree: Any) -> Hooks:
    """The hooks of a session in that tree, the first session being over."""
    hooks = Hooks(tree.root, tree.root.parent / "plug in" / "bin" / "cv")
    hooks.configure(last_session_at="2025-03-20T09:00:00Z")
    return hooks


@pytest.fixture
def cv_session(tree: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Run ``cv session …`` as the agent's Bash tool does, with the session's ID in the environment. Returns what it prints."""
    from click.testing import CliRunner

    from backend.session.commands import session as group

    def run(*arguments: str, session: str, cwd: Path | None = None, code: int = 0) -> str:
        monkeypatch.chdir(cwd or tree.root)
        done = CliRunner().invoke(group, list(arguments), env={"CLAUDE_CODE_SESSION_ID": session})
        assert (done.exit_code == 0) == (code == 0), done.output
        return done.output if code == 0 else str(done.exception)

    return run
