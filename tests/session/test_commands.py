"""``cv session``: what the agent tells of the session it runs in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

LIMITS = "bay-labs/context-v/specs/Rate-Limits.md"
PLAN = "site/context-v/plans/Launch-Plan.md"


def test_files_are_remembered_in_the_order_of_their_confirmation(
    tree: Any, cv_session: Any
) -> None:
    cv_session("remember-files", str(tree.root / LIMITS), session="s1")
    cv_session(
        "remember-files",
        "context-v/plans/Launch-Plan.md",
        LIMITS,
        session="s1",
        cwd=tree.root / "site",
    )
    shown = json.loads(cv_session("show", "--json", session="s1"))

    assert shown == {"root": str(tree.root), "kickoff": "files", "files": [LIMITS, PLAN]}
    assert json.loads(cv_session("show", "--json", session="s2"))["files"] == []
    assert LIMITS in cv_session("show", session="s1")


def test_no_context_takes_the_files_back(cv_session: Any) -> None:
    cv_session("remember-files", LIMITS, session="s1")
    cv_session("no-context", session="s1")

    assert "no context needed" in cv_session("show", session="s1")
    assert LIMITS not in cv_session("show", session="s1")


def test_what_is_not_there_or_outside_is_refused_and_nothing_kept(
    cv_session: Any, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("x")
    for path in ("bay-labs/context-v/specs/Gone.md", str(outside), "../outside.md", "bay-labs"):
        assert path in cv_session("remember-files", LIMITS, path, session="s1", code=2)
    assert "not asked yet" in cv_session("show", session="s1")


def test_a_session_must_be_named(cv_session: Any) -> None:
    assert "CLAUDE_CODE_SESSION_ID" in cv_session("show", session="", code=2)


def test_nothing_of_a_session_lies_in_the_tree(tree: Any, cv_session: Any, machine: Path) -> None:
    before = sorted(path for path in tree.root.rglob("*"))
    cv_session("remember-files", LIMITS, session="../../evil")

    assert sorted(tree.root.rglob("*")) == before
    kept = [path for path in (machine / "cv/sessions").rglob("state.json")]
    assert [path.parent.parent for path in kept] == [machine / "cv/sessions"]
