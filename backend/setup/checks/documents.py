"""Checks of what documents say: frontmatter that could not be read, superseded without a successor. They are their authors'."""

from __future__ import annotations

from pathlib import Path

from backend.freshness.manifest import load_all_cards
from backend.freshness.status import superseded_alone
from backend.schemas.doctor import Finding
from backend.setup.checks.levels import note, ok, warning


def check_frontmatter(root: Path) -> list[Finding]:
    """Each place that could not be read as meant, with its line and the reason. The text is indexed all the same."""
    cards = [card for part in load_all_cards(root).values() for card in sorted(part.items())]
    found = [
        warning(
            "documents",
            problem.reason,
            where=f"{path}:{problem.line}",
            todo="its author can mend it; the text is indexed, the rest was read line by line",
        )
        for path, card in cards
        for problem in card.problems
    ]
    if found or not cards:
        return found
    return [ok("documents", "every frontmatter could be read")]


def check_superseded(root: Path) -> list[Finding]:
    """Documents that say they are superseded, and nothing says by what."""
    return [
        note(
            "documents",
            "superseded, but no document in the index is named as its successor",
            where=path,
            todo="its author can name one in superseded_by",
        )
        for path in superseded_alone(root)
    ]
