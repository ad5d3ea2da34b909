"""`counterpoint run` and `check-run`; heavy things are imported when they run, so that --help answers at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.service.cli.shared import (
    AnswersOption,
    ConfigOption,
    IndexOption,
    ProfileOption,
    UnderAnswersOption,
    make_index_option,
    print_note,
)
from counterpoint.service.configuration import defaults

if TYPE_CHECKING:
    from counterpoint.retrieval.store.corpus import Corpus


def _check_id(parameter: typer.CallbackParam, value: str) -> str:
    """The id as given; one without a character is refused now, not by the check of the finished run."""
    if not value.strip():
        raise BadInput(f"{parameter.opts[0]} is empty; give the id that the track knows you by, or one of your own.")
    return value


run_app = typer.Typer(help="Write TREC run files.", no_args_is_help=True)

InputArgument = Annotated[Path, typer.Argument(metavar="INPUT", help="The track's Task A input file.", show_default=False)]
TopicsArgument = Annotated[Path, typer.Argument(metavar="TOPICS", help="The track's Task B topics.", show_default=False)]
OutOption = Annotated[Path, typer.Option("--out", metavar="RUN.jsonl", help="The run file to write.", show_default=False)]
TeamOption = Annotated[str, typer.Option("--team", help="Your team's id.", show_default=False, callback=_check_id)]
RunIdOption = Annotated[str, typer.Option("--run-id", help="This run's id.", show_default=False, callback=_check_id)]
FillOption = Annotated[
    bool, typer.Option("--fill", help="Leave nothing empty that the index has a paper for: cite the most probable ones.")
]
CorpusOption = Annotated[
    Path | None,
    typer.Option(
        "--corpus-pmids",
        metavar="FILE",
        help="Only documents of the track's corpus: a file of PMIDs, one a line.",
        show_default=False,
    ),
]
FullTextOption = Annotated[
    bool, typer.Option("--full-text", help="Also search and read the full texts of the index; the run's manifest says so.")
]
OverwriteOption = Annotated[bool, typer.Option("--overwrite", help="Replace a finished run of the same name.")]


@run_app.command("task-a")
def run_task_a(
    input: InputArgument,
    index: IndexOption,
    out: OutOption,
    team: TeamOption,
    run_id: RunIdOption,
    config: ConfigOption = defaults.CONFIG,
    profile: ProfileOption = defaults.PROFILE,
    fill: FillOption = False,
    corpus_pmids: CorpusOption = None,
    full_text: FullTextOption = False,
    overwrite: OverwriteOption = False,
) -> None:
    """Ground every answer sentence of INPUT (TREC BioGen 2025 Task A); a stopped run resumes."""
    from counterpoint.service.runs.journal import check_target
    from counterpoint.service.trec.task_a import read_items, run

    items = read_items(input)
    check_target(out, overwrite)
    corpus = _corpus(corpus_pmids)
    from counterpoint.service.assembly import assemble

    grounder = assemble(index, config, profile, records_only=True, full_texts=full_text)
    grounder.index.within = corpus
    sentences = format_count(sum(len(item.answer) for item in items), "sentence")
    print_note(f"Grounding {sentences} of {format_count(len(items), 'item')} with {config} over {index}.")
    report = run(items, input, grounder, out, team, run_id, fill)
    print_note(
        f"Wrote {out}: {format_count(report.sentences, 'sentence')}, {report.with_support:,} with support, "
        f"{report.with_contradiction:,} with a contradiction {_resumed(report.resumed, 'item')}."
    )


@run_app.command("task-b")
def run_task_b(
    topics: TopicsArgument,
    index: IndexOption,
    out: OutOption,
    team: TeamOption,
    run_id: RunIdOption,
    answers: AnswersOption = defaults.ANSWERS,
    config: UnderAnswersOption = None,
    profile: ProfileOption = defaults.PROFILE,
    fill: FillOption = False,
    corpus_pmids: CorpusOption = None,
    full_text: FullTextOption = False,
    overwrite: OverwriteOption = False,
) -> None:
    """Answer every topic of TOPICS (TREC BioGen Task B); a stopped run resumes."""
    from counterpoint.service.runs.journal import check_target
    from counterpoint.service.trec.task_b import answers_path, read_topics, run

    questions = read_topics(topics)
    check_target(out, overwrite)
    corpus = _corpus(corpus_pmids)
    from counterpoint.service.assembly import assemble_answerer

    answerer = assemble_answerer(index, answers, profile, config, records_only=True, full_texts=full_text)
    answerer.index.within = corpus
    print_note(f"Answering {format_count(len(questions), 'topic')} with {answers} over {index}.")
    report = run(questions, topics, answerer, out, team, run_id, fill)
    print_note(
        f"Wrote {out}: {format_count(report.topics, 'topic')}, {format_count(report.sentences, 'sentence')}; "
        f"on {format_count(report.too_little, 'topic')} the index "
        f"has too little{f', {report.empty:,} without a sentence' if fill else ''}. "
        f"{format_count(report.removed, 'sentence')} {'was' if report.removed == 1 else 'were'} removed, "
        f"{format_count(report.conflicts, 'conflict')} found"
        + (f", {format_count(report.tokens, 'token')} used" if report.tokens else "")
        + (f" for {report.cost:,.2f} dollars" if report.cost else "")
        + f" {_resumed(report.resumed, 'topic')}. The evidence is in {answers_path(out)}."
    )


def _resumed(count: int, unit: str) -> str:
    return f"({format_count(count, unit)} {'was' if count == 1 else 'were'} done in an earlier attempt)"


def _corpus(path: Path | None) -> Corpus | None:
    from counterpoint.retrieval.store.corpus import Corpus

    return Corpus.read(path) if path else None


check_app = typer.Typer(help="Check TREC run files before you submit them.", no_args_is_help=True)

NoIndexOption = Annotated[Path | None, make_index_option("The index that the run was made from; not needed with --corpus-pmids.")]
YearOption = Annotated[
    int | None,
    typer.Option("--year", metavar="YYYY", help="Also check that the input is that of this year's track.", show_default=False),
]
RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="The run file to check.", show_default=False)]


@check_app.command("task-a")
def check_task_a(
    run: RunArgument,
    input: Annotated[Path, typer.Option("--input", help="The track's Task A input file.", show_default=False)],
    index: IndexOption,
    year: YearOption = None,
    corpus_pmids: CorpusOption = None,
) -> None:
    """Check a Task A run against its input and the index; report every fault by item and sentence (exit code 1)."""
    from counterpoint.retrieval.index import open_documents
    from counterpoint.service.trec.records import check_year
    from counterpoint.service.trec.task_a import SHAPE, check, read_items

    items = read_items(input)
    if year:
        check_year(input, SHAPE, [item.qa_id for item in items], year)
    _list_faults(check(run, items, open_documents(index)[0], _corpus(corpus_pmids)), run)
    print_note(
        f"{run} is a valid Task A run: {format_count(len(items), 'item')}, "
        f"{format_count(sum(len(item.answer) for item in items), 'sentence')}."
    )


@check_app.command("task-b")
def check_task_b(
    run: RunArgument,
    topics: Annotated[Path, typer.Option("--topics", help="The track's Task B topics.", show_default=False)],
    index: NoIndexOption = None,
    year: YearOption = None,
    corpus_pmids: CorpusOption = None,
) -> None:
    """Check a Task B run against its topics and the index, or the track's PMIDs alone; report every fault (exit code 1)."""
    from counterpoint.retrieval.index import open_documents
    from counterpoint.service.trec.records import check_year
    from counterpoint.service.trec.task_b import SHAPE, check, read_topics

    questions = read_topics(topics)
    if year:
        check_year(topics, SHAPE, [topic.id for topic in questions], year)
    if index is None and corpus_pmids is None:
        raise BadInput("Name what may be cited: an index (--index) or the track's PMIDs (--corpus-pmids).")
    store = open_documents(index)[0] if index is not None else None
    _list_faults(check(run, questions, store, _corpus(corpus_pmids)), run)
    print_note(f"{run} is a valid Task B run: {format_count(len(questions), 'topic')}.")


def _list_faults(faults: list[str], run: Path) -> None:
    """Print the faults of a run and, if there are any, exit with code 1."""
    for fault in faults:
        # What a run file has wrong may be half a character.
        typer.echo(fault.encode("utf-8", "backslashreplace").decode())
    if faults:
        print_note(f"{format_count(len(faults), 'fault')} in {run}.")
        raise typer.Exit(1)
