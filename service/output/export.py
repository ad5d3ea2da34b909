"""Results for other programs: HTML and Markdown for reading, RIS and BibTeX for reference managers, CSV for spreadsheets.

Titles, names and abstracts are other people's text: every character with a meaning in a format is escaped in it.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from counterpoint.indexes.readers.base.fields import ARTICLE, BOOK, CHAPTER, CONFERENCE, DISSERTATION, PREPRINT, REPORT
from counterpoint.indexes.readers.exports.bibtex import SIGNS
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.values import (
    Answer,
    Author,
    Citation,
    Details,
    Document,
    Evidence,
    Grounding,
    PaperFinding,
    Sentence,
)
from counterpoint.service.answering.schemas import AnswerResponse, NumberedPaperOut, PaperFindingOut, VerdictPaperOut
from counterpoint.service.grounding.reasons import describe_contrasts, describe_direction
from counterpoint.service.grounding.schemas import EvidenceOut, GroundResponse
from counterpoint.service.grounding.weigh import Side, weigh
from counterpoint.service.output.formats import Format
from counterpoint.service.output.templates import escaped, load_templates, to_one_line, write_markdown
from counterpoint.service.schemas import RankedPaper, SentenceOut

if TYPE_CHECKING:
    from pylatexenc.latexencode import UnicodeToLatexEncoder

# Signs have commands of their own: BibTeX counts even a brace behind a backslash.
_LATEX = {sign: rf"{{\{name}}}" for name, sign in SIGNS.items()} | {sign: rf"\{sign}" for sign in "$&#%_"}
_KEY = re.compile(r"[^A-Za-z0-9:+/-]+")
RETRACTED = "Retracted publication"
"""What a reference says about a retracted paper."""
_MOST_AUTHORS = 3
_PACKAGE = "counterpoint.service.output"
# What BibTeX would take as the end of a name.
_SEPARATOR = re.compile(r",|\band\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Entry:
    """What a kind of publication is called in RIS and in BibTeX, and the BibTeX field for where it appeared."""

    ris: str
    bibtex: str
    container: str


_ARTICLE, _OTHER = _Entry("JOUR", "article", "journal"), _Entry("GEN", "misc", "howpublished")
_ENTRIES = {
    PREPRINT: _Entry("UNPB", "misc", "howpublished"),
    CHAPTER: _Entry("CHAP", "incollection", "booktitle"),
    BOOK: _Entry("BOOK", "book", "series"),
    CONFERENCE: _Entry("CPAPER", "inproceedings", "booktitle"),
    DISSERTATION: _Entry("THES", "phdthesis", "school"),
    REPORT: _Entry("RPRT", "techreport", "institution"),
}


def _find_entry(document: Document) -> _Entry:
    """Find the kind of a document by its types; one that appeared in a journal and has no other kind is an article."""
    special = next((entry for kind, entry in _ENTRIES.items() if kind in document.types), None)
    return special or (_ARTICLE if document.journal or ARTICLE in document.types else _OTHER)


def shorten_authors(authors: Sequence[Author]) -> str:
    """Write the first three authors with family name and initials, as in a list of references; "" if none is known."""
    names = [f"{one.family} {_find_initials(one.given)}".strip() for one in authors[:_MOST_AUTHORS]]
    return ", ".join([*names, *(["et al"] if len(authors) > _MOST_AUTHORS else [])])


def _find_initials(given_names: str) -> str:
    """Reduce full given names to initials; initials stay as they are."""
    if given_names.isupper() and len(given_names) <= _MOST_AUTHORS:
        return given_names
    return "".join(part[0] for part in re.split(r"[\s.-]+", given_names) if part and part[0].isupper())


def ris(documents: Iterable[Document]) -> str:
    """Write the documents as RIS with rispy, one record each."""
    import rispy

    class Writer(rispy.RisWriter):  # type: ignore[misc]  # rispy ships no types
        """Omits the number that rispy puts before a record: not every reader skips it."""

        def set_header(self, count: int) -> str:
            return ""

    text: str = rispy.dumps([_ris_record(document) for document in documents], implementation=Writer)
    return text


def bibtex(documents: Iterable[Document]) -> str:
    """Write the documents as BibTeX in UTF-8 with bibtexparser, one entry each."""
    from bibtexparser.entrypoint import write_string
    from bibtexparser.library import Library
    from bibtexparser.model import Entry, Field

    library, keys = Library(), set[str]()
    for document in documents:
        fields = [Field(name, value) for name, value in _bibtex_fields(document).items()]
        library.add(Entry(_find_entry(document).bibtex, _bibtex_key(document.pmid, keys), fields))
    text: str = write_string(library)
    return text


def _ris_record(document: Document) -> dict[str, Any]:
    entry = _find_entry(document)
    url = find_url(document)
    fields: dict[str, Any] = {
        "type_of_reference": entry.ris,
        "authors": [to_one_line(str(author)) for author in document.authors],
        "title": document.title,
        "journal_name" if entry in (_ARTICLE, _OTHER) else "secondary_title": document.journal,
        "year": str(document.year or ""),
        "doi": document.doi,
        "custom2": document.pmcid,
        "abstract": document.abstract,
        "accession_number": document.pmid,
        "name_of_database": "PubMed" if is_pmid(document.pmid) else "",
        "keywords": [to_one_line(term) for term in document.mesh],
        "notes": [RETRACTED] if document.retracted else [],
        "urls": [url] if url and ";" not in url else [],
    }
    # A line break in a text could start a new tag.
    return {name: to_one_line(value) if isinstance(value, str) else value for name, value in fields.items() if value}


def _bibtex_key(pmid: str, earlier_keys: set[str]) -> str:
    """Make a key that no entry has yet, from characters that every reader accepts; BibTeX ignores the case of keys."""
    base = f"pmid{pmid}" if is_pmid(pmid) else _KEY.sub("-", pmid).strip("-") or "document"
    keys = (base if number == 1 else f"{base}-{number}" for number in count(1))
    key = next(key for key in keys if key.lower() not in earlier_keys)
    earlier_keys.add(key.lower())
    return key


def _bibtex_fields(document: Document) -> dict[str, str]:
    fields = {
        "title": document.title,
        _find_entry(document).container: document.journal if document.journal != document.title else "",
        "year": str(document.year or ""),
        "doi": document.doi,
        "note": RETRACTED if document.retracted else "",
        "pmid": document.pmid if is_pmid(document.pmid) else "",
        "pmcid": document.pmcid,
        "url": find_url(document),
        "keywords": ", ".join(document.mesh),
        "abstract": document.abstract,
    }
    values = {name: _encode(value) for name, value in fields.items() if value}
    if "title" in values:
        # A second pair of braces keeps the title's capitals, which BibTeX styles would turn into lower case.
        values["title"] = f"{{{values['title']}}}"
    authors = " and ".join(map(_name_author, document.authors))
    return {"author": authors, **values} if authors else values


def _name_author(author: Author) -> str:
    """Write a name in BibTeX's order, "Family, Jr., Given"; braces keep a group's name, or a part with a comma in it, whole."""
    if not author.given:
        return f"{{{_encode(author.family)}}}"
    parts = [author.family, author.suffix, author.given] if author.suffix else [author.family, author.given]
    return ", ".join(f"{{{_encode(part)}}}" if _SEPARATOR.search(part) else _encode(part) for part in parts)


def _encode(text: str) -> str:
    latex: str = _latex().unicode_to_latex(to_one_line(text))
    return latex


@cache
def _latex() -> UnicodeToLatexEncoder:
    from pylatexenc.latexencode import RULE_DICT, RULE_REGEX, UnicodeToLatexConversionRule, UnicodeToLatexEncoder

    rules = [
        UnicodeToLatexConversionRule(RULE_DICT, {ord(one): command for one, command in _LATEX.items()}),
        # TeX would join two of these into a dash or a quotation mark.
        UnicodeToLatexConversionRule(RULE_REGEX, [(re.compile(r"([-'])(?=\1)"), r"\1{}")]),
    ]
    return UnicodeToLatexEncoder(
        conversion_rules=rules, unknown_char_policy="keep", unknown_char_warning=False, replacement_latex_protection="none"
    )


def is_pmid(text: str) -> bool:
    """Whether a document's id is a PMID."""
    return text.isascii() and text.isdigit()


