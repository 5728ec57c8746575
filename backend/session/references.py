"""Which documents a prompt names: mentions, paths, wikilinks, file names that exist.

Names are looked up in the manifests (and for a path on the disk), so code paths, web and e-mail addresses, decorators and package
names raise no alarm: they are no documents. On the hook's path: standard library and msgspec only.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from backend.freshness.manifest import load_stamps
from backend.tree.found import role_of

PROMPT_LIMIT = 100_000
"""Characters of a prompt that are looked at. What somebody pastes beyond that is no list of files."""

_ADDRESS = re.compile(
    r"\b[a-z][a-z0-9+.-]{1,20}://\S+|\bmailto:\S+|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}",
    re.I,
)
_WIKILINK = re.compile(r"\[\[([^\[\]\n|#]{1,300})(?:[|#][^\[\]\n]{0,300})?\]\]")
_QUOTED_MENTION = re.compile(r"(?<!\w)@\"([^\"\n]{1,500})\"|(?<!\w)@'([^'\n]{1,500})'")
_QUOTED = re.compile(
    r"\"([^\"\n]{1,500})\"|`([^`\n]{1,500})`|(?<!\w)'([^'\n]{1,500})'(?!\w)|<([^<>\n]{1,500})>"
)
_LINE = re.compile(r"(?::\d+(?:[:-]\d+)?|#[^\s/]*)$")
_NOT_BARE = frozenset(
    "readme changelog license licence contributing claude agents skill index security code_of_conduct".split()
)
"""Names that every repo has: without a folder they don't tell which document is meant."""


class References(Struct, frozen=True, kw_only=True):
    """What a prompt names, as paths relative to the senior root.

    ``found``: documents; ``ambiguous``: a name as written and the documents it could be; ``folders``: such that hold documents;
    ``missing``: paths below a documents folder where no such file is.
    """

    found: tuple[str, ...] = ()
    ambiguous: dict[str, tuple[str, ...]] = {}
    folders: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def any(self) -> bool:
        """Whether the user names documents at all, be it one that can't be told or is not there."""
        return bool(self.found or self.ambiguous or self.folders or self.missing)


def find_references(prompt: str, root: Path, folder: Path) -> References:
    """The documents that ``prompt``, typed in ``folder``, names."""
    try:
        here = folder.resolve().relative_to(root).as_posix()
    except (OSError, ValueError):
        here = "."
    return _Search(load_stamps(root), root, "" if here == "." else here).run(prompt[:PROMPT_LIMIT])


