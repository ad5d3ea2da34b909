"""A grounding as a table: for the terminal, and as CSV."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from service.grounding.schemas import EvidenceOut, GroundResponse
from service.output.spreadsheet import write_csv

_SIDES = (("contradicting", "contradicts", "red"), ("supporting", "supports", "green"), ("uncertain", "uncertain", "yellow"))
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
    table = Table("side", "score", "PMID", "year", "title", title=escape(response.claim.text), title_justify="left")
    for side, one, colour in _list_sides(response):
        title = Text(one.title or "(no title)")
        if one.retracted:
            title.append(" RETRACTED", style="bold red")
        table.add_row(Text(side, style=colour), f"{one.score:.2f}", Text(one.pmid), str(one.year or ""), title)
    if table.row_count:
        console.print(table)
    else:
        console.print(Text(response.claim.text, style="bold"))
    console.print(Text(response.summary))


def _list_sides(response: GroundResponse) -> list[tuple[str, EvidenceOut, str]]:
    return [(side, one, colour) for field, side, colour in _SIDES for one in getattr(response, field)]
