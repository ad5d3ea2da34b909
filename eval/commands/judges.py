"""`counterpoint eval judges`; heavy things are imported when it runs, so that --help answers at once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from eval.commands.outputs import JsonOption, check_output, work_option, write_report
from eval.commands.scifact import DATA_VARIABLE
from service.cli.shared.messages import get_command_line, print_note, report_errors
from service.cli.shared.options import ProfileOption

WORK = Path("judges.work")


def judges(
    pairs: Annotated[
        Path | None,
        typer.Option("--pairs", metavar="FILE", help="JSON lines with claim, sentence, label and, optionally, title."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", help=f"The folder with SciFact's files (or the variable {DATA_VARIABLE}).", show_default=False),
    ] = None,
    most: Annotated[int | None, typer.Option("-n", min=1, help="At most this many pairs, or claims of SciFact.")] = None,
    profile: ProfileOption = "chat",
    work: Annotated[Path, work_option("the language model's answers are")] = WORK,
    json: JsonOption = None,
) -> None:
    """Measure a language model as judge: alone, and where the shipped stance model is undecided."""
    with report_errors():
        import json as json_
        from dataclasses import asdict

        from eval.judges.pairs import read_pairs, read_scifact_pairs
        from eval.scifact.files import find
        from service.configuration.config import load_profile
        from service.reading.evidence import chat_of

        chat = chat_of(load_profile(profile))
        check_output(json, [pairs] if pairs else [])
        if pairs:
            sample, name = read_pairs(pairs)[:most], pairs.name
        else:
            sample, name = read_scifact_pairs(find(data or os.environ.get(DATA_VARIABLE)), most), "SciFact dev"
        from eval.judges.figures import lines, make_report
        from eval.judges.opinions import judge_pairs
        from nli.judges.embedded import EmbeddedJudge

        small = EmbeddedJudge()
        print_note(f"Judging {len(sample):,} pairs of {name} with {small.name} and {chat.model}; progress is saved in {work}.")
        report = make_report(judge_pairs(sample, small, chat, work), get_command_line(), (small.name, chat.model))
        typer.echo("\n".join(lines(report)))
        usage = chat.usage
        print_note(f"{usage.requests:,} requests now, {usage.prompt_tokens:,} tokens read, {usage.completion_tokens:,} written.")
        if json:
            write_report(json, json_.dumps(asdict(report), indent=1) + "\n")
