"""Chroma's graph of vectors: what no chain of its links leads to is found all the same."""

from __future__ import annotations

import json
import pickle
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from organisation import prose

from backend.freshness import graph, reach
from backend.freshness.embedder import load_embedder
from backend.freshness.index import Index
from backend.freshness.places import index_path
from backend.freshness.store import reading
from backend.kickoff.library import Library
from backend.schemas.roles import CORPUS_ROLE
from backend.tree.config import load_config


def cut_off(folder: Path, count: int, *, largest: bool = True) -> list[str]:
    """Turn all links to ``count`` places of a graph elsewhere, and give the ids of what stands there. No two builds of a graph
    are the same: these are places at which no search begins, and others may hang on them alone.
    """
    by_size = sorted(folder.glob("*/index_metadata.pickle"), key=lambda path: path.stat().st_size)
    at = by_size[-1 if largest else 0].parent
    header = graph.Header.read(at / "header.bin")
    levels = graph.levels_above(at, header)[2]
    places = [p for p, level in enumerate(levels) if level == 0 and p != header.entry][:count]
    data = np.fromfile(at / "data_level0.bin", "<u4").reshape(-1, header.each // 4)
    links = data[:, 1 : 1 + header.most_below]
    links[np.isin(links, places)] = header.entry
    data.tofile(at / "data_level0.bin")
    ids = pickle.loads((at / "index_metadata.pickle").read_bytes())["label_to_id"]
    return [ids[int(data[place, header.label_at // 4])] for place in places]


def texts(site: Any) -> dict[str, str]:
    with closing(sqlite3.connect(site.kit / "index.sqlite")) as db:
        return dict(db.execute("SELECT chroma_id, text FROM chunk"))


def nearest(site: Any, text: str) -> tuple[list[float], list[float]]:
    """The cosines of what a question for ``text`` finds, and of what it should find; and no word of trouble."""
    index = Index.for_reading(index_path(site.root))
    assert index is not None
    with index:
        library = Library(site.root, load_config(site.root), index)
        found = sorted(library.nearest_chunks(text).values(), reverse=True)
        vector = library._vector(text)
        assert vector is not None
        right = sorted(library._nearest_in_index(vector, None).values(), reverse=True)
        assert library.notes == []
    return found, right


def nearest_in_chroma(site: Any, text: str) -> float:
    vector = load_embedder(load_config(site.root).embedding, site.root).embed([text])[0]
    with reading(site.root, load_config(site.root)) as store:
        return store.query(CORPUS_ROLE, vector, 1)[0][1]


def store_findings(cv_process: Any) -> list[tuple[str, str]]:
    found = json.loads(cv_process("doctor", "--json").out)["findings"]
    return [(f["level"], f["what"]) for f in found if f["check"] == "store" and f["level"] != "ok"]


def test_what_the_graph_does_not_lead_to_is_found_in_the_index(site: Any, cv_process: Any) -> None:
    for number in range(40):
        site.document(f"r{number % 3}/context-v/specs/Doc-{number}.md", count=4)
    site.sync()
    before = reach.unreached(site.kit / "chroma")
    lost = cut_off(site.kit / "chroma", 4)
    assert graph.damage(site.kit / "chroma", links=True) == ""
    unreached = reach.unreached(site.kit / "chroma")
    assert len(before) < len(unreached) < 20
    assert set(lost) <= set(unreached)
    with closing(sqlite3.connect(site.kit / "index.sqlite")) as db, db:
        db.execute("DELETE FROM meta WHERE key = 'unreached'")  # as of a version that did not look
    assert site.sync().notes == ()
    for text in (texts(site)[chroma_id] for chroma_id in lost):
        assert nearest_in_chroma(site, text) < 0.99, "Chroma finds it"
        found, right = nearest(site, text)
        assert found[0] == pytest.approx(1.0, abs=1e-5)
        assert found[:100] == pytest.approx(right[:100], abs=1e-5)
    ((level, what),) = store_findings(cv_process)
    assert level == "note"
    assert what.startswith(
        f"Chroma's graph of vectors does not lead to {len(unreached)} of 160 chunks"
    )
    assert cv_process("doctor").code == 0


def test_thousands_of_chunks_that_are_nearly_alike_hide_no_other(
    site: Any, cv_process: Any
) -> None:
    """They link only each other, and others end outside of the graph; which ones, differs with each build."""
    site.document("r0/context-v/Long.md", "word " * 200_000)
    heads = "\n\n".join(f"## H {number}\n\nheadsword {number}" for number in range(600))
    site.document("r0/context-v/Heads.md", heads)
    for number in range(20):
        site.document(f"r0/context-v/Small-{number}.md", prose(str(number), 2))
    for step in range(2):
        site.sync()
        site.check()
        for chroma_id, text in texts(site).items():
            if "/Small-" in chroma_id:
                found, right = nearest(site, text)
                assert found[0] == pytest.approx(1.0, abs=1e-5)
                assert found[:100] == pytest.approx(right[:100], abs=1e-4)
        assert all(level == "note" for level, _ in store_findings(cv_process))
        site.document(f"r0/context-v/Small-{step}.md", prose(f"again {step}", 2))


def test_a_pickle_that_names_code_is_not_run(site: Any, tmp_path: Path) -> None:
    """A folder of Chroma's can come with a tree."""
    for number in range(20):
        site.document(f"r0/context-v/specs/Doc-{number}.md", count=2)
    site.sync()
    cut_off(site.kit / "chroma", 1)
    for path in (site.kit / "chroma").glob("*/index_metadata.pickle"):
        path.write_bytes(pickle.dumps({"label_to_id": _Names(tmp_path / "made")}))
    assert reach.unreached(site.kit / "chroma") == []
    assert not (tmp_path / "made").exists()


class _Names:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.mkdir, (self.path,))


def test_each_collection_is_looked_at(site: Any) -> None:
    for number in range(30):
        site.document(f"r0/changelog/2025-01-{number + 1:02d}.md", count=2)
        site.document(f"r0/context-v/specs/Doc-{number}.md", count=3)
    site.sync()
    lost = cut_off(site.kit / "chroma", 1, largest=True)
    lost += cut_off(site.kit / "chroma", 1, largest=False)
    assert [chroma_id.split("/")[1] for chroma_id in lost] == ["context-v", "changelog"]
    assert set(lost) <= set(reach.unreached(site.kit / "chroma"))
