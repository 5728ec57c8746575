"""The digest as an HTML page: what stands in it, and that nothing in it can act."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from html.parser import HTMLParser

import pytest
from msgspec.structs import replace
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from backend.render.activity import MOST_BARS, MOST_REPOS, draw_activity
from backend.render.page import digest_page
from backend.schemas.catchup import Digest, Theme

Crowd = Callable[..., Digest]


class _HtmlSnapshot(SingleFileSnapshotExtension):
    _write_mode = WriteMode.TEXT
    file_extension = "html"


class _Page(HTMLParser):
    """The tags, attributes and raw texts a browser would see."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.raw: dict[str, str] = {}
        self._inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        self._inside = tag

    def handle_data(self, data: str) -> None:
        if self._inside in ("style", "script"):
            self.raw[self._inside] = self.raw.get(self._inside, "") + data

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""


def test_the_organisation(digest: Digest, snapshot: SnapshotAssertion) -> None:
    page = digest_page(digest)
    # The style and the script are files of their own; the policy names their hashes.
    for part in ("style", "script"):
        page = re.sub(rf"(?s)<{part}>.*?</{part}>", f"<{part}>…</{part}>", page)
    page = re.sub(r"sha256-[\w+/=]+", "sha256-…", page)
    assert page == snapshot.use_extension(_HtmlSnapshot)


def test_the_policy_allows_this_style_and_this_script_only(digest: Digest) -> None:
    page = _Page(digest_page(digest))
    policy = next(
        attrs["content"]
        for tag, attrs in page.tags
        if attrs.get("http-equiv") == "Content-Security-Policy"
    )
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    for part, rule in (("style", "style-src"), ("script", "script-src")):
        digested = hashlib.sha256(page.raw[part].encode()).digest()
        assert rules[rule] == f"'sha256-{base64.b64encode(digested).decode()}'"


def test_the_page_asks_for_nothing_and_holds_no_inline_handlers(digest: Digest) -> None:
    page = digest_page(digest)
    for tag, attrs in _Page(page).tags:
        assert tag not in ("img", "link", "iframe", "object", "embed", "base")
        assert not {"src", "srcset", "style", "data", "action"} & set(attrs), attrs
        assert not any(name.startswith("on") for name in attrs), attrs
        assert attrs.get("href", "#").startswith("#")
    assert "http://" not in page
    assert page.count("<script") == 1


def test_hostile_text_stays_text(digest: Digest) -> None:
    attack = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>\x1b[31m\u202e{{ 7*7 }}"
    file = replace(
        digest.repos[0].tags[0].files[0],
        title=attack,
        lede=attack,
        source_path=f"{attack}.md",
        authors=(attack,),
    )
    tag = replace(digest.repos[0].tags[0], tag=attack, files=(file,))
    repo = replace(digest.repos[0], repo=attack, tags=(tag,))
    theme = Theme(number=1, name=attack, count=1, repos={attack: 1}, files=(file,))
    page = digest_page(
        replace(
            digest,
            repos=(repo,),
            themes=(theme,),
            notes=(attack,),
            message=attack,
            window=attack,
            activity={attack: {"2026-06-10": 1}},
        )
    )
    assert page.count("<script") == 1
    assert "<img" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "{{ 7*7 }}" in page


def test_every_control_has_a_label_and_ids_are_unique(digest: Digest) -> None:
    tags = _Page(digest_page(digest)).tags
    ids = [attrs["id"] for _, attrs in tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    labelled = {attrs["for"] for tag, attrs in tags if tag == "label"}
    controls = {attrs["id"] for tag, attrs in tags if tag in ("input", "select")}
    assert controls == labelled
    assert all(attrs.get("aria-label") for tag, attrs in tags if tag == "svg")


def test_spellings_of_a_name_are_one_choice(digest: Digest) -> None:
    page = digest_page(digest)
    options = re.findall(r"<option value=\"\d+\">([^<]+)</option>", page)
    assert len([name for name in options if "ow" in name and "Marek" in name]) == 1
    assert len([name for name in options if name.lower().startswith("zo")]) == 1


@pytest.mark.parametrize("count", [0, 1, 50, 51, 5000])
def test_what_stands_above_the_files(
    crowd_digest: Crowd, count: int, snapshot: SnapshotAssertion
) -> None:
    head = digest_page(crowd_digest(count)).partition("<header>")[2].partition("<main")[0]
    words = re.sub(r"(?s)<rect.*?</rect>|<[^>]+>", " ", head)
    assert (
        "\n".join(" ".join(line.split()) for line in words.splitlines() if line.strip()) == snapshot
    )


@pytest.mark.parametrize("count", [0, 1, 50, 51, 5000])
def test_every_size_renders(crowd_digest: Crowd, count: int) -> None:
    digest = crowd_digest(count, max_files=5000)
    page = digest_page(digest)
    assert page.count('<li class="file"') == count
    assert ("<svg" in page) == (count > 0)
    assert ('id="filters"' in page) == (count > 0)


@pytest.mark.parametrize(
    "since", ["2026-06-15", "2026-06-01", "2026-04-15", "2025-06-15", "1990-01-01"]
)
def test_the_picture_counts_every_file_and_stays_narrow(digest: Digest, since: str) -> None:
    days = {since: 3} if since == digest.until else {since: 3, digest.until: 1}
    drawn = draw_activity(
        replace(digest, since=since, activity={"a": days, "b": {"2026-06-15": 5}})
    )
    assert drawn is not None
    assert drawn.bars <= MOST_BARS
    assert [row.repo for row in drawn.rows] == ["b", "a"]
    for row in drawn.rows:
        assert sum(int(bar.label.split(": ")[1].split()[0]) for bar in row.bars) == row.total
        assert all(0 <= bar.x < drawn.bars for bar in row.bars)


def test_many_repos_share_the_last_row(digest: Digest) -> None:
    activity = {f"repo-{n:02d}": {"2026-06-10": 30 - n} for n in range(25)}
    drawn = draw_activity(replace(digest, activity=activity))
    assert drawn is not None
    assert len(drawn.rows) == MOST_REPOS
    assert drawn.rows[-1].repo == "6 more repos"
    assert sum(row.total for row in drawn.rows) == sum(30 - n for n in range(25))
