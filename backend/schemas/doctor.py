"""What ``cv doctor`` answers."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class Finding(Struct, frozen=True, kw_only=True):
    """One thing that ``cv doctor`` looked at. ``check``: the part it belongs to; ``where``: a path, with ``:line`` where that
    helps; ``todo``: what mends it; ``fixable``: ``cv doctor --fix`` does.

    ``problem``: something of ours does not work; ``warning``: it works, with a loss that somebody should know of; ``note``: worth
    knowing only.
    """

    check: str
    level: Literal["ok", "note", "warning", "problem"]
    what: str
    where: str = ""
    todo: str = ""
    fixable: bool = False


class Diagnosis(Struct, frozen=True, kw_only=True):
    """What ``cv doctor`` answers. ``mended``: what ``--fix`` did, before the findings were made (again)."""

    senior_root: str | None
    findings: tuple[Finding, ...]
    mended: tuple[str, ...] = ()
