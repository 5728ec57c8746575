"""``python -m backend``: the hooks first, without anything that is slow to import; everything else through the command line."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run what the arguments ask for, and end the process with its exit code."""
    if sys.argv[1:2] == ["hook"]:
        from backend.session.hook import run_hook

        # Without Python's tidying up, which a session would wait for; the answer is written unbuffered.
        os._exit(run_hook(sys.argv[2:]))
    from backend.cli import main as command_line

    _end(command_line())


def _end(code: int) -> None:
    """End without Python's tidying up, which takes a tenth of a second once Chroma has been imported; all files are closed by
    now, and what was printed is written here.
    """
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        pass  # the reader has gone
    except OSError as error:
        code = code or 1
        print(f"cv: the answer could not be written ({error.strerror})", file=sys.stderr)
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
