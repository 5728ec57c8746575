"""``config.json``: typed, changed without loss, healed when the tree moves; every mistake in it gets a clear line."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.errors import Busy, CvError, UsageError
from backend.schemas.config import Config
from backend.tree.config import (
    ConfigError,
    change_config,
    config_path,
    create_config,
    load_config,
    moved_from,
)
from backend.tree.config_edits import set_key, unknown_keys, unset_key
from backend.tree.config_faults import check_config, cure
from backend.tree.config_keys import KEYS, get_key
from backend.tree.lock import exclusive

REPO = Path(__file__).resolve().parents[2]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    create_config(tmp_path)
    return tmp_path


def write(root: Path, data: Any) -> bytes:
    raw = (
        data if isinstance(data, bytes) else json.dumps({"senior_root": str(root), **data}).encode()
    )
    config_path(root).parent.mkdir(exist_ok=True)
    config_path(root).write_bytes(raw)
    return raw


def read(root: Path) -> dict[str, Any]:
    return json.loads(config_path(root).read_bytes())


# --- reading ---------------------------------------------------------------------------------------------------------


def test_a_fresh_config_holds_the_keys_that_the_customer_named(root: Path, snapshot: Any) -> None:
    assert config_path(root).read_text("utf-8").replace(json.dumps(str(root)), '"ROOT"') == snapshot


def test_absent_keys_have_their_defaults(root: Path) -> None:
    write(root, {})
    assert load_config(root) == Config(senior_root=str(root))


def test_every_key_is_described_for_errors_and_for_the_list(root: Path) -> None:
    """A key without a description could be neither listed nor set."""

    def leaves(value: Any, prefix: str = "") -> list[str]:
        if isinstance(value, dict) and prefix not in ("embedding.options.",):
            return [
                leaf for key, below in value.items() for leaf in leaves(below, f"{prefix}{key}.")
            ]
        return [prefix[:-1]]

    assert sorted(KEYS) == sorted(leaves(msgspec.to_builtins(Config(senior_root="x"))))


def test_keys_of_a_newer_version_or_of_a_person_are_no_error_and_named(root: Path) -> None:
    write(
        root,
        {
            "nudge": {"stat": "on"},
            "owner": {"name": "us"},
            "embedding": {"options": {"any": {"thing": 1}}},
            "sync": {},
        },
    )
    assert load_config(root).nudge.state == "on"
    assert unknown_keys(root) == ["nudge.stat (did you mean nudge.state?)", "owner.name"]


def test_a_byte_order_mark_is_no_error(root: Path) -> None:
    write(root, b"\xef\xbb\xbf" + json.dumps({"kickoff": "off"}).encode())
    assert load_config(root).kickoff == "off"


def test_a_moment_without_a_zone_is_local_time(root: Path) -> None:
    """People write such moments by hand; comparing them with the hook's clock must not break."""
    write(
        root,
        {"nudge": {"muted_until": "2025-03-09T18:00:00"}, "last_session_at": "2025-03-09T18:00:00"},
    )
    config = load_config(root)
    assert (
        config.nudge.muted_until == config.last_session_at == datetime(2025, 3, 9, 18, tzinfo=UTC)
    )


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a word for a switch": (
        {"nudge": {"state": "yes"}},
        'nudge.state: expected "on" or "off", got "yes"',
    ),
    "true for a switch": ({"kickoff": True}, 'kickoff: expected "on" or "off", got true'),
    "null for a switch": ({"log": None}, 'log: expected "on" or "off", got null'),
    "a word for a list": (
        {"dismissed_paths": "mill"},
        'dismissed_paths: expected a list of paths, got "mill"',
    ),
    "a number in a list": (
        {"dismissed_paths": [5]},
        "dismissed_paths: expected a list of paths, got [5]",
    ),
    "a word for a number": (
        {"nudge": {"after_days": "3"}},
        'nudge.after_days: expected a number of days, 0 or more, got "3"',
    ),
    "a fraction": (
        {"nudge": {"after_files": 2.5}},
        "nudge.after_files: expected a whole number, 0 or more, got 2.5",
    ),
    "below nothing": (
        {"nudge": {"after_days": -1}},
        "nudge.after_days: expected a number of days, 0 or more, got -1.0",
    ),
    "no files": (
        {"catch_up": {"max_files": 0}},
        "catch_up.max_files: expected a whole number, 1 or more, got 0",
    ),
    "no window": (
        {"catch_up": {"window": "soon"}},
        'catch_up.window: expected a window such as "2w", "10d", "3m", "1y", got "soon"',
    ),
    "no moment": (
        {"nudge": {"muted_until": "tomorrow"}},
        'nudge.muted_until: expected null or a moment such as "2026-03-09T18:00:00Z", got "tomorrow"',
    ),
    "a number for a moment": (
        {"last_session_at": 1700000000},
        'last_session_at: expected null or a moment such as "2026-03-09T18:00:00Z", got 1700000000',
    ),
    "a word for a group": ({"nudge": "off"}, 'nudge: expected an object, got "off"'),
    "a list for a group": ({"collections": []}, "collections: expected an object, got []"),
    "null for a group": ({"sync": None}, "sync: expected an object, got null"),
    "another mode": (
        {"chroma": {"mode": "local"}},
        'chroma.mode: expected "persistent", "http" or "cloud", got "local"',
    ),
    "a number for a name": (
        {"collections": {"changelog_corpus": 5}},
        "collections.changelog_corpus: expected the name of a collection, got 5",
    ),
    "a name that Chroma refuses": (
        {"collections": {"changelog_corpus": "ab"}},
        "collections.changelog_corpus: expected 3 to 512 letters, digits, '.', '_' or '-' with a letter or digit at both ends, "
        'got "ab"',
    ),
    "one name for two roles": (
        {"collections": {"changelog_corpus": "context-vigilance-corpus"}},
        "collections: expected a different name for each role, got context-vigilance-corpus, context-vigilance-corpus, "
        "claude-code-sessions, claude-code-tool-traces",
    ),
    "a number beyond any": (
        {"nudge": {"after_files": 10**90 * 10**300}},
        "nudge.after_files: expected a whole number, 0 or more, got 1" + "0" * 78 + "…",
    ),
    "a secret in the place of its variable": (
        {"reranker": {"api_key_env": "sk-own"}},
        "reranker.api_key_env: expected null or the name of an environment variable, in capitals; never the key itself, "
        "got something else",
    ),
    "a long value": (
        {"nudge": {"state": "x" * 500}},
        'nudge.state: expected "on" or "off", got "' + "x" * 78 + "…",
    ),
}


