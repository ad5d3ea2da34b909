"""`counterpoint check`; heavy things are imported when it runs, so that --help answers at once."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.service.cli.shared import ConfigOption, IndexOption, ProfileOption, print_note
from counterpoint.service.cli.usage import check_file_name
from counterpoint.service.configuration import defaults
from counterpoint.service.grounding.coverage import describe_usage
from counterpoint.service.output.formats import FORMATS, TextExport

if TYPE_CHECKING:
    from counterpoint.indexes.readers.prose.passage import Passage
    from counterpoint.service.checking.check import Checker, ReadText
    from counterpoint.service.checking.parse import Format

_STANDARD_INPUT = "-"


def check(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE|-",
            help="Plain text, Markdown, HTML, DOCX, PDF with a text layer, or a table (CSV, TSV); - reads standard input.",
        ),
    ],
    index: IndexOption,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="OUT", help="Write the result: .html, .csv, .xlsx, .md or .json.")
    ] = None,
    column: Annotated[str, typer.Option("--column", help="The column of a CSV or TSV file that holds the claims (claim).")] = "",
    lines: Annotated[bool, typer.Option("--lines", help="FILE is a list of claims, one a line.")] = False,
    config: ConfigOption = defaults.CONFIG,
    profile: ProfileOption = defaults.PROFILE,
    as_json: Annotated[bool, typer.Option("--json", help="Print the same JSON as POST /v1/text.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a result of that name.")] = False,
) -> None:
    """Check every claim of a text or of a list of claims. A stopped run with --out resumes where it stopped."""
    from counterpoint.service.checking.check import Checker, ReadText
    from counterpoint.service.runs.journal import check_target

    endings = {FORMATS[one].ending: one for one in get_args(TextExport)}
    format = endings.get(out.suffix.lower()) if out else None
    if out and not format:
        raise BadInput(f"{out} has no ending that names a format; end it in {', '.join(endings)}.")
    if out:
        check_target(out, overwrite)
    if file != _STANDARD_INPUT:
        check_file_name(file, index)
    reading = ReadText.of(_read(file, column, lines))
    from counterpoint.service.assembly import assemble

    checker = Checker(assemble(index, config, profile))
    print_note(reading.plan.detail)
    if out and format:
        _write(reading, checker, out, format, "Checked text" if file == _STANDARD_INPUT else Path(file).name)
    else:
        _print(reading, checker, as_json)


def _read(file: str, column: str, lines: bool) -> Passage:
    from counterpoint.service.checking.parse import MOST_BYTES, read_bytes, read_file

    format: Format = "csv" if column else "lines" if lines else "auto"
    if file == _STANDARD_INPUT:
        return read_bytes(sys.stdin.buffer.read(MOST_BYTES + 1), "Standard input", format, column)
    return read_file(Path(file), format, column)


def _write(reading: ReadText, checker: Checker, out: Path, format: TextExport, title: str) -> None:
    from counterpoint.retrieval.store.manifest import write_atomically
    from counterpoint.service.checking.check import check_kept, facts
    from counterpoint.service.checking.export import export_text
    from counterpoint.service.runs.journal import journal

    with journal(out, facts(checker.grounder)) as progress:
        result = check_kept(reading, checker, progress)
        write_atomically(out, export_text(result, format, title))
        progress.let_go()
    remark = (
        f" ({format_count(progress.resumed, 'claim')} {'was' if progress.resumed == 1 else 'were'} there from an earlier try)"
        if progress.resumed
        else ""
    )
    print_note(" ".join(filter(None, (f"{result.summary} Wrote {out}{remark}.", describe_usage(result.usage)))))


def _print(reading: ReadText, checker: Checker, as_json: bool) -> None:
    from counterpoint.service.checking.check import check_once
    from counterpoint.service.checking.export import print_checked

    with TemporaryDirectory() as folder:
        result = check_once(reading, checker, Path(folder))
    if as_json:
        typer.echo(result.model_dump_json(indent=2))
    else:
        print_checked(result)
