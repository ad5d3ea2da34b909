"""`counterpoint ground`, `answer`, `evidence`, `search` and `show`: one request each, and its result on standard output.

Heavy things are imported when a command runs, so that --help answers at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.errors import BadInput, CounterpointError
from counterpoint.service.calls.requests import (
    MOST_HITS,
    AnswerRequest,
    DocumentRequest,
    EvidenceRequest,
    GroundRequest,
    SearchRequest,
)
from counterpoint.service.cli.options import takes
from counterpoint.service.cli.shared import (
    AnswersOption,
    ConfigOption,
    IndexOption,
    ProfileOption,
    UnderAnswersOption,
    make_index_option,
    print_note,
    read_libraries,
)
from counterpoint.service.cli.usage import check_sentence
from counterpoint.service.configuration import defaults
from counterpoint.service.grounding.coverage import estimate_usage
from counterpoint.service.output.formats import Format

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from counterpoint.retrieval.core.values import FullText
    from counterpoint.service.calls.schemas import DocumentOut, FullTextOut, HitOut
    from counterpoint.service.memory.schemas import Entry
    from counterpoint.service.queries.schemas import InputOut


@takes(GroundRequest)
def ground(
    ask: Callable[..., GroundRequest],
    index: IndexOption,
    config: ConfigOption = defaults.CONFIG,
    profile: ProfileOption = defaults.PROFILE,
    format: Annotated[
        Literal["text", "table", Format],
        typer.Option("--format", help="text with the sentences, a table with a paper a line, or a file for other programs."),
    ] = "text",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the same JSON as POST /v1/ground; short for --format json.")
    ] = False,
) -> None:
    """Print both sides of a claim, and add it to the history."""
    request = ask()
    check_sentence(request.claim, "ground", index)
    request.check()
    from counterpoint.service.assembly import Opened
    from counterpoint.service.calls import calls
    from counterpoint.service.memory.history import entry_of_claim
    from counterpoint.service.output.terminal import print_grounding, print_grounding_table

    opened = Opened(index, config, profile=profile)
    if asks := estimate_usage(opened.grounder):
        print_note(asks)
    result = calls.ground(opened, request, calls.Progress())
    _add_to_history(index, entry_of_claim(result.response))
    for note in list_notes(result.response.input):
        print_note(note)
    match "json" if as_json else format:
        case "table":
            print_grounding_table(result.response)
        case "text":
            print_grounding(result.response)
        case file_format:
            typer.echo(result.write(file_format), nl=False)


def _add_to_history(index: Path, entry: Entry) -> None:
    """Add an entry to the history, if there is one; a history that cannot be written does not hold back the result."""
    from counterpoint.service.memory.memory import open_memory
    from counterpoint.service.operating.settings import load_settings

    try:
        settings = load_settings()
        memory = open_memory(settings.state_folder(shared=False), settings.history)
        if memory and memory.history_on:
            memory.history.add("", read_libraries().at(index).id, entry)
    except CounterpointError as error:
        print_note(f"The history was not written: {error}")


def list_notes(classification: InputOut) -> Iterator[str]:
    """List what the reader should know about the input: that it is no claim, or may be none, and spellings of unknown words."""
    alternatives = {
        "question": "`counterpoint answer` answers questions.",
        "text": "`counterpoint check` takes a text.",
    }
    if classification.kind != "claim" or "search" in classification.offers:
        yield f"{classification.detail} {alternatives.get(classification.kind, '')}".strip()
    for offer in classification.suggestions:
        yield f"No document holds “{offer.word}”. Did you mean “{offer.instead}”?"


@takes(AnswerRequest)
def answer(
    ask: Callable[..., AnswerRequest],
    index: IndexOption,
    answers: AnswersOption = defaults.ANSWERS,
    config: UnderAnswersOption = None,
    profile: ProfileOption = defaults.PROFILE,
    format: Annotated[
        Literal["text", Format],
        typer.Option("--format", help="text to read, or a file for other programs: a page, a table, the cited documents."),
    ] = "text",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the same JSON as POST /v1/answer; short for --format json.")
    ] = False,
) -> None:
    """Print the answer; the steps that lead to it are notes."""
    request = ask()
    check_sentence(request.question, "answer", index)
    request.check()
    from counterpoint.service.answering.schemas import StageEvent
    from counterpoint.service.assembly import Opened
    from counterpoint.service.calls import calls
    from counterpoint.service.output.terminal import print_answer

    output_format = "json" if as_json else format

    def on_progress(_name: str, event: object) -> None:
        if isinstance(event, StageEvent) and output_format == "text":
            print_note(event.detail)

    opened = Opened(index, answers=answers, profile=profile, under_answers=config)
    answerer = opened.answering()
    if answerer.grounder and (asks := estimate_usage(answerer.grounder, answerer.config)):
        print_note(asks)
    result = calls.answer(opened, request, calls.Progress(on_progress))
    if output_format == "text":
        print_answer(result.response)
    else:
        typer.echo(result.write(output_format), nl=False)


@takes(EvidenceRequest)
def evidence(
    ask: Callable[..., EvidenceRequest],
    paper: Annotated[
        str,
        typer.Option(
            "--paper",
            metavar="PAPER",
            help="A file (JATS XML, PDF, DOCX, HTML, Markdown, plain text, a JSON list of sentences), or the PMID, DOI or id of "
            "a paper in the index.",
        ),
    ],
    index: Annotated[Path | None, make_index_option("The index of a paper named by its id.")] = None,
    profile: ProfileOption = defaults.PROFILE,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole answer as JSON.")] = False,
) -> None:
    """Print the evidence in the paper."""
    from counterpoint.service.evidence.papers import list_candidates

    request, article = ask(pmid=paper), _open_paper(paper, index)
    request.check()
    sentences = list_candidates(article, request.k, paper)
    from counterpoint.service.calls import calls
    from counterpoint.service.configuration.config import load_profile
    from counterpoint.service.evidence.finder import EvidenceFinder
    from counterpoint.service.output.terminal import print_chosen

    finder = EvidenceFinder(load_profile(profile))
    if not as_json:
        print_note(f"Reading {format_count(len(sentences), 'sentence')} of {paper}.")
    response = calls.read_paper(finder, request, article, calls.Progress())
    if as_json:
        typer.echo(response.model_dump_json(indent=2))
    else:
        print_chosen(response)


def _open_paper(paper: str, index: Path | None) -> FullText:
    """Read the paper in a file, or the paper of an index that has this id."""
    from counterpoint.retrieval.index import open_documents
    from counterpoint.service.evidence.papers import read_paper_file, take_paper

    if Path(paper).exists():
        return read_paper_file(Path(paper))
    if index is None:
        raise BadInput(f"There is no file {paper}: name one or, with --index, a paper by its PMID, DOI or id in that index.")
    store, manifest = open_documents(index)
    try:
        return take_paper(store, paper, manifest.counts.documents)
    except BadInput as error:
        raise BadInput(f"There is no file {paper}, and as the name of a paper: {error}") from None


@takes(SearchRequest)
def search(
    ask: Callable[..., SearchRequest],
    index: IndexOption,
    most: Annotated[int, typer.Option("-n", min=1, max=MOST_HITS, help="How many documents to list.")] = 20,
    format: Annotated[
        Literal["table", "json", "csv"], typer.Option("--format", help="A table to read, JSON for programs, or CSV.")
    ] = "table",
    as_json: Annotated[bool, typer.Option("--json", help="Short for --format json.")] = False,
) -> None:
    """Print the hits."""
    request = ask().model_copy(update={"limit": most})
    request.check()
    from counterpoint.service.assembly import Opened
    from counterpoint.service.calls import calls
    from counterpoint.service.queries.spelling import suggest_words

    opened = Opened(index)
    response = calls.search(opened, request, calls.Progress()).response.model_copy(update={"next_cursor": None})
    if as_json or format == "json":
        typer.echo(response.model_dump_json(indent=2))
    elif format == "csv":
        typer.echo(_hits_csv(response.hits), nl=False)
    elif response.hits:
        _print_hits(response.hits)
    if response.note:
        print_note(response.note)
    elif not response.hits:
        documents = opened.index.manifest.counts.documents
        print_note(f"None of the {format_count(documents, 'document')} holds any of these words.")
    for offer in () if any(hit.why for hit in response.hits) else suggest_words(opened.index, response.query):
        print_note(f"No document holds “{offer.word}”. Did you mean “{offer.instead}”?")


@takes(DocumentRequest, "The sentence that states its main finding is marked with ».")
def show(
    ask: Callable[..., DocumentRequest],
    index: IndexOption,
    as_json: Annotated[bool, typer.Option("--json", help="Print the same JSON as GET /v1/documents/PMID.")] = False,
) -> None:
    """Print the document."""
    from counterpoint.retrieval.index import open_documents
    from counterpoint.service.calls.calls import read_document
    from counterpoint.service.queries.papers import find_finding

    store, manifest = open_documents(index)
    document = read_document(store, manifest.counts.documents, ask())
    if as_json:
        typer.echo(document.model_dump_json(indent=2))
    else:
        entry = store.get(document.pmid)
        finding = find_finding(entry) if entry else None
        _print_document(document, finding[0].text if finding else "")


def _hits_csv(hits: list[HitOut]) -> str:
    """Write the hits as CSV, one per row."""
    from counterpoint.service.output.export import write_csv

    columns = ("rank", "pmid", "title", "year", "journal", "types", "retracted", "score", "why")
    rows = [
        (one.rank, one.pmid, one.title, one.year or "", one.journal, "; ".join(one.types), "yes" if one.retracted else "no",
         one.score, one.why)
        for one in hits
    ]  # fmt: skip
    return write_csv(columns, rows)


_SHOWN_WORDS = 40
"""Words of a passage that are shown in a list of hits."""


def _print_hits(hits: list[HitOut]) -> None:
    """Print the hits, one per line; a paper that was named with its authors and by what, one that was found by its full text with
    the place and the first words there."""
    from rich.console import Console
    from rich.text import Text

    from counterpoint.service.output.terminal import mark_retracted, print_rows

    def say_title(one: HitOut) -> Text:
        title = mark_retracted(one.title, one.retracted)
        if one.why:
            authors = [author.partition(",")[0] for author in one.authors]
            by = f"{', '.join(authors[:2])}{' et al.' if len(authors) > 2 else ''}"
            return Text.assemble(title, "\n", (by, "dim"), (" · " if by else "", "dim"), (f"found by {one.why}", "bold"))
        if one.passage is None:
            return title
        words = one.passage.text.split()
        beginning = f"{' '.join(words[:_SHOWN_WORDS])}{' …' if len(words) > _SHOWN_WORDS else ''}"
        return Text.assemble(title, "\n", (f"{one.passage.location.text}: ", "bold"), (beginning, "dim"))

    rows = [[*map(Text, (str(one.rank), one.pmid, str(one.year or ""))), say_title(one), Text(one.journal)] for one in hits]
    print_rows(Console(highlight=False), ("", "PMID", "year", "title", "journal"), rows)


def _print_document(document: DocumentOut, finding: str) -> None:
    """Print a document with its sentences; the one that states its finding is marked."""
    from rich.console import Console
    from rich.text import Text

    from counterpoint.service.output.terminal import print_whole_words

    console = Console(highlight=False)
    console.print(Text(document.title or "(no title)", style="bold"))
    facts = [document.pmid, str(document.year or ""), document.journal, *document.types]
    print_whole_words(console, Text(" · ".join(fact for fact in facts if fact), style="dim"))
    if document.retracted:
        console.print(Text("RETRACTED", style="bold red"))
    console.print()
    for sentence in document.sentences:
        is_finding = sentence.text == finding
        line = Text("» " if is_finding else "  ")
        console.print(line.append(sentence.text, style="bold" if is_finding else ""))
    if not document.sentences:
        console.print("(no abstract)")
    if document.full_text:
        _print_text(console, document.full_text)


def _print_text(console: Console, text: FullTextOut) -> None:
    """Print a full text under its headings, a table's rows as they stand."""
    from rich.text import Text

    licence = f"; licence: {text.licence}" if text.licence else ""
    console.print(Text(f"\nFull text from {text.source or 'a file'} ({text.format.upper()}){licence}", style="dim"))
    before = None
    for block in text.blocks:
        here = block.location.section
        if here and here != before:
            page = f"  p. {block.location.page}" if block.location.page else ""
            console.print(Text(f"\n{here}", style="bold").append(page, style="not bold dim"))
        before = here
        console.print(Text(f"  {block.text}"))
