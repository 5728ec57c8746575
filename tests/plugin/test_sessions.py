"""The plugin in the real Claude Code, end to end: what reaches the model, what runs unasked, what stays silent."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from model import Use, bash, read  # type: ignore[import-not-found]

pytestmark = pytest.mark.e2e

APPLIES = "Context Vigilance is at work here"
QUESTION = "Any known relevant context-v files? List them, paste paths, say 'help me find', or say 'no context needed'."
TASK = "please mend the importer of the price lists"
SPEC = "bay-labs/context-v/specs/Price-List-Importer.md"


# --- installed ---------------------------------------------------------------------------------------------------------


def test_the_plugin_is_valid_and_comes_from_the_clone(host: Any) -> None:
    root = host.plugin_root()

    assert root.parts[-3:] == ("context-vigilance", "context-vigilance", "0.9.0")
    assert " " in str(root)
    for target in (root, root / ".claude-plugin/plugin.json"):
        assert "passed" in host.run("plugin", "validate", "--strict", str(target))
    manifest = json.loads((root / ".claude-plugin/plugin.json").read_text("utf-8"))
    hooks = json.loads((root / "hooks/hooks.json").read_text("utf-8"))["hooks"]
    assert "hooks" not in manifest
    assert all(
        0 < hook["timeout"] <= 10
        for groups in hooks.values()
        for group in groups
        for hook in group["hooks"]
    )


# --- where it applies --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", ["", "bay-labs", "bay-labs/context-v/specs"])
def test_a_session_in_the_tree_learns_of_it(host: Any, work: Any, model: Any, folder: str) -> None:
    model.script("hello")
    (said,) = host.prompt(TASK, cwd=work.root / folder)

    assert said.count(APPLIES) == 1  # plugin and settings.json both have the hook at the root
    assert f"Senior root: {work.root}" in said
    assert str(host.plugin_root() / "bin/cv") in said
    assert QUESTION not in said  # nobody is there under -p


@pytest.mark.parametrize("folder", ["private", "private/context-v", ".."])
def test_a_session_elsewhere_does_not(host: Any, work: Any, model: Any, folder: str) -> None:
    model.script("hello")
    (said,) = host.prompt(TASK, cwd=(work.root / folder).resolve())

    assert "Context Vigilance" not in said


def test_a_hostile_folder_and_a_foreign_python_change_nothing(
    host: Any, work: Any, model: Any
) -> None:
    web = work.root / "site/web"
    for name in (
        "backend/__init__.py",
        "backend/__main__.py",
        "msgspec.py",
        "json.py",
        "sitecustomize.py",
    ):
        (web / name).parent.mkdir(parents=True, exist_ok=True)
        (web / name).write_text("raise SystemExit('taken over')\n")
    host.variables = {
        "PYTHONPATH": str(web),
        "PYTHONHOME": str(web),
        "VIRTUAL_ENV": str(web),
        "PYTHONSTARTUP": str(web / "json.py"),
    }
    try:
        model.script(bash(f'"{host.plugin_root()}/bin/cv" find "price list importer"'), "done")
        first, second = host.prompt(TASK, cwd=web)
    finally:
        host.variables = {}

    assert APPLIES in first
    assert SPEC in second
    assert "taken over" not in second


# --- the first message -------------------------------------------------------------------------------------------------


def test_a_message_without_files_is_asked_about_and_help_me_find_leads_to_the_file(
    host: Any, work: Any, model: Any, terminal: Any
) -> None:
    """The whole of kickoff: the question, the find that needs no permission, the Read of what was chosen."""
    cv = f'"{host.plugin_root()}/bin/cv"'
    session = terminal(work.root / "bay-labs")
    model.script(
        QUESTION,
        bash(f'{cv} find "mend the importer of the price lists" --json'),
        "1. the importer",
        read_first,
        "Loaded.",
    )
    (asked,) = session.ask(TASK)
    assert asked.count(APPLIES) == 1
    assert asked.count(QUESTION) == 1

    found = session.ask("help me find", requests=2)[-1]
    assert SPEC in found
    assert found.count("this first message names no") == 1  # only the first message was asked about
    loaded = session.ask("yes, number 1", requests=2)[-1]
    assert "THE-WHOLE-SPEC" in loaded


def read_first(said: str) -> Use:
    """Read the first candidate of the ``cv find --json`` above."""
    path = re.search(r'"absolute_path": "([^"]+Price-List-Importer\.md)"', said)
    assert path is not None
    return read(path[1])


@pytest.mark.parametrize(
    "text",
    [
        "go by @context-v/specs/Price-List-Importer.md please",
        "go by {root}/bay-labs/context-v/specs/Price-List-Importer.md please",
        "go by [[Price-List-Importer]] please",
    ],
    ids=["mention", "path", "wikilink"],
)
def test_a_message_that_names_a_file_is_left_alone(
    host: Any, work: Any, model: Any, terminal: Any, text: str
) -> None:
    session = terminal(work.root / "bay-labs")
    model.script("fine")
    (said,) = session.ask(text.replace("{root}", str(work.root)))

    assert APPLIES in said
    assert QUESTION not in said


def test_a_slash_command_is_left_alone_and_does_not_count(
    host: Any, work: Any, model: Any, terminal: Any
) -> None:
    session = terminal(work.root / "bay-labs")
    model.script("the digest", QUESTION)
    (digest,) = session.ask("/catch-up-2w")
    assert QUESTION not in digest

    (said,) = session.ask(TASK)
    assert QUESTION in said


# --- permission --------------------------------------------------------------------------------------------------------


def test_only_our_own_reads_run_unasked(host: Any, work: Any, model: Any) -> None:
    cv = f'"{host.plugin_root()}/bin/cv"'
    marker = work.root / "evil"
    model.script(
        bash(f"{cv} status"), bash("cv status"), bash(f"{cv} status; touch '{marker}'"), bash(f"{cv} config set kickoff off"),
        bash(f"touch '{marker}'"), "done",
    )  # fmt: skip
    said = host.prompt(TASK, cwd=work.root)[-1]

    assert said.count("context-vigilance-corpus") == 2
    assert not marker.exists()
    assert (
        json.loads((work.root / ".context-vigilance/config.json").read_text("utf-8")).get(
            "kickoff", "on"
        )
        == "on"
    )


# --- going on ----------------------------------------------------------------------------------------------------------


def test_continue_repeats_nothing(host: Any, work: Any, model: Any) -> None:
    model.script("one")
    host.prompt(TASK, cwd=work.root / "site")
    model.script("two")
    (said,) = host.prompt("and further", "--continue", cwd=work.root / "site")

    assert said.count(APPLIES) == 1


def test_compaction_keeps_the_answer(host: Any, work: Any, model: Any, terminal: Any) -> None:
    session = terminal(work.root / "bay-labs")
    model.script(QUESTION, "Fine.", "<summary>An importer was talked about.</summary>", "going on")
    session.ask(TASK)
    session.ask("just start, then")
    session.ask("/compact")
    (said,) = session.ask("go on with the importer now")

    assert "after a compaction" in said
    assert "The kickoff question has been asked already" in said
    assert said.count(QUESTION) == 0


def test_an_update_reaches_the_next_session_and_leaves_an_open_one_alone(
    host: Any, work: Any, model: Any, terminal: Any
) -> None:
    """Last, since it changes the version."""
    before = host.plugin_root()
    session = terminal(work.root / "site")
    model.script("one", "two", "three")
    session.ask("go by [[Launch-Plan]] please")
    host.publish("0.9.1")
    host.run("plugin", "marketplace", "update", "context-vigilance")
    host.run("plugin", "update", "context-vigilance@context-vigilance")
    session.ask("and further with it")
    session.close()

    after = host.plugin_root()
    assert (before.name, after.name) == ("0.9.0", "0.9.1")
    model.script("hello")
    (said,) = host.prompt(TASK, cwd=work.root)
    assert f"{after}/bin/cv" in said
    assert said.count(APPLIES) == 1
