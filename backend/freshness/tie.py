"""What ties a Chroma folder to the database that it was filled from: a token, made for each filling, that stands in both.

Where the two differ, the folder is another's, or only a part of one, and is made anew.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from pathlib import Path

from backend.freshness.graph import damage
from backend.freshness.places import TIE
from backend.schemas.config import Config

_MAGIC = b"SQLite format 3\0"
"""What every SQLite database begins with (its file format, section 1.2)."""


LAYOUT = "2"
"""How a folder is filled; one that was filled in another way is made anew. Before 2 the words of deleted text stayed."""


def new_token() -> str:
    """A token for a folder that has just been filled."""
    return f"{LAYOUT}-{uuid.uuid4().hex}"


def tie(folder: Path, token: str) -> None:
    """Leave ``token`` in a Chroma folder, and which files of vectors it has."""
    parts = sorted(path.relative_to(folder).as_posix() for path in folder.glob("*/*"))
    (folder / TIE).write_text("\n".join((token, *parts)))


def token_of(folder: Path) -> str:
    """The token in a Chroma folder; "none" where it or a part of the folder is missing or too short, or the layout is another."""
    try:
        token, *parts = (folder / TIE).read_text().split("\n")
    except (OSError, ValueError):
        return "none"
    whole = token.startswith(f"{LAYOUT}-") and is_database(folder / "chroma.sqlite3")
    whole = whole and all((folder / part).is_file() for part in parts)
    return token if whole and not damage(folder, links=False) else "none"


def is_database(path: Path) -> bool:
    """Whether ``path`` at least begins like an SQLite database."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def in_line(folder: Path, config: Config, roles: Iterable[str], fact: Callable[[str], str]) -> bool:
    """Whether a Chroma folder is the one that a database remembers (``fact``), under the collections' names of ``config``."""
    return token_of(folder) == fact("chroma") != "" and fact("names") == names(config, roles)


def names(config: Config, roles: Iterable[str]) -> str:
    """How ``config`` calls the collections of ``roles``; a name holds no blank."""
    return " ".join(config.collections.of(role) for role in roles)
