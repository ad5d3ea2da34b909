"""Calling the command line."""

from __future__ import annotations

from typer.testing import CliRunner, Result

from counterpoint.service.cli.commands import app


def call(*arguments: object, **environment: str) -> Result:
    """What `counterpoint` does with these arguments."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], env=environment)


def told(*arguments: object, **environment: str) -> str:
    """The one sentence with which a command refuses: exit code 2, nothing on standard output, and no traceback."""
    result = call(*arguments, **environment)
    assert result.exit_code == 2 and result.stdout == "", result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    *begun, line = result.stderr.strip().splitlines()
    assert all(one.startswith(("Building an index", "Encoding the documents", "Updating the index")) for one in begun), (
        result.stderr
    )
    assert line.startswith("Error: ")
    return line.removeprefix("Error: ")
