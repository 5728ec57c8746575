"""``cv config``: every key of config.json, read and changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from backend.commands.catchup import nudge_words
from backend.commands.common import (
    json_option,
    list_root,
    open_root,
    print_json,
    root_option,
    senior_root,
)
from backend.commands.completion import config_keys, config_values
from backend.errors import UsageError

if TYPE_CHECKING:
    from backend.schemas.config import Chroma, Config, Embedding, Reranker
    from backend.tree.config_faults import Checked


class ConfigGroup(click.Group):
    """``cv config``; a key where its command was forgotten is answered with the whole line."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click has it. Raises ``UsageError`` for a key in a command's place."""
        from backend.tree.config_keys import KEYS, unknown_key
        from backend.tree.quoting import quoted

        key, equals, value = args[0].partition("=")
        if key in KEYS and self.get_command(ctx, args[0]) is None:
            values = [value] * bool(equals) + args[1:]
            words = " ".join(["set" if values else "get", key, *map(quoted, values)])
            raise UsageError(f"{key}: is a key, not a command; you may mean: cv config {words}")
        if "." in key:
            raise unknown_key(key)
        return super().resolve_command(ctx, args)


@click.group(name="config", cls=ConfigGroup, invoke_without_command=True)
@click.pass_context
def config_group(context: click.Context) -> None:
    """Read and change config.json; alone it lists every key."""
    if context.invoked_subcommand is None:
        context.invoke(config_list, root=None, as_json=False)


@config_group.command(name="get")
@click.argument("key", shell_complete=config_keys)
@root_option
def config_get(key: str, root: Path | None) -> None:
    """Print one key's value."""
    from backend.tree.config_keys import get_key

    _, config = open_root(root)
    value = get_key(config, key)
    click.echo(value) if isinstance(value, str) else print_json(value)


@config_group.command(name="set", context_settings={"ignore_unknown_options": True})  # -1
@click.argument("key", shell_complete=config_keys)
@click.argument("value", shell_complete=config_values)
@click.option(
    "--install", is_flag=True, help="Install what embedding.name minilm needs (onnxruntime) first."
)
@root_option
def config_set(key: str, value: str, install: bool, root: Path | None) -> None:
    """Set one key."""
    from backend.tree.config_edits import set_key

    found, before = _open(root)
    if key == "embedding.name":
        from backend.freshness.embedder import check_name

        check_name(value)
        _check_parts(value, install=install)
    elif install:
        raise UsageError("--install goes with embedding.name minilm alone")
    if key == "reranker.url" and value:
        from backend.kickoff.rerank import check_url

        check_url(value)
    _say_it_is_so(found, key, before, set_key(found, key, value))


@config_group.command(name="unset")
@click.argument("key", shell_complete=config_keys)
@root_option
def config_unset(key: str, root: Path | None) -> None:
    """Set one key back to its default."""
    from backend.tree.config_edits import unset_key

    found, before = _open(root)
    _say_it_is_so(found, key, before, unset_key(found, key))


def _open(root: Path | None) -> tuple[Path, Config]:
    """As ``open_root``, with the default where a value is wrong: this is where it is mended."""
    from backend.tree.config_faults import check_config

    found = senior_root(root)
    config = check_config(found).config
    list_root(found)
    return found, config


def _say_it_is_so(found: Path, key: str, before: Config, config: Config) -> None:
    """The key's value now, and what follows from it. Some keys can name another program which documents or a key are sent to:
    who sets those here has chosen it on this machine, and a tree that only came with it has not.
    """
    from backend.tree.config_faults import check_config
    from backend.tree.config_keys import get_key

    part = key.partition(".")[0]
    click.echo(f"{key} = {_shown(get_key(config, key))}")
    follows = ""
    if part == "chroma":
        follows = _choose_chroma(found, key, before.chroma, config.chroma)
    elif part == "reranker":
        follows = _choose_reranker(found, key, before.reranker, config.reranker)
    elif part == "embedding":
        _choose_embedder(found, key, before.embedding, config.embedding)
        follows = _what_follows(found, config)
    if faults := _faults(check_config(found)):
        click.echo(faults)  # and nothing follows before those are mended
    elif follows:
        click.echo(follows)


def _faults(checked: Checked) -> str:
    """What is wrong in the file, a line each with what mends it; empty where nothing is."""
    from backend.tree.config_faults import cure

    if not checked.faults:
        return ""
    lines = [f"  {fault}; {cure(fault)}" for fault in checked.faults]
    return "\n".join(("Wrong in the file, and until it is mended nothing else works here:", *lines))


