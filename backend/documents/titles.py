"""What a document is called: by its frontmatter, its first heading, or its file."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from backend.documents.outline import Outline
from backend.documents.text import one_line
from backend.documents.values import read_text

TITLE_LIMIT = 200

# File names that say what kind of file it is, not what it is about; the folder says that.
GENERIC_STEMS = frozenset(
    {
        *(
            "readme",
            "index",
            "_index",
            "skill",
            "spec",
            "specs",
            "proposal",
            "design",
            "tasks",
            "plan",
            "notes",
        ),
        *(
            "overview",
            "main",
            "todo",
            "changelog",
            "decisions",
            "questions",
            "summary",
            "requirements",
            "untitled",
        ),
    }
)
_DATE = re.compile(r"(\d{4}-\d{1,2}-\d{1,2})")


def read_title(value: object, outline: Outline, path: str) -> str:
    """Give the title: the frontmatter's ``value``, else the first heading, else the file."""
    title = read_text(value, TITLE_LIMIT)
    if title:
        return title
    heading = next(
        (heading.text for heading in outline.headings if heading.level == 1 and heading.text), ""
    )
    return one_line(heading.replace("**", ""), TITLE_LIMIT) or file_title(path)


def file_title(path: str) -> str:
    """Make a file's name readable: ``specs/Plant-the-Hedge.md`` gives ``Plant the Hedge``.

    A name that says nothing takes its folder along: ``dig/README.md`` gives ``dig: README``.
    """
    file = PurePosixPath(path)
    stem = file.stem
    if stem.casefold() in GENERIC_STEMS and file.parent.name:
        return one_line(f"{file.parent.name}: {stem}", TITLE_LIMIT)
    # The hyphens of a date stay.
    parts = [
        part if _DATE.fullmatch(part) else re.sub(r"[-_]+", " ", part) for part in _DATE.split(stem)
    ]
    return one_line("".join(parts), TITLE_LIMIT) or one_line(file.name, TITLE_LIMIT) or "Untitled"
