"""`counterpoint eval feedback`; heavy things are imported when it runs, so that --help answers at once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eval.commands.claims import WORK
from eval.commands.outputs import JsonOption, check_output, work_option, write_report
from service.cli.shared.messages import get_command_line, print_note, report_errors
from service.cli.shared.options import ConfigOption, IndexOption, ProfileOption
from service.configuration import defaults


def feedback(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="What `counterpoint feedback export` wrote, as .csv or as .jsonl.", show_default=False
        ),
    ],
    index: IndexOption,
    config: ConfigOption = defaults.CONFIG,
    profile: ProfileOption = defaults.PROFILE,
    work: Annotated[Path, work_option("what was grounded is")] = WORK,
    json: JsonOption = None,
) -> None:
    """Measure readers' feedback: is each paper shown by now on the side that the readers say it is on?"""
    with report_errors():
        from eval.claims.feedback import measure_feedback, read_feedback

        check_output(json, [file])
        claims = read_feedback(file)
        from eval.claims.measuring import check_held
        from eval.claims.report import report_json, report_lines
        from service.assembly import assemble

        grounder = assemble(index, config, profile)
        check_held(claims.claims, grounder.index.store, file, index)
        print_note(f"Grounding the claims of {file} with {config} over {index}; progress is saved in {work}.")
        report = measure_feedback(claims, file, grounder, work, get_command_line())
        typer.echo("\n".join(report_lines(report)))
        if json:
            write_report(json, report_json(report))
