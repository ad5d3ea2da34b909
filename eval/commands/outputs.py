"""Shared by the commands of `counterpoint eval`: where they keep their work, and the files that they write."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from service.cli.shared.messages import print_note

JsonOption = Annotated[
    Path | None, typer.Option("--json", metavar="OUT", help="Write all figures to this file.", show_default=False)
]


def work_option(what: str) -> Any:
    """The option --work of a command; `what` names what is kept there."""
    return typer.Option("--work", metavar="DIR", help=f"Where {what} saved; a stopped run resumes from there.")


def check_output(out: Path | None, inputs: Sequence[Path] = ()) -> None:
    """Raise `BadInput` where the report cannot be written to `out`: before hours of work, not after them.

    The report may not replace one of the input files, `inputs`.
    """
    from retrieval.core.errors import BadInput
    from service.trec.journal import check_target

    if out is None:
        return
    check_target(out, overwrite=True)
    if out.resolve() in {one.resolve() for one in inputs}:
        raise BadInput(f"--json names {out}, which is an input; give the report another name.")


def write_report(out: Path, text: str, what: str = "the report") -> None:
    """Write a report whole or not at all, and say so; raises `OutOfSpace` and related errors as `translate_write_errors` does."""
    from retrieval.core.errors import translate_write_errors
    from retrieval.store.manifest import write_atomically

    with translate_write_errors(what, out):
        write_atomically(out, text)
    print_note(f"Wrote {out}.")
