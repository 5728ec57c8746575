"""all-MiniLM-L6-v2, as Chroma runs it, made to read texts to their end and to need little memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from backend.errors import CvError
from backend.freshness.windows import InWindows

AT_ONCE = 4
"""Windows that the model is given at once. Chroma's own 32, of 256 word pieces each, need 1.5 GB (onnxruntime keeps what it has
ever used), 8 need 570 MB, 4 need 430 MB, all at the same speed; without that keeping it is slower."""

LONGEST = 256
"""Word pieces that the model reads, with the two that mark a text's begin and end."""

FILES = (
    "config.json model.onnx special_tokens_map.json tokenizer_config.json tokenizer.json vocab.txt"
)
"""What must lie in its folder; Chroma downloads them where one is missing."""


class MiniLM:
    """An embedding function (texts to a row each). ``function``: Chroma's ``ONNXMiniLM_L6_V2``, which keeps the model loaded;
    ``tokenizer``: the model's own, without a limit.
    """

    def __init__(self, function: Any, tokenizer: Any) -> None:
        self._function, self._tokenizer = function, tokenizer
        self._in_windows = InWindows(self._in_parts, tokenizer)
        self._there = False

    def __call__(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """A row for each text. Raises ``CvError`` where the model's files are missing and can't be downloaded."""
        if not self._there:
            self._fetch()
        return self._in_windows(texts)

    def _in_parts(self, windows: Sequence[str]) -> npt.NDArray[np.float32]:
        """Windows of one length together, filled up to that: Chroma fills each up to 256 pieces, which takes half as long again
        and changes nothing.
        """
        encodings = self._tokenizer.encode_batch(list(windows), add_special_tokens=False)
        lengths = [min(len(encoding.ids) + 2, LONGEST) for encoding in encodings]
        order = sorted(range(len(windows)), key=lengths.__getitem__)
        rows: list[Any] = [None] * len(windows)
        for start in range(0, len(order), AT_ONCE):
            part = order[start : start + AT_ONCE]
            self._function.tokenizer.enable_padding(
                pad_id=0, pad_token="[PAD]", length=lengths[part[-1]]
            )
            for place, row in zip(part, self._function([windows[i] for i in part]), strict=True):
                rows[place] = row
        return np.asarray(rows, np.float32)

    def _fetch(self) -> None:
        folder = Path(self._function.DOWNLOAD_PATH) / self._function.EXTRACTED_FOLDER_NAME
        try:
            self._function._download_model_if_not_exists()
        except Exception as error:  # of the network, the disk, the archive
            lacking = [name for name in FILES.split() if not (folder / name).is_file()]
            raise CvError(
                f"embedding.name: minilm: its model could not be downloaded ({error}). Put these files of all-MiniLM-L6-v2 "
                f"(ONNX) into {folder}: {', '.join(lacking)}; or go back to the embedder that ships inside: "
                "cv config set embedding.name static"
            ) from error
        self._there = True