@pytest.mark.parametrize(("keys", "line"), WRONG.values(), ids=WRONG)
def test_a_wrong_value_says_key_expected_and_got(
    root: Path, keys: dict[str, Any], line: str
) -> None:
    before = write(root, keys)
    with pytest.raises(ConfigError) as error:
        load_config(root)
    assert str(error.value) == f"config.json: {line}"
    with pytest.raises(ConfigError):
        change_config(root, lambda raw: None)
    assert config_path(root).read_bytes() == before


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b"", r"line 1, column 1: not valid JSON \(Expecting value\)"),
        (b'{\n  "kickoff": "on",\n}\n', r"line 3, column 1: not valid JSON"),
        (b'{"kickoff": on}', r"line 1, column 13: not valid JSON"),
        (b'{\n  "kickoff": "on"\n', r"line 3, column 1: not valid JSON"),
        (b"<<<<<<< ours\n{}\n", r"line 1, column 1: not valid JSON"),
        (b'{"kickoff": "\xff"}', r"not valid JSON \(not UTF-8 text"),
        (b'{"x": ' + b"1" * 5_000 + b"}", r"not valid JSON \(.*thousands of digits"),
        (b"[" * 100_000, r"not valid JSON \(.*nested too deeply\)"),
        (b"[]", r"expected a JSON object, got \[\]"),
        (b"null", r"expected a JSON object, got null"),
    ],
)
def test_broken_json_says_where_and_the_file_is_left_alone(
    root: Path, text: bytes, line: str
) -> None:
    config_path(root).write_bytes(text)
    with pytest.raises(ConfigError, match=line) as error:
        load_config(root)
    assert str(config_path(root)) in str(error.value)
    assert "\n" not in str(error.value)
    with pytest.raises(CvError):
        set_key(root, "kickoff", "off")
    assert config_path(root).read_bytes() == text


