"""Tags and authors come out as the author wrote them, however they were listed, and compare as people mean them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.documents.lists import fold, fold_name, read_authors, read_tags


@pytest.mark.parametrize(
    ("value", "tags"),
    [
        (["Hedge", "Garden-Plan"], ("Hedge", "Garden-Plan")),
        ("Hedge, Garden-Plan", ("Hedge", "Garden-Plan")),
        ("Hedge; Wall", ("Hedge", "Wall")),
        ("Hedge", ("Hedge",)),
        ("Hedge Garden", ("Hedge Garden",)),
        ("#hedge #wall", ("hedge", "wall")),
        ("Garden-Plan Hedge-Row", ("Garden-Plan", "Hedge-Row")),
        ("[Hedge, 'Garden-Plan']", ("Hedge", "Garden-Plan")),
        ([["Hedge", "Wall"], ["Hedge"]], ("Hedge", "Wall")),
        ([None, "Hedge", ""], ("Hedge",)),
        (["Hedge,"], ("Hedge",)),
        (["#hedge"], ("hedge",)),
        (["Hedge", "2026-03-09"], ("Hedge", "2026-03-09")),
        (
            ["hedge-plan", "Hedge-Plan", "Hedge plan", "hedge_plan", "HedgePlan"],
            ("hedge-plan", "HedgePlan"),
        ),
        (["C++", "at-v2", "a/b"], ("C++", "at-v2", "a/b")),
        ([{"name": "Hedge"}, {"beds/b.ts": "wider"}], ("Hedge", "beds/b.ts: wider")),
        ([3, True], ("3", "True")),
        (None, ()),
        ("", ()),
        ([], ()),
        ("{{tags}}", ()),
        ("{a: b", ()),
        (["{a: b}", "|", "Hedge", "!!"], ("Hedge",)),
    ],
)
def test_tags_in_every_form(value: object, tags: tuple[str, ...]) -> None:
    assert read_tags(value) == tags


def test_tags_and_tag_are_one_list() -> None:
    assert read_tags(["Hedge"], "hedge, Wall") == ("Hedge", "Wall")


def test_eighty_tags_are_eighty_tags() -> None:
    assert len(read_tags([f"T{number}" for number in range(80)])) == 80


@pytest.mark.parametrize(
    ("value", "authors"),
    [
        ("Ada Moss", ("Ada Moss",)),
        ("Ada Moss, Ben Reed", ("Ada Moss", "Ben Reed")),
        (["Ada Moss", "ada moss", "Ben Reed"], ("Ada Moss", "Ben Reed")),
        ([{"name": "Ada Moss", "url": "https://example.invalid"}], ("Ada Moss",)),
        ({"name": "Ada Moss"}, ("Ada Moss",)),
        (["Ada Moss, PhD"], ("Ada Moss, PhD",)),
        ("Ada Moss <ada@example.invalid>", ("Ada Moss",)),
        (["[[people/ada|Ada Moss]]"], ("Ada Moss",)),
        (["Zoë Fält", "Zoe Falt"], ("Zoë Fält",)),
        ([], ()),
        (None, ()),
    ],
)
def test_authors_in_every_form(value: object, authors: tuple[str, ...]) -> None:
    assert read_authors(value) == authors


def test_folding_makes_equal_what_people_hold_equal() -> None:
    assert (
        len(
            {
                fold(text)
                for text in ("Garden-Plan", "garden plan", "GARDEN_PLAN", " garden\u2011plan ")
            }
        )
        == 1
    )
    assert fold("HedgePlan") != fold("hedge-plan")
    assert fold("Zoë") != fold("Zoe")
    assert fold_name("Zoë Ødegård") == fold_name("zoe odegard")
    assert fold_name("Zoe\u0308") == fold_name("Zoë")


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert fold_name(fold_name(text)) == fold_name(text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner)
    )
)
def test_no_list_raises_and_no_name_comes_twice(value: object) -> None:
    for names in (read_tags(value), read_authors(value)):
        assert len({fold(name) for name in names}) <= len(names)
        assert all(name and "\n" not in name for name in names)
    tags = read_tags(value)
    assert len({fold(tag) for tag in tags}) == len(tags)
