"""Answers and groundings to take along: Markdown for reading, RIS and BibTeX for reference managers.

Titles and abstracts are other people's text: every character that means something in a format is escaped in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any, Literal

from retrieval.core.answers import Answer, Citation
from retrieval.core.values import Document, Evidence, Grounding
from service.balance.weighing import weigh_balance

if TYPE_CHECKING:
    from pylatexenc.latexencode import UnicodeToLatexEncoder

Format = Literal["markdown", "ris", "bibtex"]

# What begins a mark of CommonMark or HTML anywhere in a line.
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~!&$])")
# What begins a list, a heading or a quote at the start of one.
_LINE_START = re.compile(r"^(\d+)([.)])|^([-+=])")
# `<`, `>` and braces have commands of their own: BibTeX counts even a brace behind a backslash.
_LATEX = {
    "\\": r"{\textbackslash}", "{": r"{\textbraceleft}", "}": r"{\textbraceright}", "<": r"{\textless}", ">": r"{\textgreater}",
    "^": r"{\textasciicircum}", "~": r"{\textasciitilde}", "`": r"{\textasciigrave}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_",
}  # fmt: skip
_KEY = re.compile(r"[^A-Za-z0-9:+/-]+")
_RETRACTED = "Retracted publication"


def documents(found: Answer | Grounding) -> tuple[Document, ...]:
    """Every document that an answer cites, or that is evidence for or against a claim or an answer, once each, in that order."""
    if isinstance(found, Grounding):
        shown = [one.document for one in (*found.contradicting, *found.supporting)]
    else:
        shown = [cited.document for sentence in found.sentences for cited in sentence.citations]
        shown += [conflict.evidence.document for conflict in found.conflicts]
    return tuple({document.pmid: document for document in shown}.values())


def markdown(found: Answer | Grounding) -> str:
    """The whole as CommonMark, with numbered references and the sentences that speak for or against."""
    blocks = _answer_blocks(found) if isinstance(found, Answer) else _grounding_blocks(found)
    return "\n\n".join(blocks) + "\n"


def export_text(found: Answer | Grounding, format: Format) -> str:
    """The whole in one of these formats; reference managers get the documents that it shows."""
    if format == "markdown":
        return markdown(found)
    return ris(documents(found)) if format == "ris" else bibtex(documents(found))


def ris(listed: Iterable[Document]) -> str:
    """The documents as RIS, one record each, by rispy."""
    import rispy

    class Writer(rispy.RisWriter):  # type: ignore[misc]  # rispy ships no types
        """Without the number that rispy puts before a record: not every reader skips it."""

        def set_header(self, count: int) -> str:
            return ""

    written: str = rispy.dumps([_ris_record(document) for document in listed], implementation=Writer)
    return written


def bibtex(listed: Iterable[Document]) -> str:
    """The documents as BibTeX in UTF-8, one entry each, by bibtexparser."""
    from bibtexparser.entrypoint import write_string
    from bibtexparser.library import Library
    from bibtexparser.model import Entry, Field

    library, taken = Library(), set[str]()
    for document in listed:
        fields = [Field(name, value) for name, value in _bibtex_fields(document).items()]
        library.add(Entry("article" if document.journal else "misc", _bibtex_key(document.pmid, taken), fields))
    written: str = write_string(library)
    return written


def _ris_record(document: Document) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "type_of_reference": "JOUR" if document.journal else "GEN",
        "title": document.title,
        "journal_name": document.journal,
        "year": str(document.year or ""),
        "abstract": document.abstract,
        "accession_number": document.pmid,
        "name_of_database": "PubMed" if _is_pmid(document.pmid) else "",
        "notes": [_RETRACTED] if document.retracted else [],
        "urls": [_url(document.pmid)] if _is_pmid(document.pmid) else [],
    }
    # A line break would begin a tag of the text's own.
    return {name: _one_line(value) if isinstance(value, str) else value for name, value in fields.items() if value}


def _bibtex_key(pmid: str, taken: set[str]) -> str:
    """A key that no entry has yet, of the characters that every reader takes; BibTeX does not tell capitals apart."""
    wanted = f"pmid{pmid}" if _is_pmid(pmid) else _KEY.sub("-", pmid).strip("-") or "document"
    keys = (wanted if number == 1 else f"{wanted}-{number}" for number in count(1))
    key = next(key for key in keys if key.lower() not in taken)
    taken.add(key.lower())
    return key


def _bibtex_fields(document: Document) -> dict[str, str]:
    fields = {
        "title": document.title,
        "journal": document.journal,
        "year": str(document.year or ""),
        "note": _RETRACTED if document.retracted else "",
        "pmid": document.pmid if _is_pmid(document.pmid) else "",
        "url": _url(document.pmid) if _is_pmid(document.pmid) else "",
        "abstract": document.abstract,
    }
    written = {name: _latex().unicode_to_latex(_one_line(value)) for name, value in fields.items() if value}
    if "title" in written:
        # A second pair of braces keeps the title's capitals, which BibTeX's styles would lower.
        written["title"] = f"{{{written['title']}}}"
    return written


@cache
def _latex() -> UnicodeToLatexEncoder:
    from pylatexenc.latexencode import RULE_DICT, RULE_REGEX, UnicodeToLatexConversionRule, UnicodeToLatexEncoder

    rules = [
        UnicodeToLatexConversionRule(RULE_DICT, {ord(one): command for one, command in _LATEX.items()}),
        # TeX would join two of these to a dash or a quotation mark.
        UnicodeToLatexConversionRule(RULE_REGEX, [(re.compile(r"([-'])(?=\1)"), r"\1{}")]),
    ]
    return UnicodeToLatexEncoder(
        conversion_rules=rules, unknown_char_policy="keep", unknown_char_warning=False, replacement_latex_protection="none"
    )


def _answer_blocks(answer: Answer) -> list[str]:
    numbers = {document.pmid: number for number, document in enumerate(documents(answer), 1)}
    sentences = [
        f"{escaped(one.text)} {_marks([cited.document for cited in one.citations], numbers)}".strip() for one in answer.sentences
    ]
    blocks = [f"# {escaped(answer.topic.question)}"]
    if sentences:
        blocks.append(" ".join(sentences))
    if answer.note:
        blocks.append(f"*{escaped(answer.note)}*")
    if answer.conflicts:
        against = [
            f"- Against “{escaped(answer.sentences[one.sentence].text)}”: {_quote(one.evidence)} "
            f"{_marks([one.evidence.document], numbers)}"
            for one in answer.conflicts
            if one.sentence < len(answer.sentences)
        ]
        blocks += ["## Conflicting evidence", "\n".join(against)]
    if numbers:
        cited = [cited for one in answer.sentences for cited in one.citations]
        listed = [
            f"{numbers[document.pmid]}. {_reference(document)}{_list_borne_out(document, cited)}"
            for document in documents(answer)
        ]
        blocks += ["## References", "\n".join(listed)]
    if answer.removed:
        blocks += [
            "## Removed by the check",
            "\n".join(f"- {escaped(one.text)} ({escaped(one.reason)})" for one in answer.removed),
        ]
    blocks.append(f"*Generated by {escaped(answer.generated_by)}; {_describe_checks(answer)}.*")
    return blocks


def _describe_checks(answer: Answer) -> str:
    """What was checked of the citations: that they stand there word for word, or what a judge makes of the paper."""
    cited = [cited for one in answer.sentences for cited in one.citations]
    quoted = sum(one.verbatim for one in cited)
    judged = len(cited) - quoted
    return f"of {len(cited)} citations {quoted} are word for word in the abstract, {judged} are supported according to the judge"


def _grounding_blocks(grounding: Grounding) -> list[str]:
    balance = weigh_balance(grounding)
    blocks = [f"# {escaped(grounding.claim.text)}", f"**{escaped(balance.says)}** {escaped(balance.detail)}".strip()]
    sides = [("Contradicting", grounding.contradicting), ("Supporting", grounding.supporting)]
    if grounding.uncertain:
        sides.append(("Uncertain", grounding.uncertain))
    for heading, evidence in sides:
        listed = [f"{one.rank}. {_reference(one.document)}\n   - {_quote(one)}\n   - {escaped(one.why)}" for one in evidence]
        blocks += [f"## {heading}: {len(evidence) or 'none'}", *(["\n".join(listed)] if listed else [])]
    return blocks


def _marks(cited: Sequence[Document], numbers: dict[str, int]) -> str:
    return f"\\[{', '.join(str(numbers[document.pmid]) for document in cited)}\\]" if cited else ""


def _quote(evidence: Evidence) -> str:
    return f"“{escaped(evidence.sentence.text)}”" if evidence.sentence else "no sentence to show"


def _reference(document: Document) -> str:
    facts = [escaped(document.title.rstrip(".") or "(no title)"), f"*{escaped(document.journal)}*" if document.journal else ""]
    facts += [str(document.year or ""), _link(document.pmid), f"**{_RETRACTED}**" if document.retracted else ""]
    return ". ".join(fact for fact in facts if fact) + "."


def _list_borne_out(document: Document, cited: Sequence[Citation]) -> str:
    """The sentences of a document that bear the answer's sentences out, each once, as points below it."""
    texts = dict.fromkeys(one.sentence.text for one in cited if one.document.pmid == document.pmid)
    return "".join(f"\n   - “{escaped(text)}”" for text in texts)


def _link(pmid: str) -> str:
    return f"[PMID {pmid}]({_url(pmid)})" if _is_pmid(pmid) else escaped(pmid)


def escaped(text: str) -> str:
    """A text as CommonMark shows it letter for letter, on one line."""
    return _start(_MARKDOWN.sub(r"\\\1", _one_line(text)))


def _start(text: str) -> str:
    return _LINE_START.sub(lambda found: f"{found[1]}\\{found[2]}" if found[1] else f"\\{found[3]}", text)


def _one_line(text: str) -> str:
    """White space of every kind, Unicode's line breaks among it, becomes single spaces; control characters go."""
    return " ".join("".join(" " if one.isspace() else one for one in text if one.isprintable() or one.isspace()).split())


def _is_pmid(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _url(pmid: str) -> str:
    return f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/"
