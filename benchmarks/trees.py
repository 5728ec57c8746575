"""Synthetic trees of N documents, the same on every machine: ``python -m benchmarks.trees FOLDER --documents 1000``.

Sizes, headings, frontmatter, nesting and the share of generated copies follow real trees of this kind; every word is from the
lists below, put together by a seeded generator. Git folders are made by hand (no git needed, a repo costs four small files).
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import time
from datetime import date, timedelta
from math import exp, log
from pathlib import Path
from typing import NamedTuple

MEDIAN_BYTES, NINTH_DECILE_BYTES, MOST_BYTES = 9_000, 25_000, 150_000
"""Sizes of documents: log-normal between these, as the real tree's are."""

COPIES, ENTRIES, UNDATED = 0.25, 0.2, 0.05
"""Shares of all files: roll-up copies of another one, changelog entries, and documents that name no date."""

A_REPO = 60
"""Documents a repo. Every third repo lies inside the one before it."""

_LAST_DAY = date(2026, 6, 30)

_GLUE = (
    "the of and to a in is that for it with as are on be this by which from not or each have at an its when one only "
    "they but where can more than all two into so if must no after before then between there"
).split()

_BASES = (
    "anchor arch barge basin beam bell bench birch block board bolt bough brace branch brass brick bridge brook brush "
    "bucket cable canal candle canvas carve cart cask cedar chain channel chart chest chisel clasp clay cliff clock coast "
    "copper cord corner crane creek crest crown curve dam deck depot dial ditch dock draft drain drift drum dune east "
    "edge elm fence fern field flag flint float flock flood floor forge fork frame frost gallery garden gate gauge gear "
    "glass grain grange gravel grid grind groove gulf gutter hall hammer handle hatch haul hearth helm hill hinge hoist "
    "hollow hook hoop inlet iron island ivy joint keel keep kiln knot ladder lamp lane lantern latch lathe ledge lever "
    "lift lime link load lock loft log loom lumber march mark marsh mast meadow measure mill mine mist moor moss mould "
    "mount nail needle nest net north notch oak oar orchard order oven pack paddle pail paint pane panel park pass patch "
    "path peat pier pile pillar pine pipe pitch plain plank plant plaster plate plough plumb point pole pond port post "
    "press prop pump quarry quay rack raft rail rake ramp ranch range reed reef ridge rig ring rivet road rock roof root "
    "rope round row rudder saddle sail salt sand saw scale screw seal seam shaft shed sheet shelf shell ship shore shovel "
    "shutter silo slate sledge sleeve slope smith snow soil south spade spar spike spindle spire splice spring square "
    "stable stack staff stair stake stall stand steam steel stem step stern stone store stove strand straw stream string "
    "strip strut summit survey swamp switch tank tar thatch tide tile timber tin tool torch tower track trade trail "
    "trench trough truck tunnel turf turn twine valley valve vane vault vent vessel wagon wall warp water wax weave wedge "
    "weir well west wharf wheel whistle willow winch wind window wire wood wool yard yarn yoke"
).split()

_ENDINGS = ("", "s", "ed", "ing", "er", "ers", "less", "ward", "ful", "ness", "age", "ment")

_KINDS = ("specs", "plans", "prompts", "blueprints", "reminders", "explorations", "issues")
_STATUSES = ("Draft", "In-Progress", "Done", "Published", "Superseded")
_NAMES = ("A. Quill", "B. Harrow", "C. Tiller", "D. Mason", "E. Cooper", "F. Wright", "G. Fuller")


class Summary(NamedTuple):
    """What was written."""

    documents: int
    copies: int
    repos: int
    bytes: int


class Writer:
    """Text that repeats and varies as prose does: few words often, many seldom (Zipf's law), each document with its own topic."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        compounds = [a + b for a, b in itertools.product(_BASES[::3], _BASES[1::3])]
        self.dice.shuffle(compounds)
        plain = [base + ending for base in _BASES for ending in _ENDINGS]
        self.dice.shuffle(plain)
        self.words = _BASES + plain + compounds
        self.odds = list(itertools.accumulate(1 / (rank + 30) for rank in range(len(self.words))))

    def some(self, count: int) -> list[str]:
        """Words by their odds."""
        return self.dice.choices(self.words, cum_weights=self.odds, k=count)

    def title(self) -> str:
        """Three to six words, capitalised."""
        return " ".join(word.capitalize() for word in self.some(self.dice.randint(3, 6)))

    def sentences(self, size: int, topic: list[str]) -> str:
        """About ``size`` characters of sentences, a fifth of whose words are of ``topic``."""
        count = max(8, size // 6)
        glue = iter(self.dice.choices(_GLUE, k=count))
        rare = iter(self.some(count))
        own = iter(self.dice.choices(topic, k=count))
        source = {"g": glue, "r": rare, "t": own}
        words = [next(source[which]) for which in self.dice.choices("gggggrrrtt", k=count)]
        parts, start = [], 0
        while start < count:
            end = start + self.dice.randint(8, 22)
            parts.append(" ".join(words[start:end]).capitalize() + ".")
            start = end
        return " ".join(parts)

    def body(self, size: int) -> str:
        """Sections of paragraphs, lists and a code block here and there, some ``size`` bytes."""
        topic = self.some(12)
        parts: list[str] = []
        written = 0
        while written < size:
            section = [f"## {self.title()}", ""]
            for _ in range(self.dice.randint(1, 4)):
                section += [self.sentences(self.dice.randint(150, 700), topic), ""]
            if self.dice.random() < 0.3:
                section += [f"- {self.sentences(60, topic)}" for _ in range(4)] + [""]
            if self.dice.random() < 0.15:
                section += ["```sh", f"{self.some(1)[0]} --{self.some(1)[0]}", "```", ""]
            text = "\n".join(section)
            written += len(text)
            parts.append(text)
        return "\n".join(parts)

    def size(self) -> int:
        """A document's size in bytes."""
        spread = log(NINTH_DECILE_BYTES / MEDIAN_BYTES) / 1.2816  # the ninth decile of a normal one
        return min(MOST_BYTES, int(MEDIAN_BYTES * exp(self.dice.gauss(0, spread))))


