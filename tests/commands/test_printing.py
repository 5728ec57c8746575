"""What people read: the commands of set-up and freshness, word for word, and the same as JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest


def test_init_says_what_it_wrote_and_what_to_try(
    org: Any, cv: Any, steady: Any, snapshot: Any
) -> None:
    org.repo("ferry")
    org.document("ferry/context-v/specs/Timetable.md", count=2)
    before = org.fingerprint()
    done = cv("init", "--senior-root", str(org.root), "--yes")
    assert (done.code, done.err) == (0, "")
    assert steady(done.out) == snapshot
    after = org.fingerprint()
    assert {path: after[path] for path in before} == before
    assert sorted(after.keys() - before.keys()) == [".claude/settings.json"]
    assert (
        sorted(p.relative_to(org.root).as_posix() for p in org.path(".context-vigilance").iterdir())
        == snapshot
    )


def test_init_run_again_changes_nothing(tree: Any, cv: Any, steady: Any, snapshot: Any) -> None:
    files = {p: p.read_bytes() for p in tree.path(".context-vigilance").iterdir() if p.is_file()}
    done = cv("init", "--senior-root", str(tree.root), "--yes")
    assert done.code == 0
    assert steady(done.out) == snapshot
    assert {p: p.read_bytes() for p in files if p.suffix != ".lock"} == {
        p: data for p, data in files.items() if p.suffix != ".lock"
    }


def test_sync_says_counts_skips_and_notes(tree: Any, cv: Any, steady: Any, snapshot: Any) -> None:
    tree.document("ferry/context-v/New.md")
    tree.document("ferry/context-v/Private.md", private="true")
    tree.document("barn/context-v/Hay.md")
    tree.edit("mill/context-v/specs/Wheel.md", "## Part 1", "## Part 1, again")
    tree.delete("ferry/context-v/plans/Pier.md")
    dry = cv("sync", "--dry-run")
    assert (dry.code, dry.out) == (0, snapshot)
    done = cv("sync")
    assert (done.code, done.err) == (0, "")
    assert steady(done.out) == snapshot
    assert cv("sync", "--dry-run").out == snapshot


def test_a_dry_run_does_nothing(tree: Any, cv: Any) -> None:
    tree.document("barn/context-v/Hay.md")
    kit = tree.path(".context-vigilance")
    before = {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in kit.rglob("*") if p.is_file()}
    done = cv("sync", "--dry-run", "--json")
    assert json.loads(done.out)["context-vigilance-corpus"] == {
        "new": ["barn/context-v/Hay.md"],
        "changed": [],
        "gone": [],
    }
    assert {
        p: (p.stat().st_mtime_ns, p.stat().st_size) for p in kit.rglob("*") if p.is_file()
    } == before


def test_sync_as_json_has_the_keys_of_the_contract(tree: Any, cv: Any) -> None:
    report = json.loads(cv("ingest", "--json").out)
    assert {"roles", "seconds", "embedder"} <= report.keys()
    for part in report["roles"].values():
        assert {
            "indexed",
            "updated",
            "unchanged",
            "removed",
            "failed",
            "skipped",
            "chunks",
        } <= part.keys()


def test_status_on_one_screen(tree: Any, cv: Any, steady: Any, snapshot: Any) -> None:
    tree.document("ferry/context-v/New.md")
    tree.touch("mill/context-v/specs/Wheel.md", 1_700_000_000)
    done = cv("status", cwd=tree.path("ferry"))
    assert (done.code, done.err) == (0, "")
    assert steady(done.out) == snapshot


def test_status_as_json_has_the_keys_of_the_contract(tree: Any, cv: Any) -> None:
    status = json.loads(cv("status", "--json").out)
    expected = {
        "senior_root",
        "applicable",
        "reason",
        "roles",
        "last_session_at",
        "nudge",
        "embedder",
        "store_bytes",
    }
    assert expected <= status.keys()
    assert status["roles"]["changelog-corpus"] == {
        "collection": "changelog-corpus",
        "documents": 1,
        "chunks": 1,
        "behind": 0,
    }


def test_dismiss_and_undismiss(tree: Any, cv: Any, steady: Any, snapshot: Any) -> None:
    said = [
        cv("dismiss", "mill"),
        cv("dismiss", "mill"),
        cv("status", cwd=tree.path("mill/context-v")),
        cv("sync"),
        cv("undismiss", "mill/context-v"),
        cv("undismiss", "mill"),
        cv("undismiss", cwd=tree.path("mill")),
        cv("sync"),
    ]
    assert [result.code for result in said] == [0] * len(said)
    assert [steady(result.out) for result in said] == snapshot


def test_config_get_set_and_list(tree: Any, cv: Any, steady: Any, snapshot: Any) -> None:
    assert cv("config", "set", "nudge.after_files", "8").out == "nudge.after_files = 8\n"
    assert cv("config", "get", "nudge.after_files").out == "8\n"
    assert cv("config", "get", "nudge.state").out == "on\n"
    assert (
        json.loads(cv("config", "get", "collections").out)["changelog_corpus"] == "changelog-corpus"
    )
    assert cv("config", "nudge", "off").out == "the catch-up nudge is off\n"
    assert cv("config", "kickoff", "off").out == "asking for the working set is off\n"
    assert steady(cv("config", "list").out) == snapshot
    assert json.loads(cv("config", "list", "--json").out)["nudge"]["after_files"] == 8


def test_nudge_is_muted_switched_and_said(tree: Any, cv: Any) -> None:
    assert cv("nudge").out == "the catch-up nudge is on\n"
    assert cv("nudge", "mute-for-week").out.startswith("the catch-up nudge is on, silent until 20")
    assert json.loads(cv("nudge", "--json").out)["muted_until"].endswith("Z")
    assert cv("nudge", "off").out == "the catch-up nudge is off\n"
    assert json.loads(cv("nudge", "--json").out) | {
        "after_days": 0,
        "after_files": 0,
        "not_by": "",
    } == {
        "state": "off",
        "muted_until": None,
        "after_days": 0,
        "after_files": 0,
        "not_by": "",
    }


def test_roots_that_were_set_up(tree: Any, cv: Any, steady: Any) -> None:
    assert steady(cv("list-roots").out) == "ROOT\n"
    assert json.loads(cv("list-roots", "--json").out) == [str(tree.root)]
    tree.path(".context-vigilance/config.json").unlink()
    gone = "(no longer set up there: 'cv doctor --fix' takes the entry out)"
    assert steady(cv("list-roots").out) == f"ROOT  {gone}\n"


def test_no_roots_yet(org: Any, cv: Any) -> None:
    assert cv("list-roots").out == "none yet: run 'cv init' at the top of your tree of repos\n"


def test_a_setting_goes_back_to_its_default(tree: Any, cv: Any) -> None:
    cv("config", "set", "nudge.after_days", "9")
    cv("config", "set", "reranker.url", "http://localhost:9/rerank")
    assert cv("config", "unset", "nudge.after_days").out == "nudge.after_days = 3.0\n"
    assert "no reranker is asked" in cv("config", "unset", "reranker.url").out
    assert cv("config", "get", "nudge.after_days").out == "3.0\n"


def test_help_lists_the_commands(org: Any, cv: Any, snapshot: Any) -> None:
    assert cv("help").out == snapshot
    alone = cv()
    assert (alone.code, alone.out, alone.err) == (0, cv("help").out, "")
    assert cv("--version").out.startswith("cv, version ")


@pytest.mark.parametrize(
    "command", ["init", "sync", "dismiss", "undismiss", "status", "list-roots", "nudge"]
)
def test_help_of_a_command(org: Any, cv: Any, snapshot: Any, command: str) -> None:
    assert cv(command, "--help").out == snapshot


def test_help_says_the_same_both_ways(org: Any, cv_process: Any) -> None:
    assert cv_process("help", "sync").out == cv_process("sync", "--help").out
