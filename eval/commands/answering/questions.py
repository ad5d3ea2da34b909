"""`counterpoint eval questions`; heavy things are imported when it runs, so that --help answers at once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eval.commands.outputs import JsonOption, check_output, work_option, write_report
from service.cli.shared.messages import get_command_line, print_note, report_errors
from service.cli.shared.options import AnswersOption, IndexOption, ProfileOption, UnderAnswersOption, answer_variant
from service.configuration import defaults

WORK = Path("questions.work")


def questions(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="CSV with question, answer (yes, no, none), pmids and, optionally, other: its other spelling.",
            show_default=False,
        ),
    ],
    index: IndexOption,
    answers: AnswersOption = None,
    config: UnderAnswersOption = None,
    profile: ProfileOption = defaults.PROFILE,
    work: Annotated[Path, work_option("what was answered is")] = WORK,
    json: JsonOption = None,
) -> None:
    """Measure answers on questions that an index is known to answer or not: answered, declined, led rightly, misleading."""
    with report_errors():
        import json as json_
        from dataclasses import asdict

        from eval.answers.questions import answer_all, figures, name_fault, read_questions, write_lines
        from service.assembly import assemble_answerer

        check_output(json, [file])
        cases = read_questions(file)
        variant, grounding = answer_variant(answers, config)
        answerer = assemble_answerer(index, variant, profile, grounding)
        print_note(f"Asking {len(cases)} questions of {file} of {index} with {variant}; progress is saved in {work}.")
        settings = {"config": answerer.config.model_dump(mode="json"), "models": answerer.models.names()}
        results = answer_all(cases, answerer, work, settings)
        typer.echo("\n".join(write_lines(file.name, cases, results)))
        if json:
            report = {
                "command": get_command_line(),
                "figures": {name: [one.value, one.low, one.high] for name, one in figures(cases, results).items()},
                "questions": [
                    {**asdict(one), "fault": name_fault(one, results), "given": asdict(results[one.question])} for one in cases
                ],
            }
            write_report(json, json_.dumps(report, indent=1) + "\n")
