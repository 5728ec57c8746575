"""Bad input: a clear line, the right exit code (0 done, 1 failed, 2 wrong arguments, 3 no root, 4 busy), nothing lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from backend.tree.lock import exclusive

READING = [
    ("sync",),
    ("status",),
    ("find", "boats"),
    ("catch-up",),
    ("nudge",),
    ("config", "list"),
    ("dismiss",),
]


def permit(folder: Path, *, folders: int, files: int) -> None:
    """Set the permissions of ``folder`` and all below it."""
    folder.chmod(0o755)
    for path in folder.rglob("*"):
        path.chmod(folders if path.is_dir() else files)
    folder.chmod(folders)


def one_line(text: str) -> bool:
    return text.startswith("cv: ") and text.count("\n") == 1


@pytest.mark.parametrize("command", READING, ids=lambda command: command[0])
def test_without_a_senior_root_every_command_ends_3_and_says_what_to_do(
    cv: Any, tmp_path: Path, command: Any
) -> None:
    (tmp_path / "elsewhere").mkdir()
    done = cv(*command, cwd=tmp_path / "elsewhere")
    assert (done.code, done.out) == (3, "")
    assert one_line(done.err)
    assert "Run 'cv init --senior-root PATH'" in done.err


def test_a_root_that_is_named_wrongly_ends_3(cv: Any, tree: Any, tmp_path: Path) -> None:
    for command in ("status", "doctor"):
        absent = cv(command, "--root", str(tmp_path / "not there"))
        assert (absent.code, absent.out) == (3, "")
        assert f"--root {tmp_path / 'not there'}: no such folder. 'cv list-roots'" in absent.err
    assert "no .context-vigilance/config.json in it" in cv("status", "--root", str(tmp_path)).err
    assert cv("status", "--root", str(tree.root), cwd=tmp_path).code == 0
    assert cv("status", "--root", str(tree.root / "mill"), cwd=tmp_path).code == 0


@pytest.mark.parametrize("command", READING, ids=lambda command: command[0])
def test_a_broken_config_ends_1_with_line_and_column(cv: Any, tree: Any, command: Any) -> None:
    path = tree.path(".context-vigilance/config.json")
    path.write_text('{\n  "nudge": {"state": "on",}\n}\n')
    before = tree.fingerprint()
    done = cv(*command)
    assert (done.code, done.out) == (1, "")
    assert one_line(done.err)
    assert "config.json: line 2, column" in done.err
    assert path.read_text() == '{\n  "nudge": {"state": "on",}\n}\n'
    assert tree.fingerprint() == before


def test_a_wrong_type_in_the_config_ends_1_with_key_expected_and_got(cv: Any, tree: Any) -> None:
    path = tree.path(".context-vigilance/config.json")
    raw = json.loads(path.read_text()) | {"nudge": {"state": "sometimes"}}
    path.write_text(json.dumps(raw))
    done = cv("status")
    assert done == (
        1,
        "",
        'cv: config.json: nudge.state: expected "on" or "off", got "sometimes"\n',
    )


def test_an_unknown_key_is_kept_and_said_by_status(cv: Any, tree: Any) -> None:
    path = tree.path(".context-vigilance/config.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"nugde": 1}))
    assert "note: config.json: unknown key nugde (did you mean nudge" in cv("status").out
    assert cv("config", "set", "kickoff", "off").code == 0
    assert json.loads(path.read_text())["nugde"] == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("catch-up", "--since", "someday"), "--since expects a day as YYYY-MM-DD"),
        (("catch-up", "--since", "2025-02-30"), "--since 2025-02-30: the calendar has no such day"),
        (("find", ""), "expected a task in plain words"),
        (("search", " "), "expected a question in plain words"),
        (("config", "unset", "nudge.sate"), "did you mean nudge.state"),
        (("config", "unset", "senior_root"), "move the folder instead"),
        (("catch-up", "--since", "2999-01-01"), "lies in the future"),
        (("catch-up", "--window", "soon"), "--window expects a number and d, w, m or y"),
        (("catch-up", "--scope", "nope"), "nope"),
        (("catch-up", "--max-files", "many"), "'many' is not a valid integer"),
        (("catch-up", "--max-files", "-1"), "max-files"),
        (("find",), "Missing argument"),
        (("nudge", "maybe"), "'maybe' is not one of"),
        (("sync", "--role", "poems"), "'poems' is not one of"),
        (
            ("find", "boats", "-n", "0"),
            "'-n' / '--n-results': expected a whole number, 1 or more; got 0",
        ),
        (("find", "boats", "--max-files", "0"), "expected a whole number, 1 or more; got 0"),
        (("search", "boats", "-n", "some"), "expected a whole number, 1 or more; got some"),
        (("sync", "--max-seconds", "-1"), "expected a number of seconds, 0 or more; got -1"),
        (("sync", "--max-seconds", "nan"), "expected a number of seconds, 0 or more; got nan"),
        (("sync", "--max-seconds", "soon"), "expected a number of seconds, 0 or more; got soon"),
        (
            ("config", "set", "catch_up.max_files", "-1"),
            "cv: catch_up.max_files: expected a whole number",
        ),
        (("config", "set", "catch_up.max_files", "-1"), "got -1; nothing was changed"),
        (
            ("config", "set", "collections.changelog_corpus", "x"),
            "cv: collections.changelog_corpus: expected 3",
        ),
        (("config", "get", "nudge.sate"), "did you mean nudge.state"),
        (("config", "set", "nudge.state", "maybe"), 'expected "on" or "off", got "maybe"'),
        (("config", "set", "nudge.state"), "Missing argument"),
        (("dismiss", "not/there"), "expected a folder"),
        (("dismiss", "/"), "does not lie under the senior root"),
        (("help", "dance"), "no such command"),
        (("dance",), "No such command 'dance'"),
        (("status", "--loud"), "No such option"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_arguments_end_2_and_say_which(
    cv: Any, tree: Any, arguments: tuple[str, ...], says: str
) -> None:
    done = cv(*arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("cv: ")
    assert says in done.err
    assert done.err.count("\n") <= 2


def test_a_busy_writer_ends_4_and_queries_still_answer(cv: Any, tree: Any) -> None:
    os.utime(tree.path("mill/context-v/specs/Wheel.md"))  # or there would be nothing to refresh
    with exclusive(tree.path(".context-vigilance/writer.lock"), seconds=0, busy=""):
        done = cv("sync")
        assert (done.code, done.out) == (4, "")
        assert one_line(done.err)
        digest = cv("catch-up", "--since", "2025-01-01", "--json")
    assert digest.code == 0
    answer = json.loads(digest.out)
    assert answer["total_files"] == 4
    assert "another sync is at work" in answer["notes"][-1]


def test_the_lock_of_a_killed_writer_does_not_stay(cv: Any, tree: Any, start_cv: Any) -> None:
    script = (
        "import sys, time; from pathlib import Path; from backend.tree.lock import exclusive\n"
        "with exclusive(Path(sys.argv[1]), seconds=0, busy=''): print('held', flush=True); sys.stdin.read()"
    )
    repo = Path(__file__).resolve().parents[2]
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(tree.path(".context-vigilance/writer.lock"))],
        env={**os.environ, "PYTHONPATH": str(repo)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    assert cv("sync").code == 4
    holder.kill()
    holder.communicate()
    assert cv("sync").code == 0


def test_a_file_that_fails_ends_1_and_is_named(cv: Any, tree: Any) -> None:
    with tree.path("mill/context-v/specs/Wheel.md").open("r+b") as file:
        file.truncate(40 * 1024 * 1024)
    done = cv("sync")
    assert done.code == 1
    assert "  failed: mill/context-v/specs/Wheel.md: larger than 32 MB\n" in done.out
    assert one_line(done.err)
    assert "1 file could not be indexed" in done.err
    assert json.loads(cv("sync", "--json").out)["roles"]["context-vigilance-corpus"]["failed"] == [
        {"path": "mill/context-v/specs/Wheel.md", "reason": "larger than 32 MB"}
    ]
    digest = json.loads(cv("catch-up", "--since", "2025-01-01", "--json").out)
    assert digest["notes"] == [
        "could not be read: mill/context-v/specs/Wheel.md (larger than 32 MB)"
    ]
    assert digest["total_files"] == 4, "what was known of it is still there"


def test_odd_documents_are_no_failure(cv: Any, tree: Any) -> None:
    tree.write("mill/context-v/Latin.md", "# Grüße\n\nEine Brücke.\n".encode("latin-1"))
    tree.write("mill/context-v/Long.md", b"# Long\n\n" + b"y" * 2_000_000 + b"\n")
    tree.write("mill/context-v/Broken.md", "---\ntitle: [a\n---\n\n# Body\n")
    done = cv("sync")
    assert (done.code, done.err) == (0, "")
    assert "context-vigilance-corpus: 3 indexed" in done.out


def test_a_missing_store_folder_is_made_again(cv: Any, tree: Any) -> None:
    import shutil

    kit = tree.path(".context-vigilance")
    for name in ("chroma", "manifests"):
        shutil.rmtree(kit / name)
    (kit / "index.sqlite").unlink()
    done = cv("catch-up", "--since", "2025-01-01", "--json")
    assert done.code == 0
    assert json.loads(done.out)["total_files"] == 4


def test_a_store_that_cannot_be_written_to_still_answers(
    tree: Any, cv_process: Any, as_nobody: tuple[str, ...], open_folder: Path, machine: Path
) -> None:
    """A tree of someone else, or a read-only disk: ``sync`` ends 1 with a line, queries answer from what is there."""
    kit = tree.path(".context-vigilance")
    os.utime(tree.path("mill/context-v/specs/Wheel.md"))  # or there would be nothing to refresh
    permit(kit, folders=0o555, files=0o444)
    elsewhere = {"HOME": "/nonexistent", "CV_HOME": "/nonexistent/cv"}
    try:
        done = cv_process("sync", prefix=as_nobody, **elsewhere)
        assert (done.code, done.out) == (1, "")
        assert one_line(done.err)
        assert "Permission denied" in done.err
        digest = cv_process(
            "catch-up", "--since", "2025-01-01", "--json", prefix=as_nobody, **elsewhere
        )
        assert digest.code == 0, digest
        answer = json.loads(digest.out)
        assert answer["total_files"] == 4
        assert "not refreshed: " in answer["notes"][-1]
        status = cv_process("status", prefix=as_nobody, **elsewhere)
        assert status.code == 0, status
    finally:
        permit(kit, folders=0o755, files=0o644)


@pytest.mark.parametrize(
    ("command", "below"),
    [
        (("sync",), ""),
        (("status",), "mill/context-v"),
        (("find", "the wheel", "--root", "."), "mill"),
        (("catch-up", "--window", "2w"), ""),
        (("init", "--senior-root", ".", "--yes"), ""),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else value or "top",
)
def test_a_kit_that_may_not_be_entered_is_said_to_be_there(
    tree: Any,
    cv_process: Any,
    as_nobody: tuple[str, ...],
    open_folder: Path,
    command: Any,
    below: str,
) -> None:
    """As after somebody's ``sudo cv init`` under a strict umask: it is no reason to set up another one."""
    kit = tree.path(".context-vigilance")
    kit.chmod(0o700 if as_nobody else 0)
    try:
        done = cv_process(*command, prefix=as_nobody, cwd=tree.path(below), CV_HOME="/nonexistent")
    finally:
        kit.chmod(0o700)
    assert (done.code, done.out) == (1, "")
    assert one_line(done.err)
    assert f"{kit}: is there, but you may not enter it (it belongs to {kit.owner()})" in done.err
    assert "chmod -R a+rX" in done.err
    assert "cv init" not in done.err


