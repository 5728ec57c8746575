"""``cv catch-up``, ``cv nudge``."""

from __future__ import annotations

import os
from datetime import UTC
from pathlib import Path
from typing import Any

import click

from backend.commands.common import (
    coloured,
    json_option,
    now,
    open_root,
    print_json,
    root_option,
    scope_option,
    waited_for,
    width,
)
from backend.commands.completion import repos
from backend.errors import UsageError
from backend.schemas.catchup import Digest
from backend.schemas.config import Nudge
from backend.tree.quoting import quoted


@click.command(name="catch-up")
@click.argument("place", required=False, metavar="[SLUG]", shell_complete=repos)
@click.option(
    "--window", help="How far back: 10d, 2w, 3m, 1y (default: catch_up.window of the config)."
)
@click.option("--since", metavar="DATE", help="Since a day, such as 2026-05-01.")
@scope_option
@click.option(
    "--by-author",
    metavar="NAME",
    help="Only documents with such an author (part of the name will do).",
)
@click.option("--owner", metavar="NAME", help="Only documents of this owner.")
@click.option("--not-by", metavar="NAME", help="Without the documents that only this author wrote.")
@click.option(
    "--max-files",
    type=int,
    help="Show at most so many files (default: catch_up.max_files of the config).",
)
@click.option(
    "--alphabetical", is_flag=True, help="Repos, tags and files by name instead of newest first."
)
@click.option(
    "--theme", type=int, metavar="N", help="Only the files of the N-th theme of the window."
)
@click.option(
    "--html", type=click.Path(path_type=Path, dir_okay=False), help="Write one page of HTML."
)
@click.option("--open", "open_page", is_flag=True, help="Open that page in the browser.")
@click.option(
    "--markdown", is_flag=True, help="Compact Markdown, of bounded size, for an agent's context."
)
@root_option
@json_option
def catch_up(
    place: str | None,
    window: str | None,
    since: str | None,
    scope: str | None,
    by_author: str | None,
    owner: str | None,
    not_by: str | None,
    max_files: int | None,
    alphabetical: bool,
    theme: int | None,
    html: Path | None,
    open_page: bool,
    markdown: bool,
    root: Path | None,
    as_json: bool,
) -> None:
    """What moved across the tree, or below SLUG: repo, tag, files, newest first."""
    # Before numpy is loaded: the themes' matrices are small, so its threads cost several times what they
    # gain, and one thread adds up in the same order on every machine.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from backend.catchup.answer import answer_catch_up
    from backend.render.digest_markdown import digest_markdown
    from backend.render.digest_text import digest_text

    if open_page and html is None:
        raise UsageError("--open goes with --html FILE")
    asked: dict[str, Any] = {
        "window": window,
        "since": since,
        "scope": scope or place,
        "by_author": by_author,
        "owner": owner,
        "not_by": not_by,
    }
    again = _command_line(**asked, root=root)
    root, config = open_root(root)
    with waited_for() as progress:
        digest = answer_catch_up(
            root,
            config,
            now=now(),
            **asked,
            max_files=max_files,
            alphabetical=alphabetical,
            theme=theme,
            progress=progress,
        )
    if html is not None:
        _write_page(html, digest, open_page)
    if as_json:
        print_json(digest)
    elif markdown:
        click.echo(digest_markdown(digest, command=again), nl=False)
    elif html is None:
        text = digest_text(digest, width=width(), colour=coloured(), command=again)
        click.echo(text, nl=False)


def _command_line(**options: str | Path | None) -> str:
    """The command with those of ``options`` that were given, to be copied and gone on with."""
    words = ["cv", "catch-up"]
    for name, value in options.items():
        if value is not None:
            words += [f"--{name.replace('_', '-')}", quoted(value)]
    return " ".join(words)


def _write_page(file: Path, digest: Digest, open_page: bool) -> None:
    import webbrowser

    from backend.render.page import digest_page
    from backend.render.page_file import write_page

    file = write_page(file, digest_page(digest))
    click.echo(f"wrote {file}", err=True)
    if open_page and not webbrowser.open(file.as_uri()):
        click.echo("no browser could be started here; open the file by hand", err=True)


@click.command()
@click.argument(
    "choice", required=False, type=click.Choice(["mute-for-today", "mute-for-week", "on", "off"])
)
@root_option
@json_option
def nudge(choice: str | None, root: Path | None, as_json: bool) -> None:
    """Say whether the catch-up nudge speaks, mute it for a while, or switch it."""
    from backend.catchup.nudge import mute_until
    from backend.tree.config import change_config

    root, config = open_root(root)
    if choice is not None:

        def change(raw: dict[str, Any]) -> None:
            settings = raw.setdefault("nudge", {})
            if choice in ("on", "off"):
                settings |= {"state": choice, "muted_until": None}
            else:
                settings["muted_until"] = (
                    mute_until(choice, now()).astimezone(UTC).isoformat().replace("+00:00", "Z")
                )

        config = change_config(root, change)
    if as_json:
        print_json(config.nudge)
        return
    click.echo(nudge_words(config.nudge))


def nudge_words(settings: Nudge) -> str:
    """Whether the nudge speaks, in a sentence's half."""
    muted = settings.muted_until
    silent = (
        f", silent until {muted.astimezone():%Y-%m-%d %H:%M}" if muted and muted > now() else ""
    )
    return f"the catch-up nudge is {settings.state}{silent}"
