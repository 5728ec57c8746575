"""``cv search``."""

from __future__ import annotations

from pathlib import Path

import click

from backend.commands.common import (
    coloured,
    here,
    json_option,
    now,
    open_root,
    print_json,
    root_option,
    width,
)
from backend.schemas.roles import ROLES


@click.command()
@click.argument("question", nargs=-1, required=True)
@click.option("--role", type=click.Choice(ROLES), help="Only this role.")
@click.option(
    "--where",
    multiple=True,
    metavar="FIELD=VALUE",
    help="Only documents with it: repo, kind, status, tag, author, owner, since, until, role. "
    "Several fields narrow; the same field twice widens.",
)
@click.option(
    "-n",
    "--n-results",
    type=click.IntRange(min=1),
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
    n_results: int,
    markdown: bool,
    root: Path | None,
    as_json: bool,
) -> None:
    """Give the passages that answer a question, with path and lines to cite."""
    from backend.freshness.manifest import load_all_cards
    from backend.freshness.places import load_places
    from backend.freshness.refresh import refresh
    from backend.kickoff.filters import read_filters
    from backend.kickoff.search import search as run
    from backend.render.passages_markdown import passages_markdown
    from backend.render.passages_text import passages_text

    root, config = open_root(root)
    moment = now()
    freshness = refresh(root, config, now=moment)
    asked = (*where, f"role={role}") if role else where
    places = load_places(root)
    repos = places.repos if places else ()
    filters = read_filters(asked, load_all_cards(root), repos, moment) if asked else ()
    passages = run(
        root,
        config,
        " ".join(question),
        now=moment,
        limit=n_results,
        filters=filters,
        fresh=freshness.fresh,
        notes=freshness.notes,
    )
    if as_json:
        print_json(passages)
    elif markdown:
        click.echo(passages_markdown(passages), nl=False)
    else:
        text = passages_text(passages, folder=here(), width=width(), colour=coloured())
        click.echo(text, nl=False)