def test_doctor_and_hook_at_a_kit_that_may_not_be_entered(
    tree: Any, cv_process: Any, as_nobody: tuple[str, ...], open_folder: Path
) -> None:
    kit = tree.path(".context-vigilance")
    kit.chmod(0o700 if as_nobody else 0)
    event = json.dumps(
        {
            "session_id": "s",
            "cwd": str(tree.root),
            "hook_event_name": "SessionStart",
            "source": "startup",
        }
    )
    try:
        seen = cv_process("doctor", "--json", prefix=as_nobody, CV_HOME="/nonexistent")
        said = cv_process("doctor", prefix=as_nobody, CV_HOME="/nonexistent")
        hook = cv_process(
            "hook", "session-start", stdin=event, prefix=as_nobody, CV_HOME="/nonexistent"
        )
    finally:
        kit.chmod(0o700)
    assert seen.code == 1
    (found,) = (f for f in json.loads(seen.out)["findings"] if f["check"] == "store")
    assert found["where"] == str(kit)
    assert found["what"].startswith(
        ".context-vigilance is there, but you may not enter it (it belongs"
    )
    assert "no senior root" not in said.out
    assert hook[:2] == (0, "")


@pytest.mark.parametrize("part", ["index.sqlite", "manifests", "chroma"])
def test_doctor_names_what_a_sync_may_not_write(
    tree: Any, cv_process: Any, as_nobody: tuple[str, ...], open_folder: Path, part: str
) -> None:
    """As after one sync with sudo."""
    kit = tree.path(".context-vigilance")
    permit(kit, folders=0o777, files=0o666)
    (kit / part).chmod(0o555)
    tree.document("mill/context-v/New.md")
    try:
        for options in ((), ("--fix",)):
            done = cv_process("doctor", *options, prefix=as_nobody)
            assert done.code == 1, done
            assert f"{part} may not be written by you (it belongs to " in " ".join(done.out.split())
    finally:
        permit(kit, folders=0o755, files=0o644)


