"""``cv config``: every key of config.json, read and changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from backend.commands.common import json_option, open_root, print_json, root_option
from backend.commands.completion import config_keys, config_values
from backend.errors import UsageError

if TYPE_CHECKING:
    from backend.schemas.config import Chroma, Config, Embedding, Reranker


@click.group(name="config", invoke_without_command=True)
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

    found, before = open_root(root)
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

    found, before = open_root(root)
    _say_it_is_so(found, key, before, unset_key(found, key))


def _say_it_is_so(found: Path, key: str, before: Config, config: Config) -> None:
    """The key's value now, and what follows from it. Some keys can name another program which documents or a key are sent to:
    who sets those here has chosen it on this machine, and a tree that only came with it has not.
    """
    from backend.tree.config_keys import get_key

    part = key.partition(".")[0]
    click.echo(f"{key} = {_shown(get_key(config, key))}")
    if part == "chroma":
        _choose_chroma(found, key, before.chroma, config.chroma)
    elif part == "reranker":
        _choose_reranker(found, key, before.reranker, config.reranker)
    elif part == "embedding":
        _choose_embedder(found, key, before.embedding, config.embedding)
        _say_what_follows(found, config)


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


def _say_what_follows(root: Path, config: Config) -> None:
    """How many vectors another embedder has to make, and when."""
    from backend.freshness.renewal import standing

    found = standing(root, config)
    if found is not None:
        click.echo(f"{found}. 'cv sync' makes them, and each session's sync goes on with them")


def _choose_chroma(root: Path, key: str, before: Chroma, chroma: Chroma) -> None:
    """Chosen is a server by its mode or its host; its other keys only change one that was chosen already."""
    from backend.freshness.guarded import destination
    from backend.freshness.snapshot import forget_snapshot
    from backend.tree.home import approve, is_approved

    if key in ("chroma.mode", "chroma.host") or is_approved(root, before):
        approve(root, chroma)
        forget_snapshot(root)  # it says that nothing is left to do
        if key == "chroma.mode" or chroma.mode != "persistent":
            click.echo(destination(chroma))


def _choose_embedder(root: Path, key: str, before: Embedding, embedding: Embedding) -> None:
    """Chosen is an embedder by its name or by where it lies (its options)."""
    from backend.tree.home import approve, is_approved

    if key in ("embedding.name", "embedding.options") or is_approved(root, before):
        approve(root, embedding)


def _choose_reranker(root: Path, key: str, before: Reranker, reranker: Reranker) -> None:
    """Chosen is a server by its address alone: to switch on one that came with the tree is not to have read where it lies."""
    from backend.kickoff.rerank import destination
    from backend.tree.home import approve, is_chosen

    if key == "reranker.url" or is_chosen(root, before):
        approve(root, reranker)
        click.echo(destination(reranker))


@config_group.command(name="list")
@root_option
@json_option
def config_list(root: Path | None, as_json: bool) -> None:
    """Print every key, its value, and what it does."""
    from backend.schemas.config import Config
    from backend.tree.config_keys import KEYS, get_key

    found, config = open_root(root)
    if as_json:
        print_json(config)
        return
    defaults = Config(senior_root=str(found))
    for key, entry in KEYS.items():
        value = get_key(config, key)
        mark = "" if value != get_key(defaults, key) else " (default)"
        click.echo(f"{key} = {_shown(value)}{mark}\n    {entry.meaning}; {entry.expected}")


def _switch(name: str, key: str, what: str) -> click.Command:
    """``cv config NAME on|off``: a short way to say ``cv config set KEY on|off``."""

    @click.command(name=name, help=f"Switch {what} on or off for good.")
    @click.argument("state", type=click.Choice(["on", "off"]))
    @root_option
    def switch(state: str, root: Path | None) -> None:
        from backend.tree.config_edits import set_key

        found, _ = open_root(root)
        set_key(found, key, state)
        click.echo(f"{what} is {state}")

    return switch


config_group.add_command(_switch("nudge", "nudge.state", "the catch-up nudge"))
config_group.add_command(_switch("kickoff", "kickoff", "asking for the working set"))


def _shown(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)
