"""Vectors of whole documents, out of those of their chunks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from backend.freshness.index import Index
from backend.freshness.places import index_path

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def document_vectors(root: Path) -> dict[str, npt.NDArray[np.float32]]:
    """For each indexed document the mean of its chunks' vectors, by path; none where there is no index yet."""
    import numpy as np

    index = Index.for_reading(index_path(root))
    if index is None:
        return {}
    grouped: dict[str, list[bytes]] = {}
    with index:
        for path, data in index.db.execute(
            "SELECT d.path, v.data FROM document d JOIN chunk c ON c.document = d.id "
            "JOIN vector v ON v.text_hash = c.text_hash ORDER BY d.id, c.idx"
        ):
            grouped.setdefault(path, []).append(data)
    return {
        path: np.frombuffer(b"".join(parts), np.float32).reshape(len(parts), -1).mean(axis=0)
        for path, parts in grouped.items()
    }
