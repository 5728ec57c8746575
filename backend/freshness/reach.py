"""Which of Chroma's records its searches get to, by the links in its graph of vectors (``graph`` tells how that is written)."""

from __future__ import annotations

import pickle
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from backend.freshness.graph import DELETED, LINK, VERSION, Header, levels_above, places_in_use

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_UNKNOWN = (
    *(OSError, ValueError, LookupError, AttributeError),
    *(EOFError, TypeError, pickle.UnpicklingError),
)
"""What comes of files that are not as we know them."""


def unreached(folder: Path) -> list[str]:
    """Ids of the records that searches of a Chroma folder don't get to, however near they are: no chain of links leads there.

    A graph of some thousand texts can lack a few; one with thousands that are nearly alike falls apart, as these only link each
    other. None where the files are not as we know them. It takes 20 ms of CPU for 10,000 records.
    """
    found: list[str] = []
    for path in folder.glob("*/header.bin"):
        with suppress(*_UNKNOWN):
            header = Header.read(path)
            if header.version == VERSION and header.fits() and header.used:
                found += _unreached(path.parent, header)
    return found


def _unreached(folder: Path, header: Header) -> list[str]:
    import numpy as np

    ends = np.zeros((header.used, header.most_below), np.uint32)
    alive = np.zeros(header.used, bool)
    labels = np.zeros(header.used, np.uint32)
    for start, data in places_in_use(folder, header):
        rows = slice(start, start + len(data))
        meant = np.arange(header.most_below) < (data[:, :1] & 0xFFFF)
        # What is no link leads back to its own place, and so nowhere.
        own = np.arange(start, start + len(data), dtype=np.uint32)[:, None]
        ends[rows] = np.where(meant, data[:, 1 : 1 + header.most_below], own)
        alive[rows] = data[:, 0] & DELETED == 0
        labels[rows] = data[:, header.label_at // LINK]
    upper = np.array(levels_above(folder, header)[2]) > 0
    reached = _reached(ends, header.entry)
    if not _reaching(ends, header.entry)[upper].all():
        reached[:] = False  # a search begins at any of these: what it gets to depends on that
    lost = labels[alive & ~reached].tolist()
    if not lost:
        return []
    with (folder / "index_metadata.pickle").open("rb") as file:
        ids = _PlainData(file).load()["label_to_id"]
    return [ids[label] for label in lost]


def _reached(ends: npt.NDArray[np.uint32], start: int) -> npt.NDArray[np.bool_]:
    """Which places one gets to from ``start``; ``ends`` has a row of links for each place."""
    import numpy as np

    reached = np.zeros(len(ends), bool)
    reached[start] = True
    front = np.array([start])
    while front.size:
        linked = ends[front].ravel()
        front = np.unique(linked[~reached[linked]])
        reached[front] = True
    return reached


def _reaching(ends: npt.NDArray[np.uint32], end: int) -> npt.NDArray[np.bool_]:
    """From which places one gets to ``end``."""
    import numpy as np

    reaching = np.zeros(len(ends), bool)
    reaching[end] = True
    while True:
        more = reaching | reaching[ends].any(axis=1)
        if (more == reaching).all():
            return reaching
        reaching = more


class _PlainData(pickle.Unpickler):
    """Reads what is made of numbers, texts and dictionaries alone: a pickle can name any code, and folders travel."""

    def find_class(self, module: str, name: str, /) -> NoReturn:
        """Refuse."""
        raise pickle.UnpicklingError(f"{module}.{name} in plain data")
