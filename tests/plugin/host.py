"""Claude Code itself, as a person has it: the real program with a home of its own, a plugin installed from a git marketplace."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from model import Model, said  # type: ignore[import-not-found]

ROOT = Path(__file__).resolve().parents[2]
NEWEST = "2.1.332"
KEY = "sk-ant-fake-key-for-the-loopback-only"


def find_program(folder: Path) -> tuple[str, str]:
    """The program and, where it can't be had, why not. ``CV_CLAUDE_BIN`` names one; otherwise npm installs it into ``folder``."""
    if named := os.environ.get("CV_CLAUDE_BIN"):
        return named, "" if Path(
            named
        ).exists() else f"CV_CLAUDE_BIN names {named}, which is not there"
    if os.name == "nt":
        return "", "these tests need a POSIX terminal"
    npm = shutil.which("npm")
    if npm is None:
        return "", "Claude Code is not there: neither CV_CLAUDE_BIN nor npm"
    command = [
        npm,
        "install",
        "--prefix",
        str(folder),
        "--no-save",
        "--silent",
        f"@anthropic-ai/claude-code@{NEWEST}",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        return (
            "",
            f"Claude Code could not be installed by npm: {(done.stderr or done.stdout).strip()[-200:]}",
        )
    return str(folder / "node_modules/.bin/claude"), ""


class Host:
    """One home with its installed plugin. ``hub`` stands for GitHub: git is told to look there instead."""

    def __init__(self, program: str, base: Path, model: Model) -> None:
        self.program, self.base, self.model = program, base, model
        self.home = base / "ho me"  # the plugin's root then holds a blank
        self.home.mkdir(parents=True)
        self.hub = base / "hub"
        self.variables: dict[str, str] = {}
        (self.home / ".gitconfig").write_text(
            f'[url "file://{self.hub}/"]\n\tinsteadOf = https://github.com/\n'
            "[user]\n\tname = t\n\temail = t@example.org\n[core]\n\tsafecrlf = false\n"
        )
        self.settle_home()

    def settle_home(self) -> None:
        """What a person has clicked away long ago, and an environment that is ready: the one these tests run in."""
        self.say_trusted()
        key = (
            (ROOT / "requirements.txt").read_text("utf-8").split("\n", 1)[0].removeprefix("# key: ")
        )
        folder = self.home / ".local/share/context-vigilance/environments" / key
        folder.mkdir(parents=True)
        for name in ("bin", "lib", "pyvenv.cfg"):
            (folder / name).symlink_to(Path(sys.prefix) / name)
        (folder / "ready").write_text("now\n", "utf-8")

    def say_trusted(self, *folders: Path) -> None:
        path = self.home / ".claude.json"
        known: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
        known |= {
            "hasCompletedOnboarding": True, "lastOnboardingVersion": "2.1.197", "theme": "dark",
            "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
        }  # fmt: skip
        for folder in folders:
            project = known.setdefault("projects", {}).setdefault(str(folder), {})
            project |= {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        path.write_text(json.dumps(known), "utf-8")

    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"], "HOME": str(self.home), "TERM": "xterm-256color", "LANG": "C.UTF-8", "SHELL": "/bin/bash",
            "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": self.model.url, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_ERROR_REPORTING": "1", **self.variables,
        }  # fmt: skip

    def run(self, *arguments: str, cwd: Path | None = None) -> str:
        done = subprocess.run(
            [self.program, *arguments], cwd=cwd or self.home, env=self.environment(), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"claude {arguments}: {done.stdout}\n{done.stderr}"
        return done.stdout

    def prompt(self, text: str, *arguments: str, cwd: Path) -> list[str]:
        """One run of ``claude -p``; what each request of the main loop said. The script is the model's."""
        self.run("-p", text, "--output-format", "json", *arguments, cwd=cwd)
        return [said(body) for body in self.model.requests]

    def version(self) -> tuple[int, ...]:
        return tuple(int(part) for part in self.run("--version").split()[0].split("."))

    # --- the plugin ------------------------------------------------------------------------------------------------

    def publish(self, version: str) -> None:
        """Put the plugin's files, as they are in the work tree, into the marketplace's repository as ``version``."""
        repo = self.hub / "team/context-vigilance.git"
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT, capture_output=True, check=True,
        ).stdout.decode()  # fmt: skip
        for name in filter(None, listed.split("\0")):
            if name.startswith(("tests/", "tools/", "benchmarks/")) or not (ROOT / name).is_file():
                continue
            (repo / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, repo / name)
        for name in ("plugin.json", "marketplace.json"):
            path = repo / ".claude-plugin" / name
            path.write_text(
                re.sub(r'"version": "[^"]*"', f'"version": "{version}"', path.read_text("utf-8")),
                "utf-8",
            )
        for command in (
            ["init", "--quiet"],
            ["add", "--all"],
            ["commit", "--quiet", "--message", version],
        ):
            subprocess.run(["git", *command], cwd=repo, env=self.environment(), check=True)

    def install(self) -> Path:
        """As a person does it; returns the plugin's root."""
        self.run("plugin", "marketplace", "add", "team/context-vigilance")
        self.run("plugin", "install", "context-vigilance@context-vigilance")
        return self.plugin_root()

    def plugin_root(self) -> Path:
        (root,) = (
            path
            for path in (
                self.home / ".claude/plugins/cache/context-vigilance/context-vigilance"
            ).iterdir()
            if not (path / ".orphaned_at").exists()
        )
        return root

    def cv(self, *arguments: str, cwd: Path) -> str:
        """The plugin's own command line, as a person's terminal has it."""
        done = subprocess.run(
            [self.plugin_root() / "bin/cv", *arguments],
            cwd=cwd,
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


class Terminal:
    """An interactive session in a terminal that nobody sees."""

    def __init__(self, host: Host, cwd: Path, *arguments: str) -> None:
        host.say_trusted(cwd)
        self.host = host
        mode = "manual" if host.version() >= (2, 1, 300) else "default"
        self.main, side = pty.openpty()
        self.process = subprocess.Popen(
            [host.program, "--permission-mode", mode, *arguments], cwd=cwd,
            env={**host.environment(), "COLUMNS": "120", "LINES": "50"},
            stdin=side, stdout=side, stderr=side, start_new_session=True, close_fds=True,
        )  # fmt: skip
        os.close(side)
        self.screen = b""
        self.sent = 0.0  # when the newest line was (time.monotonic)
        threading.Thread(target=self._drain, daemon=True).start()

    def _drain(self) -> None:
        while True:
            try:
                ready, _, _ = select.select([self.main], [], [], 0.2)
                if ready:
                    data = os.read(self.main, 1 << 16)
                    if not data:
                        return
                    self.screen += data
            except OSError:
                return

    def text(self) -> str:
        return re.sub(
            r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07]*\x07|[=>()].?)",
            " ",
            self.screen.decode("utf-8", "replace"),
        )

    def wait(self, done: Any, what: str, seconds: float = 40) -> None:
        end = time.monotonic() + seconds
        while not done():
            assert time.monotonic() < end, (
                f"{what} did not happen; the screen ends with:\n{self.text()[-3000:]}"
            )
            assert self.process.poll() is None, (
                f"claude ended; {what} did not happen:\n{self.text()[-3000:]}"
            )
            time.sleep(0.05)

    def ready(self) -> Terminal:
        self.wait(lambda: "❯" in self.text() or "? for shortcuts" in self.text(), "a prompt")
        return self

    def type(self, text: str) -> None:
        """Type a line and send it; a pause makes the two different events for the terminal's reader."""
        os.write(self.main, text.encode())
        self.wait(
            lambda: text[-12:].replace(" ", "") in self.text().replace(" ", ""),
            "the echo of what was typed",
        )
        time.sleep(0.3)
        self.sent = time.monotonic()
        os.write(self.main, b"\r")

    def ask(self, text: str, requests: int = 1) -> list[str]:
        """Send a message; what the next requests of the main loop said, once there are so many."""
        before = len(self.host.model.requests)
        self.type(text)
        self.wait(
            lambda: len(self.host.model.requests) >= before + requests,
            f"request {requests} of the model",
        )
        return [said(body) for body in self.host.model.requests[before:]]

    def close(self) -> None:
        if self.process.poll() is not None:
            return
        self.process.kill()
        self.process.wait()
        os.close(self.main)
