"""Options that several commands share, each defined once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from service.cli.shared.messages import INDEX_VARIABLE, print_note, report_errors
from service.configuration import defaults


def read_place(place: Path) -> Path:
    """Return the place of an index as given; for an index on a cluster, also apply the settings for reaching it."""
    from retrieval.cluster.address import is_address, read_address

    if is_address(place):
        with report_errors():
            from service.operating.settings import hand_down_access, load_settings

            read_address(place)
            hand_down_access(load_settings())
    return place


IndexOption = Annotated[
    Path,
    typer.Option(
        "--index",
        metavar="INDEX",
        help="The folder of an index, or the address of one on a cluster, such as opensearch://host:9200/pubmed.",
        show_default=False,
        envvar=INDEX_VARIABLE,
        show_envvar=True,
        callback=read_place,
    ),
]
ConfigOption = Annotated[str, typer.Option("--config", help="A grounding variant: its name or a YAML file.")]
AnswersOption = Annotated[
    str | None, typer.Option("--answers", help="An answer variant: its name or a YAML file.", show_default=defaults.ANSWERS)
]
UnderAnswersOption = Annotated[
    str | None,
    typer.Option("--config", help="A grounding variant in place of the one that the answer variant names.", show_default=False),
]
ProfileOption = Annotated[str, typer.Option("--profile", help="A profile (a set of models): its name or a YAML file.")]


def answer_variant(answers: str | None, config: str | None) -> tuple[str, str | None]:
    """Return the names of the answer variant and of its grounding variant; None means the one that the answer variant names.

    --config used to name the answer variant. Such a value still works, and a note says what to write instead.
    """
    from retrieval.core.errors import BadConfig
    from service.configuration.answers import is_answer_variant

    if config is None or not is_answer_variant(config):
        return answers or defaults.ANSWERS, config
    if answers is not None:
        raise BadConfig(f"--config names a grounding variant, and {config} is an answer variant, beside --answers {answers}.")
    print_note(f"--config names a grounding variant; write --answers {config} for the answer variant.")
    return config, None
