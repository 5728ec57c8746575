"""``cv search`` as it is typed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from backend.tree.lock import exclusive


@pytest.fixture
def tree(tree: Any, cv: Any) -> Any:
    tree.document(
        "ferry/context-v/specs/Fares.md",
        "## Children\n\nChildren below six ride free.\n\n## Dogs\n\nA dog pays half.",
        title="Fares",
        day="2025-07-01",
        tags=["Money"],
        authors=["Ada Moss"],
        status="Draft",
    )
    return tree


def test_the_answer_is_fresh_and_has_the_keys_of_the_contract(tree: Any, cv: Any) -> None:
    done = cv("search", "does a dog pay", "--json")
    assert done.code == 0
    answer = json.loads(done.out)
    assert answer.keys() >= {"question", "senior_root", "fresh", "passages", "evidence", "notes"}
    assert (answer["question"], answer["fresh"]) == ("does a dog pay", True)
    first = answer["passages"][0]
    assert first.keys() >= {
        "rank", "source_path", "absolute_path", "repo", "role", "kind", "title", "date", "status",
        "heading", "start_line", "end_line", "text", "flags", "why",
    }  # fmt: skip
    assert (first["rank"], first["source_path"]) == (1, "ferry/context-v/specs/Fares.md")
    assert (first["heading"], first["text"]) == ("Dogs", "A dog pays half.")
    lines = tree.path(first["source_path"]).read_text("utf-8").split("\n")
    assert lines[first["start_line"] - 1] == "## Dogs"
    assert lines[first["end_line"] - 1] == "A dog pays half."


@pytest.mark.parametrize("folder", [".", "ferry/context-v"])
def test_paths_are_from_the_root_wherever_one_stands(tree: Any, cv: Any, folder: str) -> None:
    out = cv("search", "children", "ride", "free", "-n", "1", cwd=tree.path(folder)).out
    assert out.splitlines()[1] == f"senior root: {tree.root}"
    assert "1. [ferry] ferry/context-v/specs/Fares.md:9-11 › Children › 2025-07-01\n" in out


@pytest.mark.parametrize("command", ["find", "search"])
def test_where_no_terminal_reads_each_hit_is_a_line(tree: Any, cv: Any, command: str) -> None:
    path = f"ferry/context-v/specs/{'A-Long-Name-' * 12}.md"
    tree.document(path, "The lighthouse keeper's lamp.", title="Lamp " * 20)
    (line,) = [x for x in cv(command, "lighthouse keeper").out.splitlines() if x.startswith("1. ")]
    assert path in line
    assert "› 2025-03-14" in line


def test_a_scope_is_that_of_find(tree: Any, cv: Any) -> None:
    def repos(command: str, scope: str) -> set[str]:
        answer = json.loads(cv(command, "the wharf", "--scope", scope, "-n", "50", "--json").out)
        return {hit["repo"] for hit in answer["passages" if command == "search" else "candidates"]}

    assert repos("search", "mill") == repos("find", "mill") == {"mill"}
    assert "--scope mlil is no repo" in cv("search", "x", "--scope", "mlil").err
    private = cv("search", "x", "--scope", "mill", "--role", "claude-code-sessions")
    assert (private.code, "--scope does not apply" in private.err) == (2, True)


@pytest.mark.parametrize("command", ["find", "search"])
def test_an_index_that_cannot_be_used_is_not_called_no_match(
    tree: Any, cv: Any, command: str
) -> None:
    with exclusive(tree.path(".context-vigilance/writer.lock"), seconds=0, busy=""):
        tree.path(".context-vigilance/index.sqlite").write_bytes(b"no database " * 400)
        out = cv(command, "the wharf").out
    assert out.startswith("Nothing was searched for: the wharf\n")
    assert "the index is there but can't be used" in out
    assert "cv doctor --fix" in out


@pytest.mark.parametrize("command", ["find", "search"])
def test_a_file_that_has_gone_is_not_proposed_even_where_the_index_lags(
    tree: Any, cv: Any, command: str
) -> None:
    def paths() -> set[str]:
        answer = json.loads(cv(command, "the wharf", "-n", "50", "--json").out)
        return {hit["source_path"] for hit in answer.get("passages", answer.get("candidates"))}

    before = paths()
    gone = min(before)
    tree.path(gone).unlink()
    with exclusive(tree.path(".context-vigilance/writer.lock"), seconds=0, busy=""):
        assert paths() == before - {gone}


def test_markdown_is_for_the_agent(tree: Any, cv: Any) -> None:
    out = cv("search", "does a dog pay", "--markdown").out
    assert out.startswith("**5 passages for:** does a dog pay\n\nEvidence: ")
    assert out.count("```") == 2


def test_roles_and_filters_narrow(tree: Any, cv: Any) -> None:
    def paths(*options: str) -> set[str]:
        found = json.loads(
            cv("search", "the wharf and the fares", "--json", "-n", "50", *options).out
        )
        return {passage["source_path"] for passage in found["passages"]}

    assert paths("--role", "changelog-corpus") == {"mill/changelog/2025-06-01_sails.md"}
    assert paths("--where", "tag=money") == {"ferry/context-v/specs/Fares.md"}
    assert paths("--where", "repo=mill", "--where", "kind=specs") == {
        "mill/context-v/specs/Wheel.md"
    }
    assert paths("--where", "tag=money", "--where", "tag=stone") == {
        "ferry/context-v/specs/Fares.md",
        "ferry/context-v/plans/Pier.md",
    }
    assert paths("--role", "changelog-corpus", "--where", "tag=money") == set()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["search"], "Missing argument"),
        (["search", "x", "--where", "colour=red"], "repo, kind, status, tag, author, owner"),
        (["search", "x", "--where", "repo=mlil"], "Near it: mill"),
        (["search", "x", "--where", "since=yesterday"], "expects a day as YYYY-MM-DD"),
        (["search", "x", "--role", "diary"], "changelog-corpus"),
        (["search", "x", "-n", "0"], "n-results"),
    ],
)
def test_wrong_arguments(tree: Any, cv: Any, arguments: list[str], words: str) -> None:
    done = cv(*arguments)
    assert done.code == 2
    assert words in done.err
    assert done.out == ""


def test_without_a_senior_root(tmp_path: Any, cv: Any) -> None:
    assert cv("search", "anything", cwd=tmp_path).code == 3


def test_a_question_typed_after_a_slash_command_is_text_not_options(tree: Any, cv: Any) -> None:
    done = cv("search", "--markdown", "--inline", stdin="--role of a dog's fare?\n")
    assert done.code == 0
    assert "passages for:** --role of a dog's fare?" in done.out
