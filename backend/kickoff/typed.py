"""The words of a task as the person typed them, for what is said of them: of ``JetStream`` nobody typed the parts."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct

from backend.freshness.words import surfaces, words


class Typed(Struct, frozen=True):
    """One word as it was ``written``: the words that it is compared by as a ``whole`` (one, but for scripts without blanks), and
    its ``parts``.
    """

    written: str
    whole: tuple[str, ...]
    parts: tuple[str, ...]

    def has_whole(self, among: Collection[str]) -> bool:
        """Whether a text has all of it, whose compared words are ``among``."""
        return all(word in among for word in self.whole)

    def found(self, among: Collection[str]) -> str:
        """How it is said that a text has it, whose compared words are ``among``; empty where the text has nothing of it."""
        if self.has_whole(among):
            return self.written
        return f"{self.written} (in part)" if any(word in among for word in self.parts) else ""


def typed(text: str) -> list[Typed]:
    """The words of ``text`` that are searched for, each once, in its order."""
    found: dict[tuple[str, ...], Typed] = {}
    for written in surfaces(text).values():
        whole, compared = tuple(words(written.casefold())), words(written)
        parts = tuple(word for word in compared if word not in whole) or whole
        found.setdefault(whole or parts, Typed(written, whole or parts, parts))
    return list(found.values())
