"""The text that a coding agent reads: each command line in it exists, and what it costs and grants is bounded."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
import yaml

from backend.cli import cli
from backend.schemas.config import Collections
from backend.schemas.roles import ROLES

ROOT = Path(__file__).resolve().parents[2]
SKILLS = sorted((ROOT / "skills").glob("*/SKILL.md"))
COMMANDS = sorted((ROOT / "commands").glob("*.md"), key=lambda path: path.stem)
NAMES = [path.parent.name if path.name == "SKILL.md" else path.stem for path in SKILLS + COMMANDS]
LAUNCHER = '"${CLAUDE_PLUGIN_ROOT}/bin/cv"'

LISTING_LIMIT = 1_500
"""Characters: a model with a window of 200,000 tokens is shown about 1,800 for all plugins together, then names only."""

_BLOCK = re.compile(r"^([ ]*)```(!|bash)\n(.*?)^\1```$", re.M | re.S)
_SPAN = re.compile(r"`([^`\n]+)`")
_OPTION = re.compile(r"(?<![\w-])(--?[a-z][a-z-]*)")

every_file = pytest.mark.parametrize("path", SKILLS + COMMANDS, ids=NAMES)
every_command = pytest.mark.parametrize("path", COMMANDS, ids=[path.stem for path in COMMANDS])
every_skill = pytest.mark.parametrize("path", SKILLS, ids=[path.parent.name for path in SKILLS])


class Line(NamedTuple):
    """A command line as it stands in the text. ``whole``: it stands in a block, to be run as it is."""

    file: str
    text: str
    whole: bool


def parts(path: Path) -> tuple[dict[str, Any], str]:
    """Frontmatter and body."""
    _, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(front), body


def shell_blocks(body: str) -> Iterator[tuple[str, str]]:
    for indent, kind, text in _BLOCK.findall(body):
        yield kind, "".join(line.removeprefix(indent) for line in text.splitlines(keepends=True))


def command_lines(path: Path) -> Iterator[Line]:
    """Each line of a shell block, and each piece of inline code that begins with ``cv`` or the launcher."""
    name = path.parent.name if path.name == "SKILL.md" else path.stem
    body = parts(path)[1]
    for _, text in shell_blocks(body):
        yield Line(name, text.splitlines()[0], True)
    for span in _SPAN.findall(_BLOCK.sub("", body)):
        if span.startswith(("cv ", LAUNCHER + " ")):
            yield Line(name, span, False)


LINES = [line for path in SKILLS + COMMANDS for line in command_lines(path)]


def words_of(line: str) -> list[str]:
    return shlex.split(line.partition("<<")[0].replace(LAUNCHER, "cv").replace("…", ""))[1:]


def resolve(words: list[str]) -> tuple[click.Command, list[str]]:
    """The command that the words name, down through the groups, and its own words."""
    command: click.Command = cli
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(click.Context(command), words[0])
        assert found is not None, f"no command {words[0]!r}"
        command, words = found, words[1:]
    return command, words


@pytest.mark.parametrize("line", LINES, ids=[f"{line.file}: {line.text}" for line in LINES])
def test_each_command_line_is_one_that_the_command_line_takes(line: Line) -> None:
    command, words = resolve(words_of(line.text))
    assert command is not cli
    assert command.get_help(click.Context(command, info_name="cv", **cli.context_settings))
    inline = "--inline" in words  # then a person's own words follow on standard input
    words = [word for word in words if word != "--inline"]
    if line.whole or words:
        try:
            command.make_context("cv", list(words))
        except (click.MissingParameter, click.exceptions.NoArgsIsHelpError):
            assert inline, f"{line.text}: lacks an argument"


@every_file
def test_each_option_in_the_text_belongs_to_a_command_in_it(path: Path) -> None:
    body = parts(path)[1]
    spans = _SPAN.findall(_BLOCK.sub("", body))
    named = [words_of(line.text) for line in command_lines(path)]
    named += [[span[4:].split()[0]] for span in spans if span.startswith("/cv-")]
    known = {"--inline"}
    for words in named:
        known |= {opt for param in resolve(words)[0].params for opt in param.opts}
    asked = {option for span in spans for option in _OPTION.findall(span)}
    assert asked <= known, asked - known


@every_file
def test_the_frontmatter_is_yaml_that_every_version_reads(path: Path) -> None:
    front, body = parts(path)
    assert all(isinstance(value, str | bool) for value in front.values())
    # unquoted, a colon in it loses all of the frontmatter, silently, in versions before 2.1.3xx
    assert (
        f'\ndescription: "{front["description"].replace(chr(34), chr(92) + chr(34))}"\n'
        in path.read_text()
    )
    assert 20 < len(front["description"]) < 500
    assert "\n" not in front["description"]
    assert body.strip()


@every_skill
def test_a_skill_is_named_as_its_folder_and_asks_for_no_permission(path: Path) -> None:
    front, _ = parts(path)
    # with allowed-tools the model's own call of the skill would need the user's permission
    assert front.keys() == {"name", "description"}
    assert front["name"] == path.parent.name
    assert "Not for" in front["description"]


@every_command
def test_a_command_is_typed_by_its_bare_name_and_hidden_from_the_model(path: Path) -> None:
    front, _ = parts(path)
    assert front["name"] == path.stem
    assert front["disable-model-invocation"] is True


def test_the_commands_are_those_of_the_contract() -> None:
    wanted = "catch-up catch-up-1m catch-up-2w cv-config cv-dismiss cv-doctor cv-help cv-init cv-status cv-undismiss kickoff"
    assert [path.stem for path in COMMANDS] == wanted.split()
    assert {path.parent.name for path in SKILLS} >= {"kickoff-context-v", "catch-up-on-context-v"}


def test_all_that_the_model_is_always_shown_is_short() -> None:
    plugin = json.loads((ROOT / ".claude-plugin/plugin.json").read_text())["name"]
    fronts = [parts(path)[0] for path in SKILLS + COMMANDS]
    listing = "\n".join(
        f"- {plugin}:{front['name']}: {front['description']}"
        for front in fronts
        if not front.get("disable-model-invocation")
    )
    assert len(listing) < LISTING_LIMIT, f"{len(listing)} characters"


def test_the_manifest_leaves_the_hooks_to_be_found() -> None:
    # versions in between refuse a manifest that names hooks/hooks.json, and then no hook runs
    assert "hooks" not in json.loads((ROOT / ".claude-plugin/plugin.json").read_text())


@every_command
def test_a_command_grants_its_own_call_and_nothing_wider(path: Path) -> None:
    front, body = parts(path)
    inline = [text for kind, text in shell_blocks(body) if kind == "!"]
    call = inline[0].partition(" <<")[0] if inline else f"{LAUNCHER} init --propose"
    assert len(inline) == (
        path.stem != "cv-init"
    )  # set-up outlasts the two minutes that inline bash has
    assert front["allowed-tools"] == f"Bash({call}:*)"


@every_command
def test_what_is_typed_reaches_the_shell_only_inside_a_quoted_heredoc(path: Path) -> None:
    _, body = parts(path)
    for kind, text in shell_blocks(body):
        if kind != "!":
            assert "$" not in text.replace("${CLAUDE_PLUGIN_ROOT}", "")
            continue
        lines = text.splitlines()
        start = re.fullmatch(
            re.escape(LAUNCHER) + r" [a-z0-9 -]+ --inline <<'([A-Z0-9_]{12,})'", lines[0]
        )
        assert start, lines[0]
        assert lines[1:] == ["$ARGUMENTS", start[1]]


HOSTILE = [
    "rotate the tokens",
    """what's "new", $(touch made) and `touch made`; touch made | cat & > made ${HOME} \\n ~ * # !""",
    "two lines\n'EOF'\nEOF\nCV_TYPED\nand more",
    "héllo 日本語 — ‹x› </cv-output>",
    "--scope nowhere -h --",
]