def find_url(document: Document | RankedPaper | NumberedPaperOut) -> str:
    """The paper's address at PubMed, or by its DOI; "" if neither is known."""
    if is_pmid(document.pmid):
        return f"https://pubmed.ncbi.nlm.nih.gov/{document.pmid}/"
    return f"https://doi.org/{quote(document.doi, safe='/()')}" if document.doi else ""


Cell = str | int | float
_OPTIONAL = ("answer", "trial", "people", "number", "effect", "condition", "location")
"""The columns of the table of papers that it has only where a paper fills them."""
_READABLE = (
    "answer", "direction", "design", "trial", "year", "people", "number", "effect", "condition", "quotation", "location", "pmid",
)  # fmt: skip
"""Those that it has in HTML and Markdown."""
_ORDER: tuple[Side, ...] = ("contradict", "support", "uncertain")


def documents(result: Answer | Grounding) -> tuple[Document, ...]:
    """Every document that an answer cites or lists, or that is evidence for or against it or a claim, once each, in order."""
    if isinstance(result, Grounding):
        papers = [one.document for one in (*result.contradicting, *result.supporting)]
    else:
        papers = [citation.document for sentence in result.sentences for citation in sentence.citations]
        papers += [conflict.evidence.document for conflict in result.conflicts]
        papers += [row.evidence.document for row in result.rows] + [one.document for one in result.others]
    return tuple({document.pmid: document for document in papers}.values())


