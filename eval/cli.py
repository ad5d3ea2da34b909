"""The commands of `counterpoint eval`, which an entry point (pyproject.toml) adds to the product's."""

from __future__ import annotations

import re
from importlib.metadata import distributions, requires

import typer

from counterpoint.eval.commands.answers import open_questions, questions, verdicts
from counterpoint.eval.commands.benchmarks import beir, evidencebench
from counterpoint.eval.commands.claims import biogen, claims, cochrane, reader, titles, trials
from counterpoint.eval.commands.scifact import predictions, scifact
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.service.cli.shared import report_errors

PROXY = (scifact, predictions)
"""What runs without the extra `lab`: SciFact's measures, which stand in for those of the paper."""
_NEEDED = re.compile(r"([\w.-]+).*; *extra == ['\"]lab['\"]")
"""A requirement of the extra, as the package's metadata writes it."""

eval_app = typer.Typer(help="Measure grounding, answers and retrieval.", no_args_is_help=True, rich_markup_mode=None)
_COMMANDS = (evidencebench, beir, claims, cochrane, biogen, trials, titles, reader, verdicts, questions, open_questions, *PROXY)
for command in _COMMANDS:
    eval_app.command(command.__name__.replace("_", "-"))(command)


@eval_app.callback()
def _check_extra(context: typer.Context) -> None:
    """Measure grounding, answers and retrieval."""
    if context.invoked_subcommand in [command.__name__ for command in PROXY]:
        return
    needed = [match[1] for line in requires("counterpoint") or () if (match := _NEEDED.match(line))]
    if any(next(iter(distributions(name=name)), None) is None for name in needed):
        with report_errors():
            raise BadInput(
                f"`{context.command_path} {context.invoked_subcommand}` needs the extra “lab”: install it with "
                "`pip install 'counterpoint[lab]'`, in a checkout with `make install`."
            )