def test_a_config_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"config\.json: could not be read \(No such file or directory\)"
    ):
        load_config(tmp_path)


# --- changing --------------------------------------------------------------------------------------------------------


def test_get_gives_leaves_and_groups(root: Path) -> None:
    config = load_config(root)
    assert get_key(config, "nudge.state") == "on"
    assert get_key(config, "catch_up") == {"window": "2w", "max_files": 50}
    for key in ("nudge.stat", "nudge.state.deeper", "nope", ""):
        with pytest.raises(UsageError, match=r"not a key of config\.json"):
            get_key(config, key)


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("kickoff", "off", "off"),
        ("nudge.after_days", "1.5", 1.5),
        ("nudge.after_files", "9", 9),
        ("nudge.not_by", "ada", "ada"),
        ("dismissed_paths", '["mill", "inn"]', ["mill", "inn"]),
        ("nudge.muted_until", "2026-03-09T18:00:00Z", "2026-03-09T18:00:00Z"),
        ("nudge.muted_until", "null", None),
        ("embedding.options", '{"model": "x"}', {"model": "x"}),
        ("collections.changelog_corpus", "log-of-ours", "log-of-ours"),
    ],
)
def test_set_writes_one_key_and_keeps_the_rest(root: Path, key: str, text: str, value: Any) -> None:
    write(root, {"nudge": {"mine": [1]}, "owner": "us"})
    assert get_key(set_key(root, key, text), key) == value
    assert get_key(load_config(root), key) == value
    assert read(root)["owner"] == "us"
    assert read(root)["nudge"]["mine"] == [1]


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("nudge.state", "yes", 'expected "on" or "off", got "yes"'),
        ("nudge.sate", "on", "did you mean nudge.state"),
        ("zzz", "1", "'cv config list' shows the keys"),
        ("nudge", "on", "not a key of config.json"),
        ("senior_root", "/x", "move the folder instead"),
        ("nudge.after_days", "NaN", "expected a number of days, 0 or more, got NaN"),
        ("sync.max_seconds", "Infinity", "expected a number of seconds, 0 or more, got Infinity"),
        ("dismissed_paths", "mill", "expected a list of paths"),
    ],
)
def test_a_refused_value_leaves_the_file_as_it_was(
    root: Path, key: str, text: str, message: str
) -> None:
    before = config_path(root).read_bytes()
    with pytest.raises(UsageError, match=re.escape(message)):
        set_key(root, key, text)
    assert config_path(root).read_bytes() == before


@pytest.mark.parametrize(
    ("key", "default"),
    [("kickoff", "on"), ("nudge.after_days", 3.0), ("reranker.url", ""), ("dismissed_paths", [])],
)
def test_unset_gives_the_default_back_and_keeps_the_rest(
    root: Path, key: str, default: Any
) -> None:
    write(
        root,
        {"kickoff": "off", "dismissed_paths": ["mill"], "nudge": {"mine": [1], "after_days": 9}},
    )
    assert get_key(unset_key(root, key), key) == default
    assert get_key(load_config(root), key) == default
    top, _, leaf = key.partition(".")
    assert leaf not in read(root).get(top, {}) if leaf else top not in read(root)
    assert read(root)["nudge"]["mine"] == [1]


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


# --- mending what is wrong -------------------------------------------------------------------------------------------


