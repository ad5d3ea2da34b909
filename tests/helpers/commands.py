"""Calling the command line."""

from __future__ import annotations

from typer.testing import CliRunner, Result

from service.cli.commands import app


def call(*arguments: object, **environment: str) -> Result:
    """What `counterpoint` does with these arguments."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], env=environment)
