"""`counterpoint eval scifact` and `predictions`."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from counterpoint.eval.commands.outputs import (
    DATA_VARIABLE,
    DataOption,
    MarkdownOption,
    argument,
    check_outputs,
    option,
    publish,
    write_whole,
)
from counterpoint.service.cli.shared import AnalyzerOption, ProfileOption, print_note, report_errors
from counterpoint.service.configuration import defaults

ClaimsOption = Annotated[Path | None, option("--claims", "Claims in SciFact's format instead of claims_dev; gzipped or not.")]
CorpusOption = Annotated[Path | None, option("--corpus", "Documents in SciFact's format instead of corpus; gzipped or not.")]


def scifact(
    data: DataOption = None,
    claims: ClaimsOption = None,
    corpus: CorpusOption = None,
    config: Annotated[
        list[str] | None, option("--config", "A variant: its name or a YAML file; may be repeated; all means every shipped one.")
    ] = None,
    profile: ProfileOption = defaults.PROFILE,
    analyzer: AnalyzerOption = "anserini",
    json: Annotated[Path | None, option("--json", "Write the whole report to this file, as JSON.", "OUT")] = None,
    markdown: MarkdownOption = None,
    predictions: Annotated[
        Path | None, option("--predictions", "Write one variant's predictions, in the format of SciFact's evaluator.", "OUT")
    ] = None,
    predicted_by: Annotated[
        str | None,
        option(
            "--predictions-of", "Which variant's predictions to write, if several run; by default, the default variant's.", "NAME"
        ),
    ] = None,
) -> None:
    """Measure variants on SciFact, against each other and beside the paper; a stopped run goes on where it was."""
    with report_errors():
        from counterpoint.eval.scifact.evaluation import configurations, evaluate
        from counterpoint.eval.scifact.files import find, predictions_text
        from counterpoint.retrieval.core.errors import BadInput
        from counterpoint.service.runs.journal import check_target

        files = find(data or os.environ.get(DATA_VARIABLE), claims, corpus)
        configs = configurations(config or [defaults.CONFIG])
        names = [one.name for one in configs]
        predicting = predicted_by or (defaults.CONFIG if defaults.CONFIG in names else names[0])
        if predicting not in names:
            raise BadInput(f"--predictions-of names {predicting}, which is not evaluated; the variants are {', '.join(names)}.")
        check_outputs(json, markdown, [files.claims, files.corpus])
        if predictions:
            check_target(predictions, overwrite=True)
        print_note(f"Evaluating {', '.join(names)} on the claims of {files.claims} over {files.corpus}.")
        # Beside the first output, so that a stopped run can resume; a temporary folder where nothing is written.
        out = json or predictions or markdown
        kept: AbstractContextManager[Path | str] = (
            nullcontext(out.with_name(f"{out.name}.work")) if out else TemporaryDirectory(prefix="counterpoint-eval-")
        )
        with kept as folder:
            evaluation = evaluate(files, configs, profile, Path(folder), analyzer)
        if predictions:
            write_whole(predictions, predictions_text(evaluation.ids, evaluation.predicted[predicting]), "the predictions")
        publish(evaluation.report, json, markdown)


def predictions(
    path: Annotated[Path, argument("PREDICTIONS", "A file of predictions in SciFact's format.")],
    data: DataOption = None,
    claims: ClaimsOption = None,
    as_json: Annotated[bool, option("--json", "Print the figures as JSON.")] = False,
) -> None:
    """Score anyone's predictions by SciFact's official definitions."""
    with report_errors():
        import json

        from counterpoint.eval.scifact.files import find, read_claims, read_predictions
        from counterpoint.eval.scifact.measures import official_figures

        labelled_claims = read_claims(claims or find(data or os.environ.get(DATA_VARIABLE)).claims)
        figures = official_figures(labelled_claims, read_predictions(path))
        typer.echo(json.dumps(figures, indent=2) if as_json else "\n".join(f"{k:<32}{v:>8.4f}" for k, v in figures.items()))
