"""``cv config``: wrong values in the file are mended by it, and a line that was typed in half is answered with the whole one."""

from __future__ import annotations

import json
from typing import Any

import pytest

WRONG = {"nudge": {"after_days": "5 days"}, "kickoff": "sometimes", "catch_up": {"max_files": 0}}


@pytest.fixture
def bare(org: Any, cv: Any) -> Any:
    """A tree without an index, which no test here needs."""
    org.document("ferry/context-v/specs/Timetable.md")
    cv("init", "--senior-root", str(org.root), "--yes", "--no-index")
    return org


def written(tree: Any, **keys: Any) -> dict[str, Any]:
    """The config with ``keys``, and without those that are None; what it holds now."""
    path = tree.path(".context-vigilance/config.json")
    raw = {**json.loads(path.read_text()), **keys}
    if keys:
        path.write_text(json.dumps(raw))
    return dict(raw)


def test_several_wrong_values_are_mended_one_after_the_other(bare: Any, cv: Any) -> None:
    """Each command ends 0, since it did what it was asked for, and says what is still to do."""
    written(bare, **WRONG, owner="us")
    assert cv("status").code == 1
    first = cv("config", "set", "nudge.after_days", "5")
    assert (first.code, first.err) == (0, "")
    assert first.out.startswith("nudge.after_days = 5.0\nWrong in the file")
    assert 'kickoff: expected "on" or "off", got "sometimes"' in first.out
    assert "'cv config unset catch_up.max_files' gives the default back" in first.out
    second = cv("config", "unset", "kickoff")
    assert (second.code, "kickoff:" in second.out, "max_files" in second.out) == (0, False, True)
    last = cv("config", "set", "catch_up.max_files", "40")
    assert last == (0, "catch_up.max_files = 40\n", "")
    assert cv("status").code == 0
    now = written(bare)
    assert (now["nudge"], now["catch_up"], now["owner"]) == (
        {"after_days": 5},
        {"max_files": 40},
        "us",
    )
    assert "kickoff" not in now


def test_a_key_that_is_right_can_be_set_beside_one_that_is_wrong(bare: Any, cv: Any) -> None:
    written(bare, kickoff="perhaps")
    done = cv("config", "set", "nudge.state", "off")
    assert done.code == 0
    assert 'config.json: kickoff: expected "on" or "off", got "perhaps"' in done.out
    refused = cv("config", "set", "nudge.state", "maybe")
    assert refused == (
        2,
        "",
        'cv: nudge.state: expected "on" or "off", got "maybe"; nothing was changed\n',
    )
    assert written(bare)["nudge"]["state"] == "off"


@pytest.mark.parametrize(("switch", "key"), [("kickoff", "kickoff"), ("nudge", "nudge.state")])
def test_a_switch_mends_too(bare: Any, cv: Any, switch: str, key: str) -> None:
    written(bare, kickoff="sometimes", nudge={"state": 1})
    done = cv("config", switch, "on")
    assert done.code == 0
    assert f" {key}: expected" not in done.out
    assert "Wrong in the file" in done.out


@pytest.mark.parametrize("text", ["{", "[]", '{"kickoff": sometimes}'])
def test_what_is_no_json_is_refused_and_left_alone(bare: Any, cv: Any, text: str) -> None:
    path = bare.path(".context-vigilance/config.json")
    path.write_text(text)
    for arguments in (("set", "kickoff", "on"), ("unset", "kickoff"), ("kickoff", "on"), ("list",)):
        done = cv("config", *arguments)
        assert (done.code, done.out, path.read_text()) == (1, "", text)
        assert "config.json: " in done.err


def test_the_list_has_every_key_and_ends_with_what_is_wrong(bare: Any, cv: Any) -> None:
    written(bare, **WRONG)
    done = cv("config", "list")
    assert done.code == 1
    assert 'kickoff = "on" (default; the file\'s value is wrong)' in done.out
    assert 'log = "off" (default)' in done.out
    assert done.out.count("expected") == 3
    assert "Wrong in the file" not in cv("config", "unset", "log", "--help").out
    assert cv("config", "list", "--json").code == 1


def test_a_slash_command_mends_as_well(bare: Any, cv: Any) -> None:
    written(bare, kickoff="sometimes")
    done = cv("config", "--inline", stdin="set kickoff off\n")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith('kickoff = "off"')


def test_nothing_follows_while_a_part_of_it_is_wrong(bare: Any, cv: Any) -> None:
    """No word of where documents go, which the other keys have a say in."""
    written(bare, chroma={"host": "chroma.invalid", "port": "x"})
    assert "documents" not in cv("config", "set", "chroma.mode", "http").out
    assert "http://chroma.invalid:9000" in cv("config", "set", "chroma.port", "9000").out


# --- typed in half ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("nudge.after_days 2", "cv config set nudge.after_days 2"),
        ("nudge.after_days=2", "cv config set nudge.after_days 2"),
        ("nudge.after_days", "cv config get nudge.after_days"),
        ("log on", "cv config set log on"),
        ("nudge.not_by 'ada moss'", "cv config set nudge.not_by 'ada moss'"),
    ],
)
def test_a_key_in_a_commands_place_is_answered_with_the_whole_line(
    bare: Any, cv: Any, typed: str, meant: str
) -> None:
    before = written(bare)
    done = cv("config", "--inline", stdin=typed)
    assert done.out.rstrip().endswith(f"you may mean: {meant}")
    assert cv("config", *typed.split()).code == 2
    assert written(bare) == before


def test_a_key_that_is_misspelt_there_is_answered_with_the_nearest(bare: Any, cv: Any) -> None:
    assert "did you mean nudge.after_days" in cv("config", "nudge.after_dys", "2").err
    assert "No such command 'colour'" in cv("config", "colour").err


def test_a_switch_alone_says_how_it_stands(bare: Any, cv: Any) -> None:
    before = written(bare)
    assert cv("config", "kickoff") == (0, "asking for the working set is on\n", "")
    assert cv("config", "nudge") == cv("nudge") == (0, "the catch-up nudge is on\n", "")
    assert written(bare) == before
    cv("config", "kickoff", "off")
    cv("nudge", "mute-for-week")
    assert cv("config", "kickoff").out == "asking for the working set is off\n"
    assert cv("config", "nudge").out == cv("nudge").out != "the catch-up nudge is on\n"


# --- a reranker without an address -----------------------------------------------------------------------------------


def test_a_reranker_that_has_no_address_is_said_wherever_it_matters(bare: Any, cv: Any) -> None:
    switched = cv("config", "set", "reranker.name", "http")
    assert switched.code == 0
    assert "reranker.url is not set; 'cv config set reranker.url ADDRESS'" in switched.out
    bare.document("ferry/context-v/plans/Pier.md", title="A timetable for the pier")
    cv("sync")
    for done in (cv("find", "the timetable"), cv("doctor")):
        text = " ".join(done.out.split())
        assert "reranker.url is not set" in text
        assert "came with the tree" not in text
    assert "not set" not in cv("config", "set", "reranker.name", "off").out
