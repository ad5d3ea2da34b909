"""`counterpoint eval report`; heavy things are imported when it runs, so that --help answers at once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eval.commands.outputs import write_report
from service.cli.shared.messages import report_errors


def report(
    measured: Annotated[
        Path, typer.Argument(metavar="JSON", help="The file written by `eval scifact --json`.", show_default=False)
    ],
    out: Annotated[Path, typer.Option("--out", metavar="HTML", help="The HTML page to write.", show_default=False)],
    markdown: Annotated[
        Path | None, typer.Option("--markdown", metavar="OUT", help="Also write the report as Markdown.", show_default=False)
    ] = None,
    cases: Annotated[
        bool, typer.Option("--cases/--no-cases", help="Whether to quote the claims and documents that were missed.")
    ] = True,
) -> None:
    """Make a page of an evaluation: tables, plots, what was lost and how, and how it was made."""
    with report_errors():
        from eval.measures.report_data import read_report
        from eval.page.contents import page
        from eval.page.render import html
        from eval.page.render import markdown as as_markdown
        from retrieval.core.errors import BadInput
        from service.trec.journal import check_target

        outputs = [one for one in (out, markdown) if one]
        if len({one.resolve() for one in (measured, *outputs)}) <= len(outputs):
            raise BadInput("JSON, --out and --markdown must name different files.")
        for one in outputs:
            check_target(one, overwrite=True)
        contents = page(read_report(measured), quoting=cases)
        texts = [html(contents), as_markdown(contents)]
        for one, text in zip(outputs, texts, strict=False):
            write_report(one, text, "the page")
