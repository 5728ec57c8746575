"""Checks of a team's Chroma server: whether it may be used here, answers, and holds what the index of this tree holds."""

from __future__ import annotations

from pathlib import Path

from backend.freshness.guarded import ServerError, address, token_variable
from backend.freshness.index import Index
from backend.freshness.places import index_path
from backend.freshness.remote import connected
from backend.schemas.config import Chroma, Config
from backend.schemas.doctor import Finding
from backend.schemas.roles import ROLES
from backend.setup.checks.levels import note, ok, warning
from backend.tree.config import config_path
from backend.tree.home import is_approved

PATIENCE = 20.0
"""Seconds for all that the server is asked here; listing the ids of 10,000 chunks takes half a second."""

MEANWHILE = "; until then questions are answered from the index here"


def check_server(root: Path, config: Config) -> list[Finding]:
    """What is to be said of the server that ``config`` names."""
    chroma = config.chroma
    if not is_approved(root, chroma):
        return [
            warning(
                "store",
                f"{address(chroma)} came with the tree, and nobody on this machine has chosen it: nothing is sent to it",
                where=config_path(root),
                todo=f"run 'cv config set chroma.mode {chroma.mode}' to use it, or 'cv config set chroma.mode persistent'",
            )
        ]
    return [*_open_to_all(root, chroma), *_contents(root, config)]


def _open_to_all(root: Path, chroma: Chroma) -> list[Finding]:
    here = chroma.host in ("localhost", "[::1]") or chroma.host.startswith("127.")
    if chroma.mode == "cloud" or chroma.ssl or here:
        return []
    what = "documents and the token travel" if token_variable(chroma) else "documents travel"
    return [
        note(
            "store",
            f"{what} to {address(chroma)} unencrypted",
            where=config_path(root),
            todo="give it a certificate, then run 'cv config set chroma.ssl true'",
        )
    ]


def _contents(root: Path, config: Config) -> list[Finding]:
    index = Index.for_reading(index_path(root))
    if index is None:  # said by the check of the index
        return []
    with index:
        rows = index.db.execute(
            "SELECT d.role, c.chroma_id FROM chunk c JOIN document d ON d.id = c.document"
        ).fetchall()
        waiting = not index.notes.empty()
    lacking = 0
    try:
        with connected(root, config, seconds=PATIENCE) as store:
            for role in ROLES:
                lacking += store.lacking(role, (chroma_id for r, chroma_id in rows if r == role))
    except ServerError as error:
        return [
            warning(
                "store",
                str(error),
                where=config_path(root),
                todo=f"mend it, then run 'cv sync': what it was not told is kept for it{MEANWHILE}",
            )
        ]
    if waiting:
        return [
            note(
                "store",
                f"{address(config.chroma)} has not been told of the newest changes yet",
                todo="run 'cv sync'",
                fixable=True,
            )
        ]
    if lacking:
        return [
            note(
                "store",
                f"{address(config.chroma)} lacks {lacking} chunks of this tree: another machine has removed or changed them",
                todo="nothing, if that tree is the newer one; otherwise run 'cv sync --force-rebuild', which adds them again",
            )
        ]
    return [ok("store", f"{address(config.chroma)} answers, and holds what the index holds")]
