"""``cv init`` as a ceremony: what it says it found, what it refuses, how it asks, and ``--remove``, which takes all out again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from backend.setup.propose import in_words
from backend.tree.lock import exclusive

ROOT = Path(__file__).resolve().parents[2]
FOREIGN = {"hooks": [{"type": "command", "command": "date"}]}


@pytest.fixture
def organisation(org: Any) -> Any:
    """Two repos, with what the walk leaves out; nothing is set up."""
    for name in ("ferry", "mill"):
        org.repo(name)
    org.document("ferry/context-v/specs/Timetable.md")
    org.document("ferry/context-v/extra/Scratch.md")
    org.document("mill/context-v/specs/Wheel.md")
    org.document("mill/changelog/2025-06-01_sails.md", day=None)
    org.document("mill/old/context-v/specs/Gone.md")
    org.dismiss("mill/old")
    return org


def everything(org: Any) -> dict[str, bytes]:
    return {
        str(path.relative_to(org.root)): path.read_bytes()
        for path in org.root.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }


# --- proposing -------------------------------------------------------------------------------------------------------


def test_propose_says_what_is_there_and_writes_nothing(
    organisation: Any, cv: Any, steady: Any, snapshot: Any
) -> None:
    before = everything(organisation)
    done = cv("init", "--propose", cwd=organisation.path("ferry/context-v"))
    assert (done.code, done.err) == (0, "")
    assert steady(done.out).replace("'ROOT'", "ROOT") == snapshot
    assert everything(organisation) == before


def test_propose_where_nothing_is(org: Any, cv: Any) -> None:
    done = cv("init", "--propose")
    assert done.code == 0
    assert "0 repos, 0 context-v documents, 0 changelog entries" in done.out
    assert "is this the right folder?" in done.out


def test_propose_of_a_tree_that_is_set_up(organisation: Any, cv: Any) -> None:
    cv("init", "--senior-root", str(organisation.root), "--yes", "--no-index")
    done = cv("init", "--propose", cwd=organisation.path("mill"))
    assert done.code == 0
    assert f"{organisation.root} (set up already)" in done.out


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (2, "a few seconds"),
        (12, "about 10 seconds"),
        (95, "about 2 minutes"),
        (600, "about 10 minutes"),
    ],
)
def test_how_long_the_first_index_takes_in_words(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


# --- asking ----------------------------------------------------------------------------------------------------------


def test_with_nobody_to_ask_it_says_so_and_ends_2(organisation: Any, cv_process: Any) -> None:
    before = everything(organisation)
    done = cv_process("init", "--no-index")
    assert done.code == 2
    assert done.err == "cv: there is nobody to ask here; run it again with --yes\n"
    assert everything(organisation) == before


@pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals are of POSIX")
def test_on_a_terminal_it_asks_and_takes_the_answer(organisation: Any) -> None:
    import pty

    def answer(text: str) -> tuple[int, str]:
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-P", "-s", "-m", "backend", "init", "--no-index"],
            cwd=organisation.root,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        os.close(theirs)
        os.write(ours, text.encode())
        out, _ = process.communicate(timeout=60)
        os.close(ours)
        return process.returncode, out.decode()

    code, out = answer("n\n")
    assert (code, "nothing was written" in out) == (1, True)
    assert not organisation.path(".context-vigilance").exists()
    code, out = answer("\n")
    assert (code, "Ready." in out) == (0, True)
    assert organisation.path(".context-vigilance/config.json").exists()


# --- refusing --------------------------------------------------------------------------------------------------------


def test_home_and_what_holds_it_cannot_be_roots(machine: Path, cv: Any) -> None:
    for root, says in ((machine, "is your home folder"), (machine.parent, "holds your home")):
        done = cv("init", "--senior-root", str(root), "--yes", "--no-index")
        assert done.code == 2
        assert says in done.err
        assert "--senior-root PATH" in done.err
        assert not (root / ".context-vigilance").exists()


def test_a_root_above_a_root_is_refused_and_names_it(organisation: Any, cv: Any) -> None:
    below = organisation.path("mill")
    cv("init", "--senior-root", str(below), "--yes", "--no-index")
    done = cv("init", "--senior-root", str(organisation.root), "--yes", "--no-index")
    assert done.code == 2
    assert f"has a senior root below it ({below})" in done.err
    assert not organisation.path(".context-vigilance").exists()
    assert cv("init", "--remove", "--senior-root", str(below), "--yes").code == 0
    done = cv("init", "--senior-root", str(organisation.root), "--yes", "--no-index")
    assert done.code == 0


def test_of_many_roots_below_some_are_named(organisation: Any, cv: Any) -> None:
    for number in range(5):
        organisation.document(f"site-{number}/context-v/Plan.md")
        below = str(organisation.path(f"site-{number}"))
        cv("init", "--senior-root", below, "--yes", "--no-index")
    done = cv("init", "--senior-root", str(organisation.root), "--yes", "--no-index")
    assert done.code == 2
    assert "site-2 and 2 more)" in done.err
    assert "site-4" not in done.err


@pytest.mark.parametrize(
    ("path", "text", "says"),
    [
        (".claude/settings.json", '{\n  "model": "x",\n}\n', "line 3, column 1"),
        (".claude/settings.json", '{"env": {"A": "1", "A": "2"}}', "the key 'A' stands in"),
        (".context-vigilance/sources.md", "---\nsources:\n  - path: [\n---\n", "line 3"),
        (".context-vigilance/config.json", '{\n"kickoff": ]}', "line 2, column 12"),
    ],
    ids=["settings", "a key twice", "sources", "config"],
)
def test_a_broken_file_is_refused_before_anything_is_written(
    organisation: Any, cv: Any, path: str, text: str, says: str
) -> None:
    organisation.write(path, text)
    before = everything(organisation)
    done = cv("init", "--senior-root", str(organisation.root), "--yes")
    assert done.code == 1
    assert Path(path).name in done.err
    assert says in done.err
    assert everything(organisation) == before


@pytest.mark.parametrize("answer", ["--yes", "asked"])
def test_a_folder_without_documents_that_nobody_named_is_refused(
    org: Any, cv: Any, answer: str
) -> None:
    org.write("README.md", "# Not this one\n")
    before = everything(org)
    done = cv("init", *(["--yes"] if answer == "--yes" else []), stdin="\n")
    assert done.code == (2 if answer == "--yes" else 1)
    assert "nothing was written" in done.err
    assert everything(org) == before
    if answer == "--yes":
        assert str(org.root) in done.err
        assert "--senior-root" in done.err


def test_one_that_was_named_or_is_set_up_is_not(org: Any, cv: Any) -> None:
    assert cv("init", "--senior-root", str(org.root), "--yes", "--no-index").code == 0
    org.path(".context-vigilance/.gitignore").unlink()
    assert cv("init", "--yes", "--no-index").code == 0
    assert org.path(".context-vigilance/.gitignore").is_file()
    assert "no documents are indexed in this tree, and none were found" in cv("folders").out


def test_propose_and_remove_together(organisation: Any, cv: Any) -> None:
    assert cv("init", "--propose", "--remove").code == 2


# --- what it ends with -----------------------------------------------------------------------------------------------


def test_in_claude_code_it_speaks_of_slash_commands(
    organisation: Any, cv: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    done = cv("init", "--senior-root", str(organisation.root), "--yes", "--no-index")
    *_, kickoff, catch_up, session = done.out.splitlines()
    assert "/kickoff" in kickoff
    assert "/catch-up-2w" in catch_up
    assert "new session" in session


def test_a_registry_that_cannot_be_written_does_not_stop_the_index(
    organisation: Any, cv: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    organisation.write("file", "")
    monkeypatch.setenv("CV_HOME", str(organisation.path("file/cv")))
    done = cv("init", "--senior-root", str(organisation.root), "--yes")
    assert done.code == 0
    assert "failed the list of roots on this machine" in done.out
    assert organisation.path(".context-vigilance/index.sqlite").exists()


# --- the settings file -----------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="permissions and links of POSIX")
def test_settings_keep_their_permissions_line_ends_and_link(organisation: Any, cv: Any) -> None:
    real = organisation.write("dotfiles/settings.json", b'{\r\n\t"model": "x"\r\n}')
    real.chmod(0o600)
    organisation.link(".claude/settings.json", "../dotfiles/settings.json")
    cv("init", "--senior-root", str(organisation.root), "--yes", "--no-index")
    assert organisation.path(".claude/settings.json").is_symlink()
    assert real.stat().st_mode & 0o777 == 0o600
    data = real.read_bytes()
    assert data.startswith(b'{\r\n\t"model": "x",\r\n\t"hooks"')
    assert data.endswith(b"}")
    assert data.count(b"\n") == data.count(b"\r\n")
    cv("init", "--remove", "--senior-root", str(organisation.root), "--yes")
    assert real.read_bytes() == b'{\r\n\t"model": "x"\r\n}'


# --- removing --------------------------------------------------------------------------------------------------------


def test_remove_leaves_the_tree_as_it_was_before(
    organisation: Any, cv: Any, machine: Path, steady: Any, snapshot: Any
) -> None:
    before = everything(organisation)
    cv("init", "--senior-root", str(organisation.root), "--yes")
    cv("find", "timetable")
    done = cv("init", "--remove", "--yes", cwd=organisation.path("ferry"))
    assert (done.code, done.err) == (0, "")
    assert steady(done.out) == snapshot
    assert everything(organisation) == before
    assert not organisation.path(".context-vigilance").exists()
    assert not organisation.path(".claude").exists()
    assert cv("list-roots").out.startswith("none yet")
    assert cv("status").code == 3


def test_remove_asks_first(organisation: Any, cv: Any, cv_process: Any) -> None:
    cv("init", "--senior-root", str(organisation.root), "--yes", "--no-index")
    before = everything(organisation)
    done = cv("init", "--remove", stdin="\n")
    assert done.code == 1
    assert "Remove it? [y/N]" in done.out
    assert "nothing was removed" in done.err
    assert cv_process("init", "--remove").code == 2
    assert everything(organisation) == before
    assert cv("init", "--remove", stdin="y\n").code == 0


def test_remove_keeps_what_a_person_wrote_and_says_so(organisation: Any, cv: Any) -> None:
    others = {"model": "x", "hooks": {"SessionStart": [FOREIGN], "Stop": [FOREIGN]}}
    settings = organisation.write(".claude/settings.json", json.dumps(others, indent=2) + "\n")
    cv("init", "--senior-root", str(organisation.root), "--yes")
    organisation.edit(
        ".context-vigilance/sources.md", "kind: context-v", "note: mine\n    kind: context-v"
    )
    organisation.write(".context-vigilance/notes.txt", "mine")
    organisation.write(".context-vigilance/.gitignore", "mine\n")
    done = cv("init", "--remove", "--yes")
    assert done.code == 0
    assert ".context-vigilance/sources.md: was edited by hand" in done.out
    assert ".context-vigilance/notes.txt: is not from Context Vigilance" in done.out
    kept = sorted(path.name for path in organisation.path(".context-vigilance").iterdir())
    assert kept == [".gitignore", "notes.txt", "sources.md"]
    assert json.loads(settings.read_text()) == others
    assert settings.read_text() == json.dumps(others, indent=2) + "\n"


def test_remove_says_what_the_folder_of_the_private_collections_is(
    organisation: Any, cv: Any
) -> None:
    cv("init", "--senior-root", str(organisation.root), "--yes", "--no-index")
    organisation.write(".context-vigilance/private/ledger.sqlite", b"")
    done = cv("init", "--remove", "--yes")
    (stays,) = (line for line in done.out.splitlines() if ".context-vigilance/private" in line)
    assert "taken in from transcripts" in stays
    assert "run 'cv forget --all-private' before this" in stays
    assert organisation.path(".context-vigilance/private/ledger.sqlite").is_file()


def test_remove_names_the_markers_that_stay(organisation: Any, cv: Any) -> None:
    """The first few of those that the last walk saw, and that are still there."""
    for number in range(6):
        organisation.document(f"ferry/part-{number}/context-v/Text.md")
        organisation.dismiss(f"ferry/part-{number}")
    cv("init", "--senior-root", str(organisation.root), "--yes")
    organisation.path("ferry/part-1/.context-vigilance-skip").unlink()
    done = cv("init", "--remove", "--yes")
    (stays,) = (line for line in done.out.splitlines() if "from 'cv dismiss'" in line)
    named = ", ".join(f"ferry/part-{number}/.context-vigilance-skip" for number in (0, 2, 3, 4, 5))
    assert stays.strip().startswith(f"{named} and 1 more: ")
    assert organisation.path("mill/old/.context-vigilance-skip").is_file()


def test_what_was_kept_counts_again_when_it_is_set_up_again(organisation: Any, cv: Any) -> None:
    cv("init", "--senior-root", str(organisation.root), "--yes", "--no-index")
    cv("sync")
    organisation.edit(".context-vigilance/sources.md", "include: true", "include: false")
    cv("init", "--remove", "--yes")
    done = cv("init", "--senior-root", str(organisation.root), "--yes")
    assert "left out in sources.md" in done.out


def test_remove_while_a_sync_is_at_work_removes_nothing(organisation: Any, cv: Any) -> None:
    cv("init", "--senior-root", str(organisation.root), "--yes", "--no-index")
    before = everything(organisation)
    with exclusive(organisation.path(".context-vigilance/writer.lock"), seconds=0, busy=""):
        done = cv("init", "--remove", "--yes")
    assert done.code == 4
    assert "nothing was removed" in done.err
    assert {k: v for k, v in everything(organisation).items() if ".lock" not in k} == before


def test_a_removal_that_was_broken_off_can_be_run_again(organisation: Any, cv: Any) -> None:
    cv("init", "--senior-root", str(organisation.root), "--yes", "--no-index")
    organisation.path(".context-vigilance/config.json").unlink()
    done = cv("init", "--remove", "--senior-root", str(organisation.root), "--yes")
    assert done.code == 0
    assert not organisation.path(".context-vigilance").exists()


def test_remove_where_nothing_is_set_up(org: Any, cv: Any) -> None:
    done = cv("init", "--remove", "--yes")
    assert done.code == 3
    assert done.out == ""


def test_with_settings_that_cannot_be_read_nothing_is_removed(organisation: Any, cv: Any) -> None:
    cv("init", "--senior-root", str(organisation.root), "--yes", "--no-index")
    organisation.write(".claude/settings.json", "{")
    done = cv("init", "--remove", "--yes")
    assert done.code == 1
    assert "settings.json: line 1, column 2" in done.err
    assert organisation.path(".context-vigilance/config.json").exists()


# --- the script between the settings and the plugin ------------------------------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="a shell script")
def test_the_script_hands_over_and_is_silent_when_it_cannot(
    organisation: Any, cv: Any, machine: Path, tmp_path: Path
) -> None:
    cv("init", "--senior-root", str(organisation.root), "--yes", "--no-index")
    script = organisation.path(".context-vigilance/scripts/session-start.sh")

    def start(**variables: str) -> tuple[int, str, str]:
        done = subprocess.run(
            [str(script)],
            env={"PATH": "/usr/bin:/bin", "HOME": str(machine), **variables},
            input="{}",
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    home = {"CV_HOME": str(machine / "cv")}
    shutil.rmtree(machine / "cv", ignore_errors=True)
    assert start(**home) == (0, "", ""), "no launcher is known"
    plugin = tmp_path / "plug in/bin"
    plugin.mkdir(parents=True)
    launcher = plugin / "cv"
    launcher.write_text('#!/bin/sh\nprintf "%s|" "$@"; cat; echo noise >&2; exit 7\n')
    launcher.chmod(0o755)
    (machine / "cv").mkdir()
    (machine / "cv/launcher").write_text(f"{launcher}\n")
    assert start(**home) == (0, "hook|session-start|{}", "")
    (machine / "data/context-vigilance").mkdir(parents=True)
    (machine / "data/context-vigilance/launcher").write_text(f"{launcher}\n")
    if sys.platform != "darwin":
        assert start(XDG_DATA_HOME=str(machine / "data"))[1] == "hook|session-start|{}"
    launcher.unlink()
    assert start(**home) == (0, "", ""), "the plugin is gone"
