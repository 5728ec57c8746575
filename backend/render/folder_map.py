"""The folders that hold documents, as a tree with counts: where to look when a search finds nothing."""

from __future__ import annotations

from msgspec import Struct, field

from backend.render.inert import inert
from backend.schemas.kickoff import FolderMap

MAX_LINES = 60
_NAME_LIMIT = 200  # characters


class _Node(Struct):
    """A folder: documents directly in it, documents in all of it, and the folders below."""

    name: str
    own: int = 0
    total: int = 0
    below: dict[str, _Node] = field(default_factory=dict)


def folder_map_text(folders: FolderMap, *, max_lines: int = MAX_LINES) -> str:
    """Return the tree, a line for each folder with the number of documents in it and below.

    Folders that hold nothing but one folder are drawn together. Where there are more than ``max_lines``, the smallest are
    left out, which the last line says; their documents stay counted in the folder above them.
    """
    lines = [f"{folders.documents} documents in {folders.scope or 'the whole tree'}"]
    nodes = _flat(_tree(folders), 0)
    largest = sorted(nodes, key=lambda item: -item[1].total)  # stable: those above come first
    shown = {id(node) for _, node in largest[:max_lines]}
    width = len(str(folders.documents))
    lines += [
        f"{node.total:>{width}}  {'  ' * depth}{inert(node.name, _NAME_LIMIT)}/"
        for depth, node in nodes
        if id(node) in shown
    ]
    if len(nodes) > max_lines:
        lines.append(
            f"and {len(nodes) - max_lines} smaller folders; 'cv folders --scope FOLDER' shows them"
        )
    if not folders.documents:
        place = folders.scope or "this tree"
        lines = [f"no documents are indexed in {place} yet: run 'cv sync'"]
        if folders.fresh:  # the disk was looked at a moment ago
            lines = [
                f"no documents are indexed in {place}, and none were found: they lie in folders named context-v and "
                "changelog; 'cv why FILE' says why one is left out"
            ]
    return "\n".join([*lines, *(inert(note, 500) for note in folders.notes)]) + "\n"


def _tree(folders: FolderMap) -> _Node:
    top = _Node("")
    for folder in folders.folders:
        node = top
        node.total += folder.documents
        for part in folder.path.split("/"):
            node = node.below.setdefault(part, _Node(part))
            node.total += folder.documents
        node.own += folder.documents
    return top


def _flat(node: _Node, depth: int) -> list[tuple[int, _Node]]:
    """The folders below ``node``, each with its depth, in order of names; chains of one folder are made one."""
    found: list[tuple[int, _Node]] = []
    for name in sorted(node.below):
        child = node.below[name]
        while not child.own and len(child.below) == 1:
            (only,) = child.below.values()
            only.name = f"{child.name}/{only.name}"
            child.below, child.own, child.name = only.below, only.own, only.name
        found.append((depth, child))
        found += _flat(child, depth + 1)
    return found
