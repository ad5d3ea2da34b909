"""`counterpoint eval beir`; heavy things are imported when it runs, so that --help answers at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eval.commands.outputs import JsonOption, check_output, work_option, write_report
from service.cli.shared.messages import get_command_line, print_note, report_errors
from service.cli.shared.options import ProfileOption
from service.configuration import defaults

if TYPE_CHECKING:
    from eval.retrieval.ranking import RankingReport

WORK = Path("beir.work")
MEASURES = ("nDCG@10", "R@100")


def beir(
    corpus: Annotated[
        Path | None, typer.Option("--corpus", metavar="FILE", help="JSON lines with _id, title and text.", show_default=False)
    ] = None,
    queries: Annotated[
        Path | None, typer.Option("--queries", metavar="FILE", help="JSON lines with _id and text.", show_default=False)
    ] = None,
    qrels: Annotated[
        Path | None,
        typer.Option(
            "--qrels", metavar="FILE", help="Relevance judgements: BEIR's table, or TREC's four columns.", show_default=False
        ),
    ] = None,
    scifact: Annotated[
        Path | None,
        typer.Option("--scifact", metavar="DIR", help="SciFact's own files instead of these three.", show_default=False),
    ] = None,
    dense: Annotated[
        bool, typer.Option("--dense", help="Also measure the profile's encoder, alone and fused with BM25.")
    ] = False,
    rerank: Annotated[
        str | None,
        typer.Option(
            "--rerank", metavar="NAME", help="Also measure BM25 reranked by this model of the profile.", show_default=False
        ),
    ] = None,
    depth: Annotated[int, typer.Option("--depth", min=1, max=1000, help="How many documents to rerank.")] = 100,
    profile: ProfileOption = defaults.PROFILE,
    work: Annotated[Path, work_option("indexes and scores are")] = WORK,
    json: JsonOption = None,
) -> None:
    """Measure retrieval on a collection in BEIR's layout: nDCG@10 and R@100, BM25 with and without stop words."""
    with report_errors():
        from retrieval.core.errors import BadInput

        files = (corpus, queries, qrels)
        if bool(scifact) == any(files) or (any(files) and not all(files)):
            raise BadInput("Name a collection with --corpus, --queries and --qrels, or with --scifact.")
        check_output(json)
        from eval.retrieval.beir import measure
        from eval.retrieval.collection import read_beir, read_scifact_as_beir
        from service.configuration.config import load_profile

        models = load_profile(profile)
        if scifact:
            collection = read_scifact_as_beir(scifact, work)
        else:
            assert corpus and queries and qrels
            collection = read_beir(corpus, queries, qrels, work)
        print_note(
            f"Measuring on {len(collection.queries):,} queries of {collection.name}; indexes and scores are saved in {work}."
        )
        command = get_command_line()
        report = measure(collection, work, models, MEASURES, command, rerank, depth, dense)
        show_reports([report], json, report)


def show_reports(reports: Sequence[RankingReport], json: Path | None, whole: object = None) -> None:
    """Print tables and, where `json` is given, write them or the `whole` that they belong to."""
    from eval.retrieval.ranking import report_json, table

    for report in reports:
        typer.echo("\n".join(table(report)))
    if json:
        write_report(json, report_json(reports if whole is None else whole))
