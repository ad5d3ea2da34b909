"""`counterpoint history`, `saved`, `watch` and `feedback`; heavy things are imported when they run, so that --help is quick."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.errors import BadConfig, BadInput, Interrupted, translate_write_errors
from counterpoint.service.cli.shared import ConfigOption, IndexOption, ProfileOption, print_note, read_libraries
from counterpoint.service.cli.usage import check_sentence
from counterpoint.service.configuration import defaults
from counterpoint.service.schemas import Provenance

if TYPE_CHECKING:
    from pydantic import BaseModel

    from counterpoint.service.memory.database import Whose
    from counterpoint.service.memory.memory import Memory

HolderOption = Annotated[
    str, typer.Option("--holder", metavar="NAME", help="Whose: the name of an API key. Without it: what was asked without a key.")
]
LibraryOption = Annotated[
    str, typer.Option("--library", metavar="NAME", help="Only what belongs to this library, by its name or id.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The id that the list shows.", show_default=False)]

history_app = typer.Typer(help="List, show or delete earlier requests.", invoke_without_command=True)
saved_app = typer.Typer(help="List, add, show or delete saved claims, which are watched.", invoke_without_command=True)
feedback_app = typer.Typer(help="Export what readers say about verdicts.", no_args_is_help=True)


def read_memory() -> Memory:
    """Open the memory that the settings name; raises `BadConfig` if they name none."""
    from counterpoint.service.memory.database import Database
    from counterpoint.service.memory.memory import Memory
    from counterpoint.service.operating.settings import load_settings

    settings = load_settings()
    folder = settings.state_folder(shared=False)
    if folder is None:
        raise BadConfig(
            "Nothing is remembered: the setting state is off, or this user has no home; name a folder with COUNTERPOINT_STATE."
        )
    return Memory(Database(folder), settings.history, settings.watch)


def read_whose(holder: str, library: str = "") -> Whose:
    """Whose rows a command is about: those of a library, by its id or name, or of all."""
    from counterpoint.service.memory.database import Whose

    return Whose(holder, (read_libraries().find(library).id,) if library else None)


@history_app.callback()
def history(
    context: typer.Context,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="Maximum number of entries.")] = 20,
    holder: HolderOption = "",
    library: LibraryOption = "",
    as_json: JsonOption = False,
) -> None:
    """List what was asked, newest first."""
    if context.invoked_subcommand:
        return
    from counterpoint.service.output.terminal import entry_line

    entries = read_memory().history.find(read_whose(holder, library), limit).entries
    _print_all(entries, [entry_line(one) for one in entries], as_json, "The history is empty.")


@history_app.command("show")
def history_show(id: IdArgument, holder: HolderOption = "", as_json: JsonOption = False) -> None:
    """Show an entry: what was asked, what was listed, and the command that asks it again."""
    from counterpoint.service.output.terminal import entry_lines

    entry = read_memory().history.get(read_whose(holder), id)
    _print_all([entry], entry_lines(entry), as_json)


@history_app.command("delete")
def history_delete(
    id: Annotated[str, typer.Argument(metavar="[ID]", help="The id that the list shows.", show_default=False)] = "",
    everything: Annotated[bool, typer.Option("--all", help="Delete the whole history.")] = False,
    holder: HolderOption = "",
) -> None:
    """Delete an entry, or with --all the whole history."""
    if bool(id) == everything:
        raise BadInput("Give the id of an entry, or --all to delete the whole history.")
    entries = read_memory().history
    if everything:
        print_note(f"Deleted the whole history, entries: {entries.clear(read_whose(holder)):,}.")
    else:
        entries.delete(read_whose(holder), id)
        print_note(f"Deleted {id}.")


@history_app.command("forget")
def history_forget(holder: HolderOption = "") -> None:
    """Delete everything that is stored for a holder: history, saved claims, alerts, feedback and the address of the feed."""
    memory = read_memory()
    sizes = memory.about(read_whose(holder))
    memory.forget(holder)
    counts = {"history": sizes.entries, "saved claims": sizes.saved, "alerts": sizes.alerts, "feedback": sizes.feedback}
    print_note(f"Deleted everything: {', '.join(f'{name} {count:,}' for name, count in counts.items())}.")


@saved_app.callback()
def saved(context: typer.Context, holder: HolderOption = "", library: LibraryOption = "", as_json: JsonOption = False) -> None:
    """List the saved claims, newest first."""
    if context.invoked_subcommand:
        return
    from counterpoint.service.output.terminal import saved_line

    claims = read_memory().saved.find(read_whose(holder, library)).saved
    _print_all(claims, [saved_line(one) for one in claims], as_json, "No claim is saved.")


@saved_app.command("add")
def saved_add(
    claim: Annotated[str, typer.Argument(metavar="CLAIM", help="One sentence that can be true or false.")],
    index: IndexOption,
    question: Annotated[str, typer.Option("--question", help="The question that the claim answers.")] = "",
    known: Annotated[str, typer.Option("--known", metavar="PMID,...", help="PMIDs already known to support the claim.")] = "",
    note: Annotated[str, typer.Option("--note", help="A note of your own.")] = "",
    config: ConfigOption = defaults.CONFIG,
    profile: ProfileOption = defaults.PROFILE,
    holder: HolderOption = "",
) -> None:
    """Ground CLAIM and save it with the result; `counterpoint watch run` grounds it again when the index has changed."""
    from counterpoint.service.grounding.claims import check_claim
    from counterpoint.service.queries.classify import refuse_keywords

    check_sentence(claim, "saved add", index)
    statement, memory = check_claim(claim, question, known.split(",")), read_memory()
    refuse_keywords(statement.text)
    from counterpoint.service.assembly import assemble
    from counterpoint.service.grounding.schemas import GroundResponse
    from counterpoint.service.queries.papers import check_known

    grounder = assemble(index, config, profile)
    response = GroundResponse.of(grounder.ground(check_known(statement, grounder.index.store)), Provenance.of(grounder))
    entry = memory.saved.add(holder, read_libraries().at(index).id, grounder.index.manifest, response, note)
    print_note(f"Saved as {entry.id}. {entry.summary}")


@saved_app.command("show")
def saved_show(id: IdArgument, holder: HolderOption = "", as_json: JsonOption = False) -> None:
    """Show a saved claim with the papers that stand on its sides now."""
    from counterpoint.service.output.terminal import entry_lines

    entry = read_memory().saved.get(read_whose(holder), id)
    _print_all([entry], entry_lines(entry), as_json)


@saved_app.command("delete")
def saved_delete(id: IdArgument, holder: HolderOption = "") -> None:
    """Delete a saved claim and its alerts."""
    read_memory().saved.delete(read_whose(holder), id)
    print_note(f"Deleted {id}.")


@feedback_app.command("export")
def feedback_export(
    out: Annotated[
        Path,
        typer.Argument(
            metavar="OUT",
            help="A .csv of labelled claims, or a .jsonl with everything that is stored; `eval claims` reads both.",
            show_default=False,
        ),
    ],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file of that name.")] = False,
) -> None:
    """Write what readers said with *Wrong side?*, of all holders, as evaluation data."""
    from counterpoint.retrieval.store.manifest import write_atomically
    from counterpoint.service.memory.feedback import write_csv, write_jsonl
    from counterpoint.service.runs.journal import check_target

    if out.suffix not in (".csv", ".jsonl"):
        raise BadInput(f"{out} has no ending that names a format; end it in .csv or .jsonl.")
    check_target(out, overwrite)
    every = read_memory().feedback.every()
    table = write_csv([one for _, one in every])
    text = table.text if out.suffix == ".csv" else write_jsonl(every)
    with translate_write_errors("the feedback", out):
        write_atomically(out, text)
    if out.suffix == ".jsonl":
        print_note(f"Wrote {out}: {format_count(len(every), 'opinion')}.")
    else:
        print_note(
            f"Wrote {out}: {format_count(table.rows, 'labelled claim')}. Left out: {table.disputed:,} on which readers disagree."
        )


def _print_all(entries: Sequence[BaseModel], lines: Sequence[str], as_json: bool, none: str = "") -> None:
    if as_json:
        typer.echo(json.dumps([one.model_dump(mode="json") for one in entries], indent=2))
    elif lines:
        typer.echo("\n".join(lines))
    else:
        print_note(none)


watch_app = typer.Typer(help="Report what changed for saved claims.", invoke_without_command=True)


@watch_app.callback()
def watch(
    context: typer.Context,
    since: Annotated[
        str, typer.Option("--since", metavar="DATE", help="From this date or time on (UTC), such as 2026-11-22.")
    ] = "",
    holder: HolderOption = "",
    library: LibraryOption = "",
    as_json: JsonOption = False,
) -> None:
    """List the alerts, newest first."""
    if context.invoked_subcommand:
        return
    from counterpoint.service.output.terminal import alert_lines

    listing = read_memory().alerts.find(read_whose(holder, library), since)
    if as_json:
        typer.echo(listing.model_dump_json(indent=2))
    elif listing.alerts:
        typer.echo("\n".join(line for one in listing.alerts for line in alert_lines(one)))
    else:
        print_note(f"No alerts{f' since {since}' if since else ''}.")


@watch_app.command("run")
def watch_run(index: IndexOption, config: ConfigOption = defaults.CONFIG, profile: ProfileOption = defaults.PROFILE) -> None:
    """Ground the claims saved on an index again, of every holder, against what is new or changed in it; stopped, it resumes."""
    from counterpoint.service.assembly import assemble
    from counterpoint.service.memory.watching import watch as run_watch

    claims = read_memory().saved
    try:
        report = run_watch(
            claims,
            read_libraries().at(index).id,
            assemble(index, config, profile),
            lambda one: print_note(f"Grounding: {one.saved.text}"),
        )
    except KeyboardInterrupt:
        raise Interrupted("Stopped; the alerts so far are kept, and the same command goes on with the rest.") from None
    remark = (
        f" {report.elsewhere:,} {'was' if report.elsewhere == 1 else 'were'} saved on other indexes." if report.elsewhere else ""
    )
    print_note(
        f"{format_count(report.grounded, 'saved claim')} grounded again, {report.up_to_date:,} up to date, "
        f"{format_count(report.alerts, 'new alert')}."
        f"{remark}"
    )
