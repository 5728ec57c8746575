"""Where a document's links lead: to other documents of the tree."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping

from backend.tree.repos import innermost_repo

_GENERIC = frozenset(("readme", "skill", "index", "spec"))
"""File names that every repo has: a bare mention of one leads nowhere."""


class Resolver:
    """Resolves link targets among ``paths`` (relative to the senior root). ``homes`` leads from a copy to its home."""

    def __init__(
        self, paths: Iterable[str], repos: Iterable[str], homes: Mapping[str, str]
    ) -> None:
        self._repos = frozenset(repos)
        self._at = {path: path for path in paths} | dict(homes)
        self._by_stem: dict[str, list[str]] = {}
        for path in self._at:
            self._by_stem.setdefault(_stem(path), []).append(path)

    def resolve(self, target: str, origin: str) -> str | None:
        """The document that ``target``, as written in the document ``origin``, leads to; None when it leads nowhere, or
        could be several. Tried in turn: relative to ``origin``, from the root, from its repo, then by file name.
        """
        if target.startswith(("http:", "https:")):
            return None
        repo = innermost_repo(origin, self._repos)
        for path in (
            posixpath.normpath(posixpath.join(posixpath.dirname(origin), target)),
            target.lstrip("/"),
            posixpath.join(repo, target),
            posixpath.join(origin.split("/", 1)[0], target),
        ):
            for name in (path, path + ".md"):
                if name in self._at:
                    return self._at[name]
        return self._by_name(target, origin, repo)

    def named(self, target: str) -> list[str]:
        """Every document whose file name is that of ``target``; of those, the ones that its folders fit, if any do."""
        found = self._by_stem.get(_stem(target), [])
        ending = "/" + target.lstrip("./").casefold().removesuffix(".md") + ".md"
        fitting = [path for path in found if ("/" + path.casefold()).endswith(ending)]
        return sorted({self._at[path] for path in (fitting or found)})

    def _by_name(self, target: str, origin: str, repo: str) -> str | None:
        if _stem(target) in _GENERIC:
            return None
        found = self.named(target)
        if len(found) > 1:  # the one in the same repo, or else in the same outermost folder
            near = [path for path in found if innermost_repo(path, self._repos) == repo]
            found = near or [
                path for path in found if path.split("/", 1)[0] == origin.split("/", 1)[0]
            ]
        return found[0] if len(found) == 1 else None


def _stem(path: str) -> str:
    return path.rsplit("/", 1)[-1].casefold().removesuffix(".md")
