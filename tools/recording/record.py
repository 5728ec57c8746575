"""Record docs/session.svg: the real Claude Code in a terminal, the plugin installed from a git marketplace, a tree of its demo.

What is shown is what that terminal held at the moments named below. The model alone is scripted (tests/plugin/model.py): its
turns are ``TURNS``; the files that it proposes are those that ``cv find`` gave it in this very run. Run it in the environment
of ``bin/cv test`` with this folder's requirements.txt added; ``CV_CLAUDE_BIN`` names Claude Code's program::

    python tools/recording/record.py [docs/session.svg]
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import struct
import sys
import tempfile
import termios
import time
from datetime import date
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import pyte

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests/plugin")]

from host import Host, Terminal, find_program  # noqa: E402
from model import Model, Use, bash, read  # noqa: E402

from backend.setup.demo import make_organisation  # noqa: E402

COLUMNS, ROWS = 100, 30
TASK = "keep people signed in for longer without asking for a password again"
QUESTION = "Any known relevant context-v files? List them, paste paths, say 'help me find', or say 'no context needed'."
TITLE = "A session: the agent asks which documents matter, finds them on request, and reads those that are picked"
WIDTH, HEIGHT = 8.4, 19  # of a character of 14 px, in px
COLOURS = {
    "default": "#d4d7dd", "black": "#3b4048", "red": "#e06c75", "green": "#98c379", "brown": "#d19a66", "blue": "#61afef",
    "magenta": "#c678dd", "cyan": "#56b6c2", "white": "#d4d7dd", "brightblack": "#7f848e", "brightred": "#e06c75",
    "brightgreen": "#98c379", "brightbrown": "#e5c07b", "brightblue": "#61afef", "brightmagenta": "#c678dd",
    "brightcyan": "#56b6c2", "brightwhite": "#ffffff",
}  # fmt: skip


PLAINER = str.maketrans("⎿⏸", "└‖")
"""Two signs of Claude Code's that many fonts lack, and what stands for them in the picture."""


class Frame(NamedTuple):
    """A screen, and how long it is shown."""

    screen: Any
    seconds: float


# --- the model's turns -------------------------------------------------------------------------------------------------


def found(text: str) -> list[dict[str, Any]]:
    """The candidates of the newest ``cv find --json`` in a request."""
    start = text.rindex('{\n  "task"')
    answer: dict[str, Any] = json.JSONDecoder().raw_decode(text[start:])[0]
    return list(answer["candidates"])


def look_for_files(text: str) -> Use:
    """Run ``cv find``, with the launcher that the plugin's hook named."""
    launcher = re.search(r'"([^"\n]+/bin/cv)" find', text)
    assert launcher
    return bash(f'"{launcher[1]}" find "{TASK}" --n-results 4 --json')


def propose(text: str) -> str:
    """The skill's three buckets, with what was found: the first two to be read, the rest perhaps."""
    lines = []
    for number, file in enumerate(found(text), 1):
        lines += {1: ["**Hard include**"], 3: ["", "**Maybe**"]}.get(number, [])
        lines.append(f"{number}. `{file['source_path']}` › {file['title']} › {file['date']}")
    return "\n".join(
        [*lines, "", "Which shall I read? Numbers, ranges or names; or move them around."]
    )


def read_first(text: str) -> Use:
    """Read the first file that was found."""
    return read(found(text)[0]["absolute_path"])


def read_second(text: str) -> Use:
    """Read the second one."""
    return read(found(text)[1]["absolute_path"])


READY = "Both read in full. Sessions last thirty days and live in the shared cache, so the change starts there."


# --- the terminal ------------------------------------------------------------------------------------------------------


class Recorder:
    """A session in a terminal of a known size, and the frames taken of it."""

    def __init__(self, host: Host, folder: Path) -> None:
        """Start Claude Code in ``folder``."""
        self.session = Terminal(host, folder)
        size = struct.pack("HHHH", ROWS, COLUMNS, 0, 0)
        fcntl.ioctl(self.session.main, termios.TIOCSWINSZ, size)
        self.session.ready()
        self.frames: list[Frame] = []

    def screen(self) -> Any:
        """What the terminal shows now."""
        screen = pyte.Screen(COLUMNS, ROWS)
        pyte.ByteStream(screen).feed(self.session.screen)
        return screen

    def take(self, words: str, seconds: float) -> None:
        """Take a frame once ``words`` are on the screen and it has come to rest."""
        self.session.wait(lambda: words in " ".join(" ".join(self.screen().display).split()), words)
        before = b""
        while before != self.session.screen:
            before = self.session.screen
            time.sleep(1.0)
        self.frames.append(Frame(self.screen(), seconds))