def typed_in(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@pytest.mark.parametrize(("keys", "line"), WRONG.values(), ids=WRONG)
def test_each_wrong_value_is_mended_by_the_command_that_is_named(
    root: Path, keys: dict[str, Any], line: str
) -> None:
    """By ``unset``, and by ``set`` to the default; what else stands in the file stays, wrong values too."""
    others = {"owner": "us", "log": "perhaps"} if "log" not in keys else {"kickoff": 5}
    wrong = ["log" if "log" not in keys else "kickoff"]
    default = Config(senior_root=str(root))
    for by_unset in (True, False):
        write(root, {**keys, **others})
        faults = check_config(root).faults
        (fault,) = (fault for fault in faults if list(fault.keys) != wrong)
        assert str(fault) == f"config.json: {line}"
        key = fault.keys[0]
        assert f"'cv config unset {key}'" in cure(fault) or f"'cv config set {key} NAME'" in cure(
            fault
        )
        if by_unset and len(fault.keys) == 1:
            unset_key(root, key)
        elif key in KEYS:
            value = get_key(default, key) if len(fault.keys) == 1 else "name-of-its-own"
            set_key(root, key, typed_in(value))
        else:
            leaf = next(each for each in KEYS if each.startswith(f"{key}."))
            set_key(root, leaf, typed_in(get_key(default, leaf)))
        assert [list(fault.keys) for fault in check_config(root).faults] == [wrong]
        assert {name: read(root)[name] for name in others} == others
    unset_key(root, wrong[0])
    assert check_config(root).faults == ()
    assert load_config(root).log == "off"


def test_a_wrong_value_for_a_wrong_value_changes_nothing(root: Path) -> None:
    before = write(root, {"kickoff": "sometimes", "nudge": {"after_days": "5 days"}})
    for key, text in (("kickoff", "never"), ("nudge.after_days", "five"), ("kickoff", "sometimes")):
        with pytest.raises(UsageError, match=rf"^{key}: expected .* nothing was changed$"):
            set_key(root, key, text)
    assert config_path(root).read_bytes() == before


def test_a_group_is_not_unset_as_a_whole(root: Path) -> None:
    """It may hold what its user would miss."""
    before = write(root, {"nudge": {"after_days": 9, "mine": 1}, "kickoff": "sometimes"})
    with pytest.raises(UsageError, match=r"nudge: a group; unset one of its keys: nudge\.state or"):
        unset_key(root, "nudge")
    assert config_path(root).read_bytes() == before


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60
)
@given(data=st.data())
def test_whatever_stands_at_known_keys_every_key_can_be_mended(root: Path, data: Any) -> None:
    """One by one, in the order that the file has them, and nothing of our user's own is lost on the way."""
    kept = {"x-own": data.draw(json_values)}
    raw: dict[str, Any] = dict(kept)
    for key in data.draw(st.lists(st.sampled_from(sorted(KEYS.keys() - {"senior_root"})))):
        group, _, leaf = key.partition(".")
        if leaf and isinstance(raw.setdefault(group, {}), dict):
            raw[group][leaf] = data.draw(json_values)
        else:
            raw[group] = data.draw(json_values)
    write(root, raw)
    faults = check_config(root).faults
    for fault in faults:
        for key in fault.keys:
            if any(key in each.keys for each in check_config(root).faults):
                unset_key(root, key)
    assert check_config(root).faults == ()
    assert read(root)["x-own"] == kept["x-own"]


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60
)
@given(
    top=st.dictionaries(st.text().map("x-".__add__), json_values, max_size=5),
    inside=st.dictionaries(st.text().map("x-".__add__), json_values, max_size=5),
)
def test_unknown_keys_of_any_kind_survive_every_rewrite(
    root: Path, top: dict[str, Any], inside: dict[str, Any]
) -> None:
    write(root, {**top, "nudge": inside})
    set_key(root, "nudge.after_files", "7")
    set_key(root, "kickoff", "off")
    after = read(root)
    assert {key: value for key, value in after.items() if key.startswith("x-")} == top
    assert {key: value for key, value in after["nudge"].items() if key.startswith("x-")} == inside


def test_half_a_surrogate_pair_survives_a_rewrite(root: Path) -> None:
    write(root, b'{"x": "\\ud83d"}')
    set_key(root, "kickoff", "off")
    assert read(root)["x"] == "\ud83d"


