"""The content of a row in a table of a checked text, in the same words for every format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from service.checking.checkable import Reason
from service.checking.schemas import CheckedText, CitedOut, TextSentenceOut
from service.checking.verdicts import TextVerdict
from service.grounding.schemas import EvidenceOut

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


_PREFIX_LENGTH = 20
"""How many characters at the beginning of a sentence are compared."""
_STATUS_WORDS = {"not judged": "was not judged", "not in the index": "is not in the index"}


@dataclass(frozen=True, slots=True)
class Paper:
    """One paper as a table shows it; `link` is "" if the paper is not from PubMed."""

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
        return f"PMID {self.id}" if self.link else self.id


def paper(evidence: EvidenceOut) -> Paper:
    """A paper for or against a claim."""
    facts = ", ".join(str(one) for one in (evidence.journal, evidence.year) if one)
    partial = f"in part: {', '.join(dict.fromkeys(one.kind for one in evidence.qualifiers))}" if evidence.qualifiers else ""
    notes = "; ".join(one for one in ("retracted" if evidence.retracted else "", partial) if one)
    sentence = evidence.sentence.text if evidence.sentence else ""
    return Paper(evidence.pmid, evidence.title or "(no title)", facts, sentence, notes, link_of(evidence.pmid))


def link_of(pmid: str) -> str:
    """The address of a paper on PubMed; "" for an id that is not a PMID."""
    return f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" if pmid.isascii() and pmid.isdigit() else ""


def best(papers: Sequence[EvidenceOut]) -> Paper | None:
    """The first paper of a side, or None."""
    return paper(papers[0]) if papers else None


def cited_line(one: CitedOut) -> str:
    """A cited paper and what it says, in one line."""
    name = f"PMID {one.id}" if one.kind == "pmid" and link_of(one.id) else f"doi:{one.id}" if one.kind == "doi" else one.id
    quote = f", “{one.sentence.text}”" if one.sentence and one.status != "not judged" else ""
    return f"{name} {_STATUS_WORDS.get(one.status, one.status)}{' (retracted)' if one.retracted else ''}{quote}"


def words_of(report: CheckedText, sentence: TextSentenceOut) -> str:
    """A sentence as it is in the text, on one line."""
    return " ".join(report.text[sentence.start : sentence.end].split())


def reworded(report: CheckedText, sentence: TextSentenceOut) -> bool:
    """Whether words before the claim were removed; that citations were removed is plain to see."""
    return not words_of(report, sentence).startswith(sentence.claim[:_PREFIX_LENGTH])


def why(sentence: TextSentenceOut) -> str:
    """Why a sentence has its verdict: what the papers say, or why it makes no claim."""
    if sentence.result:
        return sentence.result.why
    return f"{REASONS[sentence.reason]}." if sentence.reason else ""
