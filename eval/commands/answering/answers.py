"""`counterpoint eval answers`; heavy things are imported when it runs, so that --help answers at once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eval.commands.outputs import write_report
from service.cli.shared.messages import get_command_line, print_note, report_errors
from service.cli.shared.options import IndexOption, ProfileOption
from service.configuration import defaults


def answers(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Task B runs, yours or anyone's.", show_default=False)],
    topics: Annotated[Path, typer.Option("--topics", help="The track's Task B topics.", show_default=False)],
    index: IndexOption,
    profile: ProfileOption = defaults.PROFILE,
    json: Annotated[
        Path | None, typer.Option("--json", metavar="OUT", help="Write all figures and judged citations to this file.")
    ] = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", metavar="OUT", help="Write the tables as Markdown.")] = None,
) -> None:
    """Measure the answers of Task B runs: their form, whether their citations bear them out, what they leave out."""
    with report_errors():
        from eval.answers.runs import read_runs
        from retrieval.core.errors import BadInput
        from retrieval.index import read_index_manifest
        from service.configuration.config import load_profile
        from service.trec.journal import check_target
        from service.trec.task_b.topics import read_topics

        questions = read_topics(topics)
        submissions = read_runs(runs, {topic.id for topic in questions})
        outputs = [one for one in (json, markdown) if one]
        if len({one.resolve() for one in (topics, *runs, *outputs)}) < 1 + len(runs) + len(outputs):
            raise BadInput("TOPICS, RUN, --json and --markdown must name different files.")
        for one in outputs:
            check_target(one, overwrite=True)
        # Report a damaged index or an invalid profile before the models are loaded.
        read_index_manifest(index)
        models = load_profile(profile)
        from eval.answers import tables
        from eval.answers.evaluation import evaluate
        from eval.answers.judges import load_judges
        from eval.answers.report import report_json
        from retrieval.dense.embedded_encoder import EmbeddedEncoder

        judges, command = load_judges(models), get_command_line()
        print_note(
            f"Judging {', '.join(one.name for one in submissions)} on {len(questions)} topics with {judges.named[-1].model}."
        )
        report = evaluate(submissions, questions, topics, index, judges, EmbeddedEncoder(), models, command)
        typer.echo("\n".join(tables.lines(report)))
        texts = {json: report_json(report), markdown: tables.markdown(report)}
        for path in outputs:
            write_report(path, texts[path])
