"""`counterpoint ground`; heavy things are imported when it runs, so that --help answers at once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from service.cli.shared.messages import print_note, report_errors
from service.cli.shared.options import ConfigOption, IndexOption, ProfileOption
from service.cli.shared.usage import check_sentence
from service.configuration import defaults

if TYPE_CHECKING:
    from service.grounding.schemas import GroundResponse
    from service.typed.schemas import TypedOut


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
    config: ConfigOption = defaults.CONFIG,
    profile: ProfileOption = defaults.PROFILE,
    format: Annotated[
        Literal["text", "table", "json", "markdown", "csv", "ris", "bibtex"],
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
        from service.output.export import export_text
        from service.output.tables import grounding_csv, print_grounding_table
        from service.output.terminal import print_grounding
        from service.typed.grounding import ground_typed

        grounder = assemble(index, config, profile)
        response, grounding = ground_typed(grounder, statement, partial(grounder.ground, papers=read))
        _remember(response)
        for note in list_notes(response.typed):
            print_note(note)
        match "json" if as_json else format:
            case "json":
                typer.echo(response.model_dump_json(indent=2))
            case "csv":
                typer.echo(grounding_csv(response), nl=False)
            case "table":
                print_grounding_table(response)
            case "text":
                print_grounding(response)
            case "markdown" | "ris" | "bibtex" as text_format:
                typer.echo(export_text(grounding, text_format), nl=False)


def _remember(response: GroundResponse) -> None:
    """Add the claim to the history, if there is one; a history that cannot be written does not hold back the result."""
    from retrieval.core.errors import CounterpointError
    from service.memory.history import entry_of_claim
    from service.memory.memory import open_memory
    from service.operating.settings import load_settings

    try:
        settings = load_settings()
        memory = open_memory(settings.state_folder(shared=False), settings.history)
        if memory and memory.history_on:
            memory.history.add("", entry_of_claim(response))
    except CounterpointError as error:
        print_note(f"The history was not written: {error}")


def list_notes(classification: TypedOut) -> Iterator[str]:
    """List what the reader should know about the input: that it is not a claim, and suggestions for words not in the index."""
    alternatives = {
        "question": "`counterpoint answer` answers questions.",
        "text": "`counterpoint check` takes a text.",
    }
    if classification.kind != "claim":
        yield f"{classification.detail} {alternatives.get(classification.kind, '')}".strip()
    for offer in classification.suggestions:
        yield f"No document holds “{offer.word}”. Did you mean “{offer.instead}”?"
