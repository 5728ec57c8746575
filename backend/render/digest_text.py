"""The digest for a terminal: ``=== repo ===``, ``## Tag``, ``- path › date → lede``."""

from __future__ import annotations

from backend.render.counts import counted
from backend.render.day import marked_day
from backend.render.inert import single_line
from backend.render.paths import PATH_LIMIT, below_repo
from backend.render.terminal import Style, columns, pad, wrap, wrap_indented
from backend.schemas.catchup import Digest, DigestFile, DigestTag, Theme

LEDE_LIMIT = 160  # characters
_COMMAND_LIMIT = 300  # characters: what a person still copies
_LEDE = 36  # columns: a lede stands beside its path only where that many are left for it
_BESIDE_LINES = 2  # and where it takes about that many lines; a longer one reads better below
_REPOS = 5  # of a theme, named
_FEW_THEMES = (
    5  # more than that name one file each, so that the files of the window are soon in sight
)
_LEAST_THEMES = 3  # and where fewer files than themes are wanted, no more themes than files, but these; the rest by name alone
_BULLET = "    - "


def digest_text(
    digest: Digest, *, width: int = 80, colour: bool = False, command: str = "cv catch-up"
) -> str:
    """Return the digest as text of at most ``width`` columns; only a path, a word or ``command``, which asks for the same window,
    may be wider.

    A date that is not the document's own is marked ``(git)`` or ``(indexed)``. A file stands under each of its tags; its lede
    only where it is first named.
    """
    style = Style(colour)
    lines: list[str] = []
    if digest.themes:
        lines += [*_themes(digest, width, style, command), ""]
    for repo in digest.repos:
        lines.append(style.bold(f"=== {single_line(repo.repo, PATH_LIMIT)} ==="))
        told: set[str] = set()
        for tag in repo.tags:
            lines += [*_tag(tag, repo.repo, told, width, style), ""]
            told.update(file.source_path for file in tag.files)
    message = style.warn if digest.truncated else style.dim
    lines += [message(line) for line in wrap(single_line(digest.message, 2000), width)]
    for note in digest.notes:
        lines += [style.dim(line) for line in wrap_indented(single_line(note, 2000), width, "")]
    return "\n".join(lines) + "\n"


def date_label(file: DigestFile) -> str:
    """Return the day, marked where it is git's or the first indexing's."""
    return marked_day(file.date, file.date_from)


def _tag(tag: DigestTag, repo: str, told: set[str], width: int, style: Style) -> list[str]:
    shown = [single_line(below_repo(file.source_path, repo), PATH_LIMIT) for file in tag.files]
    dates = [date_label(file) for file in tag.files]
    date_width = max(len(date) for date in dates)
    free = width - columns(f"{_BULLET} › {' ' * date_width} → ")
    aligned = max((columns(path) for path in shown if columns(path) <= free - _LEDE), default=0)
    lines = ["  " + style.tag(f"## {single_line(tag.tag, 120)}")]
    for path, date, file in zip(shown, dates, tag.files, strict=True):
        known = file.source_path in told
        lede = "" if known else single_line(file.lede or file.title, LEDE_LIMIT)
        if columns(path) <= aligned and 0 < columns(lede) <= _BESIDE_LINES * (free - aligned):
            lines += _beside(pad(path, aligned), pad(date, date_width), lede, width, style)
        else:
            lines += _below(path, date, lede, width, style)
    return lines


def _beside(path: str, date: str, lede: str, width: int, style: Style) -> list[str]:
    indent = " " * columns(f"{_BULLET}{path} › {date} → ")
    first, *rest = wrap_indented(lede, width, indent, "")
    return [f"{_BULLET}{path} {style.dim(f'› {date} →')} {first}", *rest]


def _below(path: str, date: str, lede: str, width: int, style: Style) -> list[str]:
    words = wrap_indented(lede, width, " " * 8, "")
    if words:
        words[0] = f"      {style.dim('→')} {words[0]}"
    return [f"{_BULLET}{path} {style.dim(f'› {date}')}", *words]


def _themes(digest: Digest, width: int, style: Style, command: str) -> list[str]:
    period = digest.window if digest.window.startswith("since ") else f"in the {digest.window}"
    what = "Major themes" if digest.theme is None else "One theme"
    lines = [style.bold(f"{what} {period}:")]
    shown = digest.themes[: max(_LEAST_THEMES, digest.shown_files)]
    for theme in shown:
        lines += wrap_indented(theme_line(theme), width, " " * 6, "  ")
        for file in theme.files if len(digest.themes) <= _FEW_THEMES else theme.files[:1]:
            path = single_line(file.source_path, PATH_LIMIT)
            lines.append(f"      - {path} {style.dim('› ' + date_label(file))}")
    if rest := digest.themes[len(shown) :]:
        names = " · ".join(f"({theme.number}) {single_line(theme.name, 120)}" for theme in rest)
        more = f"… and {counted(len(rest), 'more theme')}: {names}"
        lines += [style.dim(line) for line in wrap_indented(more, width, " " * 6, "  ")]
    if digest.theme is None and (one := theme_command(command)):
        lines.append(style.dim(f"Drill into one: {one}"))
    return lines


def theme_command(command: str) -> str:
    """Return the command that lists the files of theme N of the window that ``command`` asks for; empty where ``command`` is too
    long for a line, or holds what may not be shown: shortened it would not run.
    """
    return f"{command} --theme N" if single_line(command, _COMMAND_LIMIT) == command else ""


def theme_line(theme: Theme) -> str:
    """Return ``(1) Auth, Sessions, 15 files (astro-knots 12, bay-labs 3)``."""
    repos = single_line(theme_repos(theme), 2000)
    return (
        f"({theme.number}) {single_line(theme.name, 120)}, {counted(theme.count, 'file')} ({repos})"
    )


def theme_repos(theme: Theme) -> str:
    """Return ``astro-knots 12, bay-labs 3``: the repos with most of the theme's files, and how many stand in others."""
    pairs = list(theme.repos.items())
    words = [f"{single_line(repo, 120)} {count}" for repo, count in pairs[:_REPOS]]
    if others := pairs[_REPOS:]:
        repos = "another repo" if len(others) == 1 else f"{len(others)} other repos"
        words.append(f"{repos} {sum(count for _, count in others)}")
    return ", ".join(words)
