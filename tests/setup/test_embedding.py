"""A config that names an embedder which can't be used: doctor says which to set, claims nothing, and breaks nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest


@pytest.fixture
def tree(org: Any, cv: Any) -> Any:
    org.repo("ferry")
    org.document("ferry/context-v/specs/Timetable.md")
    assert cv("init", "--senior-root", str(org.root), "--yes").code == 0
    return org


def name_embedder(org: Any, name: str) -> None:
    """As somebody who edits the file, or clones a tree that holds it, would have it."""
    path = org.path(".context-vigilance/config.json")
    config = json.loads(path.read_bytes())
    path.write_text(json.dumps(config | {"embedding": {"name": name}}), "utf-8")


@pytest.mark.parametrize(
    ("name", "says"),
    [("nope", 'expected "static", "minilm"'), ("openai", "nobody on this machine has chosen it")],
)
def test_doctor_names_the_remedy_and_mends_nothing(
    tree: Any, cv: Any, name: str, says: str
) -> None:
    name_embedder(tree, name)
    tree.document("ferry/context-v/specs/New.md")
    chroma = tree.path(".context-vigilance/chroma/chroma.sqlite3")
    diagnosis = json.loads(cv("doctor", "--fix", "--json").out)
    problems = [finding for finding in diagnosis["findings"] if finding["level"] == "problem"]

    assert diagnosis["mended"] == []
    (only,) = problems
    assert only["check"] == "config"
    assert says in only["what"]
    assert "cv config set embedding.name static" in only["todo"]
    assert not any(finding["fixable"] for finding in diagnosis["findings"])
    assert chroma.is_file(), "the store that is there is not thrown away"
    assert "mended" not in cv("doctor", "--fix").out

    assert cv("config", "set", "embedding.name", "static").code == 0
    assert cv("sync").code == 0
    assert json.loads(cv("doctor", "--json").out)["findings"]
    assert not [
        f for f in json.loads(cv("doctor", "--json").out)["findings"] if f["level"] == "problem"
    ]
