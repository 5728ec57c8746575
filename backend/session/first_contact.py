"""A tree with context-v folders where nobody has set the kit up: said once ever, to the user. Standard library only."""
# Importing pathlib takes as long as all of this.
# ruff: noqa: PTH103, PTH110, PTH118, PTH120

from __future__ import annotations

import os
import zlib

from backend.session.event import home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MARKER = ".context-vigilance-skip"


def first_contact(folder: str) -> dict[str, Any] | None:
    """The message for a session in ``folder``, where no config is reachable; None where there is nothing to say.

    Looks for ``context-v`` in the folder itself and in its git root, nowhere else. That it was said is kept in
    ``CV_HOME/first-contact/``, a file a tree; where that can't be noted, it is never said.
    """
    here = os.path.realpath(folder)
    top = _git_root(here)
    if not any(os.path.isdir(os.path.join(place, "context-v")) for place in {here, top}):
        return None
    if _opted_out(here, top):
        return None
    key = f"{zlib.crc32(top.encode(errors='surrogateescape')):08x}"
    note = os.path.join(home(), "first-contact", key)
    try:
        os.makedirs(os.path.dirname(note), exist_ok=True)
        os.close(os.open(note, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError:
        return None
    return {
        "systemMessage": "Context Vigilance: there are context-v documents here, but no index yet. /cv-init sets one up "
        "(about a minute, once); this is not said again for this folder."
    }


def _git_root(folder: str) -> str:
    """The nearest folder from ``folder`` upwards that is a git checkout's top; ``folder`` where there is none below home."""
    user_home = os.path.realpath(os.path.expanduser("~"))
    here = folder
    while here != user_home:
        if os.path.exists(os.path.join(here, ".git")):
            return here
        above = os.path.dirname(here)
        if above == here:
            break
        here = above
    return folder


def _opted_out(folder: str, top: str) -> bool:
    here = folder
    while True:
        if os.path.lexists(os.path.join(here, _MARKER)):
            return True
        above = os.path.dirname(here)
        if here == top or above == here:
            return False
        here = above
