"""The house's order: imports run one way, and the path a session waits for stays light."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BACKEND = ROOT / "backend"

# Room -> its floor. A room imports from lower floors and from itself; those who share a floor don't know each other,
# but for the last rooms before the command line, which may as long as no circle comes of it.
FLOORS = {
    "__init__": 0,
    "schemas": 0,
    "errors": 0,
    "tree": 1,
    "documents": 2,
    "freshness": 3,
    "kickoff": 4,
    "catchup": 4,
    "private": 4,
    "render": 5,
    "setup": 5,
    "session": 5,
    "server": 6,
    "commands": 7,
    "cli": 8,
    "__main__": 9,
}
TOP_ROOMS = {"render", "setup", "session"}
HEAVY = {
    "chromadb",
    "numpy",
    "onnxruntime",
    "tokenizers",
    "click",
    "rich",
    "yaml",
    "frontmatter",
    "jinja2",
}


def modules() -> list[Path]:
    return sorted(BACKEND.rglob("*.py"))


def room_of(parts: tuple[str, ...]) -> str:
    return parts[0].removesuffix(".py") if parts else "__init__"


def imports(path: Path, *, top_level_only: bool = False) -> Iterator[str]:
    """Yield the dotted names that a module imports; ``from a import b`` as ``a.b``."""
    tree = ast.parse(path.read_bytes())
    nodes = tree.body if top_level_only else ast.walk(tree)
    package = ("backend", *path.relative_to(BACKEND).parts[:-1])
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def rooms_imported(path: Path) -> set[str]:
    found = set()
    for name in imports(path):
        first, *rest = name.split(".")
        if first == "backend":
            found.add(rest[0] if rest and rest[0] in FLOORS else "__init__")
    return found


def test_every_module_stands_in_a_known_room() -> None:
    assert {room_of(path.relative_to(BACKEND).parts) for path in modules()} <= set(FLOORS)


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(BACKEND).as_posix())
def test_imports_run_one_way(path: Path) -> None:
    room = room_of(path.relative_to(BACKEND).parts)
    for other in rooms_imported(path) - {room}:
        lower = FLOORS[other] < FLOORS[room] or FLOORS[other] == 0
        assert lower or {room, other} <= TOP_ROOMS, f"{room} must not import {other}"


def test_no_circle_among_the_top_rooms() -> None:
    uses = {room: set[str]() for room in TOP_ROOMS}
    for path in modules():
        room = room_of(path.relative_to(BACKEND).parts)
        if room in TOP_ROOMS:
            uses[room] |= (rooms_imported(path) & TOP_ROOMS) - {room}
    while free := {room for room, others in uses.items() if not others}:
        uses = {room: others - free for room, others in uses.items() if room not in free}
    assert uses == {}


@pytest.mark.parametrize(
    ("package", "doors"),
    [
        # The embedder takes Chroma's other embedding functions where the config names one.
        ("chromadb", {"freshness/clients.py", "freshness/embedder.py"}),
        ("tokenizers", {"freshness/embedder.py", "freshness/static_model.py"}),
        ("onnxruntime", set[str]()),
        ("mcp", {"server/stdio.py"}),
        ("mcp_types", {"server/stdio.py"}),
    ],
)
def test_the_engine_has_one_door(package: str, doors: set[str]) -> None:
    users = {
        path.relative_to(BACKEND).as_posix()
        for path in modules()
        if any(name.split(".")[0] == package for name in imports(path))
    }
    assert users <= doors
    # At the top of a module it stands only where the module itself is imported late.
    late = {
        BACKEND / "freshness/static_model.py": "backend.freshness.static_model",
        BACKEND / "server/stdio.py": "backend.server.stdio",
    }
    for path in modules():
        at_import = set(imports(path, top_level_only=True))
        if path not in late:
            tops = {name.split(".")[0] for name in at_import}
            assert package not in tops, f"{path} must import {package} where it is used"
        for module in late.values():
            assert not any(f"{name}.".startswith(f"{module}.") for name in at_import), path


def test_transcripts_are_reached_by_the_explicit_commands_alone() -> None:
    """Who imports the private room, and only at the moment of use: ``cv sync --with-…``, ``cv forget``, and for what is stored
    already ``cv search --role``, from where no module that reads a transcript can be reached.
    """
    users = {
        path.relative_to(BACKEND).as_posix(): {
            ".".join(name.split(".")[:3]) for name in imports(path) if is_private(name)
        }
        for path in modules()
        if room_of(path.relative_to(BACKEND).parts) != "private"
    }
    assert {path: names for path, names in users.items() if names} == {
        "commands/sync.py": {"backend.private.plan", "backend.private.sync"},
        "commands/forget.py": {"backend.private.forget"},
        "commands/search.py": {"backend.private.reading"},
        "session/status.py": {"backend.private.counts"},  # how many, for cv status
    }
    for path in users:
        at_import = imports(BACKEND / path, top_level_only=True)
        assert not any(map(is_private, at_import)), f"{path} must import it where it is used"

    reading, reached = set[str](), {"reading", "counts"}
    while reached:
        reading |= reached
        names = {name for module in reached for name in imports(BACKEND / f"private/{module}.py")}
        reached = {name.split(".")[2] for name in names if is_private(name)} - reading
    assert reading == {"reading", "counts", "ledger", "places", "stored", "tie"}
    for module in ("transcripts", "turns", "redaction", "intake"):
        assert (BACKEND / f"private/{module}.py").exists(), "what is kept out of reach is called so"


def is_private(name: str) -> bool:
    """Whether a dotted name lies in the private room, which can't be imported by a name put together at run time either."""
    return f"{name}.".startswith("backend.private.")


