"""What the tests of this room share: a small organisation that was set up by ``cv init``, and steady words."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def tree(org: Any, cv: Any) -> Any:
    """Two repos with three documents and a changelog entry, all of 2025, set up and indexed."""
    for name in ("ferry", "mill"):
        org.repo(name)
    org.document(
        "ferry/context-v/specs/Timetable.md",
        title="The timetable",
        tags=["Boats"],
        authors=["Ada Moss"],
        count=2,
    )
    org.document(
        "ferry/context-v/plans/Pier.md",
        title="A longer pier",
        day="2025-02-01",
        tags=["Boats", "Stone"],
    )
    org.document(
        "mill/context-v/specs/Wheel.md", title="The wheel", day="2025-05-20", lede="What turns it."
    )
    org.document("mill/changelog/2025-06-01_sails.md", title="New sails", day=None)
    done = cv("init", "--senior-root", str(org.root), "--yes")
    assert done.code == 0, done
    return org


@pytest.fixture
def steady(org: Any, machine: Path) -> Callable[[str], str]:
    """Give a function that replaces in a text what differs between runs and machines."""

    def replace(text: str) -> str:
        text = text.replace(str(org.root), "ROOT").replace(str(machine), "HOME")
        text = re.sub(r"in \d+\.\d s", "in N s", text)
        text = re.sub(r"static-[0-9a-f]{8}", "static-VERSION", text)
        text = re.sub(r"(last sync +)\d{4}-\d\d-\d\d \d\d:\d\d, \d+ ms", r"\1MOMENT, N ms", text)
        return re.sub(r"\d+\.\d MB", "N MB", text)

    return replace
