"""Which prompts name documents, and which only look like it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backend.session.references import References, find_references

DOCUMENTS = (
    "bay-labs/context-v/specs/Price-List-Importer.md",
    "bay-labs/context-v/specs/Rate-Limits.md",
    "bay-labs/context-v/specs/sign-in.md",
    "bay-labs/context-v/README.md",
    "bay-labs/desk/context-v/plans/Roadmap.md",
    "site/context-v/plans/Roadmap.md",
    "site/context-v/notes/Two words Here.md",
    "site/context-v/specs/Prix-d-été.md",
    "context-v/prompts/Start-of-the-Day.md",
)
ENTRIES = ("site/changelog/2025-03-02_01.md",)
IMPORTER, LIMITS, SIGN_IN = DOCUMENTS[:3]
DESK_ROADMAP, SITE_ROADMAP, TWO_WORDS, PRIX, DAY = DOCUMENTS[4:9]
ENTRY = ENTRIES[0]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Documents on disk and in manifests; one that is newer than they are; code beside them."""
    root = tmp_path / "wörk tree"
    for path in (
        *DOCUMENTS,
        *ENTRIES,
        "bay-labs/context-v/specs/Brand-New.md",
        "bay-labs/README.md",
        "bay-labs/src/main.md",
    ):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("# x\n", "utf-8")
    (root / "bay-labs/src/app.py").write_text("", "utf-8")
    manifests = root / ".context-vigilance/manifests"
    manifests.mkdir(parents=True)
    for role, paths in (("context-vigilance-corpus", DOCUMENTS), ("changelog-corpus", ENTRIES)):
        stamps = {path: {"mtime": 1.0, "size": 4} for path in paths}
        (manifests / f"{role}.json").write_text(json.dumps(stamps), "utf-8")
    return root


NAMED = [
    # mentions
    ("go by @bay-labs/context-v/specs/Price-List-Importer.md please", "", (IMPORTER,)),
    ("go by @context-v/specs/Price-List-Importer.md please", "bay-labs", (IMPORTER,)),
    ('read @"site/context-v/notes/Two words Here.md" first', "", (TWO_WORDS,)),
    ("read @'context-v/notes/Two words Here.md' first", "site", (TWO_WORDS,)),
    ("@Rate-Limits.md is what I go by", "bay-labs", (LIMITS,)),
    ("see (@bay-labs/context-v/specs/Rate-Limits.md), then start", "", (LIMITS,)),
    ("@bay-labs/context-v/specs/Rate-Limits.md#L10-20 has it", "", (LIMITS,)),
    # absolute paths, pasted
    ("{root}/bay-labs/context-v/specs/Price-List-Importer.md", "", (IMPORTER,)),
    ("'{root}/bay-labs/context-v/specs/Price-List-Importer.md'", "", (IMPORTER,)),
    ("@{root}/bay-labs/context-v/specs/Rate-Limits.md and go", "", (LIMITS,)),
    ("{root}/site/context-v/notes/Two words Here.md", "", (TWO_WORDS,)),
    ("work on {root}/site/changelog/2025-03-02_01.md.", "", (ENTRY,)),
    # relative paths: from here, from the root, from any repo
    ("context-v/specs/Rate-Limits.md then", "bay-labs", (LIMITS,)),
    ("./context-v/specs/Rate-Limits.md then", "bay-labs", (LIMITS,)),
    ("../../site/context-v/notes/Two words Here.md", "bay-labs/desk", (TWO_WORDS,)),
    ("desk/context-v/plans/Roadmap.md", "site", (DESK_ROADMAP,)),
    ("specs/Rate-Limits.md:12 says so", "", (LIMITS,)),
    ("bay-labs\\context-v\\specs\\Rate-Limits.md", "", (LIMITS,)),
    ("changelog/2025-03-02_01.md says what was done", "", (ENTRY,)),
    ("context-v/specs/Rate-Limits without an ending", "bay-labs", (LIMITS,)),
    ("`bay-labs/context-v/specs/Rate-Limits.md` and \"context-v/prompts/Start-of-the-Day.md\"", "", (LIMITS, DAY)),
    # wikilinks
    ("follow [[Price-List-Importer]] here", "", (IMPORTER,)),
    ("follow [[Price-List-Importer|the importer]] and [[Rate-Limits#steps]]", "", (IMPORTER, LIMITS)),
    ("follow [[price-list-importer.md]]", "", (IMPORTER,)),
    ("follow [[specs/Rate-Limits]]", "", (LIMITS,)),
    # bare names
    ("Price-List-Importer is the spec", "", (IMPORTER,)),
    ("go by Price-List-Importer.md, Rate-Limits.md; start", "", (IMPORTER, LIMITS)),
    ("go by price-list-importer", "", (IMPORTER,)),
    ("the Two words Here.md note", "", (TWO_WORDS,)),
    ("lies dir Prix-d-été.md durch", "", (PRIX,)),
    ("read 2025-03-02_01.md", "", (ENTRY,)),
    ("Roadmap.md is what counts", "site", (SITE_ROADMAP,)),
    # newer than the manifests
    ("start from bay-labs/context-v/specs/Brand-New.md", "", ("bay-labs/context-v/specs/Brand-New.md",)),
]  # fmt: skip

