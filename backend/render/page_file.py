"""Putting the digest's page into a file, and never over anything that is not such a page."""

from __future__ import annotations

from pathlib import Path

from backend.errors import UsageError
from backend.tree.files import write_atomic
from backend.tree.found import documents_folder
from backend.tree.root import KIT_FOLDER

_HEAD = b'<meta name="generator" content="Context Vigilance">'


def write_page(file: Path, page: str) -> Path:
    """Write ``page`` and return where it is.

    Raises ``UsageError``, and writes nothing, for a place where documents, git or our own files lie, for a folder that is not
    there, and for a file that is there and no earlier page.
    """
    target = file.expanduser().resolve()
    folders = {folder.name for folder in target.parents}
    if documents_folder(target.parent) or {".git", KIT_FOLDER} & folders:
        raise UsageError(
            f"--html {file}: documents, git and our own files lie there; name a place outside of them"
        )
    if not target.parent.is_dir():
        raise UsageError(f"--html {file}: the folder {target.parent} is not there")
    if target.exists() and not (target.is_file() and _HEAD in target.read_bytes()[:2000]):
        raise UsageError(
            f"--html {file}: is there and is no page of this command; name another file"
        )
    write_atomic(target, page.encode())
    return target
