"""Why a file is or isn't indexed. What the walk does is tried and not restated, so that the answer can't drift from it."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path, PurePosixPath

import msgspec
from msgspec.structs import replace

from backend.documents.lists import fold
from backend.freshness.index import Index
from backend.freshness.intake import LARGEST_FILE
from backend.freshness.places import index_path
from backend.kickoff.named_file import path_below
from backend.schemas.config import Config, Discovery
from backend.schemas.kickoff import Why
from backend.schemas.manifest import ManifestEntry, PassedOver
from backend.schemas.roles import CHANGELOG_ROLE
from backend.tree.found import Place, Tree, role_of
from backend.tree.repos import Repo
from backend.tree.root import MARKER, dismissed_folders, has_marker
from backend.tree.rules import is_markdown
from backend.tree.sources import Choices, choices, load_sources
from backend.tree.walk import discover, look_at

_DATE_FROM = {
    "document": "the document's own",
    "file-name": "from the file's name",
    "git": "of its newest commit that is not a mass edit",
    "ingest": "the day it was first indexed: neither the document nor git has one",
}


def membership(root: Path, config: Config, path: str) -> Why:
    """Why ``path`` (relative to ``root``; an absolute one lies outside) is or isn't in the index. Changes nothing."""
    judge = _Judge(root, config, path)
    reason, text, home = judge.verdict()
    return Why(
        source_path=path,
        absolute_path=str(root / path),
        senior_root=str(root),
        indexed=reason == "indexed",
        reason=reason,
        text=text,
        home=home,
        role=judge.role,
        entry=judge.entry,
    )


