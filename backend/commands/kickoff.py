"""``cv find``."""

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


@click.command()
@click.argument("task", nargs=-1, required=True)
@click.option(
    "--n-results",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Files to propose.",
)
@click.option(
    "--max-files", type=click.IntRange(min=1), help="The same, and wins where both are given."
)
@click.option("--scope", metavar="SLUG", help="Only this repo, nested repo, or folder.")
@click.option(
    "--as-of", metavar="DATE", help="As if documents dated later did not exist (for measuring)."
)
@click.option(
    "--without",
    multiple=True,
    metavar="PATH",
    help="As if this document did not exist (for measuring).",
)
@root_option
@json_option
def find(
    task: tuple[str, ...],
    n_results: int,
    max_files: int | None,
    scope: str | None,
    as_of: str | None,
    without: tuple[str, ...],
    root: Path | None,
    as_json: bool,
) -> None:
    """Propose the files that matter for a task, said in plain words."""
    from backend.freshness.manifest import load_all_cards
    from backend.freshness.places import load_places
    from backend.freshness.refresh import refresh
    from backend.kickoff.find import find as search
    from backend.render.findings_text import findings_text
    from backend.tree.scope import resolve_scope
    from backend.tree.window import parse_since

    root, config = open_root(root)
    moment = now()
    day = parse_since(as_of, moment, option="--as-of").since if as_of else None
    freshness = refresh(root, config, now=moment)
    if scope is not None:
        places = load_places(root)
        paths = [path for cards in load_all_cards(root).values() for path in cards]
        scope = resolve_scope(scope, list(places.repos) if places else [], paths)
    findings = search(
        root,
        config,
        " ".join(task),
        folder=here(),
        now=moment,
        limit=max_files or n_results,
        scope=scope,
        as_of=day,
        without=without,
        fresh=freshness.fresh,
        notes=freshness.notes,
    )
    if as_json:
        print_json(findings)
    else:
        click.echo(findings_text(findings, width=width(), colour=coloured()))
