"""Which documents are one and the same: generated roll-ups, second checkouts, worktrees, documents that moved and stayed.

Every document has *marks*, which are stored with it, and *seeks*, which it looks for among the marks of others. Two that meet
are copies; the one that comes first in ``preference`` is the home under which both are indexed once.
"""

from __future__ import annotations

from msgspec import Struct

from backend.documents.lists import fold
from backend.schemas.document import Document

STUB_LENGTH = 400
"""Characters. Bodies shorter than this are stubs and templates, which documents share by accident: then
it takes the same title and file name as well, or the same bytes, to make a copy."""


class Likeness(Struct, frozen=True):
    """What a document can be recognised by."""

    marks: tuple[str, ...]
    seeks: tuple[str, ...]


class Checkout(Struct, frozen=True):
    """The checkout a document lies in: the repo's ``identity`` ('' unknown), its folder's ``name``, the path in it."""

    identity: str
    name: str
    path: str
    worktree: bool = False


def likeness(document: Document, path: str, checkout: Checkout, file_hash: str) -> Likeness:
    """Marks and seeks of ``document``; ``path`` is relative to the senior root, ``file_hash`` is of the file's bytes."""
    both = [f"file:{file_hash}"]
    title = fold(document.title)
    stem = fold(path.rsplit("/", 1)[-1])
    if document.body_length >= STUB_LENGTH:
        both.append(f"body:{document.body_hash}")
    elif document.body_length > 0:
        both.append(f"body:{document.body_hash}:{title}:{stem}")
    if len(document.site_uuid) >= 8 and "{" not in document.site_uuid:
        # A file made by duplicating another keeps its uuid too; then neither title nor name are the same.
        both += [
            f"uuid:{document.site_uuid}:title:{title}",
            f"uuid:{document.site_uuid}:name:{stem}",
        ]
    if checkout.identity:
        both.append(f"checkout:{checkout.identity}:{checkout.path}")
    if document.from_path:
        source = _source(document.from_repo, document.from_path)
        return Likeness((*both, f"from:{source}"), (*both, f"from:{source}", f"home:{source}"))
    names = {checkout.name, checkout.identity.rsplit("/", 1)[-1]} - {""}
    sources = [_source(name, checkout.path) for name in sorted(names)]
    return Likeness(
        (*both, *(f"home:{s}" for s in sources)), (*both, *(f"from:{s}" for s in sources))
    )


def preference(document: Document, path: str, checkout: Checkout) -> tuple[bool, bool, int, str]:
    """The smaller, the more a document is the home of its copies: not generated, not in a worktree, near the root."""
    return bool(document.from_path), checkout.worktree, path.count("/"), path


def _source(repo: str, path: str) -> str:
    return f"{repo.rstrip('/').rsplit('/', 1)[-1].casefold()}/{path.removeprefix('./').lstrip('/')}"
