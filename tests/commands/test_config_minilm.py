"""``cv config set embedding.name minilm``: what it needs is named, and installed only when a person says so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
WITHOUT = (
    "import sys; sys.modules['onnxruntime'] = None; from backend.cli import main; "
    "sys.exit(main(sys.argv[1:]))"
)
SET = ("config", "set", "embedding.name", "minilm")


def without(root: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """The command line in a process in which there is no onnxruntime."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, *arguments], cwd=root,
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip


def embedder(root: Path) -> Any:
    config = json.loads((root / ".context-vigilance/config.json").read_bytes())
    return config.get("embedding", {}).get("name", "static")


def test_without_onnxruntime_it_says_the_line_and_changes_nothing(
    tree: Any, tmp_path: Path
) -> None:
    done = without(tree.root, *SET)
    needs = "cv: embedding.name: minilm: onnxruntime is not installed; to install it:"
    assert done.returncode == 1
    assert done.stderr == f'{needs} {sys.executable} -m pip install "onnxruntime>=1.20"\n'
    assert embedder(tree.root) == "static"

    launcher = tmp_path / "plug in/bin/cv"
    launcher.parent.mkdir(parents=True)
    (tmp_path / "plug in/requirements-minilm.txt").write_text("onnxruntime==1.32.0\n")
    said = without(tree.root, *SET, CV_LAUNCHER=str(launcher)).stderr
    assert said == f"{needs} '{launcher}' config set embedding.name minilm --install\n"


def test_an_environment_that_is_somebody_elses_is_left_alone(tree: Any) -> None:
    done = without(tree.root, *SET, "--install")
    assert done.returncode == 2
    assert f'{sys.executable} -m pip install "onnxruntime>=1.20"' in done.stderr
    assert embedder(tree.root) == "static"


def test_install_runs_the_set_up_of_the_environment(tree: Any, tmp_path: Path) -> None:
    """What it is called with; tests/setup has the set-up itself."""
    plugin = tmp_path / "plug in"
    for name in ("bin/cv", "requirements.txt", "requirements-minilm.txt"):
        (plugin / name).parent.mkdir(parents=True, exist_ok=True)
        (plugin / name).write_text("")
    script = plugin / "backend/setup/environment.py"
    script.parent.mkdir(parents=True)
    script.write_text(f"import sys; open({str(tmp_path / 'called')!r}, 'w').write(repr(sys.argv))")
    done = without(tree.root, *SET, "--install", CV_LAUNCHER=str(plugin / "bin/cv"))
    assert done.returncode == 0, done.stderr
    called = (tmp_path / "called").read_text()
    assert called.endswith("'--add', 'minilm']")
    assert f"'--requirements', {str(plugin / 'requirements.txt')!r}" in called
    assert embedder(tree.root) == "minilm"
    assert "of minilm: 0 of " in done.stdout
    assert "the old ones serve until then. 'cv sync' makes them" in done.stdout


def test_install_goes_with_minilm_alone(tree: Any, cv: Any) -> None:
    for words in (("embedding.name", "static"), ("nudge.after_days", "5")):
        done = cv("config", "set", *words, "--install")
        assert done.code == 2
        assert "--install goes with embedding.name minilm alone" in done.err


def test_a_config_that_came_with_minilm_is_explained(tree: Any) -> None:
    """By the doctor, and by a sync, which leaves the store as it is."""
    path = tree.path(".context-vigilance/config.json")
    config = json.loads(path.read_bytes())
    path.write_text(json.dumps(config | {"embedding": {"name": "minilm"}}))
    done = without(tree.root, "doctor")
    assert "onnxruntime is not installed; to install it" in done.stdout
    done = without(tree.root, "sync")
    assert done.returncode == 1
    assert "onnxruntime is not installed; to install it" in done.stderr
    found = json.loads(without(tree.root, "find", "timetable", "--json").stdout)
    assert found["candidates"]
    assert any("onnxruntime is not installed" in note for note in found["notes"])


def test_a_model_that_cannot_be_had_is_named_by_folder_and_files(
    tree: Any, cv_process: Any
) -> None:
    """Without a network, as behind a proxy that nobody set."""
    pytest.importorskip("onnxruntime")
    nowhere = "http://127.0.0.1:9"
    proxies = {"HTTPS_PROXY": nowhere, "https_proxy": nowhere, "ALL_PROXY": nowhere}
    assert cv_process(*SET).code == 0
    done = cv_process("sync", **proxies)
    assert done.code == 1
    assert "minilm: its model could not be downloaded" in done.err
    folder = Path(os.environ["HOME"]) / ".cache/chroma/onnx_models/all-MiniLM-L6-v2/onnx"
    assert f"into {folder}: config.json, model.onnx," in done.err
    tree.document("mill/context-v/New.md", "A zeppelin over the weir.")
    found = json.loads(cv_process("find", "zeppelin", "--json", **proxies).out)
    assert found["fresh"] is True
    assert found["candidates"][0]["source_path"] == "mill/context-v/New.md"
