"""Which folder ``cv init`` proposes as the senior root, and what it says it found there."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path, PurePosixPath

from msgspec import Struct

from backend.render.counts import counted
from backend.render.inert import inert
from backend.render.skipped import skipped_text
from backend.schemas.config import Config
from backend.schemas.roles import CHANGELOG_ROLE, CORPUS_ROLE, ROLES
from backend.tree.config import config_path, load_config
from backend.tree.found import Tree
from backend.tree.home import registered_roots
from backend.tree.repos import is_repo
from backend.tree.root import KIT_FOLDER, find_root
from backend.tree.sources import choices, load_sources
from backend.tree.walk import discover

_SECONDS = 2.0
_SECONDS_PER_MB = 3.0
"""How long a first index takes: start, and reading, embedding and storing. 2 s/MB were measured on two cores of a server (12 to
600 documents); half as much again for a laptop on battery. An estimate for a person who waits, no more."""

_REPOS_SHOWN = 6


class Survey(Struct, frozen=True, kw_only=True):
    """A first look at a tree, nothing read. ``repos``: slug to its documents and entries; ``inner``: senior roots below."""

    root: Path
    set_up: bool
    checkouts: int
    documents: int
    entries: int
    size: int
    repos: dict[str, int]
    skipped: dict[str, int]
    unreadable: int
    inner: tuple[Path, ...]

    @property
    def seconds(self) -> float:
        """About how long the first index takes."""
        return _SECONDS + _SECONDS_PER_MB * self.size / 1e6


def propose_root(folder: Path) -> Path:
    """The senior root for a person who stands in ``folder``: one that is set up already, else the folder above the
    outermost git repo when that holds several repos, else the outermost repo, else ``folder`` itself.
    """
    if (known := find_root(folder)) is not None:
        return known
    folder = folder.resolve()
    home = Path("~").expanduser().resolve()
    below_home = [p for p in (folder, *folder.parents) if p != home and p not in home.parents]
    outermost = next((p for p in reversed(below_home) if is_repo(p)), None)
    if outermost is None:
        return folder
    above = outermost.parent
    if above in below_home and _repos_in(above) > 1:
        return above
    return outermost


def look_over(root: Path) -> Survey:
    """Survey ``root``. Raises ``CvError`` where a config or a ``sources.md`` that is there can't be read."""
    set_up = config_path(root).is_file()
    config = load_config(root) if set_up else Config(senior_root=str(root))
    tree = discover(root, config, choices(load_sources(root)))
    count = Counter(file.role for file in tree.files.values())
    return Survey(
        root=root,
        set_up=set_up,
        checkouts=len(tree.repos),
        documents=count[CORPUS_ROLE],
        entries=count[CHANGELOG_ROLE],
        size=sum(file.size for file in tree.files.values()),
        repos=dict(Counter(file.repo for file in tree.files.values()).most_common()),
        skipped=dict(sorted(sum((tree.skipped[role] for role in ROLES), Counter()).items())),
        unreadable=len(tree.unreadable),
        inner=_roots_below(root, tree),
    )


def survey_text(survey: Survey) -> str:
    """What a first look finds, a few lines."""
    lines = [
        f"{survey.root}{' (set up already)' if survey.set_up else ''}",
        f"  {counted(survey.checkouts, 'repo')}, {counted(survey.documents, 'context-v document')}, "
        f"{counted(survey.entries, 'changelog entry')}",
    ]
    if not survey.repos:
        lines.append("  no context-v or changelog folder was found: is this the right folder?")
        return "\n".join(lines)
    most = [
        f"{inert(slug, 120)} {count}" for slug, count in list(survey.repos.items())[:_REPOS_SHOWN]
    ]
    rest = len(survey.repos) - _REPOS_SHOWN
    more = f" and {rest} more" if rest > 0 else ""
    lines.append(f"  documents by repo: {', '.join(most)}{more}")
    if survey.skipped:
        lines.append(f"  left out: {skipped_text(survey.skipped)}")
    if survey.unreadable:
        lines.append(f"  {counted(survey.unreadable, 'folder')} could not be read")
    lines.append("  (copies and private documents show when the files are read)")
    if not survey.set_up:
        lines.append(f"  the first index takes {in_words(survey.seconds)}")
    return "\n".join(lines)


def in_words(seconds: float) -> str:
    """About how long, for a person who waits."""
    if seconds < 10:
        return "a few seconds"
    if seconds < 90:
        return f"about {round(seconds, -1):.0f} seconds"
    return f"about {max(2, round(seconds / 60))} minutes"


def _roots_below(root: Path, tree: Tree) -> tuple[Path, ...]:
    """Senior roots below ``root``: where one can lie (a repo, a folder above a repo or a documents folder), and those that this
    machine knows of.
    """
    below = [*tree.repos, *(str(PurePosixPath(place.path).parent) for place in tree.places)]
    folders = {
        root / parent for path in below for parent in (path, *map(str, PurePosixPath(path).parents))
    }
    folders |= {known for known in registered_roots() if known.is_relative_to(root)}
    return tuple(
        sorted(f for f in folders - {root} if os.path.isfile(f / KIT_FOLDER / "config.json"))
    )


def _repos_in(folder: Path) -> int:
    try:
        return sum(is_repo(p) for p in folder.iterdir() if p.is_dir())
    except OSError:
        return 0
