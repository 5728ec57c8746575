"""A builder of small synthetic organisations: documents in words of our own, real git repos, copies, markers."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

KIT = ".context-vigilance"
MARKER = ".context-vigilance-skip"

_WORDS = (
    "orchard hedge lantern ferry kiln granite harbour meadow anvil beacon barley cellar dovecote ember fallow gable "
    "hamlet inlet juniper kettle ledger millpond nettle osier paddock quarry rafter sluice thicket upland vessel wharf "
    "yeoman bramble chalk drover estuary furrow grove heath ivory jetty knoll larch mortar oakum pulley rudder saddle"
).split()


def prose(seed: str, sentences: int = 12) -> str:
    """Sentences that differ with ``seed`` and are the same on every machine; some 45 characters each."""
    dice = random.Random(seed)
    lines = []
    for _ in range(sentences):
        words = dice.sample(_WORDS, 7)
        lines.append(f"The {words[0]} {' '.join(words[1:])}.")
    return "\n".join(lines)


def sections(seed: str, count: int) -> str:
    """A body of ``count`` sections with a ``## `` heading each, so that it becomes ``count`` chunks."""
    return "\n\n".join(f"## Part {n}\n\n{prose(f'{seed} {n}')}" for n in range(1, count + 1))


class Organisation:
    """A tree of repos below ``root``. Paths are POSIX text relative to it; days are ISO text."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)

    def path(self, path: str) -> Path:
        return self.root / path

    # --- documents -------------------------------------------------------------------------------------------------

    def write(self, path: str, data: str | bytes) -> Path:
        """A file as given; its folders are made."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data if isinstance(data, bytes) else data.encode())
        return target

    def document(
        self,
        path: str,
        body: str | None = None,
        *,
        title: str | None = None,
        day: str | None = "2025-03-14",
        tags: Sequence[str] = (),
        authors: Sequence[str] = (),
        count: int = 1,
        **fields: object,
    ) -> Path:
        """A document with frontmatter. ``body`` is by default ``count`` sections of prose of its own; ``day`` None: undated."""
        stem = path.rsplit("/", 1)[-1].removesuffix(".md")
        lines = [f"title: {title or stem.replace('-', ' ')}"]
        if day:
            lines.append(f"date_modified: {day}")
        if tags:
            lines.append(f"tags: [{', '.join(tags)}]")
        if authors:
            lines.append(f"authors: [{', '.join(authors)}]")
        lines += [f"{key}: {value}" for key, value in fields.items()]
        text = sections(path, count) if body is None else body
        return self.write(path, "---\n" + "\n".join(lines) + "\n---\n\n" + text + "\n")

    def roll_up(self, source: str, target: str, *, repo: str, inner: str) -> Path:
        """A generated copy of ``source`` as site generators leave it: the same body, and where it came from."""
        text = (self.root / source).read_text("utf-8")
        _, front, body = text.split("---\n", 2)
        return self.write(target, f"---\n{front}from: {repo}\nfrom_path: {inner}\n---\n{body}")

    def edit(self, path: str, old: str, new: str) -> Path:
        """Replace ``old``, which must be there, by ``new``."""
        text = (self.root / path).read_text("utf-8")
        assert old in text, f"{path} does not hold {old!r}"
        return self.write(path, text.replace(old, new))

    def move(self, source: str, target: str) -> Path:
        (self.root / target).parent.mkdir(parents=True, exist_ok=True)
        return (self.root / source).rename(self.root / target)

    def delete(self, path: str) -> None:
        target = self.root / path
        shutil.rmtree(target) if target.is_dir() and not target.is_symlink() else target.unlink()

    def dismiss(self, folder: str) -> Path:
        """Put the marker into ``folder``."""
        return self.write(f"{folder}/{MARKER}" if folder else MARKER, "")

    def link(self, path: str, target: str) -> Path:
        """A symlink at ``path`` with ``target`` as written."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)
        return place

    def touch(self, path: str, mtime: float) -> None:
        os.utime(self.root / path, (mtime, mtime))

    # --- git -------------------------------------------------------------------------------------------------------

    def git(self, folder: str, *arguments: str, day: str = "2025-03-14") -> str:
        """Run git in ``folder``; commits get ``day``, noon UTC, as their date."""
        moment = f"{day}T12:00:00+00:00"
        names = {
            f"GIT_{who}_{what}": "Test"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        environment = {
            key: value for key, value in os.environ.items() if not key.startswith("GIT_")
        }
        environment |= names | {
            "GIT_AUTHOR_DATE": moment,
            "GIT_COMMITTER_DATE": moment,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
        }
        command = [
            "git",
            "-c",
            "init.defaultBranch=main",
            "-c",
            "protocol.file.allow=always",
            *arguments,
        ]
        done = subprocess.run(
            command, cwd=self.root / folder, env=environment, capture_output=True, check=False
        )
        assert done.returncode == 0, f"{command}: {done.stderr.decode()}"
        return done.stdout.decode()

    def repo(self, folder: str, *, remote: str = "") -> None:
        """Make ``folder`` a git repo."""
        (self.root / folder).mkdir(parents=True, exist_ok=True)
        self.git(folder, "init", "--quiet")
        if remote:
            self.git(folder, "remote", "add", "origin", remote)

    def commit(self, folder: str, day: str, message: str = "work") -> str:
        """Commit all that is in ``folder``; returns the commit."""
        self.git(folder, "add", "--all", day=day)
        self.git(folder, "commit", "--quiet", "--allow-empty", "--message", message, day=day)
        return self.git(folder, "rev-parse", "HEAD").strip()

    # --- the whole -------------------------------------------------------------------------------------------------

    def fingerprint(self) -> dict[str, str]:
        """Every source file (nothing of the kit's own folder, nothing of git's) with the hash of its bytes and its mtime."""
        found = {}
        todo = [self.root]
        while todo:
            for path in todo.pop().iterdir():
                name = str(path.relative_to(self.root))
                if path.is_symlink():
                    found[name] = f"link to {path.readlink()}"
                elif path.is_file():
                    digest = hashlib.sha256(path.read_bytes()).hexdigest()
                    found[name] = f"{digest} {path.stat().st_mtime_ns}"
                elif path.is_dir() and path.name not in (".git", KIT):
                    todo.append(path)
        return found
