"""What every command prints besides its result: errors, progress notes and the command itself."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from retrieval.core.errors import CounterpointError


@contextmanager
def report_errors() -> Iterator[None]:
    """Turn every error that the user can fix into one sentence and exit code 2."""
    try:
        yield
    except CounterpointError as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        typer.echo("Stopped.", err=True)
        raise typer.Exit(130) from None


def print_note(line: str) -> None:
    """Print a line about the work, as opposed to its result, on standard error."""
    typer.echo(line, err=True)


def get_command_line() -> str:
    """Return the command as it was typed, for use in reports."""
    return shlex.join(["counterpoint", *sys.argv[1:]])
