"""`counterpoint eval claims`, `titles` and `cochrane`; heavy things are imported when they run, so that --help answers at
once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eval.commands.outputs import JsonOption, check_output, work_option, write_report
from service.cli.shared.messages import get_command_line, print_note, report_errors
from service.cli.shared.options import ConfigOption, IndexOption, ProfileOption
from service.configuration import defaults

if TYPE_CHECKING:
    from eval.claims.report import ClaimsReport

WORK, COCHRANE_WORK = Path("claims.work"), Path("cochrane.work")

WorkOption = Annotated[Path, work_option("what was grounded is")]


def claims(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A CSV with pmid, claim, stance (what the paper says: support, contradict or neutral) and, optionally, kind.",
            show_default=False,
        ),
    ],
    index: IndexOption,
    config: ConfigOption = defaults.CONFIG,
    profile: ProfileOption = defaults.PROFILE,
    train: Annotated[
        Path | None,
        typer.Option(
            "--train",
            metavar="CSV",
            help="The same kind of file on other papers, to train a baseline that reads only the claims.",
            show_default=False,
        ),
    ] = None,
    work: WorkOption = WORK,
    json: JsonOption = None,
) -> None:
    """Measure claims about papers of an index: is each paper shown on the side that the file says it is on?"""
    with report_errors():
        from eval.claims.reading import read_paper_claims

        check_output(json, [one for one in (file, train) if one])
        paper_claims = read_paper_claims(file)
        to_learn = read_paper_claims(train) if train else []
        from eval.claims.baseline import claim_only
        from eval.claims.measuring import check_held, measure_claims
        from service.assembly import assemble

        # Report faults in the files before the hours of work, not after them.
        baseline = claim_only(to_learn, paper_claims, train) if train else None
        grounder = assemble(index, config, profile)
        check_held(paper_claims, grounder.index.store, file, index)
        print_note(f"Grounding {len(paper_claims)} claims of {file} with {config} over {index}; progress is saved in {work}.")
        _tell(measure_claims(paper_claims, file, grounder, work, get_command_line(), baseline), json)


def cochrane(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="MedEvidence's questions with their abstracts, as JSON lines.", show_default=False),
    ],
    config: ConfigOption = defaults.CONFIG,
    profile: ProfileOption = defaults.PROFILE,
    work: Annotated[Path, work_option("the index and what was grounded are")] = COCHRANE_WORK,
    json: JsonOption = None,
) -> None:
    """Measure agreement with the conclusions of Cochrane's reviews, over one index of all their abstracts."""
    with report_errors():
        from eval.claims.cochrane import list_lines, measure_cochrane, read_conclusions, report_json

        check_output(json, [file])
        conclusions, documents = read_conclusions(file)
        from eval.retrieval.collection import write_documents
        from eval.retrieval.kept_index import open_index
        from service.configuration.config import load_config, load_profile
        from service.configuration.models import load_models
        from service.grounding.ground import Grounder

        grounding = load_config(config)
        models = load_models(grounding, load_profile(profile))
        print_note(f"Asking {len(conclusions)} questions over {len(documents)} abstracts; progress is saved in {work}.")
        corpus = write_documents(file, work, lambda: documents)
        index = open_index(corpus, work, list(models.encoders.values()))
        report = measure_cochrane(conclusions, file, Grounder(index, grounding, models), work, get_command_line())
        typer.echo("\n".join(list_lines(report)))
        if json:
            write_report(json, report_json(report))


def titles(
    index: IndexOption,
    most: Annotated[int, typer.Option("-n", min=1, help="Maximum number of papers to sample.")] = 200,
    seed: Annotated[int, typer.Option("--seed", help="The random seed of the sample.")] = 13,
    config: ConfigOption = defaults.CONFIG,
    profile: ProfileOption = defaults.PROFILE,
    work: WorkOption = WORK,
    json: JsonOption = None,
) -> None:
    """Check an index without labels: does a paper support its own title, and contradict it turned round?"""
    with report_errors():
        check_output(json)
        from eval.claims.measuring import measure_titles
        from service.assembly import assemble

        grounder = assemble(index, config, profile)
        print_note(
            f"Grounding up to {most} titles of {index} and their reversed versions with {config}; progress is saved in {work}."
        )
        _tell(measure_titles(grounder, most, seed, work, get_command_line()), json)


def _tell(report: ClaimsReport, json: Path | None) -> None:
    from eval.claims.report import report_json, report_lines

    typer.echo("\n".join(report_lines(report)))
    if json:
        write_report(json, report_json(report))
