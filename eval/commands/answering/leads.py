"""`counterpoint eval leads`; heavy things are imported when it runs, so that --help answers at once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eval.commands.outputs import JsonOption, check_output, work_option, write_report
from service.cli.shared.messages import get_command_line, print_note, report_errors
from service.cli.shared.options import AnswersOption, IndexOption, ProfileOption, UnderAnswersOption, answer_variant
from service.configuration import defaults

WORK = Path("leads.work")


def leads(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="JSON lines with question, answer (yes, no, maybe) and, optionally, pmids; or PubMedQA's own records.",
            show_default=False,
        ),
    ],
    index: IndexOption,
    given: Annotated[bool, typer.Option("--given", help="Read the question's own papers instead of searching.")] = False,
    first: Annotated[int, typer.Option("--skip", min=0, help="Skip this many questions at the start.")] = 0,
    most: Annotated[int | None, typer.Option("-n", min=1, help="Ask at most this many questions.")] = None,
    fit: Annotated[bool, typer.Option("--fit", help="Fit the certainty of leads to these questions.")] = False,
    answers: AnswersOption = None,
    config: UnderAnswersOption = None,
    profile: ProfileOption = defaults.PROFILE,
    work: Annotated[Path, work_option("what was asked is")] = WORK,
    json: JsonOption = None,
) -> None:
    """Measure the first sentence of answers on questions whose answer is known: yes, no or maybe."""
    with report_errors():
        import json as json_

        from eval.answers.leads import figures, lead_all, lines, read_known
        from retrieval.core.errors import BadConfig, BadInput
        from service.assembly import assemble
        from service.configuration.answers import load_answer_config

        check_output(json, [file])
        questions = read_known(file)[first : None if most is None else first + most]
        if not questions:
            raise BadInput(f"--skip {first} leaves no question of {file}; give a smaller number.")
        variant, grounding = answer_variant(answers, config)
        step = load_answer_config(variant, grounding).lead
        if step is None:
            raise BadConfig(f"The answer configuration {variant} has no lead; name one that has, such as {defaults.ANSWERS}.")
        grounder = assemble(index, step.grounding, profile)
        papers = "their own papers" if given else f"{index}"
        print_note(f"Asking {len(questions)} questions of {file} of {papers} with {variant}; progress is saved in {work}.")
        settings = {
            "config": grounder.config.model_dump(mode="json"),
            "models": grounder.models.names(),
        }
        results = lead_all(questions, grounder, given, work, grounder.index.manifest.corpus_sha256, settings)
        typer.echo("\n".join(lines(f"{file.name}, {'papers given' if given else 'search'}", questions, results)))
        if fit:
            from eval.answers.fitting import fit_certainty

            typer.echo(f"\n{fit_certainty(questions, results)}")
        if json:
            report = {
                "command": get_command_line(),
                "figures": {name: [one.value, one.low, one.high] for name, one in figures(questions, results).items()},
                "questions": [
                    {"id": one.id, "answer": one.answer, "verdict": lead.verdict, "certainty": lead.certainty, "own": lead.own}
                    for one, lead in zip(questions, results, strict=True)
                ],
            }
            write_report(json, json_.dumps(report, indent=1) + "\n")
