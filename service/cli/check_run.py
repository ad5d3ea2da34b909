"""`counterpoint check-run`: task-a, task-b; heavy things are imported when they run, so that --help answers at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from service.cli.shared.messages import print_note, report_errors
from service.cli.shared.options import IndexOption

if TYPE_CHECKING:
    from retrieval.store.documents import Documents

check_app = typer.Typer(help="Check TREC run files before you submit them.", no_args_is_help=True)

RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="The run file to check.", show_default=False)]


@check_app.command("task-a")
def check_task_a(
    run: RunArgument,
    input: Annotated[Path, typer.Option("--input", help="The track's Task A input file.", show_default=False)],
    index: IndexOption,
) -> None:
    """Check a Task A run against its input and the index; report every fault by item and sentence (exit code 1)."""
    with report_errors():
        from service.trec.task_a.check import check
        from service.trec.task_a.items import read_items

        items = read_items(input)
        _list_faults(check(run, items, _store(index)), run)
        print_note(f"{run} is a valid Task A run: {len(items)} items, {sum(len(item.answer) for item in items)} sentences.")


@check_app.command("task-b")
def check_task_b(
    run: RunArgument,
    topics: Annotated[Path, typer.Option("--topics", help="The track's Task B topics.", show_default=False)],
    index: IndexOption,
) -> None:
    """Check a Task B run against its topics and the index; report every fault by topic and sentence (exit code 1)."""
    with report_errors():
        from service.trec.task_b.check import check
        from service.trec.task_b.topics import read_topics

        questions = read_topics(topics)
        _list_faults(check(run, questions, _store(index)), run)
        print_note(f"{run} is a valid Task B run: {len(questions)} topics.")


def _store(index: Path) -> Documents:
    """Open the documents of an index without Java: a check never searches them."""
    from retrieval.index import open_documents

    return open_documents(index)[0]


def _list_faults(faults: list[str], run: Path) -> None:
    """Print the faults of a run and, if there are any, exit with code 1."""
    for fault in faults:
        # What a run file has wrong may be half a character.
        typer.echo(fault.encode("utf-8", "backslashreplace").decode())
    if faults:
        print_note(f"{len(faults)} faults in {run}.")
        raise typer.Exit(1)
