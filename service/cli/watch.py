"""`counterpoint watch`; heavy things are imported when it runs, so that --help answers at once."""

from __future__ import annotations

from typing import Annotated

import typer

from service.cli.memory import HolderOption, JsonOption, read_memory
from service.cli.shared.messages import print_note, report_errors
from service.cli.shared.options import ConfigOption, IndexOption, ProfileOption
from service.configuration import defaults

watch_app = typer.Typer(help="Report what changed for saved claims.", invoke_without_command=True)


@watch_app.callback()
def watch(
    context: typer.Context,
    since: Annotated[
        str, typer.Option("--since", metavar="DATE", help="From this date or time on (UTC), such as 2026-11-22.")
    ] = "",
    holder: HolderOption = "",
    as_json: JsonOption = False,
) -> None:
    """List the alerts, newest first."""
    if context.invoked_subcommand:
        return
    with report_errors():
        from service.output.terminal_memory import alert_lines

        listing = read_memory().alerts.find(holder, since)
        if as_json:
            typer.echo(listing.model_dump_json(indent=2))
        elif listing.alerts:
            typer.echo("\n".join(line for one in listing.alerts for line in alert_lines(one)))
        else:
            print_note(f"No alerts{f' since {since}' if since else ''}.")


@watch_app.command("run")
def watch_run(index: IndexOption, config: ConfigOption = defaults.CONFIG, profile: ProfileOption = defaults.PROFILE) -> None:
    """Ground the claims saved on an index again, of every holder, against what is new or changed in it; stopped, it resumes."""
    with report_errors():
        from retrieval.core.errors import Interrupted
        from service.assembly import assemble
        from service.memory.watching import watch as run_watch

        claims = read_memory().saved
        try:
            report = run_watch(claims, assemble(index, config, profile), lambda one: print_note(f"Grounding: {one.saved.text}"))
        except KeyboardInterrupt:
            raise Interrupted("Stopped; the alerts so far are kept, and the same command goes on with the rest.") from None
        remark = (
            f" {report.elsewhere:,} {'was' if report.elsewhere == 1 else 'were'} saved on other indexes."
            if report.elsewhere
            else ""
        )
        print_note(
            f"{report.grounded:,} saved claims grounded again, {report.up_to_date:,} up to date, {report.alerts:,} new alerts."
            f"{remark}"
        )
