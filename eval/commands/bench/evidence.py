"""`counterpoint bench make-evidence` and `compare-evidence`; heavy things are imported when they run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eval.commands.outputs import JsonOption, check_output, work_option, write_report
from service.cli.shared.messages import get_command_line, print_note, report_errors
from service.cli.shared.options import ProfileOption

WORK = Path("evidence-made.work")
bench_app = typer.Typer(help="Make a benchmark of evidence in papers, and compare annotations.", no_args_is_help=True)


@bench_app.command("make-evidence")
def make_evidence(
    out: Annotated[Path, typer.Option("--out", metavar="OUT.jsonl", help="The benchmark to write.", show_default=False)],
    paper: Annotated[
        list[Path] | None, typer.Option("--paper", metavar="FILE", help="A paper, in any format of `evidence`; may be repeated.")
    ] = None,
    summary: Annotated[
        list[Path] | None,
        typer.Option("--summary", metavar="FILE", help="A text file: what a review says of that paper; once for each paper."),
    ] = None,
    benchmark: Annotated[
        list[Path] | None,
        typer.Option(
            "--benchmark",
            metavar="FILE",
            help="Annotate EvidenceBench's papers instead, its hypotheses given, each paper's abstract in place of a review.",
        ),
    ] = None,
    most: Annotated[int | None, typer.Option("-n", min=1, help="Annotate at most this many papers.")] = None,
    profile: ProfileOption = "chat",
    work: Annotated[Path, work_option("the language model's answers are")] = WORK,
) -> None:
    """Annotate papers as EvidenceBench does, with a language model: hypothesis, aspects, and the sentences that show each."""
    with report_errors():
        import json

        from eval.evidence.annotation import Annotator
        from eval.evidence.evidencebench import read_cases
        from eval.evidence.making import make_records
        from eval.evidence.to_annotate import read_tasks, take_from_benchmark
        from retrieval.core.errors import BadInput
        from service.configuration.config import load_profile
        from service.reading.evidence import chat_of

        if bool(benchmark) == bool(paper or summary):
            raise BadInput("Give either --paper with --summary, or --benchmark.")
        chat = chat_of(load_profile(profile))
        check_output(out, [*(paper or ()), *(summary or ()), *(benchmark or ())])
        tasks = take_from_benchmark(read_cases(benchmark)[:most]) if benchmark else read_tasks(paper or (), summary or ())[:most]
        print_note(f"Annotating {len(tasks)} papers with {chat.model}; progress is saved in {work}.")
        records, faults = make_records(tasks, Annotator(chat, work))
        for fault in faults:
            print_note(fault)
        if not records:
            raise BadInput("No paper could be annotated; see the reasons above.")
        write_report(out, "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in records), "the benchmark")
        usage, aspects = chat.usage, sum(len(one["aspect_list_ids"]) for one in records)
        print_note(
            f"{len(records)} papers, {aspects} aspects; {usage.requests:,} requests now, "
            f"{usage.prompt_tokens:,} tokens read, {usage.completion_tokens:,} written."
        )


@bench_app.command("compare-evidence")
def compare_evidence(
    ours: Annotated[
        Path, typer.Argument(metavar="OURS", help="An annotation, such as make-evidence writes.", show_default=False)
    ],
    theirs: Annotated[
        list[Path], typer.Argument(metavar="THEIRS...", help="The other annotation of the same papers.", show_default=False)
    ],
    json: JsonOption = None,
) -> None:
    """Compare two annotations of the same papers: the evidence sentences, and the aspects by their sentences."""
    with report_errors():
        import json as json_
        from dataclasses import asdict

        from eval.evidence.agreement import compare_annotations, lines
        from eval.evidence.evidencebench import read_cases

        check_output(json, [ours, *theirs])
        agreement = compare_annotations(read_cases([ours]), read_cases(theirs))
        typer.echo("\n".join(lines(agreement)))
        if json:
            write_report(json, json_.dumps({"command": get_command_line(), **asdict(agreement)}, indent=1) + "\n")
