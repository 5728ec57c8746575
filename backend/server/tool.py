"""What a tool is: a name, typed arguments, and the function that answers. Nothing here knows the protocol."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from backend.errors import UsageError
from backend.schemas.config import Config
from backend.schemas.private import PRIVATE_ROLES
from backend.schemas.roles import ROLES
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
        """The scene of a call now. Raises as ``require_root``, and ``ConfigError``."""
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
        try:
            return self.run(Scene.at(root), arguments)
        except UsageError as error:
            raise UsageError(_without_dashes(str(error), self.arguments)) from error


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
        raise UsageError(f"{tool}: {_in_words(str(error), given)}; it takes {takes}") from None


def _without_dashes(error: str, kind: type[Struct]) -> str:
    """An error of a command, with its options (``--not-by``) called as the tool's arguments are (``not_by``)."""
    names = {field.name for field in msgspec.structs.fields(kind)}

    def plain(option: re.Match[str]) -> str:
        name = option[1].replace("-", "_")
        return name if name in names else option[0]

    return re.sub(r"(?<!\S)--([a-z]+(?:-[a-z]+)*)", plain, error)


_TYPES = {
    "str": "text",
    "int": "a whole number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_EXPECTED = re.compile(r"Expected `([^`]+)`(?: (?:of length )?>= (\d+))?")


def _in_words(error: str, given: Mapping[str, Any]) -> str:
    """``task: expected text, got 3`` out of msgspec's words; those themselves for what is not foreseen here."""
    if field := re.search(r"(missing required|unknown) field `(.+?)`(?! -)", error):
        missing = field[1] == "missing required"
        return f"{field[2]}: {'expected, but it is missing' if missing else 'there is no such argument'}"
    place = re.search(r" - at `\$\.(\w+)(\[.*)?`", error)
    if place is None:
        return error
    got = f"got {msgspec.json.encode(given.get(place[1])).decode()[:80]}"
    if expected := _EXPECTED.match(error):
        kinds = " or ".join(_TYPES.get(each, each) for each in expected[1].split(" | "))
        least = f", {expected[2]} or more" if expected[2] and "int" in expected[1] else ""
        some = "some " if expected[2] and expected[1] == "str" else ""
        inside = f"{kinds} in the list" if place[2] else kinds
        return f"{place[1]}: expected {some}{inside}{least}, {got}"
    if place[1] == "role":
        private = "; private collections are not offered" if given["role"] in PRIVATE_ROLES else ""
        return f"role: expected {' or '.join(ROLES)}, {got}{private}"
    return error


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
