"""`counterpoint eval spellings`; heavy things are imported when it runs, so that --help answers at once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from service.cli.shared.messages import print_note, report_errors
from service.cli.shared.options import ConfigOption, IndexOption, ProfileOption
from service.configuration import defaults


def spellings(
    index: IndexOption,
    pairs: Annotated[
        Path | None, typer.Option("--pairs", help="Two spellings of a claim a line, a tab between them; ours if none is given.")
    ] = None,
    config: ConfigOption = defaults.CONFIG,
    profile: ProfileOption = defaults.PROFILE,
) -> None:
    """Ground claims in two spellings each (British and American, Greek letters and names): are papers and sides the same?"""
    with report_errors():
        from eval.claims.spellings import PAIRS, measure_spellings, read_pairs
        from service.assembly import assemble

        spelling_pairs = read_pairs(pairs or PAIRS)
        grounder = assemble(index, config, profile)
        print_note(f"Grounding {len(spelling_pairs)} claims in two spellings each over {index}.")
        results = []
        for one in measure_spellings(grounder, spelling_pairs):
            results.append(one)
            typer.echo(f"{'same' if one.same else 'DIFFERENT'}  {one.shown:>2} papers  {one.one}")
        same = sum(one.same for one in results)
        typer.echo(f"{same} of {len(results)} pairs get the same papers on the same sides.")
