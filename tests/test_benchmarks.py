"""Each benchmark runs to its end on a tiny tree and says what it promises; the numbers themselves are nobody's business here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def run(module: str, *arguments: object) -> str:
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{module}", *map(str, arguments)],
        cwd=ROOT,
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_tree_is_the_same_every_time_and_has_copies_entries_and_nested_repos(
    tmp_path: Path,
) -> None:
    for name in ("one", "two"):
        summary = json.loads(run("trees", tmp_path / name, "--documents", 240))
    tree = contents(tmp_path / "one")
    assert tree == contents(tmp_path / "two")
    documents = [path for path in tree if path.endswith(".md")]
    assert len(documents) == 240
    assert summary["copies"] == 60
    assert sum(path.startswith("rollup-") for path in documents) == 60
    assert any("/changelog/" in path for path in documents)
    assert any("/parts/" in path and path.endswith(".git/HEAD") for path in tree)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("results")


def lines(file: Path) -> dict[str, dict[str, object]]:
    return {
        line["what"]: line
        for table in json.loads(file.read_text())["tables"]
        for line in table["lines"]
    }


def test_sync_compares_with_its_baselines(results: Path) -> None:
    file = results / "sync.json"
    run(
        "sync",
        "--documents",
        30,
        "--rounds",
        1,
        "--changed",
        1,
        2,
        "--single",
        2,
        "--minilm",
        "no-such-python",
        "--json",
        file,
    )
    found = lines(file)
    assert found["sync --changed-since"]["against"] == "stat walk of the document folders"
    assert {
        "cold: cv sync --changed-since, 1 changed",
        "cold: cv sync --changed-since, 2 changed",
    } <= found.keys()
    facts = json.loads(file.read_text())["tables"][0]["facts"]
    assert facts["chunks"] > 20
    assert "not measured" in facts["plain script with MiniLM"]


def test_find_says_where_the_time_goes(results: Path) -> None:
    file = results / "find.json"
    run("find", "--documents", 30, "--rounds", 1, "--json", file)
    assert lines(file)["cold: cv find"]["ratio"]
    facts = json.loads(file.read_text())["tables"][0]["facts"]
    assert any("chroma" in name for name in facts)


def test_digest_says_where_the_time_goes_and_what_it_costs_in_context(results: Path) -> None:
    file = results / "digest.json"
    run("digest", "--documents", 30, "--rounds", 1, "--json", file)
    found = lines(file)
    assert found["cold: digest of 1y"]["against"] == "cold: interpreter and imports alone"
    times, parts = (table["facts"] for table in json.loads(file.read_text())["tables"])
    assert "characters of Markdown" in times["1y"]
    assert any("themes" in name for name in parts)


def test_curves_are_a_table_with_a_column_for_each_size(results: Path) -> None:
    file = results / "curves.json"
    out = run("curves", "--documents", 30, "--short", 40, "--rounds", 1, "--json", file)
    assert "|  | 30 documents | 40 short documents |" in out.splitlines()
    assert lines(file)["cv find"]["against"] == "importing chromadb and opening the store"
    assert lines(file)["a sync with nothing to do"]["ratio"]


def test_retrieval_scores_every_part_and_hides_the_source(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    folder = tree / "works/context-v/specs"
    folder.mkdir(parents=True)
    (tree / "works/.git").mkdir()
    for name, text in {
        "Kiln": "The kiln fires bricks of red clay.",
        "Sluice": "The sluice holds the mill pond back.",
        "Plan": "Fire the kiln with red clay: [[Kiln]].",
    }.items():
        (folder / f"{name}.md").write_text(
            f"---\ntitle: {name}\ndate_created: 2026-01-05\n---\n\n## On it\n\n{text}\n"
        )
    subprocess.run(
        [
            sys.executable,
            "-m",
            "backend",
            "init",
            "--senior-root",
            str(tree),
            "--yes",
            "--no-settings-hook",
        ],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    bench = tmp_path / "bench.json"
    source, gold = "works/context-v/specs/Plan.md", "works/context-v/specs/Kiln.md"
    tasks = [
        {
            "id": "a",
            "query": "kiln for bricks of red clay",
            "gold": [gold],
            "source": source,
            "kind": "plans",
        },
        {"id": "b", "query": "orbital mechanics", "gold": [], "source": None, "kind": "no-match"},
    ]
    bench.write_text(json.dumps(tasks))
    file = tmp_path / "found.json"
    table = tmp_path / "table.md"
    run("retrieval", bench, tree, "--kinds", "--cold", 1, "--json", file, "--markdown", table)
    found = json.loads(file.read_text())
    scores = found["tables"]["query"]
    # The source, which matches as well, does not exist.
    assert scores["as shipped"]["MRR"] == 1.0
    assert scores.keys() >= {"without links", "… + news", "like grep", "meaning alone"}
    assert found["abstained"][0][:2] == ["b", "none"]
    assert found["median_ms"]["cold"] > found["median_ms"]["warm, ranking alone"]
    lines = table.read_text("utf-8").splitlines()
    assert "| **as shipped** | 1.000 / 1.000 / 1.000 / 1.000 |" in lines
    assert "| kind: plans | 1.000 / 1.000 / 1.000 / 1.000 (1) |" in lines
