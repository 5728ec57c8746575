"""``python -m backend``: the hooks first, without anything that is slow to import; everything else through the command line."""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Run what the arguments ask for; returns the exit code."""
    if sys.argv[1:2] == ["hook"]:
        from backend.session.hook import run_hook

        # Without Python's tidying up, which a session would wait for; the answer is written unbuffered.
        os._exit(run_hook(sys.argv[2:]))
    from backend.cli import main as command_line

    return command_line()


if __name__ == "__main__":
    sys.exit(main())
