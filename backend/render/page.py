"""The digest as one self-contained HTML page that opens from disk, without network.

The page's parts lie beside this file: ``page.html.j2``, ``page.css``, ``page.js``. Its content
security policy allows exactly this style and this script, by their hashes, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from functools import cache
from importlib import resources
from typing import NamedTuple

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from backend.documents.lists import fold, fold_name
from backend.render.activity import HEIGHT, draw_activity
from backend.render.digest_text import theme_repos
from backend.render.inert import single_line
from backend.render.paths import PATH_LIMIT, below_repo
from backend.schemas.catchup import Digest, DigestFile
from backend.schemas.roles import CHANGELOG_ROLE

TEXT_LIMIT = 400  # characters of a title, lede, tag or name
_DATE_SOURCES = {
    "file-name": "from its name",
    "git": "from git",
    "ingest": "first indexed",
}


class _File(NamedTuple):
    id: int
    path: str
    title: str
    date: str
    date_source: str
    lede: str
    authors: tuple[str, ...]
    author_ids: str
    is_changelog: bool


class _Tag(NamedTuple):
    id: int
    name: str
    files: tuple[_File, ...]


class _Repo(NamedTuple):
    id: int
    name: str
    file_count: int
    latest: str
    tags: tuple[_Tag, ...]


class _Names:
    """Number names in the order of first sight: one number, and one choice, for all spellings."""

    def __init__(self) -> None:
        self._spellings: dict[str, Counter[str]] = {}
        self._ids: dict[str, int] = {}

    def number(self, key: str, shown: str) -> int:
        self._spellings.setdefault(key, Counter())[shown] += 1
        return self._ids.setdefault(key, len(self._ids))

    def options(self) -> list[tuple[int, str]]:
        """Return number and most common spelling, by name."""
        pairs = [
            (
                number,
                min(self._spellings[key], key=lambda text: (-self._spellings[key][text], text)),
            )
            for key, number in self._ids.items()
        ]
        return sorted(pairs, key=lambda pair: (pair[1].casefold(), pair[1]))


def digest_page(digest: Digest) -> str:
    """Return the page as HTML text, to be written as UTF-8.

    Text of documents is escaped and stripped of control characters; the page needs no network,
    works without its script, follows the system's dark or light setting, and prints.
    """
    tags, authors, files = _Names(), _Names(), _Names()
    repos = [
        _Repo(
            id=number,
            name=_line(repo.repo),
            file_count=len({file.source_path for tag in repo.tags for file in tag.files}),
            latest=repo.latest,
            tags=tuple(
                _Tag(
                    id=tags.number(fold(tag.tag), _line(tag.tag)),
                    name=_line(tag.tag),
                    files=tuple(_file(file, repo.repo, files, authors) for file in tag.files),
                )
                for tag in repo.tags
            ),
        )
        for number, repo in enumerate(digest.repos)
    ]
    style, script = Markup(_part("page.css")), Markup(_part("page.js"))
    return _template().render(
        digest=digest,
        repos=repos,
        tags=tags.options(),
        authors=authors.options(),
        activity=draw_activity(digest),
        height=HEIGHT,
        style=style,
        script=script,
        policy=_policy(style, script),
    )


def _file(file: DigestFile, repo: str, files: _Names, authors: _Names) -> _File:
    names = tuple(_line(author) for author in file.authors)
    return _File(
        id=files.number(file.source_path, file.source_path),
        path=single_line(below_repo(file.source_path, repo), PATH_LIMIT),
        title=_line(file.title) or file.source_path.rpartition("/")[2],
        date=file.date,
        date_source=_DATE_SOURCES.get(file.date_from, ""),
        lede=_line(file.lede),
        authors=names,
        author_ids=" ".join(str(authors.number(fold_name(name), name)) for name in names),
        is_changelog=file.role == CHANGELOG_ROLE,
    )


def _break_at_slashes(text: str) -> Markup:
    """Let a narrow screen break a slug after a slash rather than within a name."""
    return Markup("/<wbr>").join(text.split("/"))


def _keep_options_whole(text: str) -> Markup:
    """Keep ``--max-files`` on one line: a browser would break it after any hyphen."""
    whole = Markup('<span class="option">{}</span>')
    words = (whole.format(word) if word.startswith("--") else word for word in text.split(" "))
    return Markup(" ").join(words)


def _line(text: str) -> str:
    return single_line(text, TEXT_LIMIT)


def _policy(style: str, script: str) -> str:
    return "; ".join(
        [
            "default-src 'none'",
            f"style-src '{_hash(style)}'",
            f"script-src '{_hash(script)}'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _part(name: str) -> str:
    return resources.files("backend.render").joinpath(name).read_text(encoding="utf-8")


@cache
def _template() -> Template:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["line"] = _line
    environment.filters["repos"] = theme_repos
    environment.filters["at_slashes"] = _break_at_slashes
    environment.filters["whole_options"] = _keep_options_whole
    return environment.from_string(_part("page.html.j2"))
