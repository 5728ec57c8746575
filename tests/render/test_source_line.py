"""Lines of a document as they are, but harmless."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.render.inert import inert, single_line
from backend.render.source_line import source_line


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("    - nested", "    - nested"),
        (" one blank", " one blank"),
        ("\tif x:", "    if x:"),
        ("│   │   ├── a.md      # first", "│   │   ├── a.md      # first"),
        ("  \x1b[31mred\x1b[0m  \u202eend   ", "  red  end"),
        ("   ", ""),
        ("", ""),
        (" " * 500 + "x", " " * 40 + "x"),
    ],
)
def test_blanks_stay(line: str, shown: str) -> None:
    assert source_line(line, 100) == shown


def test_what_is_inert_stays_so() -> None:
    assert source_line("  ```  <a>  ~~~~", 100, inert) == "  '''  ‹a›  ~"


@given(st.text(st.sampled_from(" \t\u00a0ab`<~[](\x07\u202e"), max_size=80), st.integers(1, 60))
def test_it_is_one_bounded_line_that_says_the_same(line: str, limit: int) -> None:
    shown = source_line(line, limit)
    assert len(shown) <= limit
    assert "\n" not in shown
    if not shown.endswith("…"):
        assert shown.split() == single_line(line, 400).split()
