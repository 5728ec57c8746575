"""Which sessions belong to a senior root: by the folder that they say they work in, not by their file's folder name."""

from __future__ import annotations

from pathlib import Path

from backend.schemas.config import Config
from backend.tree.root import applicability


class Projects:
    """Which working folders of sessions belong here: those below the senior root that are not dismissed."""

    def __init__(self, root: Path, config: Config) -> None:
        self._root, self._config = root, config
        self._known: dict[str, bool] = {}

    def has(self, cwd: str) -> bool:
        """Whether ``cwd``, as a transcript names it, is one of them."""
        if cwd not in self._known:
            folder = Path(cwd)
            inside = folder.is_absolute() and ".." not in folder.parts
            self._known[cwd] = inside and applicability(folder, self._root, self._config).applicable
        return self._known[cwd]
