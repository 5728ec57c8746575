"""Which folder ``cv init`` proposes as the senior root, and what it says it found there."""

from __future__ import annotations

from pathlib import Path

from backend.schemas import CHANGELOG_ROLE, CORPUS_ROLE, Config
from backend.tree.discovery import discover
from backend.tree.repos import is_repo
from backend.tree.root import find_root


def propose_root(folder: Path) -> Path:
    """The senior root for a person who stands in ``folder``: one that is set up already, else the folder above the
    outermost git repo when that holds several repos, else the outermost repo, else ``folder`` itself.
    """
    if (known := find_root(folder)) is not None:
        return known
    folder = folder.resolve()
    home = Path("~").expanduser().resolve()
    below_home = [p for p in (folder, *folder.parents) if p != home and p not in home.parents]
    outermost = next((p for p in reversed(below_home) if is_repo(p)), None)
    if outermost is None:
        return folder
    above = outermost.parent
    if above in below_home and sum(is_repo(p) for p in above.iterdir() if p.is_dir()) > 1:
        return above
    return outermost


def survey_text(root: Path) -> str:
    """What a first look at ``root`` finds, a few lines."""
    tree = discover(root, Config(senior_root=str(root)))
    count = {
        role: sum(file.role == role for file in tree.files.values())
        for role in (CORPUS_ROLE, CHANGELOG_ROLE)
    }
    lines = [
        f"{root}",
        f"  {len(tree.repos)} repos, {count[CORPUS_ROLE]} context-v documents, {count[CHANGELOG_ROLE]} changelog entries",
    ]
    skipped = tree.skipped[CORPUS_ROLE] + tree.skipped[CHANGELOG_ROLE]
    if skipped:
        lines.append(
            "  left out: " + ", ".join(f"{n} {reason}" for reason, n in sorted(skipped.items()))
        )
    return "\n".join(lines)
