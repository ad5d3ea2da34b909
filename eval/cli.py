"""The console command: the service's commands and those that measure it. It lives here, at the top of the import order."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from eval.commands.beir import beir
from eval.commands.claims import claims, titles
from eval.commands.crossgenre import crossgenre
from eval.commands.evidencebench import evidencebench
from eval.commands.leads import leads
from eval.commands.litsearch import litsearch
from service.cli.check import check
from service.cli.commands import IndexOption, ProfileOption, app, say, told, typed
from service.cli.evidence import evidence
from service.configuration import defaults

DATA_VARIABLE = "COUNTERPOINT_DATA"

eval_app = typer.Typer(help="Measure grounding on labelled data, and answers.", no_args_is_help=True)
app.add_typer(eval_app, name="eval")
app.command("evidence")(evidence)
app.command("check")(check)
eval_app.command("evidencebench")(evidencebench)
eval_app.command("beir")(beir)
eval_app.command("crossgenre")(crossgenre)
eval_app.command("litsearch")(litsearch)
eval_app.command("claims")(claims)
eval_app.command("titles")(titles)
eval_app.command("leads")(leads)


@eval_app.callback()
def _group() -> None:
    """Measure grounding on labelled data, and answers."""


DataOption = Annotated[
    Path | None,
    typer.Option("--data", help=f"The folder with SciFact's files (or the variable {DATA_VARIABLE}).", show_default=False),
]
ClaimsOption = Annotated[
    Path | None,
    typer.Option("--claims", help="Claims in SciFact's format in place of claims_dev; gzipped or not.", show_default=False),
]
CorpusOption = Annotated[
    Path | None,
    typer.Option("--corpus", help="Documents in SciFact's format in place of corpus; gzipped or not.", show_default=False),
]


@eval_app.command("scifact")
def scifact(
    data: DataOption = None,
    claims: ClaimsOption = None,
    corpus: CorpusOption = None,
    config: Annotated[
        list[str] | None,
        typer.Option("--config", help="A variant by name, or a YAML file; may be repeated; all stands for every shipped one."),
    ] = None,
    profile: ProfileOption = defaults.PROFILE,
    json: Annotated[
        Path | None, typer.Option("--json", metavar="OUT", help="Write the whole report there, as JSON.", show_default=False)
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option("--predictions", metavar="OUT", help="Write one variant's predictions, as SciFact's evaluator reads them."),
    ] = None,
    predicted_by: Annotated[
        str | None,
        typer.Option(
            "--predictions-of",
            metavar="NAME",
            help="Whose predictions, where several run; the default variant's unless said otherwise.",
        ),
    ] = None,
) -> None:
    """Measure variants on SciFact, against each other and beside the paper; a stopped run goes on where it was."""
    with told():
        from eval.measures.report_data import report_json
        from eval.scifact.files import find
        from eval.scifact.predictions import predictions_text
        from eval.variants.evaluation import configurations, evaluate
        from eval.variants.lines import report_lines
        from retrieval.core.errors import BadInput, writing
        from retrieval.store.manifest import write_atomically
        from service.trec.journal import check_target

        files = find(data or os.environ.get(DATA_VARIABLE), claims, corpus)
        configs = configurations(config or [defaults.CONFIG])
        names = [one.name for one in configs]
        speaker = predicted_by or (defaults.CONFIG if defaults.CONFIG in names else names[0])
        if speaker not in names:
            raise BadInput(f"--predictions-of names {speaker}, which is not evaluated; the variants are {', '.join(names)}.")
        outputs = [out for out in (json, predictions) if out]
        for out in outputs:
            check_target(out, overwrite=True)
        say(f"Evaluating {', '.join(names)} on the claims of {files.claims} over {files.corpus}.")
        with _working_folder(outputs) as folder:
            done = evaluate(files, configs, profile, folder, typed())
        if predictions:
            with writing("the predictions", predictions):
                write_atomically(predictions, predictions_text(done.ids, done.predicted[speaker]))
        if json:
            with writing("the report", json):
                write_atomically(json, report_json(done.report))
        typer.echo("\n".join(report_lines(done.report)))
        for out in outputs:
            say(f"Wrote {out}.")


@contextmanager
def _working_folder(outputs: list[Path]) -> Iterator[Path]:
    """Beside the first output, to go on from; nowhere lasting where nothing is written."""
    if outputs:
        yield outputs[0].with_name(f"{outputs[0].name}.work")
        return
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="counterpoint-eval-") as folder:
        yield Path(folder)


@eval_app.command("predictions")
def predictions(
    path: Annotated[
        Path, typer.Argument(metavar="PREDICTIONS", help="A file in SciFact's format of predictions.", show_default=False)
    ],
    data: DataOption = None,
    claims: ClaimsOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="The figures as JSON.")] = False,
) -> None:
    """Score anyone's predictions by SciFact's official definitions."""
    with told():
        import json

        from eval.scifact.figures import official_figures
        from eval.scifact.files import find, read_claims
        from eval.scifact.predictions import read_predictions

        labelled = read_claims(claims or find(data or os.environ.get(DATA_VARIABLE)).claims)
        figures = official_figures(labelled, read_predictions(path))
        typer.echo(json.dumps(figures, indent=2) if as_json else "\n".join(f"{k:<32}{v:>8.4f}" for k, v in figures.items()))


@eval_app.command("report")
def report(
    measured: Annotated[Path, typer.Argument(metavar="JSON", help="What --json of `eval scifact` wrote.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", metavar="HTML", help="The page to write, one file.", show_default=False)],
    markdown: Annotated[
        Path | None, typer.Option("--markdown", metavar="OUT", help="Write the same as Markdown.", show_default=False)
    ] = None,
    cases: Annotated[
        bool, typer.Option("--cases/--no-cases", help="Quote the claims and documents that were lost, or leave them out.")
    ] = True,
) -> None:
    """Make a page of an evaluation: tables, plots, what was lost and how, and how it was made."""
    with told():
        from eval.measures.report_data import read_report
        from eval.page.contents import page
        from eval.page.render import html
        from eval.page.render import markdown as as_markdown
        from retrieval.core.errors import BadInput, writing
        from retrieval.store.manifest import write_atomically
        from service.trec.journal import check_target

        outputs = [one for one in (out, markdown) if one]
        if len({one.resolve() for one in (measured, *outputs)}) <= len(outputs):
            raise BadInput("JSON, --out and --markdown name the same file; give each a name of its own.")
        for one in outputs:
            check_target(one, overwrite=True)
        made = page(read_report(measured), quoting=cases)
        texts = [html(made), as_markdown(made)]
        for one, text in zip(outputs, texts, strict=False):
            with writing("the page", one):
                write_atomically(one, text)
            say(f"Wrote {one}.")


@eval_app.command("answers")
def answers(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Task B runs, of anyone.", show_default=False)],
    topics: Annotated[Path, typer.Option("--topics", help="The track's Task B topics.", show_default=False)],
    index: IndexOption,
    profile: ProfileOption = defaults.PROFILE,
    json: Annotated[
        Path | None, typer.Option("--json", metavar="OUT", help="Write every figure and every judged citation there.")
    ] = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", metavar="OUT", help="Write the tables as Markdown.")] = None,
) -> None:
    """Measure the answers of Task B runs: their form, whether their citations bear them out, what they leave out."""
    with told():
        from eval.answers.runs import read_runs
        from retrieval.core.errors import BadInput, writing
        from retrieval.store.manifest import read_manifest, write_atomically
        from service.configuration.config import load_profile
        from service.trec.journal import check_target
        from service.trec.task_b.topics import read_topics

        asked = read_topics(topics)
        read = read_runs(runs, {topic.id for topic in asked})
        outputs = [one for one in (json, markdown) if one]
        if len({one.resolve() for one in (topics, *runs, *outputs)}) < 1 + len(runs) + len(outputs):
            raise BadInput("TOPICS, RUN, --json and --markdown name the same file; give each a name of its own.")
        for one in outputs:
            check_target(one, overwrite=True)
        # A damaged index or a wrong profile is told before the models are loaded.
        read_manifest(index)
        models = load_profile(profile)
        from eval.answers import tables
        from eval.answers.evaluation import evaluate
        from eval.answers.judges import load_judges
        from eval.answers.report import report_json
        from retrieval.dense.embedded_encoder import EmbeddedEncoder

        judges, command = load_judges(models), typed()
        say(f"Judging {', '.join(one.name for one in read)} on {len(asked)} topics with {judges.named[-1].model}.")
        report = evaluate(read, asked, topics, index, judges, EmbeddedEncoder(), models, command)
        typer.echo("\n".join(tables.lines(report)))
        texts = {json: report_json(report), markdown: tables.markdown(report)}
        for path in outputs:
            with writing("the report", path):
                write_atomically(path, texts[path])
            say(f"Wrote {path}.")


def main() -> None:
    """Run the command line."""
    app()
