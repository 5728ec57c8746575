"""Run the command line and kill the process with SIGKILL, which nothing can catch: ``killer.py LIMIT WATCHED COMMAND…``.

LIMIT is a number, of the line at which it dies, or the name of a function, at whose call it dies; of the files counts only what
WATCHED (a regular expression) finds in their paths. With LIMIT 0 it lives, and says on standard error how many lines it ran.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from types import FrameType
from typing import Any

# Imported before the count begins, so that a limit means the same line on every machine.
import chromadb  # noqa: F401

import backend.freshness.status
import backend.freshness.sync
import backend.private.forget
import backend.private.plan
import backend.private.sync
import backend.render.progress  # noqa: F401
from backend.cli import main

limit, watched = sys.argv[1], re.compile(sys.argv[2])
last = int(limit) if limit.isdigit() else -1
lines = 0


def line(_frame: FrameType, _event: str, _argument: Any) -> Any:
    global lines
    lines += 1
    if lines == last:
        os.kill(os.getpid(), signal.SIGKILL)
    return line


def call(frame: FrameType, _event: str, _argument: Any) -> Any:
    if not watched.search(frame.f_code.co_filename.replace("\\", "/")):
        return None
    if frame.f_code.co_name == limit:
        os.kill(os.getpid(), signal.SIGKILL)
    return line


sys.settrace(call)
code = main(sys.argv[3:])
sys.settrace(None)
print(lines, file=sys.stderr)
sys.exit(code)