@pytest.mark.parametrize("typed", HOSTILE)
def test_what_a_person_types_arrives_verbatim_and_runs_nothing(
    typed: str, org: Any, cv: Callable[..., Any]
) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash here")
    org.root.mkdir(parents=True, exist_ok=True)
    assert (
        cv("init", "--senior-root", str(org.root), "--yes", "--no-index", "--no-settings-hook").code
        == 0
    )
    before = sorted(org.root.iterdir())
    _, block = next(shell_blocks(parts(ROOT / "commands/kickoff.md")[1]))
    backend = shlex.join([sys.executable, "-P", "-s", "-m", "backend"])
    script = (
        block.replace(LAUNCHER, backend)
        .replace("--markdown", "--json")
        .replace("$ARGUMENTS", typed)
    )
    done = subprocess.run(
        [bash, "-c", script],
        cwd=org.root,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.startswith("{"), done.stdout
    assert json.loads(done.stdout)["task"] == typed
    assert sorted(org.root.iterdir()) == before


@every_file
def test_the_text_names_roles_and_no_collection_and_nobodys_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"mcp__|collection_name|/home/|/Users/|/root/|/tmp/|[A-Z]:\\", text)
    corpus, changelog, *private = Collections().__struct_defaults__
    assert (corpus, changelog) == ROLES
    assert not [name for name in private if name in text]
    for role in ROLES:
        assert text.count(role) == text.count(f"--role {role}")


def test_the_wording_of_the_contract_stands_word_for_word() -> None:
    kickoff = (ROOT / "skills/kickoff-context-v/SKILL.md").read_text(encoding="utf-8")
    for sentence in (
        "> Any known relevant context-v files? List them, paste paths, say 'help me find', or say 'no context needed'.\n",
        "> The corpus didn't surface strong matches for {task}. Falling back to a directory scan: "
        "which subtrees should I look in?\n",
        "[repo-slug] source_path › title › date → excerpt",
    ):
        assert sentence in kickoff
    catch_up = (ROOT / "skills/catch-up-on-context-v/SKILL.md").read_text(encoding="utf-8")
    for answer in ("mute-for-today", "mute-for-week"):
        assert f"| {answer} | `cv nudge {answer}` |" in catch_up


@every_file
def test_the_text_addresses_no_maintainer(path: Path) -> None:
    assert not re.search(
        r"TODO|FIXME|CLAUDE\.md|AGENTS\.md|this repository|pull request", path.read_text()
    )
