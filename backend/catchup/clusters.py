"""Group vectors that point the same way: spherical k-means, seeded without chance.

Deterministic: the same vectors in the same order give the same groups. numpy is imported on use.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]

MOST_GROUPS = 10  # more than a reader takes in at once
_ROUNDS = 30  # k-means settles within ten on trees of a few thousand documents


def group(vectors: Sequence[Sequence[float]]) -> list[list[int]]:
    """Return groups of positions in ``vectors``, each sorted by closeness to its group's middle.

    The number of groups grows with half the square root of the documents, from 2 to 10. A document
    alone in its group joins the nearest other one.
    """
    import numpy as np

    if len(vectors) < 2:
        return [list(range(len(vectors)))] if vectors else []
    points = _directions(np.asarray(vectors, dtype=np.float64))
    wanted = min(MOST_GROUPS, max(2, round(math.sqrt(len(points)) / 2)))
    labels = _refine(points, _split_until(points, wanted))
    labels = _dissolve_singles(points, labels)
    groups = []
    for label in sorted(set(labels.tolist())):
        members = np.flatnonzero(labels == label)
        closeness = points[members] @ _middle(points[members])
        groups.append(members[np.argsort(-closeness, kind="stable")].tolist())
    return groups


def _directions(points: Matrix) -> Matrix:
    """Take away what all documents share, then keep the direction only."""
    points = points / _length(points)
    points = points - points.mean(axis=0)
    return points / _length(points)


def _length(points: Matrix) -> Matrix:
    import numpy as np

    length: Matrix = np.linalg.norm(points, axis=1, keepdims=True)
    length[length == 0] = 1.0
    return length


def _split_until(points: Matrix, wanted: int) -> NDArray[np.int64]:
    """Halve the loosest group along its longest axis until there are enough groups."""
    import numpy as np

    labels = np.zeros(len(points), dtype=np.int64)
    for label in range(1, wanted):
        spreads = [_spread(points[labels == known]) for known in range(label)]
        loosest = int(np.argmax(spreads))
        members = np.flatnonzero(labels == loosest)
        if len(members) < 2 or spreads[loosest] < 1e-9:
            break
        centred = points[members] - points[members].mean(axis=0)
        axis = np.linalg.svd(centred, full_matrices=False)[2][0]
        side = centred @ axis
        moved = members[side > np.median(side)]
        if len(moved) == 0:
            break
        labels[moved] = label
    return labels


def _spread(points: Matrix) -> float:
    return float(((points - points.mean(axis=0)) ** 2).sum())


def _refine(points: Matrix, labels: NDArray[np.int64]) -> NDArray[np.int64]:
    import numpy as np

    for _ in range(_ROUNDS):
        middles = np.stack([_middle(points[labels == label]) for label in np.unique(labels)])
        nearest: NDArray[np.int64] = np.argmax(points @ middles.T, axis=1)
        if np.array_equal(nearest, labels):
            break
        labels = nearest
    return labels


def _dissolve_singles(points: Matrix, labels: NDArray[np.int64]) -> NDArray[np.int64]:
    import numpy as np

    known, counts = np.unique(labels, return_counts=True)
    kept = known[counts > 1]
    if len(kept) == 0:
        return np.zeros_like(labels)
    middles = np.stack([_middle(points[labels == label]) for label in kept])
    for label in known[counts == 1]:
        single = np.flatnonzero(labels == label)[0]
        labels[single] = kept[int(np.argmax(middles @ points[single]))]
    return labels


def _middle(points: Matrix) -> Matrix:
    import numpy as np

    middle: Matrix = points.mean(axis=0)
    length = float(np.linalg.norm(middle))
    return middle / length if length else middle
