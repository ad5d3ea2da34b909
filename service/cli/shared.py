"""What commands share: options, each defined once; errors and notes, as every command prints them."""

from __future__ import annotations

import codecs
import errno
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer
from typer._click.core import ParameterSource
from typer._click.globals import get_current_context

from counterpoint.retrieval.cluster.client import is_address, read_address
from counterpoint.retrieval.core.errors import CounterpointError, IndexUnusable

if TYPE_CHECKING:
    from counterpoint.service.operating.libraries import Libraries

INDEX_VARIABLE = "COUNTERPOINT_INDEX"
_FROM_VARIABLE = "counterpoint.index_from_variable"


@contextmanager
def report_errors() -> Iterator[None]:
    """Turn every error that the user can fix into one sentence and exit code 2; the whole command line runs in it."""
    try:
        yield
    except IndexUnusable as error:
        _stop(f"{str(error).rstrip('.')}{_name_origin()}.")
    except CounterpointError as error:
        _stop(str(error))
    except UnicodeEncodeError as error:
        wrong = error.object[error.start : error.end]
        _stop(f"{wrong!r} in “{_shorten(error.object)}” cannot be written as {error.encoding}: give text in UTF-8.")
    except OSError as error:
        if error.errno == errno.EPIPE:  # the reader of a pipe has left
            raise
        where = f" at {error.filename}" if error.filename else ""
        _stop(f"A file cannot be read or written{where}: {error.strerror or error}; check the path and its permissions.")
    except KeyboardInterrupt:
        typer.echo("Stopped.", err=True)
        raise typer.Exit(130) from None


def accept_any_letter() -> None:
    """Make standard output take every letter: one that its encoding lacks is written as its code point."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            lacks_most = codecs.lookup(stream.encoding).name == "ascii"
            stream.reconfigure(encoding="utf-8" if lacks_most else None, errors="backslashreplace")


def print_note(line: str) -> None:
    """Print a line about the work, as opposed to its result, on standard error."""
    typer.echo(line, err=True)


def get_command_line() -> str:
    """Return the command as it was typed, for use in reports."""
    return shlex.join(["counterpoint", *sys.argv[1:]])


def _stop(sentence: str) -> NoReturn:
    typer.echo(f"Error: {sentence}", err=True)
    raise typer.Exit(2) from None


def _name_origin() -> str:
    """Say that the index was named by the environment, if it was."""
    context = get_current_context(silent=True)
    named = context and context.meta.get(_FROM_VARIABLE)
    return f" (the variable {INDEX_VARIABLE} names this index; --index names another)" if named else ""


def _shorten(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}…"


def read_libraries() -> Libraries:
    """Return the libraries that the settings name, to be listed and found."""
    from counterpoint.service.operating.libraries import Libraries
    from counterpoint.service.operating.settings import load_settings

    settings = load_settings()
    index = read_library(settings.index)
    return Libraries(index if index and index.exists() else None, settings.libraries_folder(alone=False))


def read_library(place: Path | None) -> Path | None:
    """Return the place of an index: what is there as given, or else that of the library with this name or id; as `read_place`."""
    if place is None:
        return None
    if not place.exists():
        from counterpoint.service.operating.libraries import find_index

        place = find_index(place)
    return read_place(place)


def read_place(place: Path) -> Path:
    """Return the place of an index as given; for an index on a cluster, also apply the settings for reaching it."""
    if is_address(place):
        from counterpoint.service.operating.settings import hand_down_access, load_settings

        read_address(place)
        hand_down_access(load_settings())
    return place


def _read_index(context: typer.Context, parameter: typer.CallbackParam, place: Path | None) -> Path | None:
    context.meta[_FROM_VARIABLE] = context.get_parameter_source(str(parameter.name)) is ParameterSource.ENVIRONMENT
    return read_library(place)


def make_index_option(help: str) -> Any:
    """The option --index of a command."""
    return typer.Option("--index", metavar="INDEX", help=help, show_default=False, envvar=INDEX_VARIABLE, callback=_read_index)


IndexOption = Annotated[
    Path,
    make_index_option(
        "The folder of an index, the name of a library, or an address on a cluster, such as opensearch://host:9200/pubmed."
    ),
]
ServedIndexOption = Annotated[
    Path | None, make_index_option("The folder of an index, the name of a library, or the address of an index on a cluster.")
]
LibrariesOption = Annotated[
    Path | None,
    typer.Option(
        "--libraries",
        metavar="FOLDER",
        help="The folder of libraries; without it and --index, your own data folder.",
        show_default=False,
    ),
]
ConfigOption = Annotated[str, typer.Option("--config", help="A grounding variant: its name or a YAML file.")]
AnswersOption = Annotated[str, typer.Option("--answers", help="An answer variant: its name or a YAML file.")]
UnderAnswersOption = Annotated[
    str | None,
    typer.Option("--config", help="A grounding variant in place of the one that the answer variant names.", show_default=False),
]
AnalyzerOption = Annotated[
    Literal["biomedical", "anserini"],
    typer.Option(
        "--analyzer", help="How text becomes words: biomedical, or anserini as in the paper's systems, for runs that must repeat."
    ),
]
ProfileOption = Annotated[str, typer.Option("--profile", help="A profile (a set of models): its name or a YAML file.")]
