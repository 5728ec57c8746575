"""The rules by which the walk enters a folder and takes a file in (docs/indexing.md), as far as their names decide it."""

from __future__ import annotations

from collections.abc import Container

from backend.schemas.roles import CHANGELOG_ROLE

_NEVER = frozenset(
    "node_modules bower_components venv env virtualenv __pycache__ site-packages "
    "dist build out target coverage tmp cache caches".split()
)
"""Dependencies, virtual environments, build output and caches, by the names that their tools give them."""

_NEVER_IN_DOCUMENTS = frozenset(
    "node_modules bower_components venv __pycache__ site-packages".split()
)
"""Below a documents folder only these: a person may well call a folder of specs ``build`` or ``cache``."""

_PAGE_CODE = (("src", "pages"), ("src", "components"))
"""Where site generators keep code: folders named context-v or changelog in there hold pages, not documents."""

OPT_IN = {"extra": "scratch (extra/)", "skills": "agent skills", "agent-skills": "agent skills"}
"""Folders below context-v that only ``sources.md`` turns on, and how a report calls them."""

LEFT_OUT = "left out in sources.md"
"""How a report calls what ``include: false`` takes out."""

NOT_UNICODE = "name is not Unicode"
"""Such a name (Linux allows any bytes) can stand in no file of ours."""


def is_never_entered(path: str, *, in_documents: bool, skip_folders: Container[str]) -> bool:
    """Whether no document lies in the folder ``path``, by its name. ``in_documents``: it lies below a documents folder;
    ``skip_folders``: names that the config adds to ours.
    """
    name = path.rsplit("/", 1)[-1]
    if in_documents:
        return name in _NEVER_IN_DOCUMENTS
    if name in _NEVER or name in skip_folders:
        return True
    return tuple(path.split("/")[-2:]) in _PAGE_CODE


def why_no_document(path: str, role: str) -> str:
    """Why a Markdown file below a folder of ``role`` is no document, by its name; empty for one that is."""
    name = path.rsplit("/", 1)[-1]
    if name.startswith("."):
        return "hidden file"
    if not is_unicode(path):
        return NOT_UNICODE
    if role == CHANGELOG_ROLE and name.casefold() == "readme.md":
        return "README of a changelog"
    return ""


def is_markdown(name: str) -> bool:
    """Whether a file's name ends in ``.md``, in any case."""
    return name[-3:].casefold() == ".md"


def is_unicode(path: str) -> bool:
    """Whether a name can be put into JSON and databases."""
    if path.isascii():
        return True
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