class _Search:
    def __init__(self, known: Iterable[str], root: Path, here: str) -> None:
        self.root, self.here = root, here
        self.by_path = {path.casefold(): path for path in known}
        self.by_name: dict[str, list[str]] = {}
        for path in self.by_path.values():
            self.by_name.setdefault(path.rsplit("/", 1)[-1].casefold(), []).append(path)
        self.found: dict[str, None] = {}
        self.ambiguous: dict[str, tuple[str, ...]] = {}
        self.folders: dict[str, None] = {}
        self.missing: dict[str, None] = {}

    def run(self, prompt: str) -> References:
        text = _ADDRESS.sub(" ", prompt)
        text = self.without_root(text)
        for pattern, look in (
            (_WIKILINK, self.wikilink),
            (_QUOTED_MENTION, self.path),
            (_QUOTED, self.quoted),
        ):
            for match in pattern.finditer(text):
                look(next(part for part in match.groups() if part is not None).strip())
            text = pattern.sub(" ", text) if pattern is not _QUOTED else text
        for token in text.split():
            self.token(token)
        self.names_with_blanks(text)
        return References(
            found=tuple(self.found),
            ambiguous=self.ambiguous,
            folders=tuple(self.folders),
            missing=tuple(self.missing),
        )

    def without_root(self, text: str) -> str:
        """Absolute paths below the root as ``/``-less relative ones: a blank in the root's own path would part them."""
        places = {str(self.root), self.root.as_posix(), str(self.root).replace(" ", "\\ ")}
        home = str(Path.home()) if os.environ.get("HOME") else ""
        if home and str(self.root).startswith(home + os.sep):
            places.add("~" + str(self.root)[len(home) :])
        for place in sorted(places, key=len, reverse=True):
            text = re.sub(re.escape(place) + r"[/\\]", "\x00", text, flags=re.I)
        return text

    # --- what a piece of the prompt may be ------------------------------------------------------------------------

    def token(self, token: str) -> None:
        token = token.strip("\"'`<>()[]{},;!?*").rstrip(".:")
        mentioned = token.startswith("@")
        token = _LINE.sub("", token.lstrip("@"))
        if not token:
            return
        if "/" in token or "\\" in token or "\x00" in token or _is_markdown(token):
            self.path(token)
        else:
            self.bare(token, mentioned=mentioned)

    def quoted(self, text: str) -> None:
        text = _LINE.sub("", text.lstrip("@"))
        if _is_markdown(text) or "/" in text:
            self.path(text)
        else:
            self.bare(text)

    def wikilink(self, target: str) -> None:
        name = target.replace("\\", "/").strip("/").casefold()
        for ending in ("", ".md"):
            if self.resolve(name + ending, target):
                return

    def bare(self, text: str, *, mentioned: bool = False) -> None:
        """A name without folder and ending: one that no sentence holds by chance, since ``sign-in`` is a common word too."""
        matches = self.by_name.get(text.casefold() + ".md", [])
        if not matches or text.casefold() in _NOT_BARE:
            return
        parts = [part for part in re.split(r"[-_ ]+", text) if part]
        as_written = any(path.endswith(f"/{text}.md") for path in matches)
        telling = (
            len(parts) >= 3
            if " " not in text
            else as_written and len(text) >= 12 and any(c.isupper() for c in text)
        )
        telling = telling or mentioned
        telling = telling or (len(parts) == 2 and all(part[0].isupper() for part in parts))
        if telling:
            self.add(text, matches)

    def names_with_blanks(self, text: str) -> None:
        """File names with blanks in them that no quotes hold together."""
        folded = text.casefold()
        if ".md" not in folded:
            return
        for name, paths in self.by_name.items():
            if " " in name and name in folded and not any(p in self.found for p in paths):
                self.add(name, [p for p in paths if p.casefold() in folded] or paths)

    def path(self, text: str) -> None:
        text = text.replace("\\ ", " ").replace("\\", "/").strip()
        if not text or text.startswith(("~", "/")):
            return  # outside the root; what lies below it has lost its beginning
        text = _LINE.sub("", text)
        folded = text.lstrip("\x00").casefold()
        bare = "/" not in folded and "\x00" not in text
        if bare and (not _is_markdown(folded) or folded.rsplit(".", 1)[0] in _NOT_BARE):
            return
        for ending in ("",) if _is_markdown(folded) else ("", ".md"):
            if self.resolve(folded + ending, text.lstrip("\x00")):
                return
        self.on_disk(text.lstrip("\x00"), folded)

    # --- looking it up --------------------------------------------------------------------------------------------

    def resolve(self, folded: str, written: str) -> bool:
        """Find a path as written: from here, from the root, or as the end of any document's path."""
        from_here = posixpath.normpath(posixpath.join(self.here.casefold(), folded))
        for path in (from_here, folded):
            if path in self.by_path:
                self.found[self.by_path[path]] = None
                return True
        if self.is_other_file(written):
            return True  # a file of this folder that is no document has the name first
        ends = folded.removeprefix("./")
        matches = self.by_name.get(ends.rsplit("/", 1)[-1], [])
        matches = [path for path in matches if f"/{path.casefold()}".endswith("/" + ends)]
        return self.add(written, matches)

    def add(self, written: str, matches: list[str]) -> bool:
        if len(matches) > 1 and self.here:
            near = [path for path in matches if path.startswith(self.here.split("/")[0] + "/")]
            matches = near or matches
        if len(matches) == 1:
            self.found[matches[0]] = None
        elif matches:
            self.ambiguous[written] = tuple(sorted(matches))
        return bool(matches)

    def is_other_file(self, written: str) -> bool:
        try:
            return (self.root / self.here / written).is_file() and not _in_documents(
                posixpath.normpath(posixpath.join(self.here, written))
            )
        except (OSError, ValueError):
            return False

    def on_disk(self, written: str, folded: str) -> None:
        """A document that is newer than the manifests, a folder of documents, or a path to nothing."""
        for place in (self.here, ""):
            path = posixpath.normpath(posixpath.join(place, written))
            try:
                target = self.root / path
                if not _in_documents(path + "/") or path.startswith(".."):
                    continue
                if target.is_file():
                    if _is_markdown(path):
                        self.found[path] = None
                    return
                if target.is_dir():
                    self.folders[path] = None
                    return
            except (OSError, ValueError):
                continue
        inside = folded.strip("/")
        if not _in_documents(inside + "/"):
            return
        if _is_markdown(inside):
            self.missing[written] = None
            return
        for path in self.by_path.values():
            at = f"/{path.casefold()}".find(f"/{inside}/")
            if at >= 0:
                self.folders[path[: at + len(inside)]] = None
                return


def _in_documents(path: str) -> bool:
    """Whether one of the folders in ``path`` is a documents folder."""
    return any(role_of(part) is not None for part in _folders(path))


def _folders(path: str) -> Iterator[str]:
    yield from path.replace(os.sep, "/").split("/")[:-1]


def _is_markdown(text: str) -> bool:
    return text.casefold().endswith((".md", ".markdown"))
