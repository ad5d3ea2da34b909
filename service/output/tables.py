"""Papers as a table: for the terminal, and as CSV."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

from service.grounding.schemas import EvidenceOut, GroundResponse
from service.output.spreadsheet import write_csv

_SIDES = (("contradicting", "contradicts", "red"), ("supporting", "supports", "green"), ("uncertain", "uncertain", "yellow"))
_WRAPPED = ("title", "journal")
GROUNDING_COLUMNS = (
    "claim", "side", "rank", "score", "pmid", "title", "year", "journal", "retracted", "standing", "sentence", "why",
)  # fmt: skip


def grounding_csv(response: GroundResponse) -> str:
    """Write one paper per row, contradictions first."""
    rows = [
        (
            response.claim.text, side, one.rank, one.score, one.pmid, one.title, one.year or "", one.journal,
            "yes" if one.retracted else "no", one.standing, one.sentence.text if one.sentence else "", one.why,
        )
        for side, one, _ in _list_sides(response)
    ]  # fmt: skip
    return write_csv(GROUNDING_COLUMNS, rows)


def print_grounding_table(response: GroundResponse) -> None:
    """Print one paper per line: side, score, PMID, year, title; then how much was checked."""
    console = Console(highlight=False)
    rows = [
        (
            Text(side, style=colour),
            Text(f"{one.score:.2f}"),
            Text(one.pmid),
            Text(str(one.year or "")),
            mark_retracted(one.title, one.retracted),
        )
        for side, one, colour in _list_sides(response)
    ]
    console.print(Text(response.claim.text, style="bold"))
    print_rows(console, ("side", "score", "PMID", "year", "title"), rows)
    console.print(Text(response.summary))


def print_rows(console: Console, columns: Sequence[str], rows: Sequence[Sequence[Text]]) -> None:
    """Print a table that cuts no word; where it is too wide for that, print each row as a line that may wrap."""
    table = Table(*(Column(name, no_wrap=name not in _WRAPPED) for name in columns))
    for row in rows:
        table.add_row(*row)
    endless = console.options.update(width=sum(len(cell) + len(columns) for row in rows for cell in row) + 1000)
    if rows and Measurement.get(console, endless, table).minimum <= console.width:
        console.print(table)
        return
    for row in rows:
        print_whole_words(console, Text(" · ").join(cell for cell in row if cell.plain))


def print_whole_words(console: Console, text: Text) -> None:
    """Print a text that wraps only between words: an id that is wider than the terminal can still be copied."""
    longest = max((cell_len(word) for word in text.plain.split()), default=1)
    for line in text.wrap(console, max(console.width, longest)):
        console.print(line, soft_wrap=True)


def mark_retracted(title: str, retracted: bool) -> Text:
    """The title of a paper, with its retraction."""
    text = Text(title or "(no title)")
    return text.append(" RETRACTED", style="bold red") if retracted else text


def _list_sides(response: GroundResponse) -> list[tuple[str, EvidenceOut, str]]:
    return [(side, one, colour) for field, side, colour in _SIDES for one in getattr(response, field)]
