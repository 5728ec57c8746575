"""``python -m backend``: the hooks first, without anything that is slow to import; everything else through the command line."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from backend.errors import INTERRUPTED


def main() -> None:
    """Run what the arguments ask for, and end the process with its exit code."""
    _fill_closed_streams()
    if sys.argv[1:2] == ["hook"]:
        from backend.session.hook import run_hook

        # Without Python's tidying up, which a session would wait for; the answer is written unbuffered.
        os._exit(run_hook(sys.argv[2:]))
    _keep_standard_error()
    try:
        from backend.cli import main as command_line

        code = command_line()
    except KeyboardInterrupt:  # while it imports, or says what it has to say
        print(INTERRUPTED, file=sys.stderr)
        code = 130
    _end(code)


def _fill_closed_streams() -> None:
    """Let what is written to a stream that the caller has closed (``>&-``) go nowhere, and nothing be read from one: the next
    file to be opened would get the stream's number, and the words. The same for the programs that we start.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free: this one
            os.set_inheritable(number, True)
    sys.stdin = sys.stdin or os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8", closefd=False)


def _keep_standard_error() -> None:
    """Have Python write to a copy of the standard error's handle, since 2 itself is closed to libraries for moments (see
    ``backend.freshness.clients``), in which how far we are is shown all the same.
    """
    with suppress(OSError):  # too many files are open: then a moment of it is lost
        sys.stderr = os.fdopen(
            os.dup(2), "w", buffering=1, encoding=sys.stderr.encoding, errors=sys.stderr.errors
        )


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
        with suppress(OSError):  # the same full disk may be behind both
            print(f"cv: the answer could not be written ({error.strerror})", file=sys.stderr)
    with suppress(OSError):
        sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
