"""Terminal craft shared by the text renderers: columns, whole-word wrapping, colour on request."""

from __future__ import annotations

from rich.cells import cell_len


def columns(text: str) -> int:
    """Return how many terminal columns the text takes (wide and combining characters counted)."""
    return cell_len(text)


def pad(text: str, width: int) -> str:
    """Fill with blanks up to ``width`` columns."""
    return text + " " * max(0, width - columns(text))


def wrap(text: str, width: int) -> list[str]:
    """Break one line at blanks so that each part fits ``width`` columns; no word is ever cut."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if line and columns(longer) > width:
            lines.append(line)
            line = word
        else:
            line = longer
    return [*lines, line] if line else lines


def wrap_indented(text: str, width: int, indent: str, first: str | None = None) -> list[str]:
    """Wrap with ``indent`` before each line, ``first`` before the first one."""
    lines = wrap(text, width - columns(indent))
    if not lines:
        return []
    return [(indent if first is None else first) + lines[0], *(indent + line for line in lines[1:])]


class Style:
    """ANSI styles that vanish when colour is off."""

    def __init__(self, colour: bool) -> None:
        """Switch colour on or off; the caller knows about terminals and ``NO_COLOR``."""
        self._colour = colour

    def bold(self, text: str) -> str:
        """Mark a heading."""
        return self._paint("1", text)

    def dim(self, text: str) -> str:
        """Mark what is read second."""
        return self._paint("2", text)

    def tag(self, text: str) -> str:
        """Mark a tag's heading: cyan."""
        return self._paint("36", text)

    def warn(self, text: str) -> str:
        """Mark what asks for attention: yellow."""
        return self._paint("33", text)

    def _paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour and text else text
