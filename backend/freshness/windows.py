"""Texts longer than what a model reads: cut into windows, each embedded by itself, and averaged.

all-MiniLM-L6-v2 reads 256 word pieces and silently drops the rest, which of a chunk of 1,800 characters is often its second
half, and of a Chinese one nearly all. Its vector of a text is the mean over the text's pieces; so the mean of the windows'
vectors, each weighing as many pieces as it has, is what it would give if it could read on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

LIMIT = 254
"""Word pieces of a window: the 256 that all-MiniLM-L6-v2 reads (as sentence-transformers and Chroma run it), less the two that
mark a text's begin and end."""


class InWindows:
    """An embedding function (texts to a row each) that reads all of a text, made from one that reads its first pieces.

    ``tokenizer`` (of the package ``tokenizers``) is the model's own, without a limit.
    """

    def __init__(
        self, function: Callable[[list[str]], Any], tokenizer: Any, *, limit: int = LIMIT
    ) -> None:
        self._function, self._tokenizer, self._limit = function, tokenizer, limit

    def __call__(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """A row for each text; not brought to unit length."""
        cut = [self.cut(text) for text in texts]
        rows = np.asarray(self._function([text for windows in cut for text, _ in windows]))
        weights = np.array([pieces for windows in cut for _, pieces in windows], np.float32)
        ends = np.cumsum([len(windows) for windows in cut])
        spans = pairwise([0, *ends.tolist()])
        means = [np.average(rows[a:b], axis=0, weights=weights[a:b]) for a, b in spans]
        return np.asarray(means, np.float32)

    def cut(self, text: str) -> list[tuple[str, int]]:
        """The windows of ``text``, each with its number of word pieces (1 for a text without any). No word is cut in two."""
        text = text.encode("utf-8", "replace").decode()  # half characters, of undecodable names
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        words, offsets = encoding.word_ids, encoding.offsets
        starts = [at for at, word in enumerate(words) if at == 0 or word != words[at - 1]]
        firsts = [0]
        for start, end in pairwise([*starts, len(words)]):
            if end - firsts[-1] > self._limit and start > firsts[-1]:
                firsts.append(start)
        windows = []
        for first, last in pairwise([*firsts, len(words)]):
            begin = offsets[first][0] if first else 0
            stop = offsets[last][0] if last < len(words) else len(text)
            windows.append((text[begin:stop], max(last - first, 1)))
        return windows
