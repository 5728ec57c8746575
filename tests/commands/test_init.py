"""``cv init``: proposes, asks, writes what is missing, merges the settings without loss, refuses what it can't read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

HOOK = {
    "hooks": [
        {
            "type": "command",
            "command": '"$CLAUDE_PROJECT_DIR"/.context-vigilance/scripts/session-start.sh',
            "timeout": 10,
        }
    ]
}


@pytest.fixture
def init(org: Any, cv: Any) -> Any:
    """Run ``cv init`` on the organisation without building an index."""

    def run(*arguments: str, **keys: Any) -> Any:
        return cv("init", "--senior-root", str(org.root), "--yes", "--no-index", *arguments, **keys)

    return run


def settings(org: Any, text: str | None = None) -> Path:
    return (
        org.write(".claude/settings.json", text)
        if text is not None
        else org.path(".claude/settings.json")
    )


def test_the_hook_has_the_form_that_claude_code_reads(org: Any, init: Any) -> None:
    init()
    assert json.loads(settings(org).read_text()) == {"hooks": {"SessionStart": [HOOK]}}
    script = org.path(".context-vigilance/scripts/session-start.sh")
    assert os.access(script, os.X_OK)


MERGES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "empty": ({}, {"hooks": {"SessionStart": [HOOK]}}),
    "other keys": (
        {"model": "x", "permissions": {"allow": ["Bash(ls)"]}, "ü": [1, None]},
        {
            "model": "x",
            "permissions": {"allow": ["Bash(ls)"]},
            "ü": [1, None],
            "hooks": {"SessionStart": [HOOK]},
        },
    ),
    "other hooks": (
        {
            "hooks": {
                "Stop": [{"hooks": []}],
                "SessionStart": [
                    {"matcher": "startup", "hooks": [{"type": "command", "command": "x"}]}
                ],
            }
        },
        {
            "hooks": {
                "Stop": [{"hooks": []}],
                "SessionStart": [
                    {"matcher": "startup", "hooks": [{"type": "command", "command": "x"}]},
                    HOOK,
                ],
            }
        },
    ),
    "no groups": ({"hooks": {"SessionStart": []}}, {"hooks": {"SessionStart": [HOOK]}}),
}


@pytest.mark.parametrize(("before", "after"), MERGES.values(), ids=MERGES)
def test_settings_are_merged_without_losing_a_key(
    org: Any, init: Any, before: Any, after: Any
) -> None:
    settings(org, json.dumps(before, indent=4))
    assert init().code == 0
    text = settings(org).read_text("utf-8")
    assert json.loads(text) == after
    assert list(json.loads(text)) == list(after), "keys keep their order"
    assert not before or '\n    "' in text, "the indentation stays"
    assert init().code == 0
    assert settings(org).read_text("utf-8") == text


def test_a_hook_of_ours_that_somebody_changed_stays(org: Any, init: Any) -> None:
    mine = {
        "hooks": {
            "SessionStart": [{"matcher": "startup", "hooks": [{**HOOK["hooks"][0], "timeout": 3}]}]
        }
    }
    settings(org, json.dumps(mine))
    init()
    assert json.loads(settings(org).read_text()) == mine


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{\n  "hooks": {},\n}\n', "settings.json: line 3, column 1: not valid JSON"),
        ("// a comment\n{}", "settings.json: line 1, column 1: not valid JSON"),
        ("[]", "settings.json: expected a JSON object"),
        ('{"hooks": []}', "settings.json: hooks: expected"),
        ('{"hooks": {"SessionStart": {}}}', "settings.json: hooks: expected"),
    ],
)
def test_settings_that_cannot_be_read_are_refused_and_left_alone(
    org: Any, init: Any, text: str, says: str
) -> None:
    path = settings(org, text)
    done = init()
    assert done.code == 1
    assert says in done.err
    assert done.err.count("\n") == 1
    assert path.read_text() == text
    assert init("--no-settings-hook").code == 0
    assert path.read_text() == text


def test_without_the_settings_hook_nothing_is_written_there(org: Any, init: Any) -> None:
    assert init("--no-settings-hook").code == 0
    assert not settings(org).exists()


def test_a_broken_config_is_refused(org: Any, init: Any) -> None:
    org.write(".context-vigilance/config.json", "{")
    done = init()
    assert done.code == 1
    assert "config.json: line 1, column" in done.err
    assert org.path(".context-vigilance/config.json").read_text() == "{"


def test_what_a_person_wrote_is_kept_when_it_runs_again(org: Any, init: Any) -> None:
    init()
    config = org.path(".context-vigilance/config.json")
    config.write_text(json.dumps(json.loads(config.read_text()) | {"mine": 1, "kickoff": "off"}))
    org.write(".context-vigilance/.gitignore", "mine\n")
    org.path(".context-vigilance/scripts/session-start.sh").write_text("#!/bin/sh\nexit 1\n")
    assert init().code == 0
    assert json.loads(config.read_text())["mine"] == 1
    assert json.loads(config.read_text())["kickoff"] == "off"
    assert org.path(".context-vigilance/.gitignore").read_text() == "mine\n"
    assert "exit 1" not in org.path(".context-vigilance/scripts/session-start.sh").read_text(), (
        "the script is ours"
    )


def test_a_moved_tree_is_healed_and_said(org: Any, init: Any, cv: Any, tmp_path: Path) -> None:
    init()
    org.root.rename(tmp_path / "moved")
    done = cv("init", "--senior-root", str(tmp_path / "moved"), "--yes", "--no-index", cwd=tmp_path)
    assert done.code == 0
    assert f"config.json: the tree was at {org.root}" in done.out
    assert json.loads((tmp_path / "moved/.context-vigilance/config.json").read_text())[
        "senior_root"
    ] == str(tmp_path / "moved")


def test_a_root_inside_a_root_is_refused(org: Any, init: Any, cv: Any) -> None:
    init()
    org.path("mill").mkdir()
    done = cv("init", "--senior-root", str(org.path("mill")), "--yes", "--no-index")
    assert done.code == 2
    assert "lies inside the senior root" in done.err
    assert not org.path("mill/.context-vigilance").exists()


@pytest.mark.parametrize(
    ("root", "says"),
    [
        *(("not/there", "is not there"), ("file", "is a file"), ("/", "is the whole disk")),
        ("ferry/context-v", "is a documents folder"),
        ("ferry/context-v/specs", "is a documents folder"),
        ("ferry/changelog--code", "is a documents folder"),
    ],
)
def test_a_root_that_cannot_be_one(org: Any, cv: Any, root: str, says: str) -> None:
    org.write("file", "x")
    org.document("ferry/context-v/specs/A.md")
    org.document("ferry/changelog--code/B.md")
    before = sorted(org.root.rglob("*"))
    done = cv("init", "--senior-root", root, "--yes")
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert sorted(org.root.rglob("*")) == before


def test_it_proposes_the_folder_that_holds_the_repos_and_asks(org: Any, cv: Any) -> None:
    for name in ("ferry", "mill"):
        org.repo(name)
    org.document("ferry/context-v/specs/A.md")
    done = cv("init", "--no-index", cwd=org.path("ferry/context-v"), stdin="n\n")
    assert done.code == 1
    assert "2 repos, 1 context-v document" in done.out
    assert f"Set up {org.root} as the senior root? [Y/n]" in done.out
    assert "nothing was written" in done.err
    assert not org.path(".context-vigilance").exists()
    done = cv("init", "--no-index", cwd=org.path("ferry/context-v"), stdin="y\n")
    assert done.code == 0
    assert org.path(".context-vigilance/config.json").exists()


def test_without_a_person_to_ask_nothing_is_written(org: Any, cv: Any) -> None:
    org.repo("ferry")
    done = cv("init", "--no-index", cwd=org.path("ferry"), stdin="")
    assert done.code != 0
    assert not org.path("ferry/.context-vigilance").exists()


def test_a_home_that_cannot_be_written_to_is_said(
    org: Any, cv: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CV_HOME", str(tmp_path / "file/cv"))
    done = cv("init", "--senior-root", str(org.root), "--yes", "--no-index")
    assert done.code in (0, 1)
    assert "Traceback" not in done.err
    assert org.path(".context-vigilance/config.json").exists()
