"""What the terminal shows of a checked text."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from service.checking.export.rows import SIGNS, best, cited_line, why, words_of
from service.checking.schemas import CheckedText, TextSentenceOut
from service.checking.verdicts import TextVerdict

_COLOURS: dict[TextVerdict, str] = {
    "contradicted": "red", "mixed": "magenta", "supported": "green", "uncertain": "yellow", "nothing found": "dim",
    "not a claim": "dim",
}  # fmt: skip


def print_checked(report: CheckedText, console: Console | None = None) -> None:
    """Print each sentence with its verdict, the best paper on each side and what it cites; the summary comes last."""
    console = console or Console(highlight=False)
    for one in report.sentences:
        if one.reason == "heading":
            console.print(Text(f"\n{words_of(report, one)}", style="bold"))
            continue
        line = Text(f"\n{SIGNS[one.verdict] or '–'} {one.verdict}  ", style=f"bold {_COLOURS[one.verdict]}")
        line.append(words_of(report, one), style="default" if one.result else "dim")
        console.print(line)
        console.print(Padding(Text(why(one), style="dim"), (0, 0, 0, 3)))
        _print_papers(one, console)
    source = report.provenance
    console.print(f"\n{report.summary}")
    console.print(Text(f"Configuration {source.config}, profile {source.profile}, index {source.index}.", style="dim"))


def _print_papers(one: TextSentenceOut, console: Console) -> None:
    if one.result is None:
        return
    sides = (("against", best(one.result.against), "red"), ("for", best(one.result.in_favour), "green"))
    lines = [(f"{side}: {paper.line()}", colour) for side, paper, colour in sides if paper]
    lines += [(f"cited: {cited_line(each)}", "default") for each in one.result.cited]
    for line, colour in lines:
        side, _, rest = line.partition(": ")
        console.print(Padding(Text(f"{side}: ", style=colour).append(rest, style="default"), (0, 0, 0, 3)))
