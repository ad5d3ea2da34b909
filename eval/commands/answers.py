"""`counterpoint eval verdicts`, `questions` and `open-questions`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterpoint.eval.commands.outputs import (
    JsonOption,
    MarkdownOption,
    argument,
    check_outputs,
    option,
    publish,
    work_option,
    write_whole,
)
from counterpoint.retrieval.core.english import format_count
from counterpoint.service.cli.shared import (
    AnswersOption,
    IndexOption,
    ProfileOption,
    UnderAnswersOption,
    print_note,
    report_errors,
)
from counterpoint.service.configuration import defaults

if TYPE_CHECKING:
    from counterpoint.service.schemas import Service

VERDICTS_WORK, QUESTIONS_WORK, OPEN_WORK = Path("verdicts.work"), Path("questions.work"), Path("open.work")


def _begin(count: int, what: str, work: Path, service: Service) -> dict[str, Any]:
    """Say what is asked, and return the settings that the kept results belong to."""
    print_note(f"Asking {format_count(count, 'question')} of {what}; progress is saved in {work}.")
    return {"config": service.config.model_dump(), "models": service.models.names()}


def verdicts(
    file: Annotated[
        Path,
        argument("FILE", "JSON lines with question, answer (yes, no, maybe) and, optionally, pmids; or PubMedQA's own records."),
    ],
    index: IndexOption,
    given: Annotated[bool, option("--given", "Read the question's own papers instead of searching.")] = False,
    first: Annotated[int, typer.Option("--skip", min=0, help="Skip this many questions at the start.")] = 0,
    most: Annotated[int | None, typer.Option("-n", min=1, help="Ask at most this many questions.")] = None,
    answers: AnswersOption = defaults.ANSWERS,
    config: UnderAnswersOption = None,
    profile: ProfileOption = defaults.PROFILE,
    work: Annotated[Path, work_option("what was asked is")] = VERDICTS_WORK,
    json: JsonOption = None,
    markdown: MarkdownOption = None,
) -> None:
    """Measure the first sentence of answers on questions whose answer is known: yes, no or maybe."""
    with report_errors():
        from counterpoint.eval.answers.verdicts import read_known, show_verdicts, weigh_all
        from counterpoint.retrieval.core.errors import BadConfig, BadInput
        from counterpoint.service.assembly import assemble
        from counterpoint.service.configuration.config import load_answer_config

        check_outputs(json, markdown, [file])
        questions = read_known(file)[first : None if most is None else first + most]
        if not questions:
            raise BadInput(f"--skip {first} leaves no question of {file}; give a smaller number.")
        step = load_answer_config(answers, config).verdict
        if step is None:
            raise BadConfig(f"The answer configuration {answers} has no verdict; name one that has, such as {defaults.ANSWERS}.")
        grounder = assemble(index, step.grounding, profile)
        papers = "their own papers" if given else f"{index}"
        settings = _begin(len(questions), f"{file} of {papers} with {answers}", work, grounder)
        results = weigh_all(questions, grounder, given, work, grounder.index.manifest.corpus_sha256, settings)
        title = f"{file.name}, {'papers given' if given else 'search'}"
        publish(show_verdicts(title, questions, results), json, markdown)


def questions(
    file: Annotated[Path, argument("FILE", "CSV with question, answer (yes, no, none) and pmids.")],
    index: IndexOption,
    answers: AnswersOption = defaults.ANSWERS,
    config: UnderAnswersOption = None,
    profile: ProfileOption = defaults.PROFILE,
    work: Annotated[Path, work_option("what was answered is")] = QUESTIONS_WORK,
    json: JsonOption = None,
    markdown: MarkdownOption = None,
) -> None:
    """Measure answers on questions that an index is known to answer or not: answered, declined, led rightly, misleading."""
    with report_errors():
        from counterpoint.eval.answers.questions import answer_all, read_questions, show_questions
        from counterpoint.service.assembly import assemble_answerer

        check_outputs(json, markdown, [file])
        cases = read_questions(file)
        answerer = assemble_answerer(index, answers, profile, config)
        settings = _begin(len(cases), f"{file} of {index} with {answers}", work, answerer)
        results = answer_all(cases, answerer, work, settings)
        publish(show_questions(file.name, cases, results), json, markdown)


def open_questions(
    file: Annotated[Path, argument("FILE", "JSON lines with question; or BioASQ's own records.")],
    index: Annotated[Path | None, option("--index", "The index to ask.", "DIR")] = None,
    snippets: Annotated[
        Path | None, option("--snippets", "Only write the questions' papers, BioASQ's snippets for abstracts, to index.", "OUT")
    ] = None,
    ids: Annotated[Path | None, option("--ids", "Ask only the questions whose ids this file lists, one a line.")] = None,
    rows: Annotated[Path | None, option("--rows", "Write the rows of the answers to this file, to be read.", "OUT")] = None,
    answers: AnswersOption = defaults.ANSWERS,
    config: UnderAnswersOption = None,
    profile: ProfileOption = defaults.PROFILE,
    work: Annotated[Path, work_option("what was answered is")] = OPEN_WORK,
    json: JsonOption = None,
    markdown: MarkdownOption = None,
) -> None:
    """Answer open questions and count: how many are answered, with how many rows; the rows can be written for readers."""
    with report_errors():
        from json import dumps

        from counterpoint.eval.answers.open_questions import answer_open, read_open_questions, show_open, write_snippets
        from counterpoint.retrieval.core.errors import BadInput
        from counterpoint.retrieval.core.word_list import read_word_list
        from counterpoint.service.assembly import assemble_answerer

        check_outputs(json, markdown, [file])
        cases = read_open_questions(file, set(read_word_list(ids)) if ids else ())
        if snippets:
            write_snippets(cases, snippets)
            return
        if index is None:
            raise BadInput("An index to ask is missing; give --index DIR, or --snippets OUT for a corpus to build one from.")
        answerer = assemble_answerer(index, answers, profile, config)
        settings = _begin(len(cases), f"{file} of {index} with {answers}", work, answerer)
        results = answer_open(cases, answerer, work, settings)
        publish(show_open(file.name, cases, results), json, markdown)
        if rows:
            lines = (dumps(row, ensure_ascii=False) for one in cases for row in results[one.id]["rows"])
            write_whole(rows, "".join(f"{line}\n" for line in lines), "the rows")
