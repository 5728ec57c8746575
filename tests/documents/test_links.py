"""A document's links to other documents are found in every form people use, and nothing else is taken for one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from backend.documents.links import read_references
from backend.schemas.document import Document

Read = Callable[..., Document]


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("[[Plant-the-Wall]]", ("Plant-the-Wall",)),
        ("[[plans/Dig-It|the trench]] and [[Dig#Steps]]", ("plans/Dig-It", "Dig")),
        ("|a [[Dig\\|trench]]|", ("Dig",)),
        ("[[#Steps]]", ()),
        ("![[pic.png]] ![[Dig]]", ("Dig",)),
        ("[rel](../plans/Dig%20It.md#steps)", ("../plans/Dig It.md",)),
        (
            '[b](<Dig it.md>) [t](Dig.md "Title") [p](Living (Draft).md)',
            ("Dig it.md", "Dig.md", "Living (Draft).md"),
        ),
        ("[web](https://example.invalid/Dig.md) [m](mailto:a@b.md)", ()),
        ("[pic](x.png) [abs](/home/x/Dig.md)", ()),
        (
            "see @context-v/specs/Dig.md, please (@Dig-It.md)",
            ("context-v/specs/Dig.md", "Dig-It.md"),
        ),
        ("mail ada@example.md or @ada", ()),
        (
            "`context-v/specs/Dig.md` and `garden/changelog/2026-03-09_01.md`",
            ("context-v/specs/Dig.md", "garden/changelog/2026-03-09_01.md"),
        ),
        ("`Dig.md` `[[form]]`", ()),
        ("[[B]] then [[A]] then [[B|again]]", ("B", "A")),
    ],
)
def test_forms_of_links(read: Read, text: str, links: tuple[str, ...]) -> None:
    assert read(f"# Hedge\n\n{text}\n").links == links


def test_code_in_fences_links_nowhere(read: Read) -> None:
    assert read("[[A]]\n```md\n[[B]]\n[x](C.md)\n```\n[[D]]\n").links == ("A", "D")


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("[[New-Plan]]", ("New-Plan",)),
        (["[[New-Plan|the new one]]", "Old.md"], ("New-Plan", "Old.md")),
        ([[["New-Plan"]]], ("New-Plan",)),  # [[New-Plan]] without quotes is a list in a list
        ("[the new one](../plans/New%20Plan.md)", ("../plans/New Plan.md",)),
        ("A.md, B.md", ("A.md", "B.md")),
        ("Strategy, & Design.md", ("Strategy, & Design.md",)),
        ("none", ()),
        ("", ()),
        (None, ()),
    ],
)
def test_forms_of_supersession(value: object, names: tuple[str, ...]) -> None:
    assert read_references(value) == names
