"""Drop from a requirements file the hashes of wheels that nobody here can take; tools/lock.sh runs it.

A release has wheels also for Pythons that the plugin does not run on (3.10, 3.15, free-threaded ones, PyPy), and for systems
that chromadb has none for (musl, 32 bits, ppc64le, …). Their hashes were four fifths of the lock files, which every installed
version of the plugin carries::

    python3 -I tools/wheels.py requirements.txt pylock.toml

In: the requirements file as uv writes it, and the same pins as a pylock.toml (PEP 751), which says to which file a hash
belongs. Out: the requirements file, written anew. A hash that pylock.toml does not name is dropped too (uv leaves out what
the oldest Python makes impossible). Ends with a message where a pin would be left without a hash.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

# CPython 3.x. README.md and pyproject.toml name all but 3.14, which bin/cv takes where there is nothing else.
MINORS = (11, 12, 13, 14)
NEWEST = max(MINORS)

# Pairs of a wheel's Python tag and ABI tag, as the packaging user guide's "Platform compatibility tags" defines them.
TAKEN = frozenset(
    [
        *((f"cp3{minor}", abi) for minor in MINORS for abi in (f"cp3{minor}", "none")),
        *((f"cp3{minor}", "abi3") for minor in range(2, NEWEST + 1)),  # the stable ABI, from 3.2 on
        *((f"py3{minor}", "none") for minor in range(NEWEST + 1)),
        ("py3", "none"),
    ]
)


# The systems that chromadb 1.5.9 has wheels for.
SYSTEM = re.compile(
    r"any|win_amd64|manylinux\w*_(x86_64|aarch64)|macosx_\w+_(x86_64|arm64|universal2)"
)


def is_taken(wheel: str) -> bool:
    """Return whether a supported Python takes the wheel of this file name, on a system that chromadb has wheels for."""
    _, pythons, abis, systems = wheel.removesuffix(".whl").rsplit("-", 3)
    return any(SYSTEM.fullmatch(system) for system in systems.split(".")) and any(
        (python, abi) in TAKEN for python in pythons.split(".") for abi in abis.split(".")
    )


def kept_hashes(pylock: dict[str, Any]) -> set[str]:
    """Return the hashes, as ``sha256:…``, of the wheels that a supported Python takes."""
    wheels = [wheel for package in pylock["packages"] for wheel in package.get("wheels", ())]
    return {
        f"sha256:{wheel['hashes']['sha256']}"
        for wheel in wheels
        if is_taken(wheel.get("name") or wheel["url"].rsplit("/", 1)[1])
    }


def slimmed(requirements: str, kept: set[str]) -> str:
    """Return the text of a requirements file with those hashes only. Raises SystemExit where a pin would have none."""
    lines: list[str] = []
    for pin in requirements.replace(" \\\n    --hash=", "\0").splitlines():
        name, *hashes = pin.split("\0")
        left = [value for value in hashes if value in kept]
        if hashes and not left:
            raise SystemExit(
                f"{name}: none of its {len(hashes)} hashes is of a wheel that CPython 3.11 to 3.{NEWEST} takes"
            )
        lines.append(" \\\n    --hash=".join([name, *left]))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    file, lock = map(Path, sys.argv[1:])
    kept = kept_hashes(tomllib.loads(lock.read_text("utf-8")))
    file.write_text(slimmed(file.read_text("utf-8"), kept), "utf-8", newline="\n")
