"""``sources.md``: people's list. What they wrote stays byte for byte, and what they switch off is off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backend.schemas.roles import CHANGELOG_ROLE, CORPUS_ROLE
from backend.tree.found import Place
from backend.tree.sources import (
    SourcesError,
    add_places,
    choices,
    gone,
    gone_note,
    load_sources,
    sources_path,
)

HARBOUR = Place("harbour/context-v", CORPUS_ROLE)
LOG = Place("harbour/changelog", CHANGELOG_ROLE)


@pytest.fixture
def file(org: Any) -> Path:
    sources_path(org.root).parent.mkdir(parents=True)
    return sources_path(org.root)


def add(org: Any, *places: Place) -> list[str]:
    return add_places(org.root, load_sources(org.root), list(places))


def test_a_new_file_lists_what_was_found_and_says_how_to_edit_it(
    org: Any, file: Path, snapshot: Any
) -> None:
    assert load_sources(org.root) == []
    assert add(org, HARBOUR, LOG) == [HARBOUR.path, LOG.path]
    assert file.read_text("utf-8") == snapshot
    assert [(s.path, s.kind, s.include) for s in load_sources(org.root)] == [
        ("harbour/context-v", "context-v", True),
        ("harbour/changelog", "changelog", True),
    ]


def test_a_second_run_changes_nothing(org: Any, file: Path) -> None:
    add(org, HARBOUR, LOG)
    before = (file.read_bytes(), file.stat().st_mtime_ns)
    assert add(org, HARBOUR, LOG) == []
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before


def worktree(org: Any, path: str) -> None:
    org.git(
        "ferry", "worktree", "add", "--quiet", str(org.path(path)), "-b", path.replace("/", "-")
    )


@pytest.mark.parametrize("path", ["ferry-next", "ferry/next", "trees/deep/next"])
def test_a_worktree_gets_no_entry_for_what_the_main_checkout_has(
    org: Any, file: Path, path: str
) -> None:
    """Worktrees come and go; what they share with the main checkout is a copy of it."""
    org.repo("ferry")
    org.write("ferry/context-v/A.md", "one")
    org.commit("ferry", "2025-01-01")
    worktree(org, path)
    main = Place("ferry/context-v", CORPUS_ROLE)
    copy = Place(f"{path}/context-v", CORPUS_ROLE)
    only_there = Place(f"{path}/pier/context-v", CORPUS_ROLE)
    assert add(org, main, copy, only_there) == [main.path, only_there.path]
    assert add(org, main, copy, only_there) == []


def test_a_worktree_gets_an_entry_where_it_is_no_copy(org: Any, file: Path) -> None:
    """The main checkout lies elsewhere, is bare, or is left out."""
    org.repo("ferry")
    org.write("ferry/context-v/A.md", "one")
    org.commit("ferry", "2025-01-01")
    worktree(org, "next")
    org.git("ferry", "clone", "--quiet", "--bare", ".", "../bare.git")
    org.git("bare.git", "worktree", "add", "--quiet", "../of-bare", "main")
    main = Place("ferry/context-v", CORPUS_ROLE)
    copy, of_bare = Place("next/context-v", CORPUS_ROLE), Place("of-bare/context-v", CORPUS_ROLE)
    file.write_text("---\nsources:\n  - path: ferry/context-v\n    include: false\n---\n")
    assert add(org, main, copy, of_bare) == [copy.path, of_bare.path]
    file.unlink()
    assert add(org, copy) == [copy.path]


def test_folders_that_have_gone_are_one_note() -> None:
    assert gone_note([]) == []
    assert gone_note(["inn/context-v"]) == ["sources.md: inn/context-v is no longer there"]
    assert gone_note(["a/context-v", "b/context-v"]) == [
        "sources.md: 2 folders are no longer there: a/context-v, b/context-v"
    ]
    assert gone_note([f"wt{n}/context-v" for n in range(10)]) == [
        "sources.md: 10 folders are no longer there: wt0/context-v, wt1/context-v and 8 more; cv doctor names them"
    ]


KEPT = {
    "comments, blank lines, order": (
        "---\n# ours\ntitle: Sources\nsources:\n\n  # the harbour\n  - path: mill/context-v   # on purpose\n"
        "    include: false\n    note: 'two  blanks'\n\n  - path: \"inn/context-v\"\n---\n\nOur own words.\n"
    ),
    "entries without indent": "---\nsources:\n- path: mill/context-v\n  note: x\n- path: inn/context-v\n---\nText\n",
    "entries in a deep indent": "---\nsources:\n      - path: mill/context-v\n        include: false\nowner: us\n---\n",
    "dash on a line of its own": "---\nsources:\n  -\n    path: mill/context-v\n---\n",
    "an empty list": "---\nsources: []   # none yet\nowner: us\n---\n",
    "no entries": "---\nsources:\n---\n",
    "keys after the list": "---\nsources:\n  - path: mill/context-v\n\n\nowner: us\nlist:\n  - path: no\n---\n",
    "no newline at the end": "---\nsources:\n  - path: mill/context-v\n---",
    "Windows lines": "---\r\nsources:\r\n  - path: mill/context-v\r\n    note: a\r\n---\r\n\r\nText\r\n",
    "a byte order mark": "\ufeff---\nsources:\n  - path: mill/context-v\n---\n",
    "text beyond ASCII": '---\nsources:\n  - path: mühle/context-v\n    note: "a\u2028 日本"\n---\n\x0b\x0c text \x85\n',
}


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_what_people_wrote_stays_byte_for_byte(org: Any, file: Path, text: str) -> None:
    """Only whole lines are added: taking them out again gives the file as it was."""
    file.write_bytes(text.encode())
    before = load_sources(org.root)
    assert add(org, HARBOUR, LOG) == [HARBOUR.path, LOG.path]
    after = file.read_bytes().decode()
    assert [s.path for s in load_sources(org.root)] == [s.path for s in before] + [
        HARBOUR.path,
        LOG.path,
    ]
    assert load_sources(org.root)[: len(before)] == before
    after = after.replace("sources:   # none yet", "sources: []   # none yet")
    added = [
        line
        for line in after.splitlines(keepends=True)
        if line not in text.splitlines(keepends=True)
    ]
    kept = after
    for line in dict.fromkeys(added):
        kept = kept.replace(line, "")
    assert kept == text
    assert ("\r\n" in text) == all(line.endswith("\r\n") for line in added)


def test_an_inline_list_is_left_alone_and_what_is_missing_is_named(org: Any, file: Path) -> None:
    text = "---\nsources: [{path: mill/context-v, include: false}]\n---\n"
    file.write_text(text)
    assert choices(load_sources(org.root)).excluded == {"mill/context-v"}
    with pytest.raises(SourcesError, match=r"Add by hand: harbour/context-v"):
        add(org, HARBOUR)
    assert file.read_text() == text


@pytest.mark.parametrize("word", ["false", "False", "no", "off", '"false"'])
def test_include_false_leaves_a_folder_out(org: Any, file: Path, word: str) -> None:
    file.write_text(f"---\nsources:\n  - path: ./mill/context-v/\n    include: {word}\n---\n")
    assert choices(load_sources(org.root)).excluded == {"mill/context-v"}


def test_places_below_what_is_left_out_are_not_listed(org: Any, file: Path) -> None:
    file.write_text("---\nsources:\n  - path: harbour\n    include: false\n---\n")
    assert add(org, HARBOUR, LOG) == []


def test_subdirs_turn_folders_on(org: Any, file: Path) -> None:
    file.write_text(
        "---\nsources:\n  - path: mill/context-v\n    subdirs: [extra, deep/skills/]\n---\n"
    )
    assert choices(load_sources(org.root)).included == {
        "mill/context-v/extra",
        "mill/context-v/deep/skills",
    }


def test_values_that_yaml_takes_for_numbers_and_days_are_text(org: Any, file: Path) -> None:
    file.write_text(
        "---\nsources:\n  - path: 2024\n    include: false\n    note: 2025-01-01\n---\n"
    )
    assert [(s.path, s.note) for s in load_sources(org.root)] == [("2024", "2025-01-01")]


def test_so_are_those_in_subdirs_and_notes_may_be_anything(org: Any, file: Path) -> None:
    file.write_text(
        "---\nsources:\n  - path: mill/context-v\n    subdirs: [2024, extra]\n    note: [a, 5]\n---\n"
    )
    assert choices(load_sources(org.root)).included == {
        "mill/context-v/2024",
        "mill/context-v/extra",
    }


def test_folders_that_are_gone_are_named(org: Any, file: Path) -> None:
    org.path("harbour/context-v").mkdir(parents=True)
    add(org, HARBOUR, LOG)
    assert gone(org.root, load_sources(org.root)) == ["harbour/changelog"]


BROKEN = {
    "a bracket that is not closed": "---\ntitle: x\nsources:\n  - path: [a\n---\n",
    "a tab": "---\nsources:\n  - path: a\n\tnote: b\n---\n",
    "no frontmatter": "# Sources\n",
    "frontmatter without an end": "---\nsources:\n  - path: a\n",
    "a list of words": "---\nsources:\n  - mill/context-v\n---\n",
    "one word": "---\nsources: mill\n---\n",
    "a number": "---\nsources: 5\n---\n",
    "an entry without a path": "---\nsources:\n  - include: false\n---\n",
    "include as a word": "---\nsources:\n  - path: a\n    include: maybe\n---\n",
    "include misspelt, in the second entry": (
        "---\ntitle: x\nsources:\n  - path: a\n\n  # theirs\n  - path: b\n    note: y\n    include: flase\n---\n"
    ),
    "include without a value": "---\nsources:\n  - path: a\n    include:\n---\n",
    "a number for include": "---\nsources:\n  - path: a\n    include: 3\n---\n",
    "a list for a path": "---\nsources:\n  - path: [a, b]\n    include: false\n---\n",
    "an entry that is empty": "---\nsources:\n  - path: a\n  -\n---\n",
    "a path without a value": "---\nsources:\n  - path:\n    include: false\n---\n",
    "a kind without a value": "---\nsources:\n  - path: a\n    kind:\n---\n",
    "subdirs as a word": "---\nsources:\n  - path: a\n    subdirs: extra\n---\n",
    "a list in subdirs": "---\nsources:\n  - path: a\n    subdirs: [extra, [b]]\n---\n",
    "entries in an inline list": "---\nsources: [{path: a}, {path: b, include: flase}]\n---\n",
    "a value with a day in it": "---\nsources:\n  - path: a\n    include: [2025-01-01]\n---\n",
    "a value that holds itself": "---\nsources:\n  - path: a\n    include: &x [*x]\n---\n",
    "a key by an alias": "---\nbase: &b {include: flase}\nsources:\n  - <<: *b\n    path: a\n---\n",
    "a long value": f"---\nsources:\n  - path: a\n    include: {'x' * 300}\n---\n",
    "a day that is none": "---\nsources:\n  - path: a\n    note: 2025-02-30\n---\n",
    "a list on top": "---\n- path: a\n---\n",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_file_that_cannot_be_understood_is_named_and_left_alone(
    org: Any, file: Path, text: str, snapshot: Any
) -> None:
    """It may leave folders out, so guessing is no way: nothing is indexed until it is mended."""
    file.write_text(text)
    with pytest.raises(SourcesError) as error:
        load_sources(org.root)
    assert str(error.value).replace(str(file), "SOURCES") == snapshot
    assert file.read_text() == text


def test_a_file_that_is_not_utf8_is_named(org: Any, file: Path) -> None:
    file.write_bytes(b"---\nsources:\n  - path: m\xfchle\n---\n")
    with pytest.raises(SourcesError, match=r"sources\.md: could not be read"):
        load_sources(org.root)
