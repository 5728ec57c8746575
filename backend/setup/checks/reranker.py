"""Check of the reranker: asked once, with texts of our own, as ``cv find`` asks it."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from backend.errors import CvError
from backend.kickoff.rerank import rerank
from backend.schemas.config import Config
from backend.schemas.doctor import Finding
from backend.setup.checks.levels import ok, warning
from backend.tree.config import config_path

PATIENCE = 20.0
"""Seconds that it may take at most, however many the config allows."""

_TASK, _TEXTS = "a sample question", ("a sample answer", "a text about something else")


def check_reranker(root: Path, config: Config) -> list[Finding]:
    """What is to be said of the reranker that ``config`` names; nothing where it is off."""
    reranker = config.reranker
    if reranker.name == "off":
        return []
    patient = replace(reranker, max_seconds=min(reranker.max_seconds, PATIENCE))
    try:
        rerank(patient, root, _TASK, _TEXTS)
    except CvError as error:
        return [
            warning(
                "reranker",
                f"{reranker.url}: {error}" if reranker.url else str(error),
                where=config_path(root),
                todo="mend it, or run 'cv config set reranker.name off'; until then files are ordered without it",
            )
        ]
    return [ok("reranker", f"{reranker.url} answers")]
