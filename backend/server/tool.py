"""What a tool is: a name, typed arguments, and the function that answers. Nothing here knows the protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from backend.errors import UsageError
from backend.schemas.config import Config
from backend.tree.config import load_config
from backend.tree.root import require_root


class Answer(Struct, frozen=True):
    """What goes back: texts, each a block of its own, and the same as data where the tool has a schema for it."""

    texts: tuple[str, ...]
    data: dict[str, Any] | None = None


class Scene(Struct, frozen=True):
    """Where and when a call is answered: made anew for each, so that a changed config or a new index counts at once.

    ``folder`` is where the client works, ``named`` whether that is a root that ``--root`` named.
    """

    root: Path
    config: Config
    folder: Path
    now: datetime
    named: bool = False

    @classmethod
    def at(cls, root: Path | None) -> Scene:
        """The scene of a call now. Raises ``NotApplicable``, ``ConfigError``."""
        try:
            folder = Path.cwd()
        except OSError:  # removed since
            folder = Path.home()
        found = require_root(root if root is not None else folder)
        now = datetime.now().astimezone()
        return cls(found, load_config(found), found if root else folder, now, root is not None)


class Tool(Struct, frozen=True, kw_only=True):
    """A tool. ``schema``: the Struct that its answers are made from, None where they are text only."""

    name: str
    title: str
    description: str
    arguments: type[Struct]
    run: Callable[[Scene, Any], Answer]
    schema: type[Struct] | None = None

    def answer(self, root: Path | None, given: Mapping[str, Any]) -> Answer:
        """Answer a call with the arguments that a client has given. Raises ``CvError``."""
        arguments = read_arguments(self.name, self.arguments, given)
        return self.run(Scene.at(root), arguments)


def read_arguments(tool: str, kind: type[Struct], given: Mapping[str, Any]) -> Any:
    """``given`` as a ``kind``; numbers, lists and objects may come as text, as models write them now and then.

    Raises ``UsageError`` with what was expected, what was found, and where.
    """
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        unpacked = {name: _unpacked(value) for name, value in given.items()}
        with suppress(msgspec.ValidationError):
            return msgspec.convert(unpacked, kind, strict=False)
        takes = ", ".join(field.name for field in msgspec.structs.fields(kind)) or "no arguments"
        raise UsageError(f"{tool}: {error}; it takes {takes}") from None


def _unpacked(value: object) -> object:
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        with suppress(msgspec.DecodeError):
            return msgspec.json.decode(value)
    return value


def json_schema(kind: type[Struct]) -> dict[str, Any]:
    """The JSON Schema of a Struct, with its own fields at the top, as the protocol wants it."""
    schema = msgspec.json.schema(kind)
    parts: dict[str, Any] = schema["$defs"]
    own: dict[str, Any] = parts.pop(kind.__name__)
    own.pop("title", None)
    own.pop("description", None)
    return own | ({"$defs": parts} if parts else {})