class _Judge:
    def __init__(self, root: Path, config: Config, path: str) -> None:
        self.root, self.config, self.path = root, config, path
        self.file = root / path
        self.role = ""
        self.entry: ManifestEntry | None = None

    def verdict(self) -> tuple[str, str, str]:
        """The reason in a word, in plain words, and the document that it is indexed as, if under another path."""
        if PurePosixPath(self.path).is_absolute() or path_below(self.root, self.file) is None:
            return "outside", f"does not lie under the senior root {self.root}", ""
        passed_over = self.look_up()
        if self.entry is not None:
            return "indexed", self.indexed(self.entry), ""
        if passed_over is not None and os.path.lexists(self.file):
            return self.left_out(passed_over)
        if not os.path.lexists(self.file):
            return "missing", "there is no such file", ""
        return (*self.not_found(), "")

    def look_up(self) -> PassedOver | None:
        """Take role and entry from the index; a file that it passed over is returned."""
        index = Index.for_reading(index_path(self.root))
        if index is None:
            return None
        with index:
            self.entry = index.entry(self.path)
            found = index.db.execute(
                "SELECT role FROM document WHERE path = ?", (self.path,)
            ).fetchone()
            self.role = found[0] if found else ""
            row = index.db.execute(
                "SELECT entry FROM passed_over WHERE path = ?", (self.path,)
            ).fetchone()
        return msgspec.json.decode(row[0], type=PassedOver) if row else None

    def indexed(self, entry: ManifestEntry) -> str:
        """How a document is indexed, and whether the file is still what was read."""
        chunks = "1 chunk" if entry.chunks == 1 else f"{entry.chunks} chunks"
        text = (
            f"indexed in {self.role} as {entry.kind} of {entry.repo}, {chunks}, "
            f"date {entry.date} ({_DATE_FROM[entry.date_from]})"
        )
        try:
            stat = self.file.stat()
        except OSError as error:
            return (
                f"{text}; the file can't be read now ({error.strerror}): the next sync sees to it"
            )
        if (stat.st_mtime, stat.st_size) != (entry.mtime, entry.size):
            text += "; the file has changed since, which the next sync takes in"
        return text

    def left_out(self, entry: PassedOver) -> tuple[str, str, str]:
        """A file that was read and is deliberately not indexed."""
        self.role = entry.role
        if entry.reason == "copy":
            return (
                "copy",
                f"a copy of {entry.copy_of}, under which it is indexed once",
                entry.copy_of,
            )
        if entry.reason == "private":
            return "private", "its frontmatter says private: true", ""
        if entry.reason == "unpublished":
            return "unpublished", "a changelog entry whose frontmatter says publish: false", ""
        return entry.reason, entry.reason, ""

    def not_found(self) -> tuple[str, str]:
        """A file that exists and that the index doesn't know."""
        return (
            self.opted_out()
            or self.by_its_name()
            or self.by_its_place()
            or self.by_a_link()
            or self.by_sources()
            or self.readable()
        )

    def opted_out(self) -> tuple[str, str] | None:
        """A marker, or ``dismissed_paths``, in a folder above it."""
        dismissed = dismissed_folders(self.root, self.config)
        for folder in reversed(self.folders()):
            name = folder or "the senior root"
            if has_marker(self.root / folder):
                return (
                    "dismissed",
                    f"{name} carries the marker {MARKER}; 'cv undismiss' takes it away",
                )
            if (folder or ".") in dismissed:
                return "dismissed", f"{name} is listed in dismissed_paths of config.json"
        return None

    def by_its_name(self) -> tuple[str, str] | None:
        """What no file of that name, or below a folder of that name, can be."""
        for part in self.path.split("/"):
            if part.startswith("."):
                return "hidden", f"{part} is hidden: its name begins with a dot"
        name = self.path.rsplit("/", 1)[-1]
        if not is_markdown(name):
            return "not-markdown", "only Markdown files (*.md) are documents"
        return None

    def by_its_place(self) -> tuple[str, str] | None:
        """No folder of documents above it, or none that the walk reaches."""
        place = self.place()
        if place is None:
            return "no-place", "lies below no folder named context-v or changelog"
        self.role = place.role
        if place.role == CHANGELOG_ROLE and fold(self.path.rsplit("/", 1)[-1]) == "readme.md":
            return "readme", "the README of a changelog is no entry"
        return None

    def by_a_link(self) -> tuple[str, str] | None:
        """A symlink on the way to it."""
        for folder in (*reversed(self.folders()), self.path):
            if folder and (self.root / folder).is_symlink():
                target = path_below(self.root, Path(os.path.realpath(self.root / folder)))
                if target is None:
                    return "symlink", f"{folder} is a symlink out of the tree"
                if self.path not in self.walked():
                    text = f"{folder} is a symlink to {target}, which is indexed in its own place or left out"
                    return "symlink", text
        return None

    def by_sources(self) -> tuple[str, str] | None:
        """What ``sources.md``, the config, or the built-in lists leave out."""
        if self.path in self.walked():
            return None
        chosen = self.choices()
        for folder in reversed(self.folders()):
            if folder in chosen.excluded:
                return "left-out", f"sources.md leaves {folder} out (include: false)"
        if self.found_with(chosen):
            return "never-entered", self.unreached()
        place = self.place()
        assert place is not None
        for folder in reversed(self.folders()):
            below = folder.removeprefix(place.path + "/")
            if below != folder and self.found_with(
                replace(chosen, included=chosen.included | {folder})
            ):
                text = (
                    f"{folder} is left out unless sources.md turns it on: subdirs: [{below}] "
                    f"at the entry of {place.path}"
                )
                return "opt-in", text
        return (
            "never-entered",
            "lies in a folder of dependencies or caches, which the walk never enters",
        )

    def unreached(self) -> str:
        place = self.place()
        assert place is not None
        above = place.path.rpartition("/")[0]
        skipped = set(self.config.discovery.skip_folders) & set(above.split("/"))
        if skipped and self.path in self.walked(replace(self.config, discovery=Discovery())):
            return f"discovery.skip_folders of config.json leaves out {', '.join(sorted(skipped))}"
        return (
            f"lies below {above}, where the walk does not go: dependencies, build output, caches and page code are "
            "never entered"
        )

    def readable(self) -> tuple[str, str]:
        """It is a document to the walk: then either it can't be read, or no sync has come by."""
        try:
            size = self.file.stat().st_size
            if size > LARGEST_FILE:
                return "failed", f"larger than {LARGEST_FILE // 1024**2} MB, which no text is"
            with self.file.open("rb") as file:
                file.read(1)
        except OSError as error:
            return "failed", f"could not be read ({error.strerror}); it is tried again at each sync"
        return "not-synced", "a document that is not in the index yet: run 'cv sync'"

    # --- trying what the walk does -----------------------------------------------------------------------------------

    def folders(self) -> list[str]:
        """The folders above the file, the innermost first; the last is '', the root."""
        parts = self.path.split("/")[:-1]
        return ["/".join(parts[:depth]) for depth in range(len(parts), -1, -1)]

    def place(self) -> Place | None:
        """The outermost folder above it whose name announces documents."""
        for folder in reversed(self.folders()):
            role = role_of(folder.rsplit("/", 1)[-1])
            if role is not None:
                return Place(folder, role)
        return None

    def choices(self) -> Choices:
        return choices(load_sources(self.root))

    def walked(self, config: Config | None = None) -> Collection[str]:
        return discover(self.root, config or self.config, self.choices()).files

    def found_with(self, chosen: Choices) -> bool:
        """Whether the walk takes the file when it starts at its place, with other choices than those of ``sources.md``."""
        place = self.place()
        assert place is not None
        repos: dict[str, Repo] = {}
        tree: Tree = look_at(self.root, self.config, [place], repos, chosen)
        return self.path in tree.files
