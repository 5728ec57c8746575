"""Git repositories inside the tree: which one holds a file, what it is called, and whether two checkouts are the same repo."""

from __future__ import annotations

import os
import re
from collections.abc import Container
from pathlib import Path

from msgspec import Struct


class Repo(Struct, frozen=True):
    """A git checkout below the senior root. ``path`` is relative to it; ``worktree``: a linked one (``git worktree add``)."""

    path: str
    worktree: bool = False


def is_repo(folder: Path) -> bool:
    """Whether ``folder`` is the top of a checkout: a ``.git`` folder, or a ``.git`` file as submodules and worktrees have."""
    return _git_folder(folder) is not None


def is_worktree(folder: Path) -> bool:
    """Whether ``folder`` is a linked worktree of a checkout that lies elsewhere."""
    git = _git_folder(folder)
    return git is not None and _common_folder(git) != git


def main_checkout(folder: Path) -> Path | None:
    """The checkout that the linked worktree ``folder`` belongs to; None where it is none, or its repo has no checkout (bare)."""
    git = _git_folder(folder)
    if git is None:
        return None
    shared = _common_folder(git)
    return shared.parent if shared != git and shared.name == ".git" else None


def repo_slug(path: str, repos: Container[str], root_name: str) -> str:
    """The slug that ``path`` (relative to the senior root) belongs to.

    The outermost repo of ``repos`` (paths of repos strictly below the root) that holds it; where there is none its first
    folder; for a file of the root itself the root's own name.
    """
    parts = path.split("/")
    for depth in range(1, len(parts)):
        folder = "/".join(parts[:depth])
        if folder in repos:
            return folder
    return parts[0] if len(parts) > 1 else root_name


def innermost_repo(path: str, repos: Container[str]) -> str:
    """The innermost repo of ``repos`` that holds ``path`` (relative to the senior root); '' where only the root itself does."""
    folder = path
    while "/" in folder:
        folder = folder.rsplit("/", 1)[0]
        if folder in repos:
            return folder
    return ""


def identity(folder: Path) -> str:
    """What makes two checkouts the same repo: the first remote's address without protocol, user and ``.git``; for a repo
    without remotes its shared git folder (which linked worktrees have in common). Empty when nothing can be read.
    """
    git = _git_folder(folder)
    if git is None:
        return ""
    git = _common_folder(git)
    try:
        config = (git / "config").read_text("utf-8", "replace")
    except OSError:
        return ""
    remote = re.search(r'\[remote "[^"]*"\][^\[]*?^\s*url\s*=\s*"?([^"\n]+)', config, re.M)
    if remote is None:
        return str(git.resolve())
    protocol, _, address = remote.group(1).strip().casefold().rpartition("://")
    address = re.sub(r"^[^@/]*@", "", address)
    if protocol:
        address = re.sub(r"^([^/:]*):\d+(?=/)", r"\1", address)  # a port
    return address.replace(":", "/").removesuffix("/").removesuffix(".git")


def head_commit(folder: Path) -> str:
    """The commit that is checked out, as text, without running git; empty where there is none yet."""
    git = _git_folder(folder)
    if git is None:
        return ""
    try:
        head = (git / "HEAD").read_text("utf-8", "replace").strip()
        if not head.startswith("ref: "):
            return head
        name = head.removeprefix("ref: ")
        for place in (git, _common_folder(git)):
            if os.path.isfile(place / name):
                return (place / name).read_text("utf-8", "replace").strip()
        packed = (_common_folder(git) / "packed-refs").read_text("utf-8", "replace")
    except OSError:
        return ""
    match = re.search(rf"^([0-9a-f]+) {re.escape(name)}$", packed, re.M)
    return match.group(1) if match else ""


def _common_folder(git: Path) -> Path:
    """The git folder that a linked worktree shares with its main checkout (its file ``commondir`` names it), else ``git``."""
    try:
        return Path(
            os.path.normpath(git / (git / "commondir").read_text("utf-8", "replace").strip())
        )
    except OSError:
        return git


def _git_folder(folder: Path) -> Path | None:
    git = folder / ".git"
    if os.path.isdir(git):
        return git
    try:
        text = git.read_text("utf-8", "replace")
    except OSError:
        return None
    if not text.startswith("gitdir:"):
        return None
    return folder / text.removeprefix("gitdir:").strip()
