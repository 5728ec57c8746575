"""The names of frontmatter fields: how they are compared, which are read, which are only known."""

from __future__ import annotations

import re

# The first readable one of these is the document's date, in this order (docs/indexing.md). Beside
# ``updated`` and ``lastmod`` and beside ``date_created`` stand the names that other note-taking
# tools give to the same thing.
UPDATED = (
    "updated",
    "lastmod",
    "last_updated",
    "last_modified",
    "modified",
    "updated_at",
    "date_updated",
)
CREATED = ("date_created", "created", "created_at")
DATE_ORDER = (
    "date_modified",
    "date_last_updated",
    "date_authored_current_draft",
    *UPDATED,
    "date",
    "date_authored_initial_draft",
    *CREATED,
)
MODIFIED = ("date_modified", "date_last_updated", *UPDATED)

LEDE = ("lede", "description", "summary")
VERSION = ("semantic_version", "at_semantic_version", "version")
FROM_PATH = ("from_path", "source_path")

# A line that begins with one of these is frontmatter even where the block is broken; no sentence
# begins so.
KNOWN = frozenset(
    {
        *DATE_ORDER,
        *LEDE,
        *VERSION,
        *FROM_PATH,
        *(
            "title",
            "from",
            "tags",
            "tag",
            "author",
            "authors",
            "owner",
            "status",
            "type",
            "site_uuid",
            "private",
        ),
        *(
            "publish",
            "superseded_by",
            "supersedes",
            "augmented_with",
            "category",
            "slug",
            "banner_image",
        ),
        *("portrait_image", "image", "files_changed", "revisions", "package"),
    }
)

# A key of at most three words before a colon: "date modified:", not "And here is what we say:".
_KEY_LINE = re.compile(
    r"(?P<key>[A-Za-z_][\w.-]{0,60}(?: [\w.-]{1,40}){0,2})[ \t]{0,20}:(?:\s+(?P<value>.*))?$",
    re.DOTALL,
)


def normal_key(text: str) -> str:
    """Give a key's comparing form: lower case, blanks and hyphens as underscores."""
    return re.sub(r"[\s_-]+", "_", text.strip().casefold())


def split_key(line: str) -> tuple[str, str] | None:
    """Split a ``key: value`` line into (key as written, value); None for any other line."""
    match = _KEY_LINE.match(line)
    return (match["key"], (match["value"] or "").strip()) if match else None


def is_known(line: str) -> bool:
    """Say whether a line begins with a key that documents of this kind carry."""
    pair = split_key(line[:200])
    if pair is None:
        return False
    key = normal_key(pair[0])
    return key in KNOWN or key.startswith("date_")
