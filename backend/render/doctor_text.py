"""What ``cv doctor`` prints: what is well in a line per part, everything else with what to do about it."""

from __future__ import annotations

import os
from collections import Counter

from backend.render.counts import counted
from backend.render.inert import told
from backend.render.terminal import Style, wrap_indented
from backend.schemas.doctor import Diagnosis, Finding

SHOWN = 20
"""Findings that want the same are listed up to here: in a large tree hundreds of documents may share an oddity."""

NO_ROOT = "'cv init --senior-root PATH' sets a tree up, --root PATH names another."

_INDENT = " " * 9


def doctor_text(diagnosis: Diagnosis, *, width: int = 80, colour: bool = False) -> str:
    """Return the diagnosis as text of at most ``width`` columns; only a path or word may be wider."""
    style = Style(colour)
    lines = [
        ("" if words.startswith("not mended") else "mended   ") + told(words, 2000)
        for words in diagnosis.mended
    ]
    for check in dict.fromkeys(finding.check for finding in diagnosis.findings):
        well = [f for f in diagnosis.findings if f.check == check and f.level == "ok"]
        text = f"{check}: {'; '.join(told(finding.what, 200) for finding in well)}"
        lines += wrap_indented(text, width, _INDENT, "ok       ") if well else []
    for level in ("note", "warning", "problem"):
        alike: dict[tuple[str, str], list[Finding]] = {}
        for finding in diagnosis.findings:
            if finding.level == level:
                alike.setdefault((finding.check, finding.todo), []).append(finding)
        for group in alike.values():
            lines += _amiss(group, diagnosis.senior_root, width, style)
    lines += ["", style.bold(summary(diagnosis))]
    return "\n".join(lines) + "\n"


def summary(diagnosis: Diagnosis) -> str:
    """How many findings of each level, and what ``--fix`` would do, in a sentence or two."""
    count = Counter(finding.level for finding in diagnosis.findings)
    parts = [
        counted(count[level], level) for level in ("problem", "warning", "note") if count[level]
    ]
    if not count["problem"] + count["warning"]:
        notes = f" ({parts[0]})" if parts else ""
        if diagnosis.senior_root is None:
            return f"This machine is well{notes}, but there is no senior root here: {NO_ROOT}"
        return f"All is well{notes}."
    fixable = sum(finding.fixable and finding.level != "ok" for finding in diagnosis.findings)
    fix = f" 'cv doctor --fix' mends {fixable} of them." if fixable else ""
    only = f" There is no senior root here: {NO_ROOT}" if diagnosis.senior_root is None else ""
    return f"{', '.join(parts)}.{fix}{only}"


def _amiss(group: list[Finding], root: str | None, width: int, style: Style) -> list[str]:
    level, check, todo = group[0].level, group[0].check, group[0].todo
    mark = level if level == "note" else style.warn(level)
    mark += " " * (len(_INDENT) - len(level))
    lines: list[str] = []
    if len(group) == 1:
        what = _below(group[0].what, root)
        lines += wrap_indented(f"{check}: {told(what, 2000)}", width, _INDENT, mark)
        place = _below(group[0].where, root)
        lines += [f"{_INDENT}at {told(place, 400)}"] if place and place not in what else []
    else:
        lines.append(f"{mark}{check}: {len(group)} findings")
        for finding in group[:SHOWN]:
            what, place = _below(finding.what, root), _below(finding.where, root)
            text = f"{place}: {what}" if place else what
            lines += wrap_indented(told(text, 2000), width, _INDENT + "    ", _INDENT + "- ")
        if len(group) > SHOWN:
            lines.append(f"{_INDENT}… and {len(group) - SHOWN} more; --json lists all")
    return lines + [style.dim(line) for line in wrap_indented(f"→ {todo}", width, _INDENT)]


def _below(text: str, root: str | None) -> str:
    """Paths below the senior root as seen from there."""
    return text.replace(f"{root}{os.sep}", "") if root else text
