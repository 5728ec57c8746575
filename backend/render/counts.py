"""How many there are of a thing, in words."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """The number with its noun, in the plural where it is not one: ``1 repo``, ``2 entries``."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"


def size_text(size: int) -> str:
    """A number of bytes as a person reads it: ``3 KB``, ``12.4 MB``."""
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{max(1, round(size / 1e3))} KB"