def markdown(result: Answer | Grounding) -> str:
    """Write the result as CommonMark, with numbered references and the sentences for and against."""
    columns, table = _tabulate(result)
    context: dict[str, Any] = {"found": result, "reference": _reference, "quote": _quote}
    if isinstance(result, Grounding):
        context |= {
            "weighed": weigh(result),
            "contrasts": describe_contrasts(result.contrasts),
            "columns": columns,
            "table": table,
        }
        return write_markdown(_PACKAGE, "claim.md", **context)
    if not any(row.evidence.verdict.quote for row in result.rows):
        # The embedded models list only what supports its statement; of a language model its grade is shown.
        columns.remove("direction")
    papers = documents(result)
    numbers = {one.pmid: number for number, one in enumerate(papers, 1)}
    context |= {"papers": papers, "numbers": numbers, "count": format_count, "quoted": _quote_sentence, "quotes": _list_quotes}
    return write_markdown(_PACKAGE, "answer.md", columns=columns, table=table[: len(result.rows)], **context)


Response = GroundResponse | AnswerResponse


def export_text(response: Response, format: Format, result: Answer | Grounding | None = None, about: str = "") -> str | bytes:
    """Write a result in one of these formats. Markdown, and references with their abstracts, are made from the values (`result`)
    and not from the response alone; `about` says of a result that was kept from when it is."""
    match format:
        case "json":
            return f"{response.model_dump_json(indent=2)}\n"
        case "html":
            return write_html(response, about)
        case "csv":
            return write_csv(*make_table(response))
        case "xlsx":
            return write_xlsx("Papers", *make_table(response))
    assert result is not None
    if format == "markdown":
        return markdown(result)
    return ris(documents(result)) if format == "ris" else bibtex(documents(result))


def write_html(response: Response, about: str = "") -> str:
    """Write the result as one page that opens anywhere: it runs nothing and loads nothing."""
    columns, table = _tabulate(response)
    template = load_templates(_PACKAGE).get_template("claim.html" if isinstance(response, GroundResponse) else "answer.html")
    return template.render(found=response, columns=columns, table=table, about=about, url=find_url)


def _tabulate(result: Answer | Grounding | Response) -> tuple[list[str], list[dict[str, Cell]]]:
    """The table for people: the names of its columns, and its rows by the names of all columns."""
    columns, rows = make_table(result)
    return [name for name in columns if name in _READABLE], [dict(zip(columns, row, strict=True)) for row in rows]


def make_table(result: Answer | Grounding | Response) -> tuple[Sequence[str], list[list[Cell]]]:
    """The papers of a claim or of an answer as a table: its columns and its rows; a verdict's papers are on its claim."""
    if isinstance(result, Grounding | GroundResponse):
        listed = map(_show, (*result.contradicting, *result.supporting, *result.uncertain, *result.more))
        shown = sorted((one for one in listed if one.side in _ORDER), key=lambda one: _ORDER.index(one.side))
        rows = [_write_row(result.claim.text, "", one, "") for one in shown]
    else:
        rows = [_write_row(row.statement or row.claim, row.answer, _show(row.evidence), row.condition) for row in result.rows]
        if verdict := result.verdict:
            leading = (
                one.evidence if isinstance(one, VerdictPaperOut) else _show(one)
                for one in (*verdict.contradicting, *verdict.supporting)
            )
            rows += [_write_row(verdict.claim, "", one, "") for one in leading if one]
        rows += [_write_other(result.topic.question, one) for one in result.others]
    columns = [name for name in _Row._fields if name not in _OPTIONAL or any(getattr(row, name) for row in rows)]
    return columns, [[getattr(row, name) for name in columns] for row in rows]


def _show(one: Evidence | EvidenceOut) -> EvidenceOut:
    """A paper as responses show it."""
    return EvidenceOut.of(one) if isinstance(one, Evidence) else one


