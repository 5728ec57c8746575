"""Searching the private collections, for the one command that was asked to. Nothing here reads a transcript, or leads to it.

Words and meaning each make an order, and the two are fused by rank: Chroma answers for meaning, the ledger for words and,
while Chroma is being written to or has to be made anew, for both.
"""

from __future__ import annotations

from contextlib import nullcontext
from math import fsum
from pathlib import Path

import numpy as np
import numpy.typing as npt

from backend.errors import CvError, UsageError
from backend.freshness.embedder import load_embedder
from backend.freshness.store import reading
from backend.freshness.words import surfaces, word_id, words
from backend.private.ledger import Ledger
from backend.private.places import PRIVATE_KIT, local, require_plain
from backend.private.stored import Stored
from backend.private.tie import in_line
from backend.schemas.config import Config
from backend.schemas.private import PRIVATE_ROLES, SESSIONS_ROLE, PrivatePassage, PrivatePassages

RANK_K = 60
"""Of reciprocal rank fusion (Cormack, Clarke and Buettcher, 2009)."""

NEAREST = 100
"""Documents of the order by meaning."""

LENGTH, REPEATS = 0.75, 1.2
"""BM25's b and k1, as its authors set them."""

QUOTED = 600
"""Characters of an excerpt."""

Vector = npt.NDArray[np.float32]


def search(root: Path, config: Config, role: str, question: str, *, limit: int) -> PrivatePassages:
    """The best ``limit`` turns or tool calls for ``question``, redacted as they are stored. Raises ``CvError``."""
    if role not in PRIVATE_ROLES:
        raise UsageError(f"role: expected one of {', '.join(PRIVATE_ROLES)}, got {role!r}")
    require_plain(root)
    notes: list[str] = []
    ledger = Ledger.for_reading(root)
    passages: tuple[PrivatePassage, ...] = ()
    with ledger or nullcontext():
        if ledger is None or not ledger.count(role):
            notes.append(_how(role))
        else:
            passages = tuple(_best(root, config, ledger, role, question, limit, notes))
            if not passages:
                notes.append("no turn or call matches")
    return PrivatePassages(
        question=question,
        senior_root=str(root),
        role=role,
        passages=passages,
        notes=tuple(notes),
    )


def _how(role: str) -> str:
    option = "--with-sessions" if role == SESSIONS_ROLE else "--with-traces"
    return (
        f"{role} holds nothing: transcripts are read only when you ask for it, each time: 'cv sync {option}' "
        "says what it would read, and asks"
    )


def _best(
    root: Path,
    config: Config,
    ledger: Ledger,
    role: str,
    question: str,
    limit: int,
    notes: list[str],
) -> list[PrivatePassage]:
    by_words, rarity = _by_words(ledger, role, question)
    near = _by_meaning(root, config, ledger, role, question, notes)
    score: dict[str, float] = {}
    for order in (by_words, list(near)):
        for place, number in enumerate(order, 1):
            score[number] = score.get(number, 0.0) + 1 / (RANK_K + place)
    best = sorted(score, key=lambda number: (-score[number], number))
    written = surfaces(question)
    passages: list[PrivatePassage] = []
    for number in best[:limit]:
        document = ledger.find(number)
        if document is not None:
            why = _why(document, rarity, written, near.get(number))
            passages.append(_passage(len(passages) + 1, document, rarity, why))
    return passages