def test_no_module_is_imported_by_a_name_put_together() -> None:
    for path in modules():
        text = path.read_text("utf-8")
        for spelling in ("importlib.import_module", "__import__("):
            assert spelling not in text, (
                f"{path}: the test of imports would not see what it imports"
            )


def test_the_set_up_script_needs_only_the_standard_library() -> None:
    ours = {"backend.setup.environment"}
    for module in ours_before_there_is_an_environment(ours):
        names = {name for name in imports(module) if not name.startswith("backend.")}
        assert {name.split(".")[0] for name in names} <= set(sys.stdlib_module_names), module


def ours_before_there_is_an_environment(names: set[str]) -> set[Path]:
    """The files of the modules ``names`` and of all that they import of ours, one by one."""
    found: set[Path] = set()
    while names:
        paths = {BACKEND.parent / f"{name.replace('.', '/')}.py" for name in names}
        paths = {path for path in paths if path.is_file()} - found
        found |= paths
        names = {
            part
            for path in paths
            for name in imports(path)
            if name.startswith("backend.")
            for part in (name, name.rpartition(".")[0])
        }
    return found


@pytest.mark.parametrize("event", ["session-start", "user-prompt"])
@pytest.mark.parametrize("applies", [True, False], ids=["in-a-tree", "elsewhere"])
def test_hooks_load_nothing_heavy(tmp_path: Path, event: str, applies: bool) -> None:
    folder = tmp_path / "tree"
    folder.mkdir()
    if applies:
        (folder / ".context-vigilance").mkdir()
        config = {"senior_root": str(folder), "last_session_at": "2026-01-05T09:00:00Z"}
        (folder / ".context-vigilance/config.json").write_text(json.dumps(config), "utf-8")
    names = {"session-start": "SessionStart", "user-prompt": "UserPromptSubmit"}
    asked = {
        "session_id": "3f0c2a52-0000-4000-8000-000000000001",
        "transcript_path": str(tmp_path / "transcript.jsonl"),
        "cwd": str(folder),
        "hook_event_name": names[event],
        "source": "startup",
        "prompt": "please mend the importer of the price lists",
    }
    environment = {
        **{
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTHON", "CLAUDE"))
        },
        "PYTHONPATH": str(ROOT),
        "CV_HOME": str(tmp_path / "home"),
        "HOME": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-P", "-s", "-X", "utf8", "-X", "importtime", "-m", "backend", "hook", event],
        input=json.dumps(asked), cwd=folder, env=environment, capture_output=True, encoding="utf-8", timeout=60,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    loaded = {line.rpartition("|")[2].strip() for line in lines}
    assert any(name.startswith("backend.session") for name in loaded), (
        "the hook's own code did not run"
    )
    assert {name for name in loaded if name.split(".")[0] in HEAVY} == set()
    assert not done.stdout.strip() or isinstance(json.loads(done.stdout), dict)
