"""`counterpoint eval litsearch`; heavy things are imported when it runs, so that --help answers at once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from eval.commands.beir import show_reports
from eval.commands.outputs import JsonOption, check_output, work_option
from service.cli.shared.messages import get_command_line, print_note, report_errors
from service.cli.shared.options import ProfileOption
from service.configuration import defaults

WORK = Path("litsearch.work")


def litsearch(
    queries: Annotated[
        Path, typer.Option("--queries", metavar="FILE", help="LitSearch's: JSON lines with query, specificity, corpusids.")
    ],
    corpus: Annotated[
        Path,
        typer.Option(
            "--corpus", metavar="FILE", help="Its corpus: corpusid, title, abstract, citations and, optionally, full_paper."
        ),
    ],
    text: Annotated[
        Literal["title-abstract", "full"], typer.Option("--text", help="Which part of a paper to search.")
    ] = "title-abstract",
    dense: Annotated[
        bool, typer.Option("--dense", help="Also measure the profile's encoder, alone and fused with BM25.")
    ] = False,
    llm: Annotated[
        list[str] | None,
        typer.Option(
            "--llm",
            help="vanilla or onehop: the profile's language model reorders the papers found, or these and the papers they "
            "cite; may be repeated.",
        ),
    ] = None,
    most: Annotated[int | None, typer.Option("-n", min=1, help="Only the first so many questions.")] = None,
    profile: ProfileOption = defaults.PROFILE,
    work: Annotated[Path, work_option("index and answers are")] = WORK,
    json: JsonOption = None,
) -> None:
    """Measure how questions of researchers find their papers: recall at 5 and 20, by BM25, vectors and language models."""
    with report_errors():
        from service.configuration.config import load_profile
        from service.reading.evidence import ENCODER, chat_of

        models = load_profile(profile)
        chat = chat_of(models) if llm else None
        check_output(json)
        from eval.retrieval.litsearch import hops, measure, read_library, read_questions
        from service.configuration.models import load_encoder

        reorderings = hops(llm or ())
        questions, library = read_questions(queries)[:most], read_library(corpus, work, text)
        encoder = load_encoder(ENCODER, models) if dense else None
        print_note(f"Measuring on {len(questions):,} questions over {len(library.cites):,} papers; progress is saved in {work}.")
        command = get_command_line()
        show_reports(measure(questions, library, work, command, text, encoder, chat, reorderings), json)
