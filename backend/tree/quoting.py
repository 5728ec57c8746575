"""Words for a command line that a person copies."""

from __future__ import annotations

import os
import shlex


def quoted(text: object, *, windows: bool = os.name == "nt") -> str:
    """A path or another text as one word, in quotes where it needs them; on Windows for cmd, PowerShell and Git Bash alike."""
    word = shlex.quote(str(text))
    return f'"{text}"' if windows and word != str(text) else word
