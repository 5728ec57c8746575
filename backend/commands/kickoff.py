"""``cv find``, ``cv folders``."""

from __future__ import annotations

from pathlib import Path

import click

from backend.commands.common import (
    AtLeast,
    coloured,
    here,
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


@click.command()
@click.argument("task", nargs=-1, required=True)
@click.option(
    "-n",
    "--n-results",
    type=AtLeast(1),
    default=20,
    show_default=True,
    help="Files to propose.",
)
@click.option("--max-files", type=AtLeast(1), help="The same, and wins where both are given.")
@scope_option
@click.option(
    "--as-of", metavar="DATE", help="As if documents dated later did not exist (for measuring)."
)
@click.option(
    "--without",
    multiple=True,
    metavar="PATH",
    help="As if this document did not exist (for measuring).",
)
@click.option("--markdown", is_flag=True, help="Print for the agent's context: short, and inert.")
@root_option
@json_option
def find(
    task: tuple[str, ...],
    n_results: int,
    max_files: int | None,
    scope: str | None,
    as_of: str | None,
    without: tuple[str, ...],
    markdown: bool,
    root: Path | None,
    as_json: bool,
) -> None:
    """Propose the files that matter for a task, said in plain words."""
    from backend.kickoff.answers import answer_find
    from backend.render.findings_markdown import findings_markdown
    from backend.render.findings_text import findings_text
    from backend.tree.window import parse_since

    wanted = said(task, "a task")
    root, config = open_root(root)
    moment = now()
    day = parse_since(as_of, moment, option="--as-of").since if as_of else None
    with waited_for() as progress:
        findings = answer_find(
            root,
            config,
            wanted,
            folder=here(),
            now=moment,
            limit=max_files or n_results,
            scope=scope,
            as_of=day,
            without=without,
            progress=progress,
        )
    if as_json:
        print_json(findings)
    elif markdown:
        click.echo(findings_markdown(findings), nl=False)
    else:
        click.echo(findings_text(findings, width=width(), colour=coloured()), nl=False)


@click.command()
@scope_option
@root_option
@json_option
def folders(scope: str | None, root: Path | None, as_json: bool) -> None:
    """Show which folders hold documents, as a tree with counts."""
    from collections import Counter

    from backend.freshness.manifest import load_all_cards
    from backend.freshness.refresh import refresh
    from backend.kickoff.filters import read_scope
    from backend.render.folder_map import folder_map_text
    from backend.schemas.kickoff import FolderCount, FolderMap
    from backend.tree.scope import in_scope

    root, config = open_root(root)
    with waited_for() as progress:
        freshness = refresh(root, config, now=now(), progress=progress)
    place = read_scope(root, scope) if scope is not None else None
    counts = Counter(
        path.rpartition("/")[0] or "."
        for cards in load_all_cards(root).values()
        for path, card in cards.items()
        if place is None or in_scope(path, card.repo, place)
    )
    found = FolderMap(
        senior_root=str(root),
        scope=place or "",
        fresh=freshness.fresh,
        documents=counts.total(),
        folders=tuple(FolderCount(path=path, documents=counts[path]) for path in sorted(counts)),
        notes=freshness.notes,
    )
    print_json(found) if as_json else click.echo(folder_map_text(found), nl=False)
