"""What is kept of an error that nobody foresaw, and what a person is told of it."""

from __future__ import annotations

import traceback

from backend import __version__
from backend.tree.home import cv_home


def keep_defect(error: BaseException) -> str:
    """Keep the traceback in ``CV_HOME/defects.log``, and say in words what happened and where it lies."""
    log = cv_home() / "defects.log"
    lines = "".join(traceback.format_exception(error))
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a", encoding="utf-8") as file:
            file.write(f"--- {__version__} {type(error).__name__}\n{lines}\n")
        where = f"details are in {log}; please report them"
    except OSError:
        where = "its details could not be written down"
    return f"a defect in Context Vigilance ({type(error).__name__}: {error}); {where}"
