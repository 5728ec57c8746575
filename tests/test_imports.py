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
    "render": 5,
    "setup": 5,
    "session": 5,
    "commands": 6,
    "cli": 7,
    "__main__": 8,
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
        ("chromadb", {"freshness/store.py", "freshness/embedder.py"}),
        ("tokenizers", {"freshness/embedder.py", "freshness/static_model.py"}),
        ("onnxruntime", set[str]()),
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
    late = {BACKEND / "freshness/static_model.py": "backend.freshness.static_model"}
    for path in modules():
        at_import = set(imports(path, top_level_only=True))
        if path not in late:
            tops = {name.split(".")[0] for name in at_import}
            assert package not in tops, f"{path} must import {package} where it is used"
        for module in late.values():
            assert not any(f"{name}.".startswith(f"{module}.") for name in at_import), path


def test_the_set_up_script_needs_only_the_standard_library() -> None:
    names = {name.split(".")[0] for name in imports(BACKEND / "setup/environment.py")}
    assert names <= set(sys.stdlib_module_names)


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
