"""``cv search``."""

from __future__ import annotations

from pathlib import Path

import click

from backend.commands.common import (
    AtLeast,
    coloured,
    json_option,
    now,
    open_root,
    print_json,
    root_option,
    said,
    scope_option,
    waited_for,
    width,
)
from backend.errors import UsageError
from backend.schemas.config import Config
from backend.schemas.private import PRIVATE_ROLES
from backend.schemas.roles import ROLES


@click.command()
@click.argument("question", nargs=-1, required=True)
@click.option(
    "--role",
    type=click.Choice((*ROLES, *PRIVATE_ROLES)),
    help="Only this role. The private ones (claude-code-…) are searched only when they are named here.",
)
@click.option(
    "--where",
    multiple=True,
    metavar="FIELD=VALUE",
    help="Only documents with it: repo, kind, status, tag, author, owner, since, until, role. "
    "Several fields narrow; the same field twice widens.",
)
@scope_option
@click.option(
    "-n",
    "--n-results",
    type=AtLeast(1),
    default=5,
    show_default=True,
    help="Passages to give.",
)
@click.option("--markdown", is_flag=True, help="Print for the agent's context: short, and inert.")
@root_option
@json_option
def search(
    question: tuple[str, ...],
    role: str | None,
    where: tuple[str, ...],
    scope: str | None,
    n_results: int,
    markdown: bool,
    root: Path | None,
    as_json: bool,
) -> None:
    """Give the passages that answer a question, with path and lines to cite."""
    from backend.kickoff.answers import answer_search
    from backend.render.passages_markdown import passages_markdown
    from backend.render.passages_text import passages_text

    asked = said(question, "a question")
    root, config = open_root(root)
    if role in PRIVATE_ROLES:
        if where or scope is not None:
            raise UsageError(f"{'--where' if where else '--scope'} does not apply to {role}")
        _search_private(root, config, role, asked, n_results, markdown, as_json)
        return
    with waited_for() as progress:
        passages = answer_search(
            root,
            config,
            asked,
            now=now(),
            limit=n_results,
            where=where,
            scope=scope,
            role=role,
            progress=progress,
        )
    if as_json:
        print_json(passages)
    elif markdown:
        click.echo(passages_markdown(passages), nl=False)
    else:
        click.echo(passages_text(passages, width=width(), colour=coloured()), nl=False)


def _search_private(
    root: Path,
    config: Config,
    role: str,
    question: str,
    limit: int,
    markdown: bool,
    as_json: bool,
) -> None:
    """Turns or tool calls of a private collection, which only this explicit role reaches; nothing is read in for it."""
    from backend.private.reading import search as run
    from backend.render.private_text import private_markdown, private_text

    passages = run(root, config, role, question, limit=limit)
    if as_json:
        print_json(passages)
    elif markdown:
        click.echo(private_markdown(passages), nl=False)
    else:
        click.echo(private_text(passages, width=width(), colour=coloured()), nl=False)
