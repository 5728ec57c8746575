"""Checks of what runs at a session's start: the plugin's hooks, those in settings files, the script between, the last runs."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path

from backend.errors import CvError
from backend.schemas.doctor import Finding
from backend.session.journal import describe, last_hook, read_record
from backend.setup.checks.levels import note, ok, problem, warning
from backend.setup.checks.machine import PLUGIN
from backend.setup.init import SESSION_START, script_path
from backend.setup.settings import installed, settings_path
from backend.tree.home import cv_home

NEEDED = ("SessionStart", "UserPromptSubmit", "PreToolUse")
"""The events that the plugin's ``hooks.json`` answers."""

SLOW_MS = 3_000
"""Claude Code gives a hook 10 s. One that takes a third of it will not always be in time."""


def check_plugin_hooks() -> list[Finding]:
    """The plugin's own ``hooks/hooks.json``: there, of the form that Claude Code reads, with all events."""
    path = PLUGIN / "hooks" / "hooks.json"
    if not (PLUGIN / ".claude-plugin").is_dir():
        return [
            note(
                "hooks",
                "installed as a Python package, not as a Claude Code plugin: no hooks of the plugin",
                where=PLUGIN,
                todo="install the plugin in Claude Code for sessions that start with the question",
            )
        ]
    try:
        hooks = json.loads(path.read_bytes())["hooks"]
        lost = [event for event in NEEDED if not _nested(hooks.get(event))]
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        lost = [str(error)]
    if lost:
        return [
            problem(
                "hooks",
                f"the plugin's hooks are damaged: {', '.join(lost)}",
                where=path,
                todo="reinstall the plugin (/plugin, or: claude plugin update context-vigilance)",
            )
        ]
    return [ok("hooks", f"the plugin's {len(NEEDED)} hooks", where=path)]


def _nested(groups: object) -> bool:
    return (
        isinstance(groups, list)
        and bool(groups)
        and all(isinstance(group, dict) and group.get("hooks") for group in groups)
    )


def check_settings_hooks(root: Path) -> list[Finding]:
    """Our hook in the settings of the root: where, how often, in which form."""
    shared = settings_path(root)
    found: list[Finding] = []
    ours = []
    for path in (shared, shared.with_name("settings.local.json")):
        try:
            has = installed(path)
        except CvError as error:
            found.append(
                problem(
                    "hooks",
                    f"Claude Code cannot use the file: {error}",
                    where=path,
                    todo="mend it there: until then none of its settings hold",
                )
            )
            continue
        ours += [path] * has.ours
        if has.flat:
            found.append(
                problem(
                    "hooks",
                    'our hook lacks the level {"hooks": [ … ]}: Claude Code skips it, older releases the whole file',
                    where=path,
                    todo=_again(path, shared),
                )
            )
        if has.foreign_flat:
            found.append(
                warning(
                    "hooks",
                    f"{has.foreign_flat} of the SessionStart entries of others lack the level "
                    '{"hooks": [ … ]}: older releases of Claude Code skip the whole file',
                    where=path,
                    todo="put each into a group of its own, or ask who wrote it",
                )
            )
    if len(ours) > 1:
        found.append(
            warning(
                "hooks",
                f"our SessionStart hook stands there {len(ours)} times; the second run only takes its time",
                where=", ".join(dict.fromkeys(map(str, ours))),
                todo=_again(ours[-1], shared),
            )
        )
    if found:
        return found
    if not ours:
        return [
            note(
                "hooks",
                "no hook of ours in the root's settings: sessions rely on the plugin's own",
                where=shared,
                todo="nothing; 'cv init' adds it for people who have no plugin",
            )
        ]
    return [ok("hooks", "SessionStart hook of the root", where=ours[0])]


def _again(path: Path, shared: Path) -> str:
    return "run 'cv init' again: it mends that" if path == shared else "delete our entry there"


def check_script(root: Path) -> list[Finding]:
    """The script that the settings hook runs: there, executable, of this version; what it hands over to exists."""
    try:
        needed = installed(settings_path(root)).ours > 0
    except CvError:
        needed = True
    script = script_path(root)
    try:
        current = script.read_bytes() == SESSION_START.encode()
        what = "" if current else "is of another version, or was edited"
        if not os.access(script, os.X_OK):
            what = "is not executable: the hook fails"
    except OSError as error:
        what = f"is missing ({error.strerror}): the hook fails"
    if what:
        level = problem if needed else note
        words = f"the script of the settings hook {what}"
        return [level("hooks", words, where=script, todo="run 'cv init' again", fixable=True)]
    return [ok("hooks", "script of the settings hook")]


def check_launcher() -> list[Finding]:
    """``CV_HOME/launcher`` names a ``bin/cv`` that exists: the script starts it."""
    path = cv_home() / "launcher"
    try:
        launcher = path.read_text("utf-8").strip()
    except OSError:
        what = "where bin/cv lies is not known: the settings hook stays silent"
    else:
        if os.path.isfile(launcher):
            return [ok("hooks", "launcher", where=launcher)]
        what = f"names {launcher}, which is gone: the settings hook stays silent"
    ours = os.environ.get("CV_LAUNCHER", "")
    todo = "nothing: the next session with the plugin writes it"
    level = warning if ours else note
    return [level("hooks", what, where=path, todo=todo, fixable=bool(ours))]


def check_last_runs(root: Path, *, known: Collection[CvError] = ()) -> list[Finding]:
    """How the newest session-start hook went, and the newest sync that one left running. ``known``: errors that another check
    tells of, and that need no second word where it was them that a run failed for.
    """
    found = []
    said = {describe(error) for error in known}
    hook = last_hook(root)
    log = "details are in .context-vigilance/hook.log; 'cv config set log on' writes every run"
    if hook is None:
        return [
            note(
                "hooks",
                "no session has started here yet since it was set up",
                todo="start Claude Code here; where this stays so, see whether the plugin is enabled (/plugin)",
            )
        ]
    when = f"{datetime.fromtimestamp(hook.at, UTC).astimezone():%Y-%m-%d %H:%M}"
    if not hook.ok and hook.error in said:
        pass
    elif not hook.ok:
        found.append(
            warning(
                "hooks",
                f"the last hook ({when}) failed: {hook.error}",
                todo=log,
            )
        )
    elif hook.ms > SLOW_MS:
        found.append(
            warning(
                "hooks",
                f"the last hook ({when}) took {hook.ms / 1000:.1f} s",
                todo="look for a slow disk or a virus scanner; " + log,
            )
        )
    elif hook.at > time.time() + 86_400:
        found.append(
            note(
                "hooks",
                f"the last hook is dated {when}: the clock was, or is, wrong",
                todo="set the clock; the next session puts it right",
            )
        )
    else:
        found.append(ok("hooks", f"last hook {when}, {hook.ms} ms"))
    run = read_record(root, "sync")
    if run.at and not run.ok and run.error.removeprefix("the sync failed: ") not in said:
        when = f"{datetime.fromtimestamp(run.at, UTC).astimezone():%Y-%m-%d %H:%M}"
        found.append(
            warning(
                "hooks",
                f"the last sync in the background ({when}): {run.error}",
                todo=f"{log}; 'cv sync' says it at once",
            )
        )
    return found
