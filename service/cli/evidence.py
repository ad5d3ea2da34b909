"""`counterpoint evidence`; heavy things are imported when it runs, so that --help answers at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from service.cli.shared.messages import print_note, report_errors
from service.cli.shared.options import ProfileOption
from service.configuration import defaults

if TYPE_CHECKING:
    from service.reading.schemas import EvidenceResponse


def evidence(
    hypothesis: Annotated[
        str, typer.Argument(metavar="HYPOTHESIS", help="One sentence that the paper may support or contradict.")
    ],
    paper: Annotated[
        Path,
        typer.Option(
            "--paper", metavar="FILE", help="A JSON list of sentences, plain text or JATS XML, gzipped or not; DOCX or PDF."
        ),
    ],
    k: Annotated[int, typer.Option("-k", help="How many sentences to choose.")] = 5,
    results_only: Annotated[
        bool, typer.Option("--results-only", help="Choose sentences on what the study found, not on how it was done.")
    ] = False,
    format: Annotated[
        Literal["auto", "list", "lines", "text", "jats"],
        typer.Option("--format", help="The paper's format; lines means one sentence per line, auto detects the format."),
    ] = "auto",
    how: Annotated[
        Literal["embedded", "plain", "shots", "sections"],
        typer.Option("--how", help="The embedded models, or a strategy of the profile's language model."),
    ] = "embedded",
    profile: ProfileOption = defaults.PROFILE,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole answer as JSON.")] = False,
) -> None:
    """Find the evidence on HYPOTHESIS in one paper. The sentences are chosen together, for and against."""
    with report_errors():
        from nli.evidence import check_count
        from service.grounding.claims import check_hypothesis
        from service.reading.files import read_paper_file

        article = read_paper_file(paper, format)
        check_hypothesis(hypothesis)
        check_count(article, k)
        from service.configuration.config import load_profile
        from service.reading.evidence import load_finder
        from service.reading.schemas import EvidenceResponse

        finder = load_finder(load_profile(profile))
        if not as_json:
            print_note(f"Reading {len(article.body):,} sentences of {paper}.")
        response = EvidenceResponse.of(finder.find(hypothesis, article, k, results_only, how))
        if as_json:
            typer.echo(response.model_dump_json(indent=2))
        else:
            print_evidence(response)


def print_evidence(response: EvidenceResponse) -> None:
    """Print the sentences with their rank, section, position, stance and the reason for it."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    console = Console(highlight=False)
    console.print(Text(response.hypothesis, style="bold"))
    console.print(response.says)
    colours = {"support": "green", "contradict": "red", "neutral": "dim"}
    for one in response.evidence:
        stance, section = one.stance, one.section or one.kind
        line = Text(f"\n{one.rank}  ", style="bold")
        line.append(f"{section} · sentence {one.index} · {one.start}–{one.end}", style="dim")
        line.append(f" · relevance {one.relevance:.1f}", style="dim")
        if stance:
            line.append(f" · {stance.label} {getattr(stance, stance.label):.2f}", style=colours[stance.label])
        console.print(line)
        console.print(Padding(Text(one.text), (0, 0, 0, 3)))
        console.print(Padding(Text(one.why, style="dim"), (0, 0, 0, 3)))
    console.print(Text(f"\n{response.read:,} sentences read, {response.judged:,} judged.", style="dim"))
