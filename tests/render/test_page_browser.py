"""The digest's page in a real browser: what a person sees, presses and prints, and what it never does.

``CV_SCREENSHOTS=FOLDER`` keeps the pictures, to be looked at.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from backend.render.page import digest_page
from backend.schemas.catchup import Digest, Theme

sys.path.append(str(Path(__file__).parent))  # the tests are no package: importmode=importlib

from browser import PROGRAM, Browser  # type: ignore[import-not-found]

AXE = Path(os.environ.get("CV_AXE", ""))
PICTURES = os.environ.get("CV_SCREENSHOTS", "")
PHONE, DESKTOP = 390, 1200

pytestmark = pytest.mark.skipif(
    PROGRAM is None or os.name == "nt",
    reason="needs Chromium (Debian: apt-get install --no-install-recommends chromium)",
)
Show = Callable[..., Any]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with Browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Show:
    """Open a digest's page from disk."""

    def open_page(digest: Digest, page: str = "", **how: Any) -> Any:
        file = tmp_path / "page.html"
        file.write_text(page or digest_page(digest), encoding="utf-8")
        browser.open(file, **how)
        return browser

    return open_page


@pytest.fixture
def digests(digest: Digest, crowd_digest: Callable[..., Digest]) -> dict[str, Digest]:
    """A common one, one with themes that was cut, one theme of it, and an empty one."""
    leading = digest.repos[0].tags[0].files[:3]
    themes = tuple(
        Theme(
            number=n, name=name, count=40 - n, repos={"repo-1": 30, "repo-2": 10 - n}, files=leading
        )
        for n, name in enumerate(("Berth booking, Tides", "Frost alarms", "Other"), 1)
    )
    cut = replace(crowd_digest(400), themes=themes)
    one = replace(cut, theme=2, themes=(replace(themes[1], files=()),))
    return {"organisation": digest, "cut": cut, "theme": one, "empty": crowd_digest(0)}


@pytest.mark.parametrize("name", ["organisation", "cut", "theme", "empty"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_it_fits_every_screen_and_axe_finds_nothing(
    digests: dict[str, Digest], show: Show, name: str, dark: bool, width: int
) -> None:
    page = show(digests[name], width=width, dark=dark)
    if PICTURES:
        scheme = "dark" if dark else "light"
        Path(PICTURES, f"{name}-{width}-{scheme}.png").write_bytes(page.picture())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (max(json.loads(paper.replace("rgb(", "[").replace(")", "]"))) < 100) == dark
    if not AXE.is_file():
        pytest.skip(
            "the rest needs axe-core: npm install --prefix DIR --no-save axe-core@4.14.1, and "
            "CV_AXE=DIR/node_modules/axe-core/axe.min.js"
        )
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run().then((result) => JSON.stringify(result))")
    result = json.loads(found)
    assert len(result["passes"]) > 10  # it has looked
    assert [
        (rule["id"], node["html"]) for rule in result["violations"] for node in rule["nodes"]
    ] == []


def test_it_asks_for_nothing_but_itself_and_says_no_error(digest: Digest, show: Show) -> None:
    page = show(digest)
    assert page.evaluate("document.getElementById('count').textContent") == "16 files"
    assert [address for address in page.requests if not address.endswith("/page.html")] == []
    assert page.errors == []


def test_a_changed_script_does_not_run(digest: Digest, show: Show) -> None:
    changed = digest_page(digest).replace('"use strict";', '"use strict"; ')
    page = show(digest, changed)
    assert page.evaluate("document.getElementById('count').textContent") == ""
    assert page.evaluate("document.getElementById('filters').hidden") is True
    assert "Content Security Policy" in page.errors[0]


def test_hostile_titles_stay_text(digest: Digest, show: Show) -> None:
    attack = "<img src=x onerror=\"document.title='owned'\"></style></script><script>document.title='owned'</script>"
    file = replace(digest.repos[0].tags[0].files[0], title=attack, lede=attack, authors=(attack,))
    tag = replace(digest.repos[0].tags[0], tag=attack, files=(file,))
    theme = Theme(number=1, name=attack, count=1, repos={attack: 1}, files=(file,))
    repo = replace(digest.repos[0], repo=attack, tags=(tag,))
    page = show(replace(digest, repos=(repo,), themes=(theme,), notes=(attack,)))
    assert page.evaluate("document.title") == "Catch-up, 2026-04-15 to 2026-06-15"
    assert page.evaluate("document.querySelectorAll('img').length") == 0
    assert page.evaluate("document.querySelector('.file .title').textContent.trim()") == attack
    assert page.evaluate("document.getElementById('count').textContent") == "1 file"


def shown(page: Any) -> set[str]:
    """The titles that are to be seen."""
    return set(
        page.evaluate(
            "Array.from(document.querySelectorAll('.file'))"
            ".filter((file) => file.offsetParent !== null)"
            ".map((file) => file.querySelector('.title').firstChild.textContent.trim())"
        )
    )


def choose(page: Any, field: str, label: str) -> None:
    """Choose what a person would, by its words."""
    page.evaluate(
        f"(() => {{ const field = document.getElementById({json.dumps(field)});"
        f" field.value = Array.from(field.options).find((one) => one.text === {json.dumps(label)}).value;"
        " field.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )


def test_filters_by_repo_tag_author_and_text_and_clears(digest: Digest, show: Show) -> None:
    page = show(digest)
    everything = shown(page)
    choose(page, "repo", "harbour")
    harbour = shown(page)
    assert "Berth booking" in harbour < everything
    choose(page, "author", "Marek Nowák")
    assert shown(page) == {"Tide tables in the planner", "Mooring fees"}
    choose(page, "tag", "Data Feeds")
    assert shown(page) == {"Tide tables in the planner", "Mooring fees"}
    page.evaluate("document.getElementById('text').focus()")
    page.type("ALMANÁC keels")  # any case, any accent, words in any order
    assert shown(page) == {"Tide tables in the planner"}
    assert page.evaluate("document.getElementById('count').textContent") == "1 of 16 files"
    page.type(" nothing-of-this")
    assert shown(page) == set()
    assert page.evaluate("document.getElementById('none').offsetParent !== null") is True
    page.evaluate("document.querySelector('button[type=reset]').click()")
    page.evaluate("new Promise((done) => setTimeout(done))")
    assert shown(page) == everything


def test_the_keyboard_reaches_everything(digest: Digest, show: Show) -> None:
    page = show(digest)
    focused = "document.activeElement.id || document.activeElement.className"
    page.press("Tab")
    assert page.evaluate(focused) == "skip"
    assert page.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
    page.press("Enter")
    assert page.evaluate(focused) == "files"
    page.evaluate("document.activeElement.blur()")
    page = show(digest)
    order = []
    for _ in range(6):
        page.press("Tab")
        order.append(page.evaluate("document.activeElement.id || document.activeElement.type"))
    assert order[1:] == ["text", "repo", "tag", "author", "reset"]


def test_print_has_the_files_and_not_the_filters(digest: Digest, show: Show) -> None:
    page = show(digest, dark=True)
    assert page.pdf().startswith(b"%PDF")
    page.send("Emulation.setEmulatedMedia", media="print")
    assert page.evaluate("getComputedStyle(document.getElementById('filters')).display") == "none"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert len(shown(page)) == 16
    page.send("Emulation.setEmulatedMedia", media="")
