"""The command line: every command of the service, by its name.

A command imports heavy modules only when it runs, so that --help answers at once.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from counterpoint.service.cli.ask import answer, evidence, ground, search, show
from counterpoint.service.cli.check import check
from counterpoint.service.cli.index import index_app
from counterpoint.service.cli.memory import feedback_app, history_app, saved_app, watch_app
from counterpoint.service.cli.model import model
from counterpoint.service.cli.run import check_app, run_app
from counterpoint.service.cli.serve import config, mcp, serve
from counterpoint.service.cli.usage import CommandLine

app = typer.Typer(
    cls=CommandLine,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["--help", "-h"]},
    name="counterpoint",
    help="For any biomedical claim: the papers that contradict it and the papers that support it, sentence by sentence.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for command in (ground, check, answer, search, show, serve, config, mcp, evidence, model):
    app.command(command.__name__)(command)
app.add_typer(index_app, name="index")
app.add_typer(run_app, name="run")
app.add_typer(check_app, name="check-run")
app.add_typer(history_app, name="history")
app.add_typer(saved_app, name="saved")
app.add_typer(watch_app, name="watch")
app.add_typer(feedback_app, name="feedback")


def _print_version(flag: bool) -> None:
    if flag:
        typer.echo(f"counterpoint {version('counterpoint')}")
        raise typer.Exit


@app.callback()
def _group(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Show the version and exit.")
    ] = False,
) -> None:
    """Hold what can be asked before any command is named."""


def main() -> None:
    """Run the command line."""
    app()
