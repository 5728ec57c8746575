"""Sanity check of a table against its teacher: retrieval on a small benchmark, and speed.

In:  a bench file (JSON list of {"query", "gold": [path], "source", "kind"}), the Markdown tree its
     paths are relative to, the model folder; with --teacher also the teacher of `teach.py`.
Out: recall@5 and @20 on stdout. Files are cut at '## ', a chunk is title + section up to CHUNK
     characters, a file counts with its best chunk; the query's own source and the 'no-match'
     queries are left out. `mixed` asks with the teacher's vector in the table's chunks, as a
     client with the real model would.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from backend.freshness.static_model import StaticModel

CHUNK = 1000  # characters
SPEED_CHARACTERS, SPEED_TEXTS = 600, 2000
Floats = npt.NDArray[np.float32]
Embed = Callable[[list[str]], Floats]


def chunks(tree: Path) -> tuple[list[str], list[str]]:
    """(path, text) of every chunk of the tree, as two lists."""
    paths: list[str] = []
    texts: list[str] = []
    for path in sorted(path for path in tree.rglob("*.md") if path.is_file()):
        content = re.sub(r"\A---\n.*?\n---\n", "", path.read_text("utf-8", "replace"), flags=re.S)
        title = re.search(r"^# (.+)$", content, re.MULTILINE)
        name = title[1] if title else path.stem.replace("-", " ").replace("_", " ")
        for section in re.split(r"^(?=## )", content, flags=re.MULTILINE):
            if section.strip():
                paths.append(str(path.relative_to(tree)))
                texts.append(f"{name}\n{section}"[:CHUNK])
    return paths, texts


def recalls(bench: list[dict[str, object]], paths: list[str], similarity: Floats) -> str:
    """Mean recall@5 and @20 over the queries."""
    at: dict[int, list[float]] = {5: [], 20: []}
    for query, row in zip(bench, similarity, strict=True):
        ranked = list(dict.fromkeys(paths[index] for index in np.argsort(-row, kind="stable")))
        ranked = [path for path in ranked if path != query["source"]]
        gold = query["gold"]
        assert isinstance(gold, list)
        for depth, values in at.items():
            values.append(len(set(ranked[:depth]) & set(gold)) / len(gold))
    return ", ".join(f"recall@{depth} {np.mean(values):.3f}" for depth, values in at.items())


def teacher_embed() -> Embed:
    """The teacher as a function of texts (one thread, bfloat16)."""
    import teach
    import torch

    model = teach.Teacher(teach.teacher_folder(), bf16=True)
    torch.set_num_threads(1)  # see teach.start_worker
    tokenizer = teach.teacher_tokenizer()

    def embed(texts: list[str]) -> Floats:
        ids = [encoding.ids for encoding in tokenizer.encode_batch(texts)]
        out = np.zeros((len(texts), 384), np.float32)
        for group in teach.batches(ids):
            out[group] = teach.unit(model.pooled([ids[index] for index in group]))
        return out

    return embed


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Retrieval and speed of a table")
    parser.add_argument("bench", type=Path)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--model", type=Path, help="model folder (default: the one shipped)")
    parser.add_argument("--teacher", action="store_true", help="compare with the teacher")
    options = parser.parse_args()
    bench = [q for q in json.loads(options.bench.read_text()) if q["kind"] != "no-match"]
    queries = [query["query"] for query in bench]
    paths, texts = chunks(options.tree)
    print(f"{len(queries)} queries, {len(set(paths))} files, {len(texts)} chunks")
    start = time.perf_counter()
    model = StaticModel.load(options.model)
    model.embed(["warm"])
    print(f"load and first text: {time.perf_counter() - start:.3f} s (imports not counted)")
    asked, stored = model.embed(queries), model.embed(texts)
    print("table  ", recalls(bench, paths, asked @ stored.T))
    if options.teacher:
        embed = teacher_embed()
        asked_teacher, stored_teacher = embed(queries), embed(texts)
        print("teacher", recalls(bench, paths, asked_teacher @ stored_teacher.T))
        print("mixed  ", recalls(bench, paths, asked_teacher @ stored.T))
        print(
            f"cosine to the teacher: chunks {(stored * stored_teacher).sum(1).mean():.4f}, ", end=""
        )
        print(f"queries {(asked * asked_teacher).sum(1).mean():.4f}")
    joined = " ".join(texts)
    sample = [joined[i * 97 :][:SPEED_CHARACTERS] for i in range(SPEED_TEXTS)]
    start = time.perf_counter()
    model.embed(sample)
    print(f"{SPEED_TEXTS / (time.perf_counter() - start):.0f} texts/s of {SPEED_CHARACTERS} chars")


if __name__ == "__main__":
    main()
