"""Where a link leads, as people write links."""

from __future__ import annotations

import pytest

from backend.kickoff.links import Resolver

PATHS = [
    "shop/context-v/specs/Till.md",
    "shop/context-v/plans/Till-Plan.md",
    "shop/context-v/plans/README.md",
    "shop/inner/context-v/specs/Stock.md",
    "mill/context-v/specs/Stock.md",
    "mill/context-v/specs/Wheel v2.md",
    "farm/context-v/specs/Barn.md",
    "farm/tools/context-v/specs/Plough.md",
    "context-v/specs/Root.md",
]
REPOS = ["shop", "shop/inner", "mill", "farm", "farm/tools"]
HOMES = {"site/context-v/specs/Barn.md": "farm/context-v/specs/Barn.md"}


@pytest.mark.parametrize(
    ("target", "origin", "expected"),
    [
        # from the document's own folder
        ("../plans/Till-Plan.md", "shop/context-v/specs/Till.md", "shop/context-v/plans/Till-Plan.md"),
        ("Till.md", "shop/context-v/specs/Other.md", "shop/context-v/specs/Till.md"),
        ("./README.md", "shop/context-v/plans/Till-Plan.md", "shop/context-v/plans/README.md"),
        # from the root, from the repo, from the outermost folder
        ("mill/context-v/specs/Stock.md", "shop/context-v/specs/Till.md", "mill/context-v/specs/Stock.md"),
        ("/context-v/specs/Root.md", "shop/context-v/specs/Till.md", "context-v/specs/Root.md"),
        ("context-v/specs/Till.md", "shop/context-v/plans/Till-Plan.md", "shop/context-v/specs/Till.md"),
        ("context-v/specs/Barn.md", "farm/tools/context-v/specs/Plough.md", "farm/context-v/specs/Barn.md"),
        # by name, with and without the ending, in any case
        ("Wheel v2", "shop/context-v/specs/Till.md", "mill/context-v/specs/Wheel v2.md"),
        ("till-plan", "mill/context-v/specs/Stock.md", "shop/context-v/plans/Till-Plan.md"),
        ("specs/Plough", "shop/context-v/specs/Till.md", "farm/tools/context-v/specs/Plough.md"),
        # one of several: the same repo's, else the same outermost folder's, else none
        ("Stock", "mill/context-v/specs/Wheel v2.md", "mill/context-v/specs/Stock.md"),
        ("Stock", "shop/context-v/specs/Till.md", "shop/inner/context-v/specs/Stock.md"),
        ("Stock", "farm/context-v/specs/Barn.md", None),
        # a copy leads to its home
        ("site/context-v/specs/Barn.md", "shop/context-v/specs/Till.md", "farm/context-v/specs/Barn.md"),
        # nowhere
        ("README", "mill/context-v/specs/Stock.md", None),
        ("Nothing-Of-That-Name", "mill/context-v/specs/Stock.md", None),
        ("https://example.org/Till.md", "shop/context-v/specs/Till.md", None),
        ("../../../../Till.md", "context-v/specs/Root.md", "shop/context-v/specs/Till.md"),
    ],
)  # fmt: skip
def test_where_a_link_leads(target: str, origin: str, expected: str | None) -> None:
    assert Resolver(PATHS, REPOS, HOMES).resolve(target, origin) == expected


def test_every_document_of_a_name() -> None:
    resolver = Resolver(PATHS, REPOS, HOMES)
    assert resolver.named("stock.md") == [
        "mill/context-v/specs/Stock.md",
        "shop/inner/context-v/specs/Stock.md",
    ]
    assert resolver.named("inner/context-v/specs/Stock") == ["shop/inner/context-v/specs/Stock.md"]
    assert resolver.named("Barn") == ["farm/context-v/specs/Barn.md"]
    assert resolver.named("Nothing") == []
