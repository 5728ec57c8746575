"""``cv doctor``: every check in turn, and with ``--fix`` what can be mended of our own files. Documents are never touched."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import msgspec
from msgspec.structs import replace

from backend.errors import CvError
from backend.freshness.places import chroma_path, index_path
from backend.freshness.status import compare
from backend.freshness.store import discard
from backend.freshness.sync import Options, Progress, sync
from backend.schemas.config import Config, Embedding
from backend.schemas.doctor import Diagnosis, Finding
from backend.setup.checks import documents, hooks, machine, reranker, roots, store, tree
from backend.setup.checks.levels import warning
from backend.setup.init import (
    remember_launcher,
    write_config,
    write_gitignore,
    write_script,
)
from backend.tree.config import load_config
from backend.tree.home import registered_roots, standing, unregister_roots
from backend.tree.lock import exclusive
from backend.tree.root import KIT_FOLDER, closed_root
from backend.tree.sources import choices, load_sources
from backend.tree.walk import discover

Check = Callable[[], list[Finding]]


def diagnose(
    root: Path | None, *, folder: Path | None = None, mended: tuple[str, ...] = ()
) -> Diagnosis:
    """Look at this machine, and at ``root`` where there is one; else whether there is a closed one at ``folder`` or above. Never
    raises for what it finds.
    """
    config, of_config = tree.check_config(root) if root else (None, [])
    embedding = config.embedding if config else Embedding()
    findings = _all(
        machine.check_python,
        machine.check_packages,
        machine.check_home,
        machine.check_old_environments,
        roots.check_roots,
        machine.check_defects,
        lambda: machine.check_model(embedding),
    )
    if root is not None and config is not None:
        unusable = _all(lambda: tree.check_embedding(root, embedding))
        findings += [*of_config, *unusable, *_of_root(root, config, embedder=not unusable)]
    findings += _all(hooks.check_plugin_hooks)
    if root is not None:
        here = root
        findings += _all(
            lambda: hooks.check_settings_hooks(here),
            lambda: hooks.check_script(here),
            hooks.check_launcher,
            lambda: hooks.check_last_runs(here, known=_said_already(here)),
        )
    closed = closed_root(folder) if root is None and folder is not None else None
    if closed is not None:
        findings += tree.check_closed(closed)
    named = root or closed
    return Diagnosis(
        senior_root=str(named) if named else None, findings=tuple(findings), mended=mended
    )


def _of_root(root: Path, config: Config, *, embedder: bool) -> list[Finding]:
    found = _all(lambda: store.check_writable(root), lambda: store.check_index(root))
    of_store: list[Check] = [lambda: store.check_manifests(root)]
    damaged = any(f.level == "problem" and f.where == str(index_path(root)) for f in found)
    # Without an embedder or a config Chroma can't be opened, which is not its fault; a damaged index is nothing to compare with.
    if embedder and not damaged and not tree.config_faults(root):
        of_store.insert(0, lambda: store.check_chroma(root))
    if tree.readable(root) is None:
        of_store.append(lambda: _freshness(root, config))
    found += _all(*of_store)
    if not embedder:
        found = [replace(finding, fixable=False) for finding in found]
    return [
        *_all(lambda: tree.check_kit(root), lambda: tree.check_sources(root)),
        *found,
        *_all(lambda: reranker.check_reranker(root, config)),
        *_all(lambda: documents.check_frontmatter(root), lambda: documents.check_superseded(root)),
    ]


def _said_already(root: Path) -> list[CvError]:
    """What the checks of the config and of ``sources.md`` tell of."""
    error = tree.readable(root)
    return [*tree.config_faults(root), *([error] if error else [])]


def _freshness(root: Path, config: Config) -> list[Finding]:
    found = discover(root, config, choices(load_sources(root)))
    return store.check_freshness(root, found, compare(root, found))


def _all(*checks: Check) -> list[Finding]:
    findings: list[Finding] = []
    for check in checks:
        try:
            findings += check()
        except (CvError, OSError, sqlite3.Error, msgspec.MsgspecError) as error:
            what = f"a check could not be made: {error}"
            findings.append(
                warning("doctor", what, todo="mend what the others found, and run again")
            )
    return findings


def mend(
    root: Path | None, findings: tuple[Finding, ...], *, now: datetime, progress: Progress
) -> tuple[str, ...]:
    """Mend what is ``fixable`` of ``findings``; says in words what was done, and what could not be. Locks are never deleted."""
    broken = {(finding.check, finding.where) for finding in findings if finding.fixable}
    checks = {check for check, _ in broken}
    done = []
    if "roots" in checks:
        done += _try("what is no longer there was taken out of 'cv list-roots'", _forget_gone)
    if "hooks" in checks:
        done += _try("the launcher's place was noted", _note_launcher)
    if root is not None and "hooks" in checks:
        done += _try("the script of the settings hook was written", lambda: write_script(root))
    if root is not None and "config" in checks and tree.readable(root) is None:
        done += _try("config.json follows the tree", lambda: write_config(root).done == "wrote")
        done += _try(".gitignore was written", lambda: write_gitignore(root))
    if root is not None and "store" in checks:
        error = tree.readable(root)
        if error is not None:
            return (*done, f"not mended: the store: {error}")
        anew = ("store", str(chroma_path(root))) in broken
        rebuild = any(
            finding.level == "problem" and finding.where == str(index_path(root))
            for finding in findings
        )
        done += _try(
            "the store was brought in line with the documents",
            lambda: _sync(root, now=now, progress=progress, anew=anew, rebuild=rebuild),
        )
    return tuple(done)


def _try(what: str, step: Callable[[], bool]) -> list[str]:
    try:
        return [what] if step() else []
    except (CvError, OSError) as error:
        return [f"not mended: {error}"]


def _forget_gone() -> bool:
    unregister_roots([root for root in registered_roots() if standing(root) == "gone"])
    return True


def _note_launcher() -> bool:
    launcher = os.environ.get("CV_LAUNCHER", "")
    remember_launcher(launcher)
    return bool(launcher)


def _sync(root: Path, *, now: datetime, progress: Progress, anew: bool, rebuild: bool) -> bool:
    if anew:
        with exclusive(
            root / KIT_FOLDER / "writer.lock",
            seconds=0,
            busy="a sync of this tree is at work; run it again when it has ended",
        ):
            discard(root)
    sync(root, load_config(root), now=now, options=Options(rebuild=rebuild), progress=progress)
    return True
