"""Scores of several orders of the same tasks as a table: as data, as text, as Markdown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.scoring import MEASURES, Scores, interval, means

Table = dict[str, dict[str, Any]]


def compared(scores: Mapping[str, Sequence[Scores]]) -> Table:
    """A line for each order: its means, and its gap in recall to the first one, with 90 % intervals over the tasks."""
    table: Table = {}
    product = next(iter(scores.values()))
    for name, own in scores.items():
        mean = means(own)
        line: dict[str, Any] = {measure: round(mean[measure], 3) for measure in MEASURES}
        for measure in ("recall@5", "recall@20"):
            line[f"{measure} 90 %"] = [round(v, 3) for v in interval([s[measure] for s in own])]
            if own is not product:
                gaps = [s[measure] - p[measure] for s, p in zip(own, product, strict=True)]
                line[f"{measure} against the product"] = [
                    round(v, 3) for v in (sum(gaps) / len(gaps), *interval(gaps))
                ]
        table[name] = line
    return table


def kinds(each: Sequence[str], scores: Sequence[Scores]) -> Table:
    """A line for each kind of task, the most frequent first."""
    grouped: dict[str, list[Scores]] = defaultdict(list)
    for kind, own in zip(each, scores, strict=True):
        grouped[kind].append(own)
    return {
        f"kind: {kind}": {"n": len(own)} | {m: round(v, 3) for m, v in means(own).items()}
        for kind, own in sorted(grouped.items(), key=lambda item: -len(item[1]))
    }


def shown(table: Table) -> str:
    """The table as text; differences are to the product."""
    lines = [
        f"  {'':32} {'recall@5':>8} {'90 %':>13} {'recall@20':>9} {'90 %':>13} {'nDCG@10':>8} {'MRR':>6}"
        "   recall@5, @20 against the product"
    ]
    for name, line in table.items():
        if "n" in line:
            told = "  ".join(f"{measure} {line[measure]:.3f}" for measure in MEASURES)
            lines.append(f"    {name:26} {line['n']:3}  {told}")
            continue
        five, twenty = line["recall@5 90 %"], line["recall@20 90 %"]
        gaps = [line.get(f"{measure} against the product") for measure in ("recall@5", "recall@20")]
        lines.append(
            f"  {name:32} {line['recall@5']:8.3f} {five[0]:6.3f}-{five[1]:.3f} "
            f"{line['recall@20']:9.3f} {twenty[0]:6.3f}-{twenty[1]:.3f} {line['nDCG@10']:8.3f} {line['MRR']:6.3f}"
            + "".join(f"  {g[0]:+.3f} ({g[1]:+.3f} … {g[2]:+.3f})" for g in gaps if g)
        )
    return "\n".join(lines)


def markdown(results: Mapping[str, Any]) -> str:
    """All tables as one in Markdown, a column for each way of asking, and the times below it."""
    tables: Mapping[str, Table] = results["tables"]
    names = list(dict.fromkeys(name for table in tables.values() for name in table))
    rows = ["| " + " | ".join(["", *tables]) + " |", "|---" * (len(tables) + 1) + "|"]
    for name in names:
        cells = [_cell(table.get(name)) for table in tables.values()]
        rows.append(
            "| " + " | ".join([f"**{name}**" if name == "as shipped" else name, *cells]) + " |"
        )
    times = "; ".join(f"{name} {ms:.0f}" for name, ms in results["median_ms"].items())
    return (
        f"{results['bench']}: {results['documents']} documents, {results['chunks']} chunks. "
        "Cells: recall@5 / recall@20 / nDCG@10 / MRR.\n\n"
        + "\n".join(rows)
        + f"\n\nMedian milliseconds a query: {times}.\n"
    )


def _cell(line: Mapping[str, Any] | None) -> str:
    if line is None:
        return ""
    told = " / ".join(f"{line[measure]:.3f}".removeprefix("0") for measure in MEASURES)
    return f"{told} ({line['n']})" if "n" in line else told
