"""The files in which Chroma keeps a collection's graph of vectors, looked at without Chroma: it believes all that stands in them,
and where they don't fit together it ends the process (a wrong length, a link that leads nowhere), or writes what it finds beside
them.

As chroma-hnswlib writes them (``saveIndex``; Chroma 1.5.9). ``header.bin`` says how many places there are and how many are in
use, which come first. ``data_level0.bin`` has for each place its links at the lowest level (a uint16 for how many, two bytes of
flags, then a uint32 each), the vector, and a uint64. It and ``length.bin`` (a float each) go as far as the places in use, or on.
``link_lists.bin`` has for each place in use the bytes of its links at the levels above, as a uint32, and those, level by level.
``index_metadata.pickle`` is Chroma's own, and says which record each uint64 stands for.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

FLOAT = LINK = 4
"""Bytes."""

_LAYOUT = struct.Struct("<i6QiI3QdQ")
VERSION = 1
_PARTS = ("data_level0.bin", "length.bin", "link_lists.bin")
DELETED = 1 << 16
"""The flag of a deleted place, in the uint32 that it begins with: the first bit of the third byte."""

_AT_ONCE = 2000
"""Places looked at together: with 384 numbers in a vector, 3.6 MB."""


_followed: dict[Path, tuple[int, ...]] = {}
"""Headers of graphs whose links this process has followed, and when each of their files had been written."""


class Header(NamedTuple):
    """``header.bin``. ``each``: bytes of a place; ``most``: links of one at the upper levels, ``most_below`` at the lowest."""

    version: int
    offset: int
    places: int
    used: int
    each: int
    label_at: int
    vector_at: int
    top: int
    entry: int
    most: int
    most_below: int
    wanted: int
    factor: float
    effort: int

    @classmethod
    def read(cls, path: Path) -> Self:
        """The header at ``path``. Raises ``OSError``, and ``ValueError`` where it is too short."""
        data = path.read_bytes()
        if len(data) < _LAYOUT.size:
            raise ValueError(f"expected {_LAYOUT.size} bytes, found {len(data)}")
        return cls._make(_LAYOUT.unpack_from(data))

    def fits(self) -> bool:
        """Whether its numbers fit each other."""
        return (
            self.offset == 0
            and self.used <= self.places
            and self.vector_at == LINK * (1 + self.most_below)
            and self.label_at + 8 == self.each
            and self.each % FLOAT == 0
            and self.vector_at < self.label_at
            and 1 < self.wanted == self.most
            and self.most_below == 2 * self.most
            and abs(self.factor * math.log(self.wanted) - 1.0) < 1e-6  # its levels come of this
            and 0 < self.effort < 2**31
            and (self.used == 0 or self.entry < self.used)
        )


def damage(folder: Path, *, links: bool) -> str:
    """What is wrong with the graphs in a Chroma folder, empty where nothing is. ``links``: follow all of these too, which takes
    10 ms of CPU for 10,000 chunks, and once in a process for the same files; else only the files' lengths are looked at. A header
    of another version is Chroma's own affair.
    """
    for path in folder.glob("*/header.bin"):
        try:
            header = Header.read(path)
            if header.version != VERSION:
                continue
            whole = header.fits() and _long_enough(path.parent, header)
            if whole and links and header.used:
                written = tuple(
                    path.with_name(n).stat().st_mtime_ns for n in ("header.bin", *_PARTS)
                )
                whole = _followed.get(path) == written or _links_lead_somewhere(path.parent, header)
                if whole:
                    _followed[path] = written
        except (OSError, ValueError) as error:
            return f"{path}: {error}"
        if not whole:
            return f"{path.parent}: its files don't fit together"
    return ""


def _long_enough(folder: Path, header: Header) -> bool:
    data, lengths, upper = ((folder / name).stat().st_size for name in _PARTS)
    return (
        header.used * header.each <= data <= header.places * header.each
        and header.used * FLOAT <= lengths <= header.places * FLOAT
        and header.used * LINK <= upper
    )


def places_in_use(folder: Path, header: Header) -> Iterator[tuple[int, npt.NDArray[np.uint32]]]:
    """The places in use, as rows of uint32, some at a time, with the number of the first."""
    import numpy as np

    with (folder / "data_level0.bin").open("rb") as file:
        for start in range(0, header.used, _AT_ONCE):
            rows = min(_AT_ONCE, header.used - start)
            data = np.fromfile(file, "<u4", rows * header.each // LINK)
            yield start, data.reshape(rows, -1)


def _links_lead_somewhere(folder: Path, header: Header) -> bool:
    import numpy as np

    for _, data in places_in_use(folder, header):
        counts, ends = data[:, 0] & 0xFFFF, data[:, 1 : 1 + header.most_below]
        meant = np.arange(header.most_below) < counts[:, None]
        if (counts > header.most_below).any() or ((ends >= header.used) & meant).any():
            return False
    return _levels_fit(folder, header)


def levels_above(folder: Path, header: Header) -> tuple[list[int], list[int], list[int]]:
    """``link_lists.bin`` as uint32; where each place's links begin; up to which level it has any. Raises ``ValueError``."""
    import numpy as np

    words = np.fromfile(folder / "link_lists.bin", "<u4").tolist()
    each = 1 + header.most
    starts, levels, at = [], [], 0
    for _ in range(header.used):
        length, odd = divmod(words[at] if at < len(words) else 1, LINK * each)
        if odd:
            raise ValueError(f"{folder}: its upper links have an odd length")
        starts.append(at + 1)
        levels.append(length)
        at += 1 + length * each
    if at > len(words):
        raise ValueError(f"{folder}: some of its upper links are missing")
    return words, starts, levels


def _levels_fit(folder: Path, header: Header) -> bool:
    """Whether the levels above the lowest link only places that reach as high."""
    words, starts, levels = levels_above(folder, header)
    if levels[header.entry] < header.top:
        return False
    each = 1 + header.most
    for start, reaches in zip(starts, levels, strict=True):
        for level in range(1, reaches + 1):
            at = start + (level - 1) * each
            count = words[at] & 0xFFFF
            ends = words[at + 1 : at + 1 + count]
            if count > header.most or any(
                end >= header.used or levels[end] < level for end in ends
            ):
                return False
    return True
