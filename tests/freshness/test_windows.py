"""A model that reads only the beginning of a text is made to read all of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from backend.freshness.minilm import AT_ONCE, MiniLM
from backend.freshness.static_model import MODEL_FOLDER, StaticModel
from backend.freshness.windows import LIMIT, InWindows

TOKENIZER = Tokenizer.from_file(str(MODEL_FOLDER / "tokenizer.json"))
TEXTS = {
    "prose": "The harbour master writes down each berth that is let, and to whom. " * 26,
    "code": "def berth_of(boat): return BERTHS[boat.id]['berth_no']  # 0x3fa9\n" * 27,
    "Chinese": "灯塔管理员每天记录灯光与天气情况，然后通知港口。" * 75,
    "Korean": "등대지기는 매일 등불과 날씨를 기록하고 항구에 알린다. " * 60,
    "German": "Der Hafenmeister vermerkt jeden vermieteten Liegeplatz im Übernachtungsverzeichnis. "
    * 21,
}


def pieces(text: str) -> list[str]:
    return list(TOKENIZER.encode(text, add_special_tokens=False).tokens)


def short_sighted() -> Any:
    """The static table behind a tokenizer that cuts, as all-MiniLM-L6-v2's does."""
    tokenizer = Tokenizer.from_file(str(MODEL_FOLDER / "tokenizer.json"))
    tokenizer.enable_truncation(max_length=256)
    return StaticModel(
        np.load(MODEL_FOLDER / "table.npy"), np.load(MODEL_FOLDER / "scales.npy"), tokenizer
    ).embed


@pytest.mark.parametrize("kind", TEXTS)
def test_a_word_at_the_end_of_a_chunk_changes_its_vector(kind: str) -> None:
    text = TEXTS[kind][:1_780]
    assert len(pieces(text)) > 256, "the text must be longer than what the model reads"
    model = short_sighted()
    blind = model([text, f"{text} volcano"])
    assert np.array_equal(blind[0], blind[1])
    seeing = InWindows(model, TOKENIZER)([text, f"{text} volcano"])
    assert not np.allclose(seeing[0], seeing[1], atol=1e-4)


def test_windows_weigh_as_many_pieces_as_they_have() -> None:
    text = " ".join(["berth"] * 254 + ["volcano"] * 10)
    windows = InWindows(
        lambda texts: [[1.0, 0.0] if "berth" in text else [0.0, 1.0] for text in texts], TOKENIZER
    )
    assert windows.cut(text)[1][1] == 10
    assert windows([text])[0].tolist() == pytest.approx([254 / 264, 10 / 264])


def test_a_short_text_is_one_window_and_keeps_its_vector() -> None:
    model = short_sighted()
    texts = ["", "a berth", "灯塔"]
    assert [len(InWindows(model, TOKENIZER).cut(text)) for text in texts] == [1, 1, 1]
    assert np.allclose(InWindows(model, TOKENIZER)(texts), model(texts), atol=1e-6)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.sampled_from([text[:400] for text in TEXTS.values()]),
            st.text(st.characters(codec="utf-8"), max_size=120),
        ),
        max_size=12,
    ).map(" ".join)
)
def test_no_piece_of_any_text_is_lost(text: str) -> None:
    windows = [window for window, _ in InWindows(short_sighted(), TOKENIZER).cut(text)]
    assert [piece for window in windows for piece in pieces(window)] == pieces(text)
    assert all(len(pieces(window)) <= LIMIT for window in windows)


class _Model:
    """What Chroma's function for all-MiniLM-L6-v2 is to us: it reads as far as its tokenizer's padding goes."""

    DOWNLOAD_PATH, EXTRACTED_FOLDER_NAME = "nowhere", "onnx"

    def __init__(self) -> None:
        self.tokenizer = Tokenizer.from_file(str(MODEL_FOLDER / "tokenizer.json"))
        self.asked: list[tuple[int, int]] = []

    def _download_model_if_not_exists(self) -> None:
        self.tokenizer.enable_truncation(max_length=256)

    def __call__(self, texts: list[str]) -> list[np.ndarray[Any, Any]]:
        lengths = {len(encoding.ids) for encoding in map(self.tokenizer.encode, texts)}
        (length,) = lengths  # or they would be no matrix
        self.asked.append((len(texts), length))
        return list(StaticModel.load().embed(texts))


def test_the_model_gets_few_windows_at_once_those_of_one_length_together() -> None:
    """Its memory grows with both; each text still gets its own row."""
    model = _Model()
    texts = [" ".join(["berth"] * count) for count in (3, 200, 900, 7, 30)] + [TEXTS["Chinese"], ""]
    rows = MiniLM(model, TOKENIZER)(texts)
    assert np.allclose(rows, InWindows(StaticModel.load().embed, TOKENIZER)(texts), atol=1e-6)
    assert max(count for count, _ in model.asked) == AT_ONCE
    assert [length for _, length in model.asked] == sorted(length for _, length in model.asked)
    assert model.asked[0][1] < 40
    assert model.asked[-1][1] == 256
