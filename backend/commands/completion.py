"""What a shell completes beyond commands and options: keys of the config and their values, repos, commands for help, files.

Nothing here ever raises or prints: a shell would show it in the middle of the line that somebody is typing.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import click
from click.shell_completion import CompletionItem

from backend.commands.common import here
from backend.tree.config_keys import KEYS
from backend.tree.root import find_root


def config_keys(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Keys of the config, each with its meaning."""
    return _beginning(begun, {key: entry.meaning for key, entry in KEYS.items()}.items())


def config_values(context: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
    """Values of the key before it, where there are some to choose from."""
    entry = KEYS.get(str(context.params.get("key")))
    return _beginning(begun, ((value, None) for value in (entry.values if entry else ())))


def repos(context: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
    """Repos and nested repos that hold documents, as the manifests have them; the disk is not asked."""
    with suppress(Exception):
        from backend.freshness.manifest import load_all_cards

        root = find_root(context.params.get("root") or here())
        if root is not None:
            cards = (card for role in load_all_cards(root).values() for card in role.values())
            return _beginning(begun, ((slug, None) for slug in sorted({c.repo for c in cards})))
    return []


def commands(context: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
    """Commands, and those of a group that has been named, each with what its help begins with."""
    group = context.find_root().command
    for name in context.params.get("command") or ():
        found = group.get_command(context, name) if isinstance(group, click.Group) else None
        if found is None:
            return []
        group = found
    if not isinstance(group, click.Group):
        return []
    return _beginning(
        begun, ((name, each.get_short_help_str()) for name, each in group.commands.items())
    )


def files(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Whatever files the shell knows."""
    return [CompletionItem(begun, type="file")]


def _beginning(begun: str, choices: Iterable[tuple[str, str | None]]) -> list[CompletionItem]:
    return [
        CompletionItem(value, help=words) for value, words in choices if value.startswith(begun)
    ]