def test_a_tree_that_cannot_be_read_in_part_keeps_what_is_known_and_says_so(
    tree: Any, cv_process: Any, as_nobody: tuple[str, ...], open_folder: Path
) -> None:
    permit(tree.path(".context-vigilance"), folders=0o777, files=0o666)
    tree.path("mill").chmod(0o700 if as_nobody else 0)
    try:
        done = cv_process("sync", prefix=as_nobody)
        assert done.code == 0, done
        assert "note: mill: could not be read" in done.out
        assert "0 removed" in done.out
        status = json.loads(cv_process("status", "--json", prefix=as_nobody).out)
        assert status["roles"]["context-vigilance-corpus"] == {
            "collection": "context-vigilance-corpus",
            "documents": 3,
            "chunks": 4,
            "behind": 0,
        }
    finally:
        tree.path("mill").chmod(0o755)


def test_a_file_that_may_not_be_read_is_named(
    tree: Any, cv_process: Any, as_nobody: tuple[str, ...], open_folder: Path
) -> None:
    permit(tree.path(".context-vigilance"), folders=0o777, files=0o666)
    tree.document("mill/context-v/Secret.md").chmod(0o600 if as_nobody else 0)
    done = cv_process("sync", prefix=as_nobody)
    tree.path("mill/context-v/Secret.md").chmod(0o644)
    assert done.code == 1
    assert "failed: mill/context-v/Secret.md: Permission denied" in done.out