class _Document(NamedTuple):
    path: str
    repo: str
    body: str
    title: str


def make_tree(root: Path, documents: int, *, seed: int = 7) -> Summary:
    """Write a tree of ``documents`` files (copies among them) below ``root``, which must be new or empty."""
    if root.exists() and any(root.iterdir()):
        raise SystemExit(f"{root}: expected a new or empty folder")
    writer = Writer(seed)
    dice = writer.dice
    copies = int(documents * COPIES)
    originals = documents - copies
    repos = _repos(max(1, round(originals / A_REPO)))
    for repo in repos:
        _make_repo(root / repo, repo)
    kept: list[_Document] = []  # some, for copies to be made of
    made: set[Path] = set()
    written = copied = 0
    for number in range(originals):
        document, front = _document(writer, repos[number // A_REPO % len(repos)], number)
        written += _write(root / document.path, f"{front}{document.body}", made)
        if copied < copies and dice.random() < copies / originals * 1.1:
            kept.append(document)
    for number in range(copies):
        document = kept[number % len(kept)]
        path = f"rollup-{number // len(kept)}/context-v/{document.repo}/{Path(document.path).name}"
        front = f'---\ntitle: "{document.title}"\nfrom: {document.repo}\nfrom_path: {document.path}\n---\n\n'
        written += _write(root / path, f"{front}{document.body}", made)
        copied += 1
    return Summary(documents, copies, len(repos), written)


def _repos(count: int) -> list[str]:
    paths: list[str] = []
    for number in range(count):
        name = f"repo-{number:04}"
        if number % 3 == 2:
            paths.append(f"{paths[-1]}/parts/{name}")
        else:
            paths.append(f"group-{number // 40:02}/{name}")
    return paths


def _make_repo(folder: Path, name: str) -> None:
    git = folder / ".git"
    for part in ("objects", "refs/heads", "refs/tags"):
        (git / part).mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
        f'[remote "origin"]\n\turl = https://git.example.org/{name}.git\n'
    )
    for part in (
        "src",
        "src/pages",
        "node_modules/dep",
        "docs",
    ):  # what a walk meets beside documents
        (folder / part).mkdir(parents=True, exist_ok=True)
        for number in range(3):
            (folder / part / f"part-{number}.txt").write_text("x\n")


def _document(writer: Writer, repo: str, number: int) -> tuple[_Document, str]:
    dice = writer.dice
    title = writer.title()
    day = _LAST_DAY - timedelta(days=int(abs(dice.gauss(0, 220))))
    name = f"{title.replace(' ', '-')}-{number:06}.md"
    entry = dice.random() < ENTRIES
    lines = [f'title: "{title}"', f'lede: "{writer.sentences(90, writer.some(5))}"']
    if entry:
        path = f"{repo}/changelog/{day.isoformat()}_{number:06}.md"
        lines += [f"date: {day.isoformat()}", "publish: true"]
    else:
        path = f"{repo}/context-v/{dice.choice(_KINDS)}/{name}"
        if dice.random() >= UNDATED:
            lines += [
                f"date_created: {day - timedelta(days=20)}",
                f"date_modified: {day.isoformat()}",
            ]
        lines += [f"status: {dice.choice(_STATUSES)}", "semantic_version: 0.0.1.0"]
    lines += ["tags:", *(f"  - {word.capitalize()}" for word in writer.some(dice.randint(1, 4)))]
    lines += ["authors:", *(f"  - {name}" for name in dice.sample(_NAMES, dice.randint(1, 2)))]
    text = writer.body(writer.size())
    return _Document(path, repo, text, title), "---\n" + "\n".join(lines) + "\n---\n\n"


def _write(path: Path, text: str, made: set[Path]) -> int:
    if path.parent not in made:
        path.parent.mkdir(parents=True, exist_ok=True)
        made.add(path.parent)
    data = text.encode()
    path.write_bytes(data)
    return len(data)


def main() -> None:
    """Write one tree and say what it holds."""
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    started = time.perf_counter()
    summary = make_tree(options.folder, options.documents, seed=options.seed)
    seconds = round(time.perf_counter() - started, 2)
    print(json.dumps({**summary._asdict(), "seconds": seconds}))


if __name__ == "__main__":
    main()
