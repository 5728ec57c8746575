"""The check of the list of senior roots on this machine."""

from __future__ import annotations

from backend.errors import CvError
from backend.schemas.doctor import Finding
from backend.setup.checks.levels import note, warning
from backend.tree.home import read_roots, standing


def check_roots() -> list[Finding]:
    """The list can be read; its entries where nothing is set up, of which those that are certainly gone can be taken out."""
    try:
        roots = read_roots()
    except CvError as error:
        return [warning("roots", str(error), todo="mend that file, or delete it")]
    found = []
    for root in roots:
        state = standing(root)
        if state == "gone":
            what = "is no longer set up there (moved, deleted, or taken out)"
            todo = (
                "run 'cv doctor --fix': it takes the entry out of 'cv list-roots' (a tree that was moved gets a new one by any "
                "command in it)"
            )
        elif state == "away":
            what = "is not there now: its disk may not be connected"
            todo = "nothing, where it comes back; else 'cv init --remove --senior-root PATH' takes it out of 'cv list-roots'"
        else:
            continue
        found.append(note("roots", f"{root} {what}", todo=todo, fixable=state == "gone"))
    return found
