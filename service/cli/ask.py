"""`counterpoint ground`, `answer`, `evidence`, `search` and `show`: one request each, and its result on standard output.

Heavy things are imported when a command runs, so that --help answers at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from retrieval.core.english import format_count
from service.cli.shared import (
    INDEX_VARIABLE,
    AnswersOption,
    ConfigOption,
    IndexOption,
    ProfileOption,
    UnderAnswersOption,
    print_note,
    read_libraries,
    read_library,
    report_errors,
)
from service.cli.usage import check_sentence
from service.configuration import defaults
from service.output.formats import Format

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from retrieval.core.values import FullText
    from service.http.schemas import DocumentOut, FullTextOut, HitOut
    from service.memory.schemas import Entry
    from service.queries.schemas import TypedOut


def ground(
    claim: Annotated[str, typer.Argument(metavar="CLAIM", help="One sentence that can be true or false, or a PMID or DOI.")],
    index: IndexOption,
    question: Annotated[str, typer.Option("--question", help="The question that the claim answers.")] = "",
    known: Annotated[
        str,
        typer.Option(
            "--known",
            metavar="PMID,...",
            help="PMIDs already known to support the claim, separated by commas; never returned as support.",
        ),
    ] = "",
    read: Annotated[
        int | None,
        typer.Option(
            "--read",
            metavar="N",
            min=1,
            max=defaults.MOST_READ,
            help="How many papers to read; as many as configured if not given.",
        ),
    ] = None,
    full_text: Annotated[bool, typer.Option("--full-text", help="Only papers whose full text the index holds.")] = False,
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
    """Find the papers that contradict or support CLAIM. Each is shown with the sentence that does."""
    with report_errors():
        from service.grounding.claims import check_claim

        check_sentence(claim, "ground", index)
        statement = check_claim(claim, question, known.split(","))
        from service.assembly import assemble
        from service.grounding.coverage import estimate_usage
        from service.memory.history import entry_of_claim
        from service.output.export import export_text
        from service.output.terminal import print_grounding, print_grounding_table
        from service.queries.grounding import ground_query

        grounder = assemble(index, config, profile)
        if asks := estimate_usage(grounder):
            print_note(asks)
        response, grounding = ground_query(grounder, statement, partial(grounder.ground, papers=read, full_text=full_text))
        _add_to_history(index, entry_of_claim(response))
        for note in list_notes(response.typed):
            print_note(note)
        match "json" if as_json else format:
            case "table":
                print_grounding_table(response)
            case "text":
                print_grounding(response)
            case file_format:
                typer.echo(export_text(response, file_format, grounding), nl=False)


def _add_to_history(index: Path, entry: Entry) -> None:
    """Add an entry to the history, if there is one; a history that cannot be written does not hold back the result."""
    from retrieval.core.errors import CounterpointError
    from service.memory.memory import open_memory
    from service.operating.settings import load_settings

    try:
        settings = load_settings()
        memory = open_memory(settings.state_folder(shared=False), libraries := read_libraries(), settings.history)
        if memory and memory.history_on:
            memory.history.add("", libraries.at(index).id, entry)
    except CounterpointError as error:
        print_note(f"The history was not written: {error}")


def list_notes(classification: TypedOut) -> Iterator[str]:
    """List what the reader should know about the input: that it is no claim, or may be none, and spellings of unknown words."""
    alternatives = {
        "question": "`counterpoint answer` answers questions.",
        "text": "`counterpoint check` takes a text.",
    }
    if classification.kind != "claim" or "search" in classification.offers:
        yield f"{classification.detail} {alternatives.get(classification.kind, '')}".strip()
    for offer in classification.suggestions:
        yield f"No document holds “{offer.word}”. Did you mean “{offer.instead}”?"


def answer(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question to answer.")],
    index: IndexOption,
    narrative: Annotated[str, typer.Option("--narrative", help="Who asks, and why.")] = "",
    topic: Annotated[str, typer.Option("--topic", help="The subject in a few words.")] = "",
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
    """Answer QUESTION with checked citations. The answer has at most 250 words; papers that contradict it are listed."""
    with report_errors():
        from service.grounding.claims import check_topic

        check_sentence(question, "answer", index)
        request = check_topic(question, topic, narrative)
        from service.answering.schemas import AnswerResponse
        from service.assembly import assemble_answerer
        from service.grounding.coverage import estimate_usage
        from service.output.export import export_text
        from service.output.terminal import print_answer, progress

        answerer = assemble_answerer(index, answers, profile, config)
        output_format = "json" if as_json else format
        if answerer.grounder and (asks := estimate_usage(answerer.grounder, answerer.config)):
            print_note(asks)
        result = answerer.answer(request, progress(print_note) if output_format == "text" else None)
        response = AnswerResponse.of(result, answerer)
        if output_format == "text":
            print_answer(response)
        else:
            typer.echo(export_text(response, output_format, result), nl=False)


def evidence(
    hypothesis: Annotated[
        str, typer.Argument(metavar="HYPOTHESIS", help="One sentence that the paper may support or contradict.")
    ],
    paper: Annotated[
        str,
        typer.Option(
            "--paper",
            metavar="PAPER",
            help="A file (JATS XML, PDF, DOCX, HTML, Markdown, plain text, a JSON list of sentences), or the PMID, DOI or id of "
            "a paper in the index.",
        ),
    ],
    index: Annotated[
        Path | None,
        typer.Option(
            "--index", metavar="INDEX", help="The index of a paper named by its id.", envvar=INDEX_VARIABLE, callback=read_library
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", help="How many sentences to choose.")] = 5,
    results_only: Annotated[
        bool, typer.Option("--results-only", help="Choose sentences on what the study found, not on how it was done.")
    ] = False,
    profile: ProfileOption = defaults.PROFILE,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole answer as JSON.")] = False,
) -> None:
    """Find the evidence on HYPOTHESIS in one paper. The sentences are chosen together, for and against."""
    with report_errors():
        from service.grounding.claims import check_hypothesis
        from service.reading.papers import list_candidates

        article = _open_paper(paper, index)
        check_hypothesis(hypothesis)
        sentences = list_candidates(article, k, paper)
        from service.configuration.config import load_profile
        from service.output.terminal import print_chosen
        from service.reading.evidence import EvidenceFinder
        from service.reading.schemas import EvidenceResponse

        finder = EvidenceFinder(load_profile(profile))
        if not as_json:
            print_note(f"Reading {format_count(len(sentences), 'sentence')} of {paper}.")
        response = EvidenceResponse.of(finder.find(hypothesis, article, k, results_only))
        if as_json:
            typer.echo(response.model_dump_json(indent=2))
        else:
            print_chosen(response)


def _open_paper(paper: str, index: Path | None) -> FullText:
    """Read the paper in a file, or the paper of an index that has this id."""
    from retrieval.core.errors import BadInput
    from retrieval.index import open_documents
    from service.reading.papers import read_paper_file, take_paper

    if Path(paper).exists():
        return read_paper_file(Path(paper))
    if index is None:
        raise BadInput(f"There is no file {paper}: name one or, with --index, a paper by its PMID, DOI or id in that index.")
    store, manifest = open_documents(index)
    try:
        return take_paper(store, paper, manifest.counts.documents)
    except BadInput as error:
        raise BadInput(f"There is no file {paper}, and as the name of a paper: {error}") from None


def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Words, or what names a paper.")],
    index: IndexOption,
    most: Annotated[int, typer.Option("-n", min=1, max=1000, help="How many documents to list.")] = 20,
    format: Annotated[
        Literal["table", "json", "csv"], typer.Option("--format", help="A table to read, JSON for programs, or CSV.")
    ] = "table",
    as_json: Annotated[bool, typer.Option("--json", help="Short for --format json.")] = False,
) -> None:
    """Find a paper, or list the documents that match QUERY by title and abstract or a passage of their full text, by BM25.

    A paper is found by authors, year, journal, words of its title, a pasted reference, or its PMID, PMCID or DOI. It is first,
    with what names it. British and American spellings match each other.
    """
    with report_errors():
        from service.grounding.claims import check_query

        words = check_query(query)
        from retrieval.index import Index
        from service.http.schemas import SearchResponse
        from service.queries.papers import describe_search, search_words
        from service.queries.spelling import suggest_words

        corpus = Index(index)
        hits, note = search_words(corpus, words, most), describe_search(corpus, words)
        response = SearchResponse.of(words, 1, hits, None, corpus.manifest.id, note)
        if as_json or format == "json":
            typer.echo(response.model_dump_json(indent=2))
        elif format == "csv":
            typer.echo(_hits_csv(response.hits), nl=False)
        elif response.hits:
            _print_hits(response.hits)
        if note:
            print_note(note)
        elif not response.hits:
            print_note(f"None of the {format_count(corpus.manifest.counts.documents, 'document')} holds any of these words.")
        for offer in () if any(hit.why for hit in response.hits) else suggest_words(corpus, words):
            print_note(f"No document holds “{offer.word}”. Did you mean “{offer.instead}”?")


def show(
    pmid: Annotated[str, typer.Argument(metavar="PMID", help="A PMID, a DOI, or the id of a document of the index.")],
    index: IndexOption,
    as_json: Annotated[bool, typer.Option("--json", help="Print the same JSON as GET /v1/documents/PMID.")] = False,
) -> None:
    """Show a document, sentence by sentence, and its full text. The sentence that states its main finding is marked with »."""
    with report_errors():
        from retrieval.index import open_documents
        from service.http.schemas import DocumentOut
        from service.queries.papers import find_finding, find_paper

        store, manifest = open_documents(index)
        entry = find_paper(store, pmid, manifest.counts.documents)
        document = DocumentOut.read(store, entry)
        if as_json:
            typer.echo(document.model_dump_json(indent=2))
        else:
            finding = find_finding(entry)
            _print_document(document, finding[0].text if finding else "")


def _hits_csv(hits: list[HitOut]) -> str:
    """Write the hits as CSV, one per row."""
    from service.output.export import write_csv

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

    from service.output.terminal import mark_retracted, print_rows

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
        return Text.assemble(title, "\n", (f"{one.passage.location.says}: ", "bold"), (beginning, "dim"))

    rows = [[*map(Text, (str(one.rank), one.pmid, str(one.year or ""))), say_title(one), Text(one.journal)] for one in hits]
    print_rows(Console(highlight=False), ("", "PMID", "year", "title", "journal"), rows)


def _print_document(document: DocumentOut, finding: str) -> None:
    """Print a document with its sentences; the one that states its finding is marked."""
    from rich.console import Console
    from rich.text import Text

    from service.output.terminal import print_whole_words

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
