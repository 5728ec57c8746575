"""Checks of a senior root's own files that people edit: config.json, sources.md, the .gitignore."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from backend.errors import CvError, UsageError
from backend.schemas.config import Config, Embedding
from backend.schemas.doctor import Finding
from backend.setup.checks.levels import note, ok, problem, warning
from backend.tree.config import ConfigError, config_path, load_config, moved_from
from backend.tree.config_edits import unknown_keys
from backend.tree.config_faults import check_config as look_for_faults
from backend.tree.config_faults import cure
from backend.tree.files import free_bytes
from backend.tree.home import is_approved
from backend.tree.root import (
    KIT_FOLDER,
    MARKER,
    closed_todo,
    closed_words,
    dismissed_folders,
    has_marker,
)
from backend.tree.sources import Source, SourcesError, dangling, gone, load_sources, sources_path

FREE_BYTES = 200 * 1024**2
"""Below this a sync of a large tree may not have the room to make Chroma anew beside the old one."""


def check_config(root: Path) -> tuple[Config, list[Finding]]:
    """The config, all defaults where it can't be used, and what is wrong with it."""
    path = str(config_path(root))
    if faults := config_faults(root):
        found = [
            problem(
                "config",
                str(fault),
                where=path,
                todo=f"{cure(fault) or 'mend it there'}; until then no session and no other command works here",
            )
            for fault in faults
        ]
        return Config(senior_root=str(root)), found
    config = load_config(root)
    before, unknown = moved_from(root), unknown_keys(root)
    found_all = []
    if before is not None:
        found_all.append(
            warning(
                "config",
                f"senior_root names {before}: the tree was moved, or copied",
                where=path,
                todo="run 'cv doctor --fix', or leave it: all works, and the next change of a key writes the place anew",
                fixable=True,
            )
        )
    found_all += [
        warning(
            "config",
            f"unknown key {key}; kept, without effect",
            where=path,
            todo="correct its name, or delete it ('cv config list' shows every key)",
        )
        for key in unknown
    ]
    found_all += [
        note(
            "config",
            f"dismissed_paths names {folder}, which is not there",
            where=path,
            todo="delete it from the list when it won't come back",
        )
        for folder in sorted(dismissed_folders(root, config))
        if not (root / folder).is_dir()
    ]
    return config, found_all or [ok("config", "config.json")]


def config_faults(root: Path) -> tuple[ConfigError, ...]:
    """Why ``config.json`` can't be used: each wrong value, or that it is no JSON. Empty where it can be."""
    try:
        return look_for_faults(root).faults
    except ConfigError as error:
        return (error,)


def check_embedding(root: Path, embedding: Embedding) -> list[Finding]:
    """Nothing where the embedder that the config names can be used here; else why not, and how to get one."""
    from backend.freshness.embedder import check_installed, check_name

    what = todo = ""
    shipped = "'cv config set embedding.name static' for the one that ships inside"
    try:
        check_name(embedding.name)
    except UsageError as error:
        what, todo = str(error), f"run {shipped}, or set one of these names"
    try:
        check_installed(embedding.name)
    except CvError as error:
        what, todo = str(error), f"run that line, or {shipped}"
    if not what and not is_approved(root, embedding):
        what = (
            f"embedding.name: {embedding.name} came with the tree, and nobody on this machine has chosen it: it may send "
            "documents elsewhere"
        )
        todo = f"run {shipped}, or 'cv config set embedding.name {embedding.name}' to use it"
    if not what:
        return []
    todo += "; until then nothing new is indexed, and searches go by words"
    return [problem("config", what, where=config_path(root), todo=todo)]


def check_closed(root: Path) -> list[Finding]:
    """What is to be said of a root whose kit may not be entered."""
    return [
        problem(
            "store",
            f"{KIT_FOLDER} {closed_words(root)}",
            where=root / KIT_FOLDER,
            todo=closed_todo(root),
        )
    ]


def check_kit(root: Path) -> list[Finding]:
    """What else the kit needs at the root: its ``.gitignore``, room, and no marker that switches all of it off."""
    found = []
    ignore = root / KIT_FOLDER / ".gitignore"
    if not ignore.is_file():
        found.append(
            warning(
                "config",
                "missing: git would take in the index, and with it every document's text",
                where=ignore,
                todo="run 'cv init' again",
                fixable=True,
            )
        )
    free = free_bytes(root / KIT_FOLDER)
    if free is not None and free < FREE_BYTES:
        found.append(
            warning(
                "store",
                f"only {free / 1024**2:.0f} MB free on this disk",
                where=root / KIT_FOLDER,
                todo="free some room: a sync of a large tree may need more",
            )
        )
    if has_marker(root):
        found.append(
            warning(
                "config",
                "the senior root itself is dismissed: no hook speaks, nothing is indexed",
                where=root / MARKER,
                todo=f"run 'cv undismiss {root}', or 'cv init --remove' to be rid of it all",
            )
        )
    return found


def check_sources(root: Path) -> list[Finding]:
    """``sources.md`` can be read, names each folder once, and nothing that has gone."""
    path = str(sources_path(root))
    try:
        sources = load_sources(root)
    except SourcesError as error:
        return [
            problem(
                "sources",
                str(error),
                where=path,
                todo="mend it there; until then nothing is synced, since it may leave folders out",
            )
        ]
    found = [
        warning(
            "sources",
            f"{folder} has {count} entries; any 'include: false' among them leaves it out",
            where=path,
            todo="keep one of them",
        )
        for folder, count in Counter(_folder(source) for source in sources).items()
        if count > 1
    ]
    outside = [
        source.path
        for source in sources
        if Path(source.path).is_absolute() or ".." in Path(source.path).parts
    ]
    found += [
        warning(
            "sources",
            f"{folder} does not lie below the senior root; the entry has no effect",
            where=path,
            todo="write the path relative to the senior root",
        )
        for folder in outside
    ]
    if absent := [folder for folder in gone(root, sources) if folder not in outside]:
        what = f"{len(absent)} folders are not there (any more): {', '.join(absent)}"
        todo = "delete their entries, or leave them for when the folders come back"
        if len(absent) == 1:
            what = f"{absent[0]} is not there (any more)"
            todo = "delete the entry, or leave it for when the folder comes back"
        found.append(note("sources", what, where=path, todo=todo))
    found += [
        warning(
            "sources",
            f"{folder} is not there, so 'include: false' leaves nothing out",
            where=path,
            todo="correct the path (capitals count, and it starts below the senior root), or delete the entry",
        )
        for folder in dangling(root, sources)
    ]
    return found or [ok("sources", f"sources.md, {len(sources)} folders")]


def readable(root: Path) -> CvError | None:
    """Why nothing can be synced here, None where it can: a config or a ``sources.md`` that can't be read."""
    try:
        load_config(root)
        load_sources(root)
    except CvError as error:
        return error
    return None


def _folder(source: Source) -> str:
    return source.path.strip().replace("\\", "/").removeprefix("./").strip("/")