def test_two_writers_at_once_lose_nothing(root: Path) -> None:
    """Sessions open together, each moving its own key: real processes, forty changes, all there in the end."""
    script = (
        "import sys; from pathlib import Path; from backend.tree.config import change_config\n"
        "name = sys.argv[2]\n"
        "for n in range(10):\n"
        "    change_config(Path(sys.argv[1]), lambda raw: raw.setdefault('x', {}).__setitem__(f'{name}{n}', n))\n"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(root), name],
            env={**os.environ, "PYTHONPATH": str(REPO)},
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in "abcd"
    ]
    errors = [process.communicate(timeout=60)[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, errors
    assert sorted(read(root)["x"]) == sorted(f"{name}{n}" for name in "abcd" for n in range(10))
    assert [path.name for path in config_path(root).parent.glob("*.tmp")] == []


def test_a_lock_that_stays_taken_is_said_and_nothing_is_written(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = config_path(root).with_name("config.lock")
    before = config_path(root).read_bytes()
    with (
        exclusive(lock, seconds=0, busy=""),
        pytest.raises(Busy),
        exclusive(lock, seconds=0, busy="taken"),
    ):
        pass
    assert config_path(root).read_bytes() == before


def test_a_folder_that_cannot_be_written_to(as_nobody: tuple[str, ...], open_folder: Path) -> None:
    root = open_folder
    create_config(root)
    config_path(root).parent.chmod(0o555 if not as_nobody else 0o755)
    before = config_path(root).read_bytes()
    script = "import sys; from pathlib import Path; from backend.tree.config_edits import set_key\n"
    script += "try: set_key(Path(sys.argv[1]), 'kickoff', 'off')\nexcept Exception as error: print(type(error).__name__, error)"
    done = subprocess.run(
        [*as_nobody, sys.executable, "-c", script, str(root)],
        env={**os.environ, "PYTHONPATH": str(REPO)},
        capture_output=True,
        text=True,
        check=True,
    )
    config_path(root).parent.chmod(0o755)
    assert done.stdout.startswith("CvError ")
    assert "Permission denied" in done.stdout
    assert config_path(root).read_bytes() == before


# --- a tree that moves -----------------------------------------------------------------------------------------------


@pytest.fixture
def moved(tmp_path: Path) -> Path:
    """A tree with two dismissed folders, moved after it was set up."""
    before = tmp_path / "before"
    create_config(before, dismissed_paths=[str(before / "mill"), "inn", "/elsewhere/x"], x_mine=1)
    (before / "mill").mkdir()
    shutil.move(before, tmp_path / "after")
    return tmp_path / "after"


def test_a_moved_tree_heals(moved: Path) -> None:
    assert load_config(moved).senior_root == str(moved)
    assert moved_from(moved) == str(moved.with_name("before"))
    set_key(moved, "kickoff", "off")
    assert moved_from(moved) is None
    assert read(moved)["senior_root"] == str(moved)
    assert read(moved)["x_mine"] == 1


def test_a_mended_key_leaves_what_cannot_follow_yet(moved: Path) -> None:
    """Where dismissed_paths can't be read, the old place must stay known until they can."""
    before = read(moved)
    config_path(moved).write_text(json.dumps({**before, "dismissed_paths": 5, "kickoff": "no"}))
    set_key(moved, "kickoff", "off")
    assert read(moved) == {**before, "dismissed_paths": 5, "kickoff": "off"}
    config_path(moved).write_text(json.dumps({**before, "kickoff": "no"}))
    set_key(moved, "kickoff", "off")
    assert read(moved)["senior_root"] == str(moved)
    assert load_config(moved).dismissed_paths[0] == str(moved / "mill")


def test_what_was_dismissed_stays_dismissed_after_a_move(moved: Path) -> None:
    """Otherwise moving a tree would index what a person opted out."""
    expected = [str(moved / "mill"), "inn", "/elsewhere/x"]
    assert load_config(moved).dismissed_paths == expected
    set_key(moved, "kickoff", "off")
    assert load_config(moved).dismissed_paths == expected
    assert read(moved)["dismissed_paths"] == expected
