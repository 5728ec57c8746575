"""Text embeddings without a neural network: a table of token vectors in all-MiniLM-L6-v2's space.

A text's vector is the sum of its word pieces' rows, brought to unit length. Frequency weights and
the mean are folded into the rows when the table is fitted (tools/static_model); special, unused
and unknown tokens have zero rows. The table lies beside this module as int8 with one scale per
row and is memory-mapped. Needs numpy and `tokenizers` (both come with chromadb), so import this
module only where vectors are wanted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

MODEL_FOLDER = Path(__file__).parent / "model"
_SLICE = 256  # texts tokenized at a time: bounds memory, has no influence on the vectors


class StaticModel:
    """Token table and tokenizer: `StaticModel.load().embed(texts)`."""

    def __init__(
        self,
        table: npt.NDArray[np.int8],
        scales: npt.NDArray[np.float32],
        tokenizer: Tokenizer,
    ) -> None:
        """Rows, the scale of each, and the tokenizer whose ids count the rows."""
        if table.ndim != 2 or scales.shape != table.shape[:1]:
            raise ValueError(f"table {table.shape} and scales {scales.shape} do not fit together")
        self._table = table
        self._scales = scales
        self._tokenizer = tokenizer

    @classmethod
    def load(cls, folder: Path | None = None) -> StaticModel:
        """The model in `folder` (default: the one shipped); reads little, the table is mapped."""
        place = folder or MODEL_FOLDER
        table: npt.NDArray[np.int8] = np.load(place / "table.npy", mmap_mode="r")
        scales: npt.NDArray[np.float32] = np.load(place / "scales.npy")
        return cls(table, scales, Tokenizer.from_file(str(place / "tokenizer.json")))

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return int(self._table.shape[1])

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Unit vectors, one row per text; zeros for a text without a known token.

        Each text is computed by itself, so its vector does not depend on what else is in `texts`.
        """
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for row, ids in enumerate(self._token_ids(texts)):
            known = ids[self._scales[ids] > 0]
            if not known.size:
                continue
            total = self._scales[known] @ self._table[known].astype(np.float32)
            length = float(np.linalg.norm(total))
            if length > 0:
                vectors[row] = total / length
        return vectors

    def _token_ids(self, texts: Sequence[str]) -> Iterator[npt.NDArray[np.int64]]:
        for start in range(0, len(texts), _SLICE):
            batch = [_encodable(text) for text in texts[start : start + _SLICE]]
            for encoding in self._tokenizer.encode_batch(batch, add_special_tokens=False):
                yield np.asarray(encoding.ids, np.int64)


def _encodable(text: str) -> str:
    """The text with lone surrogates (from undecodable file names and such) replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")
