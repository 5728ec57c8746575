"""The command line: gathers the commands, and turns every error into words for a person and an exit code.

Exit codes: 0 done; 1 failed; 2 wrong arguments; 3 no senior root here; 4 another writer is at work; 130 interrupted.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress

import click

from backend import __version__
from backend.commands.catchup import catch_up, nudge
from backend.commands.common import OPENED
from backend.commands.completion import commands
from backend.commands.config import config_group
from backend.commands.demo import demo
from backend.commands.dismiss import dismiss, undismiss
from backend.commands.doctor import doctor
from backend.commands.forget import forget
from backend.commands.inline import (
    INLINE,
    inline_arguments,
    nobody_reads,
    print_between_tags,
    typed,
)
from backend.commands.kickoff import find, folders
from backend.commands.mcp import mcp
from backend.commands.search import search
from backend.commands.setup import init, list_roots
from backend.commands.sync import status, sync
from backend.commands.why import why
from backend.errors import INTERRUPTED, CvError, UsageError
from backend.render.escaped import escaped
from backend.session.commands import session
from backend.tree.defects import keep_defect
from backend.tree.home import register_root


@click.group(
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog='Completion in your shell: eval "$(_CV_COMPLETE=bash_source cv)" (or zsh_source; fish_source for fish).',
)
@click.version_option(__version__, prog_name="cv")
@click.pass_context
def cli(context: click.Context) -> None:
    """Context Vigilance: the right documents at hand, and what moved since last time."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@cli.result_callback()
@click.pass_context
def register(context: click.Context, /, result: object, **_: object) -> object:
    """After a command that ended well: its senior root is in 'cv list-roots'. Where that can't be written, it is not."""
    root = context.meta.get(OPENED)
    if root is not None:
        with suppress(CvError, OSError):
            register_root(root)
    return result


for command in (
    init,
    sync,
    find,
    search,
    folders,
    why,
    catch_up,
    nudge,
    config_group,
    dismiss,
    undismiss,
    status,
    doctor,
    list_roots,
    session,
    forget,
    mcp,
    demo,
):
    cli.add_command(command)
cli.add_command(sync, "ingest")


@cli.command(name="test", context_settings={"ignore_unknown_options": True})
@click.argument("options", nargs=-1)
def test_command(options: tuple[str, ...]) -> None:
    """Run all tests; further words go to pytest."""
    # bin/cv does this by itself, in an environment of its own, and never comes here.
    raise UsageError("the tests come with a clone of the repository; there it is: bin/cv test")


@cli.command(name="help")
@click.argument("command", nargs=-1, shell_complete=commands)
@click.pass_context
def help_command(context: click.Context, command: tuple[str, ...]) -> None:
    """Say what there is, or what one command takes."""
    assert context.parent is not None
    target: click.Command = cli
    for name in command:
        found = target.get_command(context, name) if isinstance(target, click.Group) else None
        if found is None:
            raise UsageError(f"{' '.join(command)}: no such command; 'cv help' lists them")
        target = found
    name = " ".join(("cv", *command))
    with click.Context(target, info_name=name, **cli.context_settings) as own:
        click.echo(target.get_help(own))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if INLINE in arguments:
        return _main_inline(arguments)
    code, message = run(arguments)
    if message:
        with suppress(OSError):  # nobody to tell: the exit code says it
            print(escaped(message), file=sys.stderr)
    return code


def _main_inline(arguments: list[str]) -> int:
    """The same for a slash command, which shows the agent what is printed."""
    said = io.StringIO()
    with redirect_stdout(said):
        _, message = run(arguments)
        if message:
            print(escaped(message))
    print_between_tags(said.getvalue())
    return 0


def run(arguments: list[str]) -> tuple[int, str]:
    """Exit code, and the words of an error."""
    inline = INLINE in arguments
    try:
        if inline:
            arguments = [argument for argument in arguments if argument != INLINE]
            arguments += inline_arguments(arguments, typed())
        result = cli.main(
            args=arguments, prog_name="cv", standalone_mode=False, obj=INLINE if inline else None
        )
        return (result if isinstance(result, int) else 0), ""
    except CvError as error:
        return error.exit_code, f"cv: {error}"
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "cv"
        return 2, f"cv: {error.format_message()}\n'{command} --help' says what it takes"
    except click.ClickException as error:
        return 1, f"cv: {error.format_message()}"
    except (KeyboardInterrupt, click.Abort):
        return 130, INTERRUPTED
    except (BrokenPipeError, SystemExit):
        # The reader has gone (a pager, head), which click ends with SystemExit. Nothing can be said any more, and Python
        # must not try at exit.
        nobody_reads()
        return 0, ""
    except UnicodeError:
        return 2, "cv: an argument is not valid Unicode; name the file or text in another way"
    except OSError as error:
        what = f"{error.filename}: " if error.filename else ""
        return (
            1,
            f"cv: {what}{error.strerror or error}; nothing is lost, try again when that is mended",
        )
    # Also what is no Exception: a panic of a library written in Rust.
    except BaseException as error:
        return 1, f"cv: {keep_defect(error)}"


def _alone(command: str) -> int:
    return main([command, *sys.argv[1:]])


def cv_init() -> int:
    """Run ``cv init``: the console script of that name."""
    return _alone("init")


def cv_dismiss() -> int:
    """Run ``cv dismiss``: the console script of that name."""
    return _alone("dismiss")


def cv_undismiss() -> int:
    """Run ``cv undismiss``: the console script of that name."""
    return _alone("undismiss")


def cv_config() -> int:
    """Run ``cv config``: the console script of that name."""
    return _alone("config")


def cv_status() -> int:
    """Run ``cv status``: the console script of that name."""
    return _alone("status")


def cv_doctor() -> int:
    """Run ``cv doctor``: the console script of that name."""
    return _alone("doctor")


def cv_help() -> int:
    """Run ``cv help``: the console script of that name."""
    return _alone("help")


def cv_list_roots() -> int:
    """Run ``cv list-roots``: the console script of that name."""
    return _alone("list-roots")
