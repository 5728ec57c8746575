"""What ``cv why`` prints."""

from __future__ import annotations

from backend.render.inert import inert, told
from backend.render.paths import PATH_LIMIT
from backend.render.terminal import Style, columns, wrap_indented
from backend.schemas.kickoff import Placement, Why
from backend.tree.listing import listed

_PARTS = {  # those that `cv find` has no words for; the others are said as there
    "chunk": "words in its best chunks",
    "document": "words in the whole of it",
    "card": "words in title, lede, tags, headings, name",
    "changelog": "a changelog entry",
}
_LISTED = 5  # links that are named
_WORDS = 24  # and words; a task may be a whole page
_COLUMN = 15


def why_text(why: Why, *, width: int = 80, colour: bool = False) -> str:
    """Return the answer as text of at most ``width`` columns: the path, why it is or isn't indexed, and its placement."""
    style = Style(colour)
    path = inert(why.source_path, PATH_LIMIT)
    lines = [style.bold(path)]
    text = why.text if why.indexed else f"not indexed: {why.text}"
    lines += wrap_indented(inert(text, 1000), width, "  ")
    if why.entry is not None:
        for problem in why.entry.problems:
            said = f"! line {problem.line}: {told(problem.reason, 300)}"
            lines += [style.warn(line) for line in wrap_indented(said, width, "    ", "  ")]
    if why.placement is not None:
        lines += ["", *_placement(why.placement, width, style)]
    for note in why.notes:
        lines += [style.dim(line) for line in wrap_indented(inert(note, 2000), width, "")]
    return "\n".join(lines) + "\n"


def _placement(placement: Placement, width: int, style: Style) -> list[str]:
    task = inert(placement.task, 200)
    head = f"{placement.rank} of {placement.documents} for: {task}"
    lines = [style.bold(line) for line in wrap_indented(head, width, "  ", "")]
    column = " " * (_COLUMN - 6)
    lines.append(f"  {'score'.ljust(_COLUMN - 8)}{placement.score:+.3f}")
    for name, worth in placement.parts.items():
        reason = inert(placement.reasons.get(name) or _PARTS.get(name, name), 400)
        first = f"{column}{worth:+.3f}  "
        lines += wrap_indented(reason, width, " " * columns(first), first)
    words = [
        f"{inert(word, 60)} {'once' if times == 1 else f'{times} times'}"
        for word, times in placement.words_found.items()
    ]
    missing = [inert(word, 60) for word in placement.words_missing]
    best = f"lines {placement.start_line}-{placement.end_line}"
    if placement.heading:
        best += f" › {inert(placement.heading, 160)}"
    if placement.excerpt:
        best += f" → {inert(placement.excerpt, 240)}"
    similarity = placement.similarity
    meaning = "not among the nearest" if similarity is None else f"cosine {similarity:.2f}"
    for name, value in (
        ("words", listed(words, _WORDS) or "none"),
        ("missing", listed(missing, _WORDS)),
        ("meaning", meaning),
        ("reranker", f"place {placement.reranker}" if placement.reranker else ""),
        ("best chunk", best),
        ("linked from", _paths(placement.linked_from)),
        ("links to", _paths(placement.links_to)),
    ):
        if value:
            first = f"  {name.ljust(_COLUMN - 2)}"
            lines += wrap_indented(value, width, " " * _COLUMN, first)
    return lines


def _paths(paths: tuple[str, ...]) -> str:
    return listed([inert(path, PATH_LIMIT) for path in paths], _LISTED)
