"""The first message of a session: asked what it needs, or left alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backend.session.prompt import is_trivial

QUESTION = "Any known relevant context-v files? List them, paste paths, say 'help me find', or say 'no context needed'."
TASK = "please mend the importer of the price lists"


def test_a_message_without_files_is_answered_with_the_question_once(hooks: Any) -> None:
    asked = hooks.prompt(TASK)

    assert QUESTION in asked
    assert "kickoff-context-v" in asked
    assert len(asked) <= 600
    assert hooks.prompt("and now the exporter of the order desk") == ""


@pytest.mark.parametrize("word", ["deadbeef" * 12_500, "x" * 100_000, "a." * 50_000])
def test_something_huge_that_was_pasted_does_not_use_up_the_hooks_time(
    hooks: Any, word: str
) -> None:
    """A token dump in the first message: looking for files in it must not take longer the square of its length."""
    assert QUESTION in hooks.prompt(f"please mend the importer, here is its dump: {word}")


@pytest.mark.parametrize(
    "text",
    [
        "go by bay-labs/context-v/specs/Price-List-Importer.md",
        "go by @bay-labs/context-v/specs/Price-List-Importer.md",
        "go by [[Price-List-Importer]]",
        "go by Price-List-Importer",
    ],
)
def test_a_message_that_names_files_is_left_alone_and_settles_it(hooks: Any, text: str) -> None:
    assert hooks.prompt(text) == ""
    assert hooks.prompt(TASK) == ""


@pytest.mark.parametrize(
    "text",
    [
        "/catch-up-2w",
        "/init now please, all of it",
        "hi",
        "thanks!",
        "Good morning, Claude",
        "ok",
        "  ",
        "why?",
    ],
)
def test_commands_and_small_talk_are_neither_asked_nor_counted(hooks: Any, text: str) -> None:
    assert hooks.prompt(text) == ""
    assert QUESTION in hooks.prompt(TASK)


@pytest.mark.parametrize(
    ("text", "trivial"),
    [
        ("hello there", True), ("ok thank you very much", True), ("continue", True), ("yes", True), ("importer", True),
        ("???", True), ("你好", True), ("请修复价格导入器", False), ("价格列表的导入器坏了", False),
        ("fix importer", False), ("what's broken", False), ("Danke", True), ("mach weiter mit dem Importer", False),
    ],
)  # fmt: skip
def test_small_talk(text: str, trivial: bool) -> None:
    assert is_trivial(text) is trivial


def test_nobody_is_asked_where_nobody_is(hooks: Any) -> None:
    for variables in (
        {"CLAUDE_CODE_SESSION_ATTENDED": "0", "CLAUDE_CODE_ENTRYPOINT": "cli"},
        {"CLAUDE_CODE_SESSION_ATTENDED": "", "CLAUDE_CODE_ENTRYPOINT": "sdk-cli"},
        {"CLAUDE_CODE_SESSION_ATTENDED": "", "CLAUDE_CODE_ENTRYPOINT": "", "CI": "true"},
    ):
        hooks.new_session()
        hooks.variables |= variables
        assert hooks.prompt(TASK) == ""


def test_a_run_that_is_continued_in_a_terminal_has_had_its_first_prompt(hooks: Any) -> None:
    hooks.variables["CLAUDE_CODE_SESSION_ATTENDED"] = "0"
    hooks.prompt(TASK)
    hooks.variables["CLAUDE_CODE_SESSION_ATTENDED"] = "1"

    assert hooks.prompt(TASK) == ""
    hooks.new_session()
    assert QUESTION in hooks.prompt(TASK)


def test_a_subagent_is_not_asked(hooks: Any) -> None:
    assert hooks.prompt(TASK, agent_id="a1") == ""
    assert QUESTION in hooks.prompt(TASK)


def test_switched_off_for_good(hooks: Any) -> None:
    hooks.configure(kickoff="off")

    assert hooks.prompt(TASK) == ""


def test_silent_outside_and_where_dismissed(hooks: Any, tree: Any, tmp_path: Path) -> None:
    tree.dismiss("site")

    assert hooks.prompt(TASK, cwd=str(tmp_path)) == ""
    assert hooks.prompt(TASK, cwd=str(tree.root / "site")) == ""
    assert QUESTION in hooks.prompt(TASK, cwd=str(tree.root / "bay-labs"))


def test_silent_where_it_cannot_be_remembered(hooks: Any, tmp_path: Path) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("")
    hooks.variables["CV_HOME"] = str(blocked / "home")

    assert hooks.prompt(TASK) == ""


def test_a_broken_config_stops_nothing(hooks: Any) -> None:
    (hooks.root / ".context-vigilance/config.json").write_text("{")

    assert hooks.prompt(TASK) == ""
    assert "user-prompt: failed" in hooks.log()