class _Row(NamedTuple):
    """A paper in the table, with a field for each column."""

    claim: str
    answer: str
    direction: str
    probability: float | str
    design: str
    trial: str
    year: int | str
    people: str
    number: str
    effect: str
    condition: str
    quotation: str
    location: str
    title: str
    pmid: str
    link: str


def _write_row(claim: str, answer: str, one: EvidenceOut, condition: str) -> _Row:
    details = one.verdict.details or Details()
    probability = "" if one.standing == "equal" else round(one.score, 4)
    return _Row(
        claim, answer, _describe_direction(one), probability, one.design.text, one.trial, one.year or "", details.people,
        details.number, details.effect, condition, *_quote_apart(one.sentence), one.title, one.pmid, find_url(one),
    )  # fmt: skip


def _write_other(question: str, found: PaperFinding | PaperFindingOut) -> _Row:
    """A paper on the subject of a question that is counted for no answer."""
    one = PaperFindingOut.of(found, 0) if isinstance(found, PaperFinding) else found
    return _Row(
        question, "", "on the subject", "", one.design.text, "", one.year or "", "", "", "", "",
        *_quote_apart(one.sentence), one.title, one.pmid, find_url(one),
    )  # fmt: skip


def _quote_apart(sentence: SentenceOut | None) -> tuple[str, str]:
    """A sentence, and where it stands in a full text."""
    return (sentence.text if sentence else "", sentence.location.text if sentence and sentence.location else "")


def _describe_direction(one: EvidenceOut) -> str:
    """What a paper says of the claim, in words; a retracted one says nothing that counts."""
    return "retracted" if one.retracted else describe_direction(one.side, one.stance, one.standing)


def _quote(evidence: Evidence) -> str:
    if evidence.sentence is None:
        return "no sentence to show"
    other = f"; but its full text says {_quote_sentence(evidence.other)}" if evidence.other else ""
    return f"{_quote_sentence(evidence.sentence)}{other}"


def _quote_sentence(sentence: Sentence) -> str:
    return f"“{escaped(sentence.text)}”" + (f" ({escaped(str(sentence.location))})" if sentence.location else "")


def _reference(document: Document) -> str:
    title = escaped(document.title.rstrip(".") or "(no title)")
    facts = [escaped(shorten_authors(document.authors)), title, f"*{escaped(document.journal)}*" if document.journal else ""]
    facts += [str(document.year or ""), _link(document), f"**{RETRACTED}**" if document.retracted else ""]
    return ". ".join(fact for fact in facts if fact) + "."


def _list_quotes(document: Document, citations: Sequence[Citation]) -> list[str]:
    """The sentences of a document that support the answer's sentences, each once."""
    return [*dict.fromkeys(_quote_sentence(one.sentence) for one in citations if one.document.pmid == document.pmid)]


def _link(document: Document) -> str:
    url = find_url(document)
    name = f"PMID {document.pmid}" if is_pmid(document.pmid) else escaped(document.pmid)
    return f"[{name}]({url.replace('(', '%28').replace(')', '%29')})" if url else name


_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_csv(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Write a table as CSV in UTF-8; a cell that a spreadsheet would take for a formula gets a leading apostrophe."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(
        [f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell for cell in row] for row in rows
    )
    return buffer.getvalue()


# A spreadsheet's XML cannot contain any of these.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_LONGEST = 32_767
"""The most characters in a cell of a spreadsheet."""
_WIDTHS = {
    "quotation": 60, "title": 40, "people": 30, "effect": 30,
    "sentence": 60, "claim": 60, "why": 40, "against_title": 40, "against_sentence": 60, "for_title": 40, "for_sentence": 60,
}  # fmt: skip


def write_xlsx(title: str, columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> bytes:
    """Write a table as an XLSX file: its first row stays in view and has filters, and its links can be followed."""
    from openpyxl import Workbook
    from openpyxl.styles import Alignment, Font
    from openpyxl.utils import get_column_letter

    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = title
    for line, row in enumerate((columns, *rows), 1):
        for column, value in enumerate(row, 1):
            cell = sheet.cell(line, column)
            if isinstance(value, str):
                cell.value = _CONTROL.sub(" ", value)[:_LONGEST]
                cell.data_type = "s"
            else:
                cell.value = value
            cell.alignment = Alignment(wrap_text=True, vertical="top")
            if line == 1:
                cell.font = Font(bold=True)
            elif columns[column - 1].endswith("link") and value:
                cell.hyperlink = str(value)
    for column, name in enumerate(columns, 1):
        sheet.column_dimensions[get_column_letter(column)].width = _WIDTHS.get(name, 16)
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = sheet.dimensions
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()