def _by_words(ledger: Ledger, role: str, question: str) -> tuple[list[str], dict[str, float]]:
    """The ids of the documents that share a word with ``question``, best first by BM25, and how rare each word is."""
    asked = list(dict.fromkeys(words(question)))
    ids, bags = ledger.bags(role)
    sizes = np.fromiter((len(data) // 5 for data in bags), np.int64, len(bags))
    if not asked or not sizes.sum():
        return [], {}
    number = np.frombuffer(b"".join(d[: 4 * (len(d) // 5)] for d in bags), np.uint32)
    often = np.frombuffer(b"".join(d[4 * (len(d) // 5) :] for d in bags), np.uint8)
    row = np.repeat(np.arange(len(bags)), sizes)
    length = np.bincount(row, often, len(bags))
    norm = REPEATS * (1 - LENGTH + LENGTH * length / max(float(length.mean()), 1.0))
    score = np.zeros(len(bags))
    rarity: dict[str, float] = {}
    for word in asked:
        at = np.flatnonzero(number == word_id(word))
        if at.size:
            rarity[word] = float(np.log(1 + (len(bags) - at.size + 0.5) / (at.size + 0.5)))
            count = often[at].astype(np.float64)
            score[row[at]] += rarity[word] * count * (REPEATS + 1) / (count + norm[row[at]])
    order = np.argsort(-score, kind="stable")
    return [ids[at] for at in order[: np.count_nonzero(score)].tolist()], rarity


def _by_meaning(
    root: Path, config: Config, ledger: Ledger, role: str, question: str, notes: list[str]
) -> dict[str, float]:
    """The nearest documents and their cosine, nearest first."""
    config = local(config)
    vector = load_embedder(config.embedding, root).embed([question])[0]
    if not vector.any():
        return {}
    if not in_line(root, config, ledger):
        return _in_ledger(ledger, role, vector)
    try:
        with reading(root, config, kit=PRIVATE_KIT) as store:
            return dict(store.query(role, vector, min(NEAREST, max(1, store.count(role)))))
    except (CvError, OSError) as error:
        notes.append(f"searched without Chroma, in the ledger's own vectors ({error})")
        return _in_ledger(ledger, role, vector)


def _in_ledger(ledger: Ledger, role: str, vector: Vector) -> dict[str, float]:
    near = [
        (i, float(np.frombuffer(data, np.float32) @ vector)) for i, data in ledger.vectors(role)
    ]
    return dict(sorted(near, key=lambda pair: -pair[1])[:NEAREST])


def _why(
    document: Stored, rarity: dict[str, float], written: dict[str, str], cosine: float | None
) -> tuple[str, ...]:
    found = sorted(rarity.keys() & set(words(document.text)), key=lambda w: (-rarity[w], w))
    reasons = []
    if found:
        reasons.append("words: " + ", ".join(written.get(word, word) for word in found[:6]))
    if cosine is not None:
        reasons.append(f"similar in meaning ({cosine:.2f})")
    return tuple(reasons)


def _passage(
    rank: int, document: Stored, rarity: dict[str, float], why: tuple[str, ...]
) -> PrivatePassage:
    held = document.metadata
    return PrivatePassage(
        rank=rank,
        role=document.role,
        session_id=document.session,
        turn=int(held["turn"]),
        at=str(held["timestamp_iso"]),
        timestamp=document.timestamp,
        project_path=str(held["project_path"]),
        git_branch=held["git_branch"] or "",
        turn_role=held.get("turn_role") or "",
        tool_name=held.get("tool_name") or "",
        is_error=bool(held.get("is_error")),
        is_sidechain=bool(held["is_sidechain"]),
        text=document.text,
        excerpt=_excerpt(document.text, rarity),
        why=why,
    )


def _excerpt(text: str, rarity: dict[str, float]) -> str:
    """The run of whole lines, about ``QUOTED`` characters long, that begins where the words of the question weigh most."""
    if len(text) <= QUOTED:
        return text
    lines = [
        line[at : at + QUOTED]
        for line in text.split("\n")
        for at in range(0, len(line) or 1, QUOTED)
    ]
    # Summed exactly: a set has another order in each process, and with it another rounding.
    weight = [fsum(rarity[word] for word in set(words(line)) & rarity.keys()) for line in lines]
    first = weight.index(max(weight))
    last, size = first, 0
    while last < len(lines) and (last == first or size + len(lines[last]) <= QUOTED):
        size += len(lines[last]) + 1
        last += 1
    quoted = "\n".join(lines[first:last]).strip("\n")
    return ("…\n" if first else "") + quoted + ("\n…" if last < len(lines) else "")
