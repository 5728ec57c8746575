"""Where the private collections lie: in a folder of their own, which no sync, rebuild or repair of the documents touches."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from backend.errors import CvError
from backend.freshness.places import chroma_path
from backend.schemas.config import Chroma, Config, Embedding
from backend.tree.files import write_if_changed
from backend.tree.gitdates import clean_environment
from backend.tree.lock import exclusive
from backend.tree.root import KIT_FOLDER, refuse_links, require_plain_kit

PRIVATE_KIT = f"{KIT_FOLDER}/private"
"""Relative to the senior root; what the store calls a kit: it holds ``chroma/`` and ``chroma.lock``."""

_GIT_TAKES = 30.0
"""Seconds at most."""


def private_folder(root: Path) -> Path:
    """The folder of all private data of ``root``."""
    return root / PRIVATE_KIT


def ledger_path(root: Path) -> Path:
    """The ledger of ``root``."""
    return private_folder(root) / "ledger.sqlite"


def private_chroma(root: Path) -> Path:
    """Chroma's folder with the private collections."""
    return chroma_path(root, PRIVATE_KIT)


def local(config: Config) -> Config:
    """``config`` with Chroma in a folder here and the embedder that ships inside, whatever a team's server or a provider is
    configured for documents: private text leaves the machine for neither.
    """
    return replace(config, chroma=Chroma(), embedding=Embedding())


def make_folder(root: Path) -> None:
    """Make the private folder, for its owner alone and out of git's sight. Raises ``CvError`` where it is a link."""
    require_plain(root)
    folder = private_folder(root)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)  # it may have come with a copied tree
    except OSError as error:
        raise CvError(f"{folder}: could not be made ({error.strerror or error})") from error
    write_if_changed(folder / ".gitignore", b"# Private to this machine.\n*\n")


@contextmanager
def the_writer(root: Path) -> Iterator[None]:
    """The lock of the one who writes private data. Raises ``Busy`` at once when it is taken."""
    make_folder(root)
    busy = "another run is at work on the private collections; try again when it has ended"
    with exclusive(private_folder(root) / "writer.lock", seconds=0, busy=busy):
        yield


def require_plain(root: Path) -> None:
    """Raise ``CvError`` when the private folder, or anything in it, is a link: a cloned tree could lead us elsewhere by it."""
    require_plain_kit(root)
    refuse_links(str(private_folder(root)))


def require_untracked(root: Path) -> None:
    """Raise ``CvError`` when git tracks a file of the private folder: the next ``git commit -a`` would publish what is stored.

    Its ``.gitignore`` does not help then. Any repo may hold it: one around the tree, the kit's folder itself, the private one.
    """
    folder = private_folder(root)
    for place in (root, folder.parent, folder):
        tracked = _tracked(place, folder)
        if tracked:
            where, what = shlex.quote(str(place)), shlex.quote(str(folder))
            line = f"git -C {where} rm -r -q --cached -- {what}"
            raise CvError(
                f"{folder}: git tracks a file in it ({tracked}), so that 'git commit -a' would publish what is read from "
                f"transcripts. Nothing was read. Run '{line}', commit that, then run the same again"
            )


def _tracked(place: Path, folder: Path) -> str:
    """The first file of ``folder`` that the repo of ``place`` tracks; empty where there is none, no repo, or no git."""
    command = ["git", "-c", "core.fsmonitor=false", "-c", "safe.directory=*"]
    command += ["-C", str(place), "ls-files", "-z", "--", str(folder)]
    try:
        done = subprocess.run(
            command,
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_TAKES,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.split(b"\0")[0].decode("utf-8", "replace")
