"""`counterpoint search` and `show`: look into an index without using a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from service.cli.shared.messages import print_note, report_errors
from service.cli.shared.options import IndexOption

if TYPE_CHECKING:
    from retrieval.store.documents import Documents
    from service.http.schemas import DocumentOut, HitOut

HIT_COLUMNS = ("rank", "pmid", "title", "year", "journal", "types", "retracted", "score")


def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The words to search for.")],
    index: IndexOption,
    most: Annotated[int, typer.Option("-n", min=1, max=1000, help="How many documents to list.")] = 20,
    format: Annotated[
        Literal["table", "json", "csv"], typer.Option("--format", help="A table to read, JSON for programs, or CSV.")
    ] = "table",
    as_json: Annotated[bool, typer.Option("--json", help="Short for --format json.")] = False,
) -> None:
    """List the documents that match QUERY. They are ranked by BM25; British and American spellings match each other."""
    with report_errors():
        from service.grounding.claims import check_query

        words = check_query(query)
        from retrieval.index import Index
        from service.http.schemas import SearchResponse
        from service.typed.search import search_words
        from service.typed.suggest import suggest_words

        corpus = Index(index)
        hits = search_words(corpus, words, most)
        response = SearchResponse.of(words, 1, hits, None, corpus.manifest.id)
        if as_json or format == "json":
            typer.echo(response.model_dump_json(indent=2))
        elif format == "csv":
            typer.echo(hits_csv(response.hits), nl=False)
        elif response.hits:
            print_hits(response.hits)
        if not response.hits:
            print_note(f"None of the {corpus.manifest.counts.documents:,} documents holds any of these words.")
        for offer in suggest_words(corpus, words):
            print_note(f"No document holds “{offer.word}”. Did you mean “{offer.instead}”?")


def show(
    pmid: Annotated[str, typer.Argument(metavar="PMID", help="A PMID, a DOI, or the id of a document of the index.")],
    index: IndexOption,
    as_json: Annotated[bool, typer.Option("--json", help="Print the same JSON as GET /v1/documents/PMID.")] = False,
) -> None:
    """Show a document, sentence by sentence. The sentence that states its main finding is marked with »."""
    with report_errors():
        from service.http.schemas import DocumentOut
        from service.typed.paper import find_finding, find_paper

        store, documents = _open_store(index)
        entry = find_paper(store, pmid, documents)
        document = DocumentOut.of(entry)
        if as_json:
            typer.echo(document.model_dump_json(indent=2))
        else:
            finding = find_finding(entry)
            print_document(document, finding[0].text if finding else "")


def _open_store(index: Path) -> tuple[Documents, int]:
    """Open the documents of an index without Java, and count them."""
    from retrieval.index import open_documents

    documents, manifest = open_documents(index)
    return documents, manifest.counts.documents


def hits_csv(hits: list[HitOut]) -> str:
    """Write the hits as CSV, one per row."""
    from service.output.spreadsheet import write_csv

    rows = [
        (one.rank, one.pmid, one.title, one.year or "", one.journal, "; ".join(one.types), "yes" if one.retracted else "no",
         one.score)
        for one in hits
    ]  # fmt: skip
    return write_csv(HIT_COLUMNS, rows)


def print_hits(hits: list[HitOut]) -> None:
    """Print the hits, one per line."""
    from rich.console import Console
    from rich.text import Text

    from service.output.tables import mark_retracted, print_rows

    rows = [
        [*map(Text, (str(one.rank), one.pmid, str(one.year or ""))), mark_retracted(one.title, one.retracted), Text(one.journal)]
        for one in hits
    ]
    print_rows(Console(highlight=False), ("", "PMID", "year", "title", "journal"), rows)


def print_document(document: DocumentOut, finding: str) -> None:
    """Print a document with its sentences; the one that states its finding is marked."""
    from rich.console import Console
    from rich.text import Text

    from service.output.tables import print_whole_words

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