def record(folder: Path) -> list[Frame]:
    """Play the session in ``folder``; returns its frames."""
    program, reason = find_program(folder)
    if reason:
        raise SystemExit(reason)
    model = Model()
    host = Host(program, folder / "machine", model)
    host.publish("0.9.0")
    host.install()
    tree = host.home / "acorn-goods"
    make_organisation(tree, date.today())
    host.cv("init", "--senior-root", str(tree), "--yes", cwd=tree)
    model.script(QUESTION, look_for_files, propose, read_first, read_second, READY)
    recorder = Recorder(host, tree)
    recorder.take("/catch-up-2w shows the last two weeks", 3)
    for typed, words, seconds in (
        (TASK, "'no context needed'", 4),
        ("help me find", "Which shall I read?", 6),
        ("1 and 2", "the change starts there", 7),
    ):
        recorder.session.type(typed)
        recorder.take(words, seconds)
    recorder.session.close()
    model.close()
    return recorder.frames


# --- the picture -------------------------------------------------------------------------------------------------------


def drawn(frames: list[Frame]) -> str:
    """The frames as one SVG that shows each in its turn; where nothing moves, the last."""
    width, height = COLUMNS * WIDTH + 32, ROWS * HEIGHT + 32
    whole = sum(frame.seconds for frame in frames)
    styles, groups, start = [], [], 0.0
    for number, frame in enumerate(frames):
        a, b = (round(100 * at / whole, 2) for at in (start, start + frame.seconds))
        start += frame.seconds
        hidden = "0%{opacity:0} " if a else ""
        after = f" {b}%{{opacity:0}} 100%{{opacity:0}}" if b < 100 else " 100%{opacity:1}"
        styles.append(f"@keyframes f{number} {{ {hidden}{a}%{{opacity:1}}{after} }}")
        styles.append(f".f{number} {{ animation: f{number} {whole:g}s step-end infinite }}")
        shown = int(number == len(frames) - 1)
        groups.append(f'<g class="f{number}" opacity="{shown}">\n{rows(frame.screen)}</g>')
    styles.append(".bold { font-weight: bold }")
    styles.append("@media (prefers-reduced-motion: reduce) { g { animation: none !important } }")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" role="img">\n'
        f"<title>{TITLE}</title>\n"
        f"<style>\ntext {{ font: 14px ui-monospace, Menlo, Consolas, monospace; white-space: pre }}\n{chr(10).join(styles)}\n"
        f'</style>\n<rect width="100%" height="100%" rx="8" fill="#1e2127"/>\n{chr(10).join(groups)}\n</svg>\n'
    )


def rows(screen: Any) -> str:
    """The lines of a screen as text elements, a piece for each run of one colour and weight."""
    lines = []
    for y in range(ROWS):
        cells = [screen.buffer[y][x] for x in range(COLUMNS)]
        x = 0
        for style, run in groupby(cells, key=lambda cell: (cell.fg, cell.bold)):
            text = "".join(cell.data for cell in run)
            if text.strip():
                colour = COLOURS.get(style[0], f"#{style[0]}")
                weight = ' class="bold"' if style[1] else ""
                left = 16 + (x + len(text) - len(text.lstrip())) * WIDTH
                length = len(text.strip()) * WIDTH
                lines.append(
                    f'<text x="{left:g}" y="{30 + y * HEIGHT}" fill="{colour}"{weight} textLength="{length:g}">'
                    f"{escape(text.strip().translate(PLAINER))}</text>\n"
                )
            x += len(text)
    return "".join(lines)


def main() -> None:
    """Record, and write the picture."""
    target = Path(sys.argv[1]) if sys.argv[1:] else ROOT / "docs/session.svg"
    for name in [name for name in os.environ if name.startswith(("CLAUDE", "CV_HOME"))]:
        del os.environ[name]
    with tempfile.TemporaryDirectory(prefix="cv-recording-") as folder:
        target.write_text(drawn(record(Path(folder))), "utf-8")


if __name__ == "__main__":
    main()
