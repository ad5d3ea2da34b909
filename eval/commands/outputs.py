"""Shared by the commands of `counterpoint eval`: where they keep their work, and the reports that they print and write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterpoint.service.cli.shared import get_command_line, print_note

if TYPE_CHECKING:
    from counterpoint.eval.measures.report import Report

DATA_VARIABLE = "COUNTERPOINT_DATA"


def argument(metavar: str, help: str) -> Any:
    """An argument that must be given."""
    return typer.Argument(metavar=metavar, help=help, show_default=False)


def option(name: str, help: str, metavar: str | None = None) -> Any:
    """An option without a default that is worth showing."""
    return typer.Option(name, metavar=metavar, help=help, show_default=False)


JsonOption = Annotated[Path | None, option("--json", "Write all figures to this file.", "OUT")]
MarkdownOption = Annotated[Path | None, option("--markdown", "Write the tables as Markdown.", "OUT")]
DataOption = Annotated[Path | None, option("--data", f"The folder with SciFact's files (or the variable {DATA_VARIABLE}).")]


def work_option(what: str) -> Any:
    """The option --work of a command; `what` names what is kept there."""
    return typer.Option("--work", metavar="DIR", help=f"Where {what} saved; a stopped run resumes from there.")


def check_outputs(json: Path | None, markdown: Path | None = None, inputs: Sequence[Path] = ()) -> None:
    """Raise `BadInput` where a report cannot be written: before hours of work, not after them.

    It may replace neither one of the input files nor the other report.
    """
    from counterpoint.retrieval.core.errors import BadInput
    from counterpoint.service.runs.journal import check_target

    for option, out in (("--json", json), ("--markdown", markdown)):
        if out is None:
            continue
        check_target(out, overwrite=True)
        if out.resolve() in {path.resolve() for path in inputs}:
            raise BadInput(f"{option} names {out}, which is an input; give the report another name.")
    if json and markdown and json.resolve() == markdown.resolve():
        raise BadInput("--json and --markdown must name different files.")


def publish(report: Report, json: Path | None, markdown: Path | None) -> None:
    """Print a report and write it where asked, with the command and the version that made it."""
    from counterpoint.eval.measures.figures import RESAMPLES, SEED

    made_with = {"counterpoint": version("counterpoint"), "command": get_command_line(), **report.made_with}
    report = replace(report, made_with={**made_with, "bootstrap_seed": SEED, "bootstrap_resamples": RESAMPLES})
    typer.echo(report.text())
    for out, text in ((json, report.json), (markdown, report.markdown)):
        if out:
            write_whole(out, text())


def write_whole(out: Path, text: str, what: str = "the report") -> None:
    """Write a file whole or not at all, and say so; raises `OutOfSpace` and related errors as `translate_write_errors` does."""
    from counterpoint.retrieval.core.errors import translate_write_errors
    from counterpoint.retrieval.store.manifest import write_atomically

    with translate_write_errors(what, out):
        write_atomically(out, text)
    print_note(f"Wrote {out}.")
