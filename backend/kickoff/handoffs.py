"""The newest handoff: where the work in the repo at hand was left."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from backend.tree.repos import innermost_repo

_KINDS = frozenset(("handoffs", "handoff"))


def is_handoff(path: str) -> bool:
    """Whether a document lies in a folder named ``handoffs``, in whatever case."""
    return not _KINDS.isdisjoint(path.casefold().split("/")[:-1])


def newest_handoff(
    paths: Iterable[str],
    moment: Callable[[str], float],
    repos: Collection[str],
    repo: str | None,
) -> str | None:
    """The newest handoff among ``paths`` of the repo at hand; None where there is none.

    ``moment`` dates a path (epoch seconds). Where ``repo`` itself has none: of the repos nested in it, then of those that it
    is nested in. Without a repo at hand (None: the senior root): of all.
    """
    handoffs = [path for path in paths if is_handoff(path)]
    if repo is not None:
        home = {path: innermost_repo(path, repos) for path in handoffs}
        own = [path for path in handoffs if home[path] == repo]
        below = [path for path in handoffs if home[path].startswith(repo + "/")]
        above = [path for path in handoffs if home[path] and repo.startswith(home[path] + "/")]
        handoffs = own or below or above
    return max(handoffs, key=lambda path: (moment(path), path), default=None)
