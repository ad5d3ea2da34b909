"""`counterpoint eval evidencebench`; heavy things are imported when it runs, so that --help answers at once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eval.commands.outputs import check_output, work_option, write_report
from service.cli.shared.messages import get_command_line, print_note, report_errors
from service.cli.shared.options import ProfileOption
from service.configuration import defaults

WORK = Path("evidencebench.work")


def evidencebench(
    data: Annotated[
        list[Path] | None,
        typer.Option(
            "--data", metavar="FILE", help="EvidenceBench's JSON lines, gzipped or not; may be repeated.", show_default=False
        ),
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option("--task", help="er-optimal, er-10, result-er-optimal or result-er-5; may be repeated; default: all."),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            help="A method by name; may be repeated. all means every method without a language model.",
        ),
    ] = None,
    most: Annotated[int | None, typer.Option("-n", min=1, help="Only the first so many papers.")] = None,
    profile: ProfileOption = defaults.PROFILE,
    work: Annotated[Path, work_option("readings of the papers are")] = WORK,
    json: Annotated[
        Path | None,
        typer.Option(
            "--json", metavar="OUT", help="Write all figures to this file, including those of each paper.", show_default=False
        ),
    ] = None,
) -> None:
    """Measure on EvidenceBench which sentences of a paper are chosen as evidence: aspect recall by task and method."""
    with report_errors():
        from eval.evidence.evidencebench import read_cases, tasks
        from eval.evidence.methods import methods
        from retrieval.core.errors import BadInput
        from service.configuration.config import load_profile

        if not data:
            raise BadInput("--data is missing: name EvidenceBench's file (from https://github.com/EvidenceBench/EvidenceBench).")
        from eval.evidence.language_models import LLM_NAMES, describe_unanswered, llm_methods

        names, models = method or ["all"], load_profile(profile)
        task_list, method_list = tasks(task or ["all"]), methods(names, LLM_NAMES)
        method_list += llm_methods(names, models, work)
        check_output(json)
        cases = read_cases(data)[:most]
        from eval.evidence.readings import KeptReadings
        from eval.evidence.report import make_report, report_json, table
        from service.reading.evidence import load_finder

        finder = load_finder(models)
        print_note(
            f"Measuring {len(method_list)} methods on {len(cases)} papers with {finder.reader.name}; progress is saved in {work}."
        )
        readings = {case.id: reading for case, reading in KeptReadings(work, finder.reader).of(cases)}
        command = get_command_line()
        report = make_report(cases, readings, task_list, method_list, command, finder.reader.name)
        typer.echo("\n".join([*table(report), *describe_unanswered(method_list)]))
        if json:
            write_report(json, report_json(report))
