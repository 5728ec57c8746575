"""The files for a task: in any script, however its words are joined, with or without Chroma, and why each is there."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from organisation import KIT

from backend.freshness.index import Index
from backend.freshness.places import index_path
from backend.kickoff.lexical import Query, score
from backend.kickoff.library import Library
from backend.kickoff.ranking import Ranking
from backend.kickoff.why import why
from backend.render.why_text import why_text
from backend.tree.config import load_config

ROOT = Path(__file__).resolve().parents[2]
NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

FOREIGN = [
    ("wie lange dürfen Gäste übernachten", "berths/context-v/specs/Liegeplatz-Regeln.md"),
    ("Regeln für die Übernachtung am Liegeplatz", "berths/context-v/specs/Liegeplatz-Regeln.md"),
    ("更换灯泡的步骤", "lights/context-v/specs/灯塔维护.md"),
    ("灯塔", "lights/context-v/specs/灯塔维护.md"),
    ("льгота для рыболовных судов", "ledger/context-v/specs/Портовые-сборы.md"),
    ("портовый сбор", "ledger/context-v/specs/Портовые-сборы.md"),
]


@pytest.mark.parametrize("words_only", [False, True], ids=["", "words-only"])
@pytest.mark.parametrize(("task", "path"), FOREIGN)
def test_other_languages_are_found(harbour: Any, task: str, path: str, words_only: bool) -> None:
    assert path in harbour.found(task, words_only=words_only)[:5]


@pytest.mark.parametrize(
    ("task", "path"),
    [
        ("retry handling in the payment-client", "shop/context-v/specs/One.md"),
        ("retry handling in paymentClient", "shop/context-v/specs/One.md"),
        ("retry handling in payment client", "shop/context-v/specs/One.md"),
        ("the file src/stock/counter.ts", "shop/context-v/specs/Two.md"),
        ("stock counter", "shop/context-v/specs/Two.md"),
        ("why does parse_label fail", "shop/context-v/specs/Three.md"),
        ("label parsing", "shop/context-v/specs/Three.md"),
    ],
)
def test_words_meet_however_they_are_joined(small: Any, task: str, path: str) -> None:
    tree = small(
        {
            "shop/context-v/specs/One.md": "## Calls\n\nThe class PaymentClient waits and asks again.",
            "shop/context-v/specs/Two.md": "## Place\n\nIt lies at `src/stock/Counter.ts` in the tree.",
            "shop/context-v/specs/Three.md": "## Code\n\nThe function `parseLabel` reads a sticker.",
            "shop/context-v/specs/Four.md": "## Garden\n\nHedges are cut in late autumn.",
        }
    )
    assert tree.found(task, words_only=True)[0] == path


def test_the_repo_at_hand_comes_first_and_the_others_are_not_lost(small: Any) -> None:
    body = "## Deploy\n\nA release is built, signed and sent to the servers."
    tree = small(
        {
            f"{repo}/context-v/specs/Deploy.md": f"{body} Only the {repo.rpartition('/')[2]} here.\n\n{'x' * n}"
            for n, repo in enumerate(("alpha", "beta", "beta/inner", "gamma"))
        },
        repos=("alpha", "beta", "beta/inner", "gamma"),
    )
    for at in ("alpha", "beta", "gamma"):
        found = tree.found("build and sign a release", at=at)
        assert found[0] == f"{at}/context-v/specs/Deploy.md"
        assert len(found) == 4
    assert tree.found("build and sign a release", at="beta")[1].startswith("beta/inner/")
    own = tree.find("build and sign a release", at="gamma").candidates[0].why
    assert "in gamma, the repo at hand" in own
    nested = tree.find("build and sign a release", at="beta").candidates[1].why
    assert "in beta/inner, below the repo at hand" in nested


def test_a_repo_that_the_task_names_counts_like_the_one_at_hand(harbour: Any) -> None:
    found = harbour.find("what is open in the importer", at="lights").candidates[:3]
    assert any(c.source_path.startswith("ledger/importer/") for c in found)


def test_where_no_repo_is_at_hand_one_that_the_task_names_counts(small: Any) -> None:
    """As at the senior root, where most sessions start."""
    body = "## Upgrade\n\nThe compiler and the renderer move up by a version."
    repos = ("alpha", "beta", "gamma")
    tree = small(
        {
            f"{repo}/context-v/specs/Upgrade-{n}.md": f"{body} {repo} {n}"
            for repo in repos
            for n in "123"
        },
        repos=repos,
    )
    for repo in repos:
        found = tree.find(f"upgrade the compiler in {repo}").candidates
        assert [candidate.repo for candidate in found[:3]] == [repo] * 3
        assert f"in {repo}, which the task names" in found[0].why
        assert len(found) == 9


def test_scope_is_a_repo_or_a_folder(harbour: Any) -> None:
    inside = harbour.found("payments", scope="ledger")
    assert inside
    assert all(path.startswith("ledger/") for path in inside)
    assert harbour.found("payments", scope="salt mere")  # documents of the root itself
    assert all(
        path.startswith("context-v/") for path in harbour.found("payments", scope="salt mere")
    )
    deep = harbour.found("payments", scope="ledger/importer/context-v/issues")
    assert deep == ["ledger/importer/context-v/issues/Umlauts-Broken.md"]


def test_what_a_good_document_links_to_comes_up(small: Any) -> None:
    filler = {
        f"mill/context-v/specs/Filler-{n}.md": f"## Grain\n\nSack {n} of barley." for n in range(50)
    }
    tree = small(
        {
            **filler,
            "mill/context-v/specs/Sluice.md": "## Gate\n\nThe sluice gate opens at high water. See [[Grease]].",
            "mill/context-v/reminders/Grease.md": "## Kind\n\nOnly the yellow tin.",
        }
    )
    found = tree.find("the sluice gate at high water").candidates
    assert found[0].source_path == "mill/context-v/specs/Sluice.md"
    second = found[1]
    assert second.source_path == "mill/context-v/reminders/Grease.md"
    assert "linked from mill/context-v/specs/Sluice.md" in second.why


def test_as_of_a_day_and_without_a_document(harbour: Any) -> None:
    task = "false alarms of beacons in fog"
    newest = "lights/context-v/issues/False-Alarms-In-Fog.md"
    assert harbour.found(task)[0] == newest
    before = harbour.find(task, as_of=date(2026, 2, 21)).candidates
    assert before
    assert all(candidate.date <= "2026-02-21" for candidate in before)
    assert harbour.found(task, as_of=date(2026, 2, 22))[0] == newest
    assert newest not in harbour.found(task, without={newest})


def test_flags_too_ignore_what_does_not_exist_yet(harbour: Any) -> None:
    old = "ledger/context-v/specs/Card-Payments-Old.md"
    found = {
        c.source_path: c for c in harbour.find("card terminal", as_of=date(2025, 1, 1)).candidates
    }
    assert [flag.newer_path for flag in found[old].flags] == [""]


def test_the_excerpt_is_the_sentence_that_says_most(harbour: Any) -> None:
    found = harbour.find("who wins when two skippers ask for one berth").candidates
    first = next(c for c in found if c.source_path.endswith("Berth-Booking.md"))
    assert first.excerpt == "Two skippers can ask for the same berth in the same minute."
    assert first.heading == "Double bookings"


def test_the_excerpt_is_no_code_and_no_metadata(small: Any) -> None:
    code = "\n".join(f"gizmo.turn({n})  # turns the gizmo of the crane" for n in range(120))
    tree = small(
        {
            "yard/context-v/specs/Gizmo.md": "# Gizmo\n\nDate: 2026-02-01\nGizmo: gizmo-17\n\n"
            f"How slow loads are\nput down.\n\n## Turning\n\n```py\n{code}\n```\n"
        }
    )
    (found,) = tree.find("turn the gizmo of the crane").candidates
    assert found.heading == "Turning"
    assert found.excerpt == "How slow loads are put down."


@pytest.mark.parametrize("lines", [40, 800])
def test_an_excerpt_costs_the_same_however_long_its_section_is(small: Any, lines: int) -> None:
    """Whether a chunk begins in the middle of code is known from the chunks before it, which are read at once."""
    filler = "\n\n".join(f"The cable is laid in bay {n} and looked at." for n in range(lines))
    code = "```\nThe gizmo of the crane is code.\n\n" + "cable = bay\n" * 200 + "\n```"
    tree = small(
        {
            "yard/context-v/specs/Gizmo.md": f"## Turning\n\n{filler}\n\n{code}\n\nThe gizmo turns the crane."
        }
    )
    task = "gizmo of the crane"
    query = Query.of(task)
    assert query is not None
    with Index.for_reading(index_path(tree.root)) as index:  # type: ignore[union-attr]
        library = Library(tree.root, load_config(tree.root), index)
        ranking = Ranking(library, query, task, folder=tree.root, now=NOW)
        last = library.chunk(0, library.entry(0).chunks - 1)
        assert last.index >= lines // 40
        assert last.heading == "Turning"
        read: list[str] = []
        index.db.set_trace_callback(read.append)
        said = ranking.excerpt(0, last)
    assert said == "The gizmo turns the crane."
    assert len(read) <= 6  # the chunks before it, the document's entry, and a few of its beginning


def test_words_are_those_that_were_typed(small: Any) -> None:
    filler = {
        f"mill/context-v/specs/F-{n}.md": f"## Grain\n\nSack {n} of barley." for n in range(9)
    }
    tree = small(
        {
            **filler,
            "mill/context-v/specs/Water.md": "## Water\n\nThe water stream of the mill; a stream is deep.",
            "mill/context-v/specs/Steam.md": "## Steam\n\nWaterStream turns the wheels.",
        }
    )
    found = tree.find("WaterStream and JetStream wheels")
    reasons = {c.source_path.rsplit("/", 1)[-1]: c.why[0] for c in found.candidates if c.why}
    assert reasons["Steam.md"] == "words: wheels, WaterStream, JetStream (in part)"
    assert reasons["Water.md"] == "words: WaterStream (in part), JetStream (in part)"
    assert found.evidence.missing_words == ("JetStream",)


def test_more_words_than_are_named_are_counted(harbour: Any) -> None:
    task = "deposit skipper berth noon booking cancels minute"
    first = harbour.find(task).candidates[0]
    assert first.source_path == "berths/context-v/specs/Berth-Booking.md"
    assert len(first.why[0].removeprefix("words: ").split(", ")) == 6
    assert first.why[0].endswith(" and 1 more")


def test_one_repo_at_most_is_where_most_matches_lie(harbour: Any, small: Any) -> None:
    task = "refund card payments of cancelled bookings"
    most = {
        reason
        for c in harbour.find(task).candidates
        for reason in c.why
        if "most matches" in reason
    }
    assert most == {"in berths, where most matches lie"}
    alone = small({"yard/context-v/specs/Crane.md": "## Crane\n\nThe crane lifts boats."})
    assert "matches lie" not in str(alone.find("crane lifts boats").candidates[0].why)


NESTED = {
    "town/context-v/specs/Plan.md": "## Kiln\n\nThe kiln of the pottery is fired at dusk.",
    "town/wide-kilns/context-v/specs/Fire.md": "## Kiln\n\nThe kiln is fired with ash wood.",
    "town/wide-kilns/oven/context-v/specs/Door.md": "## Kiln\n\nThe kiln has a door that is fired too.",
    "glaze/context-v/specs/Glaze.md": "## Kiln\n\nBefore the kiln is fired the pots are glazed.",
}


@pytest.mark.parametrize(
    ("task", "at", "reasons"),
    [
        (
            "how the kiln is fired",
            "town/wide-kilns",
            {
                "in town/wide-kilns, the repo at hand",
                "in town/wide-kilns/oven, below the repo at hand",
                "in town, beside the repo at hand",
            },
        ),
        (
            "how Wide_Kilns are fired",
            "glaze",
            {
                "in town/wide-kilns, which the task names",
                "in town/wide-kilns/oven, below town/wide-kilns, which the task names",
                "in glaze, the repo at hand",
            },
        ),
        (
            "a wider kiln that is fired, glazing",
            "",
            {'in glaze, which the task names as "glazing"'},
        ),
    ],
)
def test_where_a_document_lies_is_a_reason_that_names_the_repo(
    small: Any, task: str, at: str, reasons: set[str]
) -> None:
    """A name is told by stems; where the task wrote it otherwise, the person sees which word was taken for it."""
    tree = small(NESTED, repos=("town", "town/wide-kilns", "town/wide-kilns/oven", "glaze"))
    said = {
        reason
        for candidate in tree.find(task, at=at).candidates
        for reason in candidate.why
        if reason.startswith("in ") and "matches lie" not in reason
    }
    assert said == reasons


def test_the_largest_parts_of_a_place_are_the_first_reasons(harbour: Any) -> None:
    """And in the words that ``cv why`` has for them: of one document both tell the same."""
    config = load_config(harbour.root)
    for task in ("refund card payments of cancelled bookings", "what is open in the importer"):
        for candidate in harbour.find(task).candidates[:6]:
            placement = why(
                harbour.root,
                config,
                candidate.source_path,
                task=task,
                folder=harbour.root,
                now=NOW,
            ).placement
            assert placement is not None
            by_size = [
                placement.reasons[name]
                for name, value in placement.parts.items()
                if name in placement.reasons and value >= 0.1
            ]
            said = [reason for reason in candidate.why if not reason.startswith("words: ")]
            assert said[: len(by_size)] == by_size


def test_copies_are_shown_with_their_home(small: Any, tmp_path: Path) -> None:
    body = "## Keel\n\n" + "The keel is laid in the first dry month of the year. " * 12
    tree = small({"yard/context-v/specs/Keel.md": body})
    text = tree.path("yard/context-v/specs/Keel.md").read_text("utf-8")
    tree.write("site/context-v/specs/Keel.md", text)
    tree.sync()
    found = tree.find("when is the keel laid").candidates
    assert [c.source_path for c in found] == ["site/context-v/specs/Keel.md"] or [
        c.source_path for c in found
    ] == ["yard/context-v/specs/Keel.md"]
    assert sorted([found[0].source_path, *found[0].copies]) == [
        "site/context-v/specs/Keel.md",
        "yard/context-v/specs/Keel.md",
    ]


@pytest.mark.parametrize(
    ("at", "path"),
    [
        ("berths", "berths/context-v/handoffs/2026-02-10_Booking.md"),
        ("berths/context-v/specs", "berths/context-v/handoffs/2026-02-10_Booking.md"),
        ("", "berths/context-v/handoffs/2026-02-10_Booking.md"),
        ("lights", None),
    ],
)
def test_the_newest_handoff_of_the_repo_at_hand(harbour: Any, at: str, path: str | None) -> None:
    handoff = harbour.find("anything at all", at=at).handoff
    assert (handoff.source_path if handoff else None) == path


def test_a_handoff_of_the_repo_around_or_below_is_better_than_none(small: Any) -> None:
    tree = small(
        {
            "labs/context-v/handoffs/2025-01-01_Old.md": (
                "## So far\n\nBegun.",
                {"day": "2025-01-01"},
            ),
            "labs/tool/context-v/specs/Tool.md": "## Tool\n\nA chisel.",
            "labs/kit/context-v/Handoffs/New.md": ("## So far\n\nDone.", {"day": "2025-02-01"}),
            "shop/context-v/specs/Till.md": "## Till\n\nA drawer.",
        },
        repos=("labs", "labs/tool", "labs/kit", "shop"),
    )
    newest = {
        at: (found.source_path if (found := tree.find("chisel", at=at).handoff) else None)
        for at in ("labs", "labs/tool", "labs/kit", "shop", "")
    }
    assert newest == {
        "labs": "labs/context-v/handoffs/2025-01-01_Old.md",
        "labs/tool": "labs/context-v/handoffs/2025-01-01_Old.md",
        "labs/kit": "labs/kit/context-v/Handoffs/New.md",
        "shop": None,
        "": "labs/kit/context-v/Handoffs/New.md",
    }


def test_titles_count_only_as_far_as_they_speak_of_the_task(harbour: Any) -> None:
    """Else the one title that shares an everyday word with a task without names counts like a title that says it all."""
    with Index.for_reading(index_path(harbour.root)) as index:
        library = Library(harbour.root, load_config(harbour.root), index)
        shown = np.ones(len(library.paths), bool)

        def best_card(task: str) -> float:
            query = Query.of(task)
            assert query is not None
            return float(score(library.words, query, shown).card.max())

        assert best_card("Berth booking") == 1.0
        assert best_card("they ask for the same place in the same minute, who gets it") < 0.7


# --- how much the corpus says -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "task",
    [
        "let skippers cancel a reservation and get their money back",
        "reduce false beacon alarms when it is foggy",
        "speed up the bank statement import",
        "require a second factor when staff sign in",
    ],
)
def test_a_task_that_documents_are_about_is_not_called_unknown(harbour: Any, task: str) -> None:
    findings = harbour.find(task)
    assert findings.evidence.verdict == "strong"
    assert findings.notes == ()


@pytest.mark.parametrize(
    "task",
    [
        "add shader variants for wet asphalt to the racing game",
        "train a speech recogniser for a Welsh dialect",
        "tune the garbage collector of the virtual machine",
        "prune the apple trees behind the abbey",
    ],
)
def test_a_task_that_nothing_is_about_is_said_to_be_so_and_nothing_is_cut(
    harbour: Any, task: str
) -> None:
    findings = harbour.find(task)
    assert findings.evidence.verdict == "none"
    assert findings.notes[0].startswith("nothing here seems to be about this")
    assert len(findings.candidates) == 20


def test_what_no_document_has_is_named_briefly(harbour: Any) -> None:
    """However long the task is, and where no blanks part its words."""
    for task in ("珊瑚礁" * 3_000, "".join(f"qx{n}zz " for n in range(3_000))):
        found = harbour.find(task)
        assert found.evidence.missing_words
        assert all(len(note) < 600 for note in found.notes)
        answer = why(
            harbour.root,
            load_config(harbour.root),
            "Berth-Booking",
            task=task,
            folder=harbour.root,
            now=NOW,
        )
        assert answer.placement is not None
        assert max(map(len, why_text(answer, width=10**6).splitlines())) < 600


def test_a_corpus_of_one_document_still_knows_what_it_is_about(small: Any) -> None:
    tree = small(
        {
            "web/context-v/specs/Sign-In.md": "## Flow\n\nA customer signs in with a link instead of a password."
        }
    )
    assert tree.find("let people stay logged in without passwords").evidence.verdict != "none"
    assert tree.find("choose grout for the swimming pool").evidence.verdict == "none"


def test_what_a_title_names_is_not_called_unknown(small: Any) -> None:
    """Though the task says it in other words, of which no document has any."""
    filler = {
        f"mill/context-v/specs/Filler-{n}.md": f"## Grain\n\nSack {n} of barley moves."
        for n in range(60)
    }
    tree = small(
        {
            **filler,
            "mill/context-v/specs/Multi-Region-Deployment.md": "## Copies\n\nEvery site holds all of it.",
        }
    )
    found = tree.find("deploy in a region when the datacenter burns")
    assert found.candidates[0].source_path == "mill/context-v/specs/Multi-Region-Deployment.md"
    assert found.evidence.verdict == "weak"
    assert set(found.evidence.missing_words) == {"datacenter", "burns"}


def test_a_telling_word_that_the_first_files_lack_is_said(small: Any) -> None:
    crowd = {
        f"tool/context-v/specs/Caches-{n}.md": f"## Caches\n\nCaches of part {n}. The caches are cleared with all caches."
        for n in range(9)
    }
    rounds = " ".join(f"Whoever opens room {n} writes down what was seen there." for n in range(25))
    tree = small(
        {**crowd, "yard/changelog/Rounds.md": f"## Round\n\n{rounds} The gizmo is shut."},
        repos=("tool", "yard"),
    )
    found = tree.find("gizmo caches", at="tool")
    place = [c.source_path for c in found.candidates].index("yard/changelog/Rounds.md") + 1
    assert place > 5
    assert (
        f"none of the first 5 files has 'gizmo'; yard/changelog/Rounds.md has, at place {place}"
        in found.notes
    )


NO_WORD = "there is no word to search for"


@pytest.mark.parametrize(
    ("task", "note"),
    [
        ("?!", NO_WORD),
        ("C", f"{NO_WORD}: words of one letter are not searched"),
        ("how do we", f"{NO_WORD}: words that stand in every text (how, do, we) are not searched"),
        ("x" * 41, f"{NO_WORD}: words of more than 40 characters are not searched"),
    ],
)
def test_nothing_to_go_by(harbour: Any, task: str, note: str) -> None:
    assert harbour.find(task).notes == (note,)


def test_an_empty_tree_and_an_empty_scope_say_so(small: Any) -> None:
    assert small({}).find("anything").notes[0].startswith("no document is indexed yet")


# --- when Chroma is not to be had ---------------------------------------------------------------------------------


@pytest.fixture
def locked(own_harbour: Any) -> Iterator[Any]:
    """The harbour while another process holds Chroma's lock alone."""
    code = (
        "import sys; from pathlib import Path; from backend.tree.lock import exclusive\n"
        "with exclusive(Path(sys.argv[1]), seconds=5, busy='taken'):\n"
        "    print('held', flush=True); sys.stdin.read()"
    )
    lock = own_harbour.root / KIT / "chroma.lock"
    process = subprocess.Popen(
        [sys.executable, "-P", "-s", "-c", code, str(lock)],
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield own_harbour
    process.communicate("")


TASK = "how a skipper gets the deposit back"


def test_a_locked_chroma_is_answered_without(harbour: Any, locked: Any) -> None:
    findings = locked.find(TASK)
    assert findings.notes == (
        "searched without Chroma, in the index's own copy of the vectors (Chroma is being written to)",
    )
    assert [c.source_path for c in findings.candidates] == harbour.found(TASK)
    assert findings.evidence == harbour.find(TASK).evidence
    passages = locked.search(TASK)
    assert len(passages.notes) == 1
    assert [p.source_path for p in passages.passages] == harbour.quoted(TASK)


@pytest.mark.parametrize("how", ["garbage", "gone", "emptied"])
def test_a_broken_chroma_is_answered_without(harbour: Any, own_harbour: Any, how: str) -> None:
    import shutil

    chroma = own_harbour.root / KIT / "chroma"
    if how == "garbage":
        (chroma / "chroma.sqlite3").write_bytes(b"no database at all" * 500)
    else:
        shutil.rmtree(chroma)
        if how == "emptied":
            chroma.mkdir()
    findings = own_harbour.find(TASK)
    assert findings.notes[0].startswith("searched without Chroma")
    assert [c.source_path for c in findings.candidates] == harbour.found(TASK)


def test_vectors_of_another_embedder_are_not_mixed(harbour: Any) -> None:
    findings = harbour.find(TASK, words_only=True)
    assert findings.notes[0].startswith(
        "searched by words only: the index's vectors are from another, which can't be used here"
    )
    assert findings.evidence.best_similarity == 0.0
    assert findings.candidates[0].source_path == harbour.found(TASK)[0]
