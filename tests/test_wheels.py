"""tools/wheels.py: of a pin's hashes, those stay whose wheel CPython 3.11 to 3.14 takes on a system that chromadb runs on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "tools/wheels.py"
KEPT = (
    "a-1-cp311-cp311-win_amd64.whl",
    "a-1-cp313-cp313-manylinux2014_aarch64.manylinux_2_17_aarch64.whl",
    "a-1-cp37-abi3-macosx_10_12_universal2.whl",
    "a-1-cp311.cp312-abi3-win_amd64.whl",
    "a-1-7-py2.py3-none-any.whl",
    "a-1-py3-none-manylinux1_x86_64.musllinux_1_2_x86_64.whl",
)
DROPPED = (
    "a-1-cp310-cp310-win_amd64.whl",
    "a-1-cp313-cp313t-win_amd64.whl",
    "a-1-cp315-cp314-win_amd64.whl",
    "a-1-cp315-abi3-win_amd64.whl",
    "a-1-pp311-pypy311_pp73-win_amd64.whl",
    "a-1-py2-none-any.whl",
    "a-1-py3-none-musllinux_1_2_x86_64.whl",
    "a-1-cp311-cp311-win32.whl",
    "a-1-cp312-abi3-manylinux2014_ppc64le.manylinux_2_17_ppc64le.whl",
)


def run(folder: Path, *wheels: str) -> subprocess.CompletedProcess[str]:
    """Slim a requirements file with one pin, whose hashes are 0, 1, … of these wheels, and one of an unnamed file."""
    hashes = [f"{number:064x}" for number, _ in enumerate((*wheels, "a-1.tar.gz"))]
    (folder / "requirements.txt").write_text(
        "a==1 ; python_version < '3.14'"
        + "".join(f" \\\n    --hash=sha256:{h}" for h in hashes)
        + "\n"
    )
    (folder / "pylock.toml").write_text(
        '[[packages]]\nname = "a"\nwheels = [\n'
        + "".join(
            f'  {{ url = "files/{wheel}", hashes = {{ sha256 = "{h}" }} }},\n'
            for wheel, h in zip(wheels, hashes, strict=False)
        )
        + "]\n"
    )
    return subprocess.run(
        [sys.executable, "-I", SCRIPT, "requirements.txt", "pylock.toml"],
        cwd=folder,
        capture_output=True,
        text=True,
    )


def test_hashes_of_wheels_that_a_supported_python_takes_stay(tmp_path: Path) -> None:
    done = run(tmp_path, *KEPT, *DROPPED)

    assert (done.returncode, done.stderr) == (0, "")
    stay = "".join(f" \\\n    --hash=sha256:{number:064x}" for number in range(len(KEPT)))
    assert (tmp_path / "requirements.txt").read_text() == f"a==1 ; python_version < '3.14'{stay}\n"


@pytest.mark.parametrize("wheel", DROPPED)
def test_a_pin_that_would_have_no_hash_left_is_an_error(tmp_path: Path, wheel: str) -> None:
    before = run(tmp_path, KEPT[0]).returncode
    done = run(tmp_path, wheel)

    assert (before, done.returncode) == (0, 1)
    assert done.stderr.startswith(
        "a==1 ; python_version < '3.14': none of its 2 hashes is of a wheel"
    )
    assert f"{0:064x}" in (tmp_path / "requirements.txt").read_text()  # left as it was