def test_an_error_that_nobody_foresaw_is_a_line_and_its_details_are_kept(
    cv: Any, tree: Any, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here the config is a folder."""
    path = tree.path(".context-vigilance/manifests")
    for file in path.glob("*.json"):
        file.unlink()
        file.mkdir()
    done = cv("sync", defect=True)
    assert done.code == 1
    assert done.out == ""
    assert done.err.count("\n") == 1


def test_what_is_no_exception_is_a_defect_and_no_traceback(
    cv: Any, tree: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a panic of a library written in Rust; an interrupt keeps its meaning."""
    import click

    from backend.cli import cli

    class Panic(BaseException):
        pass

    def fail(error: BaseException) -> None:
        raise error

    for error, code in ((Panic("unwrap"), 1), (KeyboardInterrupt(), 130)):
        command = click.Command("gives-up", callback=partial(fail, error))
        monkeypatch.setitem(cli.commands, "gives-up", command)
        done = cv("gives-up", defect=True)
        assert done.code == code
        assert one_line(done.err.lstrip("\n"))  # click ends the line of the ^C


# --- slash commands --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["--since someday", "--window 'it''s", "--nope", "$(id) `id` ; rm -rf /", "what's new \"now"],
)
def test_inline_always_ends_0_and_puts_the_message_into_the_output(
    cv: Any, tree: Any, text: str
) -> None:
    """A command that fails inside a slash command would abort it."""
    done = cv("catch-up", "--inline", stdin=text)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("cv: ")


