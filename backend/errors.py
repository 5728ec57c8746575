"""What can go wrong, named.

Each message is written for the person who reads it: what was expected, what was found, what to do next.
"""

from __future__ import annotations

INTERRUPTED = "cv: interrupted; nothing is lost, the next sync goes on"
"""What a command says that was ended by Ctrl-C."""


class CvError(Exception):
    """A failure with words for a person; ``exit_code`` is what the command ends with."""

    exit_code = 1


class UsageError(CvError):
    """The command's arguments don't make sense."""

    exit_code = 2


class NotApplicable(CvError):
    """No senior root here."""

    exit_code = 3


class Busy(CvError):
    """Another writer is at work on this tree."""

    exit_code = 4
