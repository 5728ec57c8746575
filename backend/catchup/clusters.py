"""Group vectors that point the same way: many small groups, the nearest of which are joined.

Deterministic: the same vectors in the same order give the same groups. numpy is imported on use.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]
    Labels = NDArray[np.int64]

MOST_GROUPS = 14  # more than that is no overview any more
_MOST_PARTS = 36  # the groups before joining; joining costs their third power
_ROUNDS = 30  # k-means settles within ten on trees of a few thousand documents
_TURNS = 20  # of the power method; an axis to halve along needs no more digits


class Grouping(NamedTuple):
    """``groups``: positions, each sorted by closeness to its group's middle.

    ``closeness``: a row for each position, with its cosine to each group's middle.
    """

    groups: list[list[int]]
    closeness: Matrix


def group(vectors: Sequence[Sequence[float]]) -> Grouping:
    """Group the vectors: about as many small groups as the square root of the documents, joined to at most 14.

    A document alone in its group joins the nearest other one.
    """
    import numpy as np

    if len(vectors) < 2:
        return Grouping([[0]] if vectors else [], np.ones((len(vectors), len(vectors))))
    points = _directions(np.asarray(vectors, dtype=np.float64))
    parts = min(_MOST_PARTS, max(2, round(math.sqrt(len(points)))))
    labels = _refine(points, _split_until(points, parts))
    labels = _refine(points, _join_until(points, labels, min(parts, MOST_GROUPS)))
    labels = _dissolve_singles(points, labels)
    known = np.unique(labels)
    closeness: Matrix = points @ np.stack([_middle(points[labels == label]) for label in known]).T
    groups = []
    for column, label in enumerate(known):
        members = np.flatnonzero(labels == label)
        nearest = np.argsort(-closeness[members, column], kind="stable")
        groups.append(members[nearest].tolist())
    return Grouping(groups, closeness)


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


def _split_until(points: Matrix, wanted: int) -> Labels:
    """Halve the loosest group along its longest axis until there are enough groups."""
    import numpy as np

    labels = np.zeros(len(points), dtype=np.int64)
    spreads = [_spread(points)]
    for label in range(1, wanted):
        loosest = int(np.argmax(spreads))
        members = np.flatnonzero(labels == loosest)
        if len(members) < 2 or spreads[loosest] < 1e-9:
            break
        centred = points[members] - points[members].mean(axis=0)
        side = centred @ _longest_axis(centred)
        moved = members[side > np.median(side)]
        if len(moved) == 0:
            break
        labels[moved] = label
        spreads[loosest] = _spread(points[labels == loosest])
        spreads.append(_spread(points[moved]))
    return labels


def _longest_axis(centred: Matrix) -> Matrix:
    """Find the direction of the most spread: the power method, from the point furthest out."""
    axis: Matrix = centred[int((centred**2).sum(axis=1).argmax())]
    for _ in range(_TURNS):
        axis = centred.T @ (centred @ axis)
        axis = axis / (float((axis**2).sum()) ** 0.5 or 1.0)
    return axis


def _spread(points: Matrix) -> float:
    return float(((points - points.mean(axis=0)) ** 2).sum())


def _refine(points: Matrix, labels: Labels) -> Labels:
    """Move each point to the nearest middle until none moves; labels come out from 0 without gaps."""
    import numpy as np

    for _ in range(_ROUNDS):
        known, labels = np.unique(labels, return_inverse=True)
        belongs = np.zeros((len(known), len(points)))
        belongs[labels, np.arange(len(points))] = 1.0
        middles = belongs @ points
        nearest: Labels = np.argmax(points @ (middles / _length(middles)).T, axis=1)
        if np.array_equal(nearest, labels):
            break
        labels = nearest
    return labels


def _join_until(points: Matrix, labels: Labels, wanted: int) -> Labels:
    """Join the two groups that lose least by it (Ward's criterion) until there are few enough."""
    import numpy as np

    known = np.unique(labels)
    sums = [points[labels == label].sum(axis=0) for label in known]
    sizes = [int((labels == label).sum()) for label in known]
    joined = np.searchsorted(known, labels)
    while len(sizes) > wanted:
        count = np.array(sizes, dtype=np.float64)
        middles = np.stack(sums) / count[:, None]
        squares = (middles**2).sum(axis=1)
        apart = squares[:, None] + squares[None, :] - 2 * middles @ middles.T
        loss = apart * (count[:, None] * count[None, :]) / (count[:, None] + count[None, :])
        loss[np.tril_indices(len(sizes))] = np.inf
        keep, gone = (int(place) for place in np.unravel_index(int(np.argmin(loss)), loss.shape))
        sums[keep] = sums[keep] + sums.pop(gone)
        sizes[keep] += sizes.pop(gone)
        joined[joined == gone] = keep
        joined[joined > gone] -= 1
    return joined


def _dissolve_singles(points: Matrix, labels: Labels) -> Labels:
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