def test_inline_takes_arguments_from_standard_input(cv: Any, tree: Any) -> None:
    done = cv("catch-up", "--inline", "--json", stdin="--since 2025-01-01 --scope mill\n")
    assert json.loads(done.out)["total_files"] == 2


def test_inline_finds_by_a_text_as_it_was_typed(cv: Any, tree: Any) -> None:
    done = cv("find", "--inline", "--json", stdin='what\'s with "the" --timetable; $(id)\n')
    assert json.loads(done.out)["task"] == 'what\'s with "the" --timetable; $(id)'


def test_inline_without_a_root_ends_0(cv: Any, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    done = cv("catch-up", "--inline", cwd=tmp_path / "elsewhere")
    assert (done.code, done.err) == (0, "")
    assert "no senior root here" in done.out


@pytest.mark.parametrize("stdin", [b"caf\xe9 \xff", b"\0", b""])
def test_inline_takes_any_bytes(tree: Any, cv_process: Any, stdin: bytes) -> None:
    """In a process of its own, with the encoding of a bare environment."""
    done = cv_process("find", "--inline", stdin=stdin, LC_ALL="en_US.UTF-8", PYTHONUTF8="1")
    assert done.code == 0, done
    assert done.err == ""
    assert done.out != ""


# --- the process -----------------------------------------------------------------------------------------------------


def test_a_reader_that_goes_away_is_no_error(tree: Any) -> None:
    repo = Path(__file__).resolve().parents[2]
    process = subprocess.Popen(
        [sys.executable, "-P", "-s", "-m", "backend", "config", "list"],
        cwd=tree.root,
        env={**os.environ, "PYTHONPATH": str(repo)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 0


def test_a_working_folder_that_was_removed(tree: Any) -> None:
    repo = Path(__file__).resolve().parents[2]
    script = (
        "import os, runpy, sys; os.mkdir(sys.argv[1]); os.chdir(sys.argv[1]); os.rmdir(sys.argv[1])\n"
        "sys.argv = ['cv', 'status']; runpy.run_module('backend', run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", script, str(tree.path("gone"))],
        env={**os.environ, "PYTHONPATH": str(repo)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert done.stderr.startswith("cv: no senior root here")


def test_a_folder_with_a_backend_of_its_own_changes_nothing(tree: Any, cv_process: Any) -> None:
    """A web project's ``backend/__main__.py`` must not run in our place."""
    tree.write("ferry/backend/__main__.py", "print('hostile')")
    tree.write("ferry/backend/__init__.py", "")
    tree.write("ferry/click.py", "raise SystemExit('hostile')")
    done = cv_process("status", cwd=tree.path("ferry"))
    assert done.code == 0
    assert "hostile" not in done.out + done.err


def test_a_group_of_commands_alone_says_what_it_takes(cv: Any, tree: Any) -> None:
    alone = cv("session")
    assert (alone.code, alone.err) == (0, "")
    assert alone.out == cv("session", "--help").out


def test_a_part_of_a_server_that_is_not_used_says_nothing_of_where_documents_go(
    cv: Any, tree: Any
) -> None:
    assert (
        cv("config", "set", "chroma.host", "chroma.invalid").out
        == 'chroma.host = "chroma.invalid"\n'
    )
    sent = cv("config", "set", "chroma.mode", "http").out
    assert "documents of this tree are sent to the Chroma server at http://chroma.invalid" in sent
    back = cv("config", "set", "chroma.mode", "persistent").out
    assert "documents stay in the tree's own folder" in back
