"""How a document's path is shown below its repo's heading."""

from __future__ import annotations

PATH_LIMIT = 400  # characters; longer ones are not seen in practice and would flood a screen


def below_repo(source_path: str, repo: str) -> str:
    """Return the path relative to its repo's folder, or whole for documents of the root itself."""
    return source_path.removeprefix(repo + "/")
