"""A checked text in the terminal and in every export format, in the same words: JSON, HTML, CSV, Markdown, XLSX."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from counterpoint.service.checking.checkable import Reason
from counterpoint.service.checking.schemas import CITED, CheckedText, CitedOut, CitedStatus, TextSentenceOut, TextVerdict
from counterpoint.service.grounding.coverage import describe_usage
from counterpoint.service.grounding.schemas import EvidenceOut
from counterpoint.service.output.export import find_url, is_pmid, write_csv, write_xlsx
from counterpoint.service.output.formats import TextExport
from counterpoint.service.output.templates import load_templates, write_markdown

if TYPE_CHECKING:
    from rich.console import Console

REASONS: dict[Reason, str] = {
    "heading": "a heading",
    "question": "a question",
    "short": "too short to be a claim",
    "long": "longer than a claim may be",
    "citation": "a citation alone",
    "references": "an entry of the list of references",
    "text": "about the text itself",
    "aim": "an aim, not a finding",
    "method": "how something was done",
    "research": "about the state of research",
    "advice": "advice or an instruction",
    "opinion": "an opinion or own experience",
    "pronoun": "it begins with a word that stands for something named before; name it to have it checked",
    "fragment": "not a whole sentence",
}
SIGNS: dict[TextVerdict, str] = {
    "contradicted": "✗", "mixed": "±", "supported": "✓", "uncertain": "?", "nothing found": "○", "not a claim": "",
}  # fmt: skip
"""A sign for each verdict besides its colour, for readers who see no colour."""
_PACKAGE = "counterpoint.service.checking.export"
_PREFIX_LENGTH = 20
"""How many characters at the beginning of a sentence are compared."""
CITED_SIGNS: dict[CitedStatus, str] = {"bears it out": "✓", "contradicts it": "✗", "does not say it": "?"}
"""A sign for each status of a citation that says something; the others have none."""


def export_text(report: CheckedText, format: TextExport, title: str = "Checked text", about: str = "") -> bytes:
    """The checked text in a format. `title` names the text where the format has a place for that, and `about` says of a result
    that was kept from when it is."""
    match format:
        case "json":
            return f"{report.model_dump_json(indent=2)}\n".encode()
        case "xlsx":
            return write_xlsx("Checked text", COLUMNS, _rows(report))
        case "csv":
            return write_csv(COLUMNS, _rows(report)).encode()
        case "markdown":
            return write_markdown(_PACKAGE, "checked.md", cited=_cited_lines, **_make_context(report)).encode()
        case "html":
            return _write_html(report, title, about).encode()


@dataclass(frozen=True, slots=True)
class Paper:
    """One paper as a table shows it; `link` is "" if it has neither a PMID nor a DOI."""

    id: str
    title: str
    facts: str
    sentence: str
    notes: str
    link: str

    def line(self) -> str:
        """The paper in one line."""
        parts = [f"“{self.sentence}”" if self.sentence else "", f"{self.title} ({self.facts})" if self.facts else self.title]
        return " ".join(part for part in (*parts, self.name, f"[{self.notes}]" if self.notes else "") if part)

    @property
    def name(self) -> str:
        """Its id, marked as a PMID if it is one."""
        return f"PMID {self.id}" if is_pmid(self.id) else self.id


def _paper(evidence: EvidenceOut) -> Paper:
    """A paper for or against a claim."""
    facts = ", ".join(str(one) for one in (evidence.journal, evidence.year) if one)
    kinds = ", ".join(dict.fromkeys(one.kind for one in evidence.qualifiers))
    partial = f"in part: {kinds}" if kinds else "in part" if evidence.standing == "partial" else ""
    notes = "; ".join(filter(None, ("retracted" if evidence.retracted else "", partial, _place_of(evidence))))
    sentence = evidence.sentence.text if evidence.sentence else ""
    return Paper(evidence.pmid, evidence.title or "(no title)", facts, sentence, notes, find_url(evidence))


def badge_of(one: CitedOut) -> str:
    """What became of a citation, in a word or two with its sign."""
    return f"{CITED_SIGNS.get(one.status, '')} {CITED[one.status][0]}".strip()


def name_of(one: CitedOut) -> str:
    """What a citation names: the paper, and the words of the text if these are something else."""
    if one.kind == "pmid" and is_pmid(one.id):
        return f"PMID {one.id}"
    if one.kind == "doi":
        return f"doi:{one.id}"
    paper = f"PMID {one.pmid}" if is_pmid(one.pmid) else one.pmid
    return f"{one.id} ({paper})" if paper and paper != one.id else one.id


def _quote_of(one: CitedOut) -> str:
    return one.sentence.text if one.sentence and one.status != "not judged" else ""


def _behind_badge(one: CitedOut) -> str:
    """The citation, and the sentence that shows what became of it."""
    quote = f": “{_quote_of(one)}”" if _quote_of(one) else ""
    place = f" ({_place_of(one)})" if quote and _place_of(one) else ""
    return f" – {name_of(one)}{' (retracted)' if one.retracted else ''}{quote}{place}"


def _place_of(one: EvidenceOut | CitedOut) -> str:
    """Where its sentence stands in the full text; "" for one of the abstract."""
    return one.sentence.location.text if one.sentence and one.sentence.location else ""


def _words_of(report: CheckedText, sentence: TextSentenceOut) -> str:
    """A sentence as it is in the text, on one line."""
    return " ".join(report.text[sentence.start : sentence.end].split())


def _reworded(report: CheckedText, sentence: TextSentenceOut) -> bool:
    """Whether words before the claim were removed; that citations were removed is plain to see."""
    return not _words_of(report, sentence).startswith(sentence.claim[:_PREFIX_LENGTH])


def _not_checked(report: CheckedText) -> list[TextSentenceOut]:
    """The sentences that make no claim, without headings."""
    return [sentence for sentence in report.sentences if not sentence.result and sentence.reason != "heading"]


def _cited_lines(sentence: TextSentenceOut) -> list[str]:
    """What a sentence cites, a line each."""
    cited = sentence.result.cited if sentence.result else []
    lines = [badge_of(one) + _behind_badge(one) for one in cited]
    return [*lines, *(f"[{number}] is in no list of references" for number in sentence.unresolved)]


def _why(sentence: TextSentenceOut) -> str:
    """Why a sentence has its verdict: what the papers say, or why it makes no claim."""
    if sentence.result:
        return sentence.result.why
    return f"{REASONS[sentence.reason]}." if sentence.reason else ""


_COLOURS: dict[TextVerdict, str] = {
    "contradicted": "red", "mixed": "magenta", "supported": "green", "uncertain": "yellow", "nothing found": "dim",
    "not a claim": "dim",
}  # fmt: skip
_CITED_COLOURS: dict[CitedStatus, str] = {"bears it out": "green", "contradicts it": "red", "does not say it": "yellow"}


def print_checked(report: CheckedText, console: Console | None = None) -> None:
    """Print each sentence with its verdict, the best paper on each side and what it cites; the summary comes last."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    console = console or Console(highlight=False)
    for sentence in report.sentences:
        if sentence.reason == "heading":
            console.print(Text(f"\n{_words_of(report, sentence)}", style="bold"))
            continue
        line = Text(f"\n{SIGNS[sentence.verdict] or '–'} {sentence.verdict}  ", style=f"bold {_COLOURS[sentence.verdict]}")
        line.append(_words_of(report, sentence), style="default" if sentence.result else "dim")
        console.print(line)
        lines = [Text(_why(sentence), style="dim")]
        if result := sentence.result:
            for side, papers, colour in (("against", result.against, "red"), ("for", result.in_favour, "green")):
                lines += [Text(f"{side}: ", style=colour).append(_paper(paper).line(), style="default") for paper in papers[:1]]
            for cited in result.cited:
                style = f"bold {_CITED_COLOURS.get(cited.status, 'dim')}"
                lines.append(Text("cited: ").append(badge_of(cited), style=style).append(_behind_badge(cited)))
        for line in lines:
            console.print(Padding(line, (0, 0, 0, 3)))
    source = report.provenance
    console.print(f"\n{report.summary}")
    console.print(Text(f"Configuration {source.config}, profile {source.profile}, index {source.index}.", style="dim"))
    if used := describe_usage(report.usage):
        console.print(Text(used, style="dim"))


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a block: a sentence (`number` is its claim's, 0 if it makes none), or the text between two sentences."""

    text: str
    sentence: TextSentenceOut | None = None
    number: int = 0


def _pieces(report: CheckedText) -> list[tuple[str, list[Piece]]]:
    """The kind of each block, and the pieces that together make up the whole block."""
    numbers = {one.index: number for number, one in enumerate((one for one in report.sentences if one.result), 1)}
    by_block = {place: list(group) for place, group in groupby(report.sentences, key=lambda sentence: sentence.block)}
    blocks: list[tuple[str, list[Piece]]] = []
    for place, block in enumerate(report.blocks):
        pieces: list[Piece] = []
        at = block.start
        for one in by_block.get(place, ()):
            pieces += [Piece(report.text[at : one.start])] * (at < one.start)
            pieces.append(Piece(report.text[one.start : one.end], one, numbers.get(one.index, 0)))
            at = one.end
        pieces += [Piece(report.text[at : block.end])] * (at < block.end)
        blocks.append((block.kind, pieces))
    return blocks


def _make_context(report: CheckedText) -> dict[str, Any]:
    """What the templates of HTML and Markdown both need."""
    return {
        "checked": report, "claims": [one for one in report.sentences if one.result], "others": _not_checked(report),
        "signs": SIGNS, "paper": _paper, "words": _words_of, "why": _why, "reworded": _reworded,
    }  # fmt: skip


def _write_html(report: CheckedText, title: str, about: str) -> str:
    own = {"title": title, "about": about, "blocks": _pieces(report)}
    words = {"badge": badge_of, "name": name_of, "quote": _quote_of, "place": _place_of}
    return load_templates(_PACKAGE).get_template("checked.html").render(**own, **words, **_make_context(report))


COLUMNS = (
    "row", "sentence", "claim", "verdict", "why", "papers_against", "papers_for", "papers_uncertain",
    "against_pmid", "against_title", "against_year", "against_sentence", "against_link",
    "for_pmid", "for_title", "for_year", "for_sentence", "for_link", "citations",
)  # fmt: skip


def _rows(report: CheckedText) -> Iterator[tuple[str | int, ...]]:
    """Every sentence but headings, in order, with the columns of `COLUMNS`; `row` is the list's, or counts sentences from 1."""
    for place, one in enumerate(report.sentences, 1):
        if one.reason == "heading":
            continue
        row: list[str | int] = [one.row or place, _words_of(report, one), one.claim, one.verdict, _why(one)]
        if result := one.result:
            row += [len(result.against), len(result.in_favour), len(result.uncertain)]
            for side in (result.against, result.in_favour):
                paper = _paper(side[0]) if side else None
                row += [paper.id, paper.title, side[0].year or "", paper.sentence, paper.link] if paper else [""] * 5
            row.append("; ".join(_cited_lines(one)))
        yield (*row, *[""] * (len(COLUMNS) - len(row)))
