"""One version, wherever a user or a tool reads it, and requirement files that carry their right key."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import backend
from backend.setup.environment import base_of, requirements_key, with_key

ROOT = Path(__file__).resolve().parents[1]


def test_manifests_and_changelog_name_the_packages_version() -> None:
    plugin = json.loads((ROOT / ".claude-plugin/plugin.json").read_text("utf-8"))
    marketplace = json.loads((ROOT / ".claude-plugin/marketplace.json").read_text("utf-8"))
    headings = re.findall(r"(?m)^## \[(\d[^\]]*)\]", (ROOT / "CHANGELOG.md").read_text("utf-8"))

    assert plugin["version"] == backend.__version__
    assert [entry["version"] for entry in marketplace["plugins"]] == [backend.__version__]
    assert headings[0] == backend.__version__


def test_plugin_and_marketplace_have_the_name_users_type() -> None:
    plugin = json.loads((ROOT / ".claude-plugin/plugin.json").read_text("utf-8"))
    marketplace = json.loads((ROOT / ".claude-plugin/marketplace.json").read_text("utf-8"))

    names = {plugin["name"], marketplace["name"], marketplace["plugins"][0]["name"]}
    assert names == {"context-vigilance"}
    # hooks/hooks.json is found without being named; versions of the host refuse a manifest that names it.
    assert "hooks" not in plugin


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_requirements_carry_their_key(name: str) -> None:
    content = (ROOT / name).read_bytes()
    key = requirements_key(content)

    assert content.startswith(f"# key: {key}\n".encode()), "run tools/lock.sh"
    assert (
        requirements_key(content.replace(b"\n", b"\r\n")) == key
    )  # a checkout with Windows line ends
    assert requirements_key(content + b"x==1\n") != key
    assert with_key(with_key(content)) == content


@pytest.mark.parametrize("path", sorted(ROOT.glob("requirements*.txt")), ids=lambda path: path.name)
def test_requirements_are_pinned_hashed_and_name_no_index(path: Path) -> None:
    text = path.read_text("utf-8")
    packages = re.findall(r"(?m)^\S+==\S+.*\\\n((?:    --hash=sha256:[0-9a-f]{64}.*\n)+)", text)
    lines = re.findall(r"(?m)^(?!#|    )\S.*", text)

    assert len(packages) == len(lines) > 0
    assert "://" not in text
    assert "-index" not in text


def test_the_test_environments_key_follows_what_it_stands_on() -> None:
    base = (ROOT / "requirements.txt").read_text("utf-8").split("\n", 1)[0].split()[-1]
    second = (ROOT / "requirements-dev.txt").read_text("utf-8").split("\n")[1]

    assert second == f"# on top of requirements.txt, key: {base}", "run tools/lock.sh"
    assert base_of(ROOT / "requirements-dev.txt") == [ROOT / "requirements.txt"]
    assert base_of(ROOT / "requirements.txt") == []


def test_rekey_repairs_the_key_line(tmp_path: Path) -> None:
    file = tmp_path / "requirements.txt"
    file.write_bytes(b"# key: 0000000000000000\nalpha==1 \\\n    --hash=sha256:00\n")
    script = ROOT / "backend/setup/environment.py"
    subprocess.run([sys.executable, "-I", script, "--rekey", file], check=True)

    assert file.read_bytes() == with_key(b"alpha==1 \\\n    --hash=sha256:00\n")
