"""What ``cv why`` prints."""

from __future__ import annotations

from backend.render.inert import inert
from backend.render.paths import PATH_LIMIT
from backend.render.terminal import Style, pad, wrap_indented
from backend.schemas.kickoff import Placement, Why
from backend.tree.listing import listed

_PARTS = {
    "chunk": "words in its best chunks",
    "document": "words in the whole of it",
    "card": "words in title, lede, tags, headings, name",
    "meaning": "similar in meaning",
    "near": "in or near the repo at hand, one that the task names, or that of most matches",
    "news": "recent",
    "changelog": "a changelog entry",
    "linked": "linked from good ones",
}
_LISTED = 5  # links that are named
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
            said = f"! line {problem.line}: {inert(problem.reason, 300)}"
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
    parts = "score".ljust(_COLUMN - 8) + f"{placement.score:+.3f}"
    lines.append(f"  {parts}")
    lines += [
        f"  {pad('', _COLUMN - 8)}{value:+.3f}  {_PARTS.get(name, name)}"
        for name, value in placement.parts.items()
    ]
    words = ", ".join(
        f"{inert(word, 60)} {'once' if times == 1 else f'{times} times'}"
        for word, times in placement.words_found.items()
    )
    best = f"lines {placement.start_line}-{placement.end_line}"
    if placement.heading:
        best += f" › {inert(placement.heading, 160)}"
    if placement.excerpt:
        best += f" → {inert(placement.excerpt, 240)}"
    similarity = placement.similarity
    meaning = "not among the nearest" if similarity is None else f"cosine {similarity:.2f}"
    for name, value in (
        ("words", words or "none"),
        ("missing", ", ".join(inert(word, 60) for word in placement.words_missing)),
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