def _check_parts(embedder: str, *, install: bool) -> None:
    """Packages that the embedder needs are there; ``install``: installed where they are not."""
    from backend.freshness.embedder import check_installed
    from backend.tree import extras

    if not install:
        check_installed(embedder)
    elif embedder != "minilm":
        raise UsageError("--install goes with embedding.name minilm alone")
    elif not extras.is_installed(extras.MINILM):
        extras.install(extras.MINILM)


def _what_follows(root: Path, config: Config) -> str:
    """How many vectors another embedder has to make, and when."""
    from backend.freshness.renewal import standing

    found = standing(root, config)
    if found is None:
        return ""
    return f"{found}. 'cv sync' makes them, and each session's sync goes on with them"


def _choose_chroma(root: Path, key: str, before: Chroma, chroma: Chroma) -> str:
    """Chosen is a server by its mode or its host; its other keys only change one that was chosen already."""
    from backend.freshness.guarded import destination
    from backend.freshness.snapshot import forget_snapshot
    from backend.tree.home import approve, is_approved

    if key in ("chroma.mode", "chroma.host") or is_approved(root, before):
        approve(root, chroma)
        forget_snapshot(root)  # it says that nothing is left to do
        if key == "chroma.mode" or chroma.mode != "persistent":
            return destination(chroma)
    return ""


def _choose_embedder(root: Path, key: str, before: Embedding, embedding: Embedding) -> None:
    """Chosen is an embedder by its name or by where it lies (its options)."""
    from backend.tree.home import approve, is_approved

    if key in ("embedding.name", "embedding.options") or is_approved(root, before):
        approve(root, embedding)


def _choose_reranker(root: Path, key: str, before: Reranker, reranker: Reranker) -> str:
    """Chosen is a server by its address alone: to switch on one that came with the tree is not to have read where it lies."""
    from backend.kickoff.rerank import NO_ADDRESS, destination
    from backend.tree.home import approve, is_chosen

    if key == "reranker.url" or is_chosen(root, before):
        approve(root, reranker)
        return destination(reranker)
    if reranker.name != "off" and not reranker.url:
        return NO_ADDRESS
    return ""


@config_group.command(name="list")
@root_option
@json_option
@click.pass_context
def config_list(context: click.Context, root: Path | None, as_json: bool) -> None:
    """Print every key, its value, and what it does."""
    from backend.schemas.config import Config
    from backend.tree.config_faults import check_config
    from backend.tree.config_keys import KEYS, get_key

    if as_json:
        print_json(open_root(root)[1])
        return
    found, config = _open(root)
    checked, defaults = check_config(found), Config(senior_root=str(found))
    wrong = {key for fault in checked.faults for key in fault.keys}
    for key, entry in KEYS.items():
        value = get_key(config, key)
        mark = " (default)" if value == get_key(defaults, key) else ""
        if not wrong.isdisjoint((key, key.partition(".")[0])):
            mark = " (default; the file's value is wrong)"
        click.echo(f"{key} = {_shown(value)}{mark}\n    {entry.meaning}; {entry.expected}")
    if checked.faults:
        click.echo(_faults(checked))
        context.exit(1)


def _switch(name: str, key: str, what: str, words: Callable[[Config], str]) -> click.Command:
    """``cv config NAME on|off``: a short way to say ``cv config set KEY on|off``; alone it says which it is, in ``words``."""

    @click.command(name=name, help=f"Switch {what} on or off for good; alone: say which it is.")
    @click.argument("state", required=False, type=click.Choice(["on", "off"]))
    @root_option
    def switch(state: str | None, root: Path | None) -> None:
        from backend.tree.config_edits import set_key
        from backend.tree.config_faults import check_config

        if state is None:
            _, config = open_root(root)
        else:
            found, _ = _open(root)
            config = set_key(found, key, state)
        click.echo(words(config))
        if state is not None and (faults := _faults(check_config(found))):
            click.echo(faults)

    return switch


config_group.add_command(
    _switch("nudge", "nudge.state", "the catch-up nudge", lambda config: nudge_words(config.nudge))
)
config_group.add_command(
    _switch(
        "kickoff",
        "kickoff",
        "asking for the working set",
        lambda config: f"asking for the working set is {config.kickoff}",
    )
)


def _shown(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)
