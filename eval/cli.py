"""The console command: the service's commands and those that evaluate it. It lives here, at the top of the import order."""

from __future__ import annotations

import typer

from eval.commands.answering.answers import answers
from eval.commands.answering.leads import leads
from eval.commands.answering.questions import questions
from eval.commands.beir import beir
from eval.commands.claims import claims, cochrane, titles
from eval.commands.evidencebench import evidencebench
from eval.commands.feedback import feedback
from eval.commands.judges import judges
from eval.commands.report import report
from eval.commands.scifact import predictions, scifact
from eval.commands.spellings import spellings
from service.cli.commands import app

eval_app = typer.Typer(help="Measure grounding, answers and retrieval.", no_args_is_help=True)
app.add_typer(eval_app, name="eval")
for command in (
    evidencebench, beir, claims, cochrane, feedback, titles, leads, questions, judges, spellings, scifact,
    predictions, report, answers,
):  # fmt: skip
    eval_app.command(command.__name__)(command)


@eval_app.callback()
def _group() -> None:
    """Measure grounding, answers and retrieval."""


def main() -> None:
    """Run the command line."""
    app()
