"""The body of a document: where its text begins, and the form in which two bodies are compared."""

from __future__ import annotations

import hashlib

from backend.documents.block import skip_comments

# 32 hexadecimal characters are 128 bits: no two of any number of documents meet by chance.
HASH_LENGTH = 32


def body_start(lines: list[str], start: int) -> int:
    """Give the index of the first line of text behind the frontmatter, leading comments apart.

    A roll-up puts a comment above its copy of a text; without it copy and original are equal.
    """
    return skip_comments(lines, start)


def body_fingerprint(lines: list[str], first: int) -> tuple[str, int]:
    """Give (hash, length in characters) of the lines from ``first`` on, outer blanks apart."""
    text = "\n".join(line.rstrip() for line in lines[first:]).strip("\n")
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:HASH_LENGTH], len(text)
