"""``cv mcp``."""

from __future__ import annotations

import os
from pathlib import Path

import click

from backend.commands.common import named_root, root_option
from backend.errors import UsageError


@click.command()
@click.option(
    "--as-chroma",
    is_flag=True,
    help="Offer the read-only tools of chroma-mcp instead, to be registered under the name chroma.",
)
@click.option("--install", is_flag=True, help="Install the MCP SDK, an optional part, and end.")
@root_option
def mcp(as_chroma: bool, install: bool, root: Path | None) -> None:
    """Serve find, search, catch_up and status to an MCP client, over standard input and output.

    A client starts it; docs/mcp.md says how to register it. Nothing does so by itself.
    """
    from backend.tree import extras

    if install:
        if as_chroma:
            raise UsageError("--install goes alone")
        extras.install(extras.MCP)
        click.echo(f"The MCP SDK is installed. To turn the server on: {_register_line()}")
        return
    extras.require(extras.MCP)
    from backend.server import chroma_tools, tools
    from backend.server.stdio import serve

    named = named_root(root) if root is not None else None
    if as_chroma:
        serve("chroma", chroma_tools.INSTRUCTIONS, chroma_tools.TOOLS, named)
    serve("context-vigilance", tools.INSTRUCTIONS, tools.TOOLS, named)


def _register_line() -> str:
    """What a person types to let Claude Code start the server."""
    from backend.tree.quoting import quoted

    launcher = os.environ.get("CV_LAUNCHER", "")
    return f"claude mcp add context-vigilance -- {quoted(launcher) if launcher else 'cv'} mcp"