NOTHING = [
    "mend src/app.py and bay-labs/src/main.md",
    "see https://example.org/context-v/specs/Rate-Limits.md",
    "git clone git@example.org:team/context-v.git",
    "mail ada@example.org about the roadmap",
    "add @property and @dataclass to the class",
    "bump @scope/pkg and @types/node",
    "turn on rate-limits for sign-in",
    "what is in context-v?",
    "if [[ -f x.md ]]; then mend it",
    "write a README.md and update CHANGELOG.md",
    "the file docs/notes.md is wrong",
    "fix the roadmap of the importer",
    "use a/b testing and/or 1/2 of it",
    "ask @ada to review",
    "schreib ein Handbuch, bitte",
]


@pytest.mark.parametrize(
    ("prompt", "folder", "found"), NAMED, ids=[str(n) for n in range(len(NAMED))]
)
def test_names_documents(tree: Path, prompt: str, folder: str, found: tuple[str, ...]) -> None:
    answer = find_references(prompt.replace("{root}", str(tree)), tree, tree / folder)

    assert (answer.found, answer.ambiguous, answer.missing) == (found, {}, ())


@pytest.mark.parametrize("prompt", NOTHING)
def test_raises_no_false_alarm(tree: Path, prompt: str) -> None:
    for folder in ("", "bay-labs", "site"):
        assert not find_references(prompt, tree, tree / folder).any


def test_lists_what_a_name_could_mean(tree: Path) -> None:
    assert find_references("by Roadmap.md", tree, tree) == References(
        ambiguous={"Roadmap.md": (DESK_ROADMAP, SITE_ROADMAP)}
    )
    assert find_references("by [[Roadmap]]", tree, tree).ambiguous == {
        "Roadmap": (DESK_ROADMAP, SITE_ROADMAP)
    }


def test_takes_a_folder_of_documents_as_a_reference(tree: Path) -> None:
    assert find_references("look through bay-labs/context-v/specs/", tree, tree).folders == (
        "bay-labs/context-v/specs",
    )
    assert find_references("look through @context-v/specs", tree, tree / "bay-labs").folders == (
        "bay-labs/context-v/specs",
    )


def test_a_path_to_nothing_below_context_v_is_told_apart(tree: Path) -> None:
    answer = find_references("by bay-labs/context-v/specs/Gone.md", tree, tree)

    assert answer.any
    assert answer.missing == ("bay-labs/context-v/specs/Gone.md",)


def test_a_file_of_the_folder_at_hand_comes_before_a_document_of_that_name(tree: Path) -> None:
    assert not find_references("update ./README.md", tree, tree / "bay-labs").any
    assert find_references("update context-v/README.md", tree, tree / "bay-labs").found == (
        "bay-labs/context-v/README.md",
    )


def test_a_huge_prompt_of_openings_is_read_through(tree: Path) -> None:
    """A pattern that tried each opening with each end after it would not come back in a lifetime."""
    openings = "[[ @ \"' /a/b ~ ` <" * 2_000
    named = "bay-labs/context-v/README.md"

    assert find_references(f"{openings} @{named} ", tree, tree).found == (named,)
    assert not find_references(openings * 25, tree, tree).any
