"""What the ledger keeps: a document with its vector, the words of its text, and how far a transcript was read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from backend.freshness.words import bag

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Reached(Struct, frozen=True):
    """How far a transcript was read for one role: ``offset`` in bytes, ``mark`` as ``transcripts.Mark`` gives it for them,
    ``turns``, the messages counted in them, and ``generation``, how often the file had been rewritten by then.
    """

    offset: int = 0
    mark: str = ""
    turns: int = 0
    generation: int = 0


class Stored(Struct, frozen=True):
    """A document as it is stored; ``vector`` holds float32; ``timestamp`` in epoch seconds."""

    id: str
    role: str
    session: str
    file: str
    generation: int
    timestamp: int
    tool_use: str
    metadata: dict[str, Any]
    text: str
    vector: bytes = b""


def bag_of(text: str) -> bytes:
    """The words of a text: uint32 ids, then uint8, how often each occurs."""
    import numpy as np

    counts = bag(text)
    numbers = np.fromiter(counts.keys(), np.uint32, len(counts))
    often = np.fromiter((min(n, 255) for n in counts.values()), np.uint8, len(counts))
    return numbers.tobytes() + often.tobytes()


def vector_of(document: Stored) -> npt.NDArray[np.float32]:
    """A document's vector."""
    import numpy as np

    return np.frombuffer(document.vector, np.float32)
