"""The console command: the service's commands and those that measure it. It lives here, at the top of the import order."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from service.cli import ConfigOption, ProfileOption, app, say, told

DATA_VARIABLE = "COUNTERPOINT_DATA"

eval_app = typer.Typer(help="Measure grounding on labelled data.", no_args_is_help=True)
app.add_typer(eval_app, name="eval")


@eval_app.callback()
def _group() -> None:
    """Measure grounding on labelled data."""


DataOption = Annotated[
    Path | None,
    typer.Option("--data", help=f"The folder with SciFact's files (or the variable {DATA_VARIABLE}).", show_default=False),
]
JsonOption = Annotated[bool, typer.Option("--json", help="The figures as JSON.")]


@eval_app.command("scifact")
def scifact(
    data: DataOption = None,
    config: ConfigOption = "v5",
    profile: ProfileOption = "embedded",
    as_json: JsonOption = False,
) -> None:
    """MRR of supports and contradictions on SciFact dev, of a variant and of plain BM25, beside the paper's."""
    with told():
        from eval.scifact import evaluate, load, report_json, report_lines

        claims, corpus = load(data or os.environ.get(DATA_VARIABLE))
        say(f"Evaluating {config} on {len(claims)} claims of {corpus}.")
        report = evaluate(claims, corpus, config, profile)
        typer.echo(report_json(report) if as_json else "\n".join(report_lines(report)))


@eval_app.command("abstracts")
def abstracts(
    data: DataOption = None,
    config: ConfigOption = "calibrated",
    profile: ProfileOption = "embedded",
    as_json: JsonOption = False,
) -> None:
    """Precision, recall and F1 of (claim, document, stance) on SciFact dev, over all claims, as SciFact itself scores them."""
    with told():
        from eval.abstract_level import evaluate, report_json, report_lines
        from eval.scifact import load

        claims, corpus = load(data or os.environ.get(DATA_VARIABLE))
        say(f"Grounding {len(claims)} claims with {config} on {corpus}.")
        report = evaluate(claims, corpus, config, profile)
        typer.echo(report_json(report) if as_json else "\n".join(report_lines(report)))


def main() -> None:
    """Run the command line."""
    app()
