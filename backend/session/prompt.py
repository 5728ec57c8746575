"""The UserPromptSubmit hook: whether the first real prompt of a session is answered with kickoff's question."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from backend.session import words
from backend.session.event import Event, settle
from backend.session.journal import Journal
from backend.session.opening import open_tree
from backend.session.references import find_references
from backend.session.state import Kickoff, SessionState, load_state, save_state

_SMALL_TALK = frozenset(
    "hi hello hey hiya yo there again morning afternoon evening good day thanks thank you thx cheers ok okay k yes yep no nope "
    "sure please great cool nice fine perfect right go on ahead continue proceed do it so much very well done bye hallo danke "
    "merci bonjour salut hola gracias ciao all everyone claude".split()
)
_WITHOUT_BLANKS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)
"""Letters of scripts that write no blanks between words (Thai, Lao, Burmese, Khmer, Japanese, Chinese)."""

_WORD_OF_SUCH = 4
"""So many letters of these count as one word: a greeting has two to four (你好, こんにちは has five and passes as a prompt)."""


def user_prompt(
    event: Event, *, started: float, verbose: bool, journal: list[Journal]
) -> dict[str, Any] | None:
    """The answer to a prompt of an attended session whose first real prompt has not been dealt with yet; None to say nothing."""
    opened = open_tree(
        event, "user-prompt", started=started, verbose=verbose, journal=journal, keeps_record=False
    )
    if opened is None:
        return None
    root, config, own = opened
    prompt = event.text("prompt")
    found = find_references(prompt, root, Path(event.cwd))
    if not found.any and is_trivial(prompt):
        return None
    asks = not found.any and config.kickoff == "on"
    if not settle(event.session_id):
        return None  # noted by another hook; or it can't be noted, and then it would be asked at every prompt
    if config.kickoff == "on":
        _remember(event, root, "asked" if asks else "user-drives")
    own.done("asks" if asks else "quiet")
    if not asks:
        return None
    return {
        "hookSpecificOutput": {
            "hookEventName": "UserPromptSubmit",
            "additionalContext": words.ask_context(),
        }
    }


def is_trivial(prompt: str) -> bool:
    """Whether a prompt gives no task: one word, or nothing but small talk."""
    if len(_WITHOUT_BLANKS.findall(prompt)) > _WORD_OF_SUCH:
        return False
    found = re.findall(r"[^\W_]+(?:['\u2019][^\W_]+)?", prompt.casefold())
    return len(prompt.split()) <= 1 or all(word in _SMALL_TALK for word in found)


def _remember(event: Event, root: Path, kickoff: Kickoff) -> None:
    state = load_state(event.session_id) or SessionState(root=str(root), folder=event.cwd)
    if state.kickoff in ("open", "asked"):
        with suppress(OSError):
            save_state(event.session_id, replace(state, kickoff=kickoff))
