"""`counterpoint ground`; heavy things are imported when it runs, so that --help answers at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from service.cli.messages import print_note, report_errors
from service.cli.options import ConfigOption, IndexOption, ProfileOption
from service.configuration import defaults

if TYPE_CHECKING:
    from service.grounding.schemas import GroundResponse


def ground(
    claim: Annotated[str, typer.Argument(metavar="CLAIM", help="One sentence that can be true or false.")],
    index: IndexOption,
    question: Annotated[str, typer.Option("--question", help="The question that the claim answers.")] = "",
    known: Annotated[
        str,
        typer.Option(
            "--known",
            metavar="PMID,...",
            help="A PMID already known to support the claim; never returned as support. May be repeated.",
        ),
    ] = "",
    config: ConfigOption = defaults.CONFIG,
    profile: ProfileOption = defaults.PROFILE,
    as_json: Annotated[bool, typer.Option("--json", help="Print the same JSON as POST /ground.")] = False,
) -> None:
    """Find the documents that contradict CLAIM and those that support it, each with its sentence."""
    from service.grounding.claims import check_claim

    with report_errors():
        checked = check_claim(claim, question, known.split(","))
        from service.assembly import assemble
        from service.grounding.schemas import GroundResponse, Provenance
        from service.output.terminal import print_grounding

        grounder = assemble(index, config, profile)
        response = GroundResponse.of(grounder.ground(checked), Provenance.of(grounder))
        _remember(response)
        if as_json:
            typer.echo(response.model_dump_json(indent=2))
        else:
            print_grounding(response)


def _remember(response: GroundResponse) -> None:
    """Add the claim to the history, where there is one; a history that cannot be written keeps no result back."""
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
