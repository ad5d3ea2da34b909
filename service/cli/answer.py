"""`counterpoint answer`; heavy things are imported when it runs, so that --help answers at once."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from service.cli.shared.messages import print_note, report_errors
from service.cli.shared.options import AnswersOption, IndexOption, ProfileOption, UnderAnswersOption, answer_variant
from service.cli.shared.usage import check_sentence
from service.configuration import defaults


def answer(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question to answer.")],
    index: IndexOption,
    narrative: Annotated[str, typer.Option("--narrative", help="Who asks, and why.")] = "",
    topic: Annotated[str, typer.Option("--topic", help="The subject in a few words.")] = "",
    answers: AnswersOption = None,
    config: UnderAnswersOption = None,
    profile: ProfileOption = defaults.PROFILE,
    format: Annotated[
        Literal["text", "json", "markdown", "ris", "bibtex"],
        typer.Option("--format", help="text to read, JSON for programs, or the cited documents for a reference manager."),
    ] = "text",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the same JSON as POST /v1/answer; short for --format json.")
    ] = False,
) -> None:
    """Answer QUESTION with checked citations. The answer has at most 250 words; papers that contradict it are listed."""
    with report_errors():
        from service.grounding.claims import check_topic

        check_sentence(question, "answer", index)
        request = check_topic(question, topic, narrative)
        from service.answering.schemas import AnswerResponse
        from service.assembly import assemble_answerer
        from service.output.export import export_text
        from service.output.terminal_answer import print_answer, progress

        variant, grounding = answer_variant(answers, config)
        answerer = assemble_answerer(index, variant, profile, grounding)
        output_format = "json" if as_json else format
        result = answerer.answer(request, progress(print_note) if output_format == "text" else None)
        if output_format == "json":
            typer.echo(AnswerResponse.of(result, answerer).model_dump_json(indent=2))
        elif output_format == "text":
            print_answer(AnswerResponse.of(result, answerer))
        else:
            typer.echo(export_text(result, output_format), nl=False)
