"""`counterpoint eval crossgenre`; heavy things are imported when it runs, so that --help answers at once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eval.commands.beir import show_reports
from eval.commands.outputs import JsonOption, check_output, work_option
from service.cli.shared.messages import get_command_line, print_note, report_errors
from service.cli.shared.options import ProfileOption
from service.configuration import defaults

WORK = Path("crossgenre.work")


def crossgenre(
    headlines: Annotated[
        Path,
        typer.Option(
            "--headlines", metavar="FILE", help="JSON lines with headline and abstracts; PubMedQA's, BioASQ's; or topics."
        ),
    ],
    corpus: Annotated[
        Path, typer.Option("--corpus", metavar="FILE", help="Documents in Counterpoint's JSON lines, or a built index.")
    ],
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method", help="bm25 or bm25+, with -plain, -stems, -abbreviations or -lay; may be repeated; default: all."
        ),
    ] = None,
    view: Annotated[str, typer.Option("--view", help="Which part of an abstract to use: whole, conclusions or ends.")] = "whole",
    titles: Annotated[bool, typer.Option("--titles/--no-titles", help="Whether to include the title.")] = True,
    rerank: Annotated[
        str | None,
        typer.Option("--rerank", metavar="NAME", help="Rerank the candidates by this model of the profile.", show_default=False),
    ] = None,
    depth: Annotated[int, typer.Option("--depth", min=1, max=500, help="How many candidates to rerank.")] = 500,
    sample: Annotated[
        int | None, typer.Option("--sample", min=1, help="Rerank for this many headlines; the sample is always the same.")
    ] = None,
    profile: ProfileOption = defaults.PROFILE,
    work: Annotated[Path, work_option("terms and scores are")] = WORK,
    json: JsonOption = None,
) -> None:
    """Measure how lay claims find the abstracts of their studies: candidates by BM25 and BM25+, then reranked."""
    with report_errors():
        from eval.retrieval.abstract_views import check_view

        check_view(view)
        check_output(json)
        from eval.retrieval.collection import write_documents
        from eval.retrieval.crossgenre import measure, methods, read_headlines
        from eval.retrieval.kept_index import KeptScores, is_index
        from indexes.readers import read
        from service.configuration.config import load_profile
        from service.configuration.models import load_reranker

        method_list, queries, models = methods(method or ["all"]), read_headlines(headlines), load_profile(profile)
        documents = corpus if is_index(corpus) else write_documents(corpus, work, lambda: read(corpus, "counterpoint"))
        settings = models.model_dump(mode="json")["rerankers"]
        reranker = KeptScores(load_reranker(rerank, models), work, settings) if rerank else None
        print_note(f"Measuring {len(method_list)} methods on {len(queries):,} headlines; terms and scores are saved in {work}.")
        command = get_command_line()
        result = measure(queries, documents, method_list, work, command, view, titles, reranker, depth, sample)
        if result.candidates:
            typer.echo(f"{result.known:,} of {result.asked:,} headlines report an abstract in the corpus.")
        else:
            typer.echo(
                "No headline says which abstract it reports, so no ranking is right or wrong. Overlap with the first "
                "method's best documents:"
            )
        for title, shares in result.agreement.items():
            typer.echo(f"{title:<50}" + "".join(f"  {share:>5.0%} of {k}" for k, share in shares.items()))
        show_reports([one for one in (result.candidates, result.again) if one], json, result)
