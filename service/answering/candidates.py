"""Which papers of an index can answer a yes-or-no question at all, judged by their words before any model reads them.

A paper must cover enough of the question's subject, of what is asked about it and of what it is compared with, in any spelling
or synonym, and every name of several words ("stomach cancer") as a whole. It must have findings, and must not be about animals
if the question is about people. If no such paper answers, a second look takes papers that share some words with the question
and its subject and lack no name.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from generation.leads.question import YesNoQuestion
from nli.text.designs import has_findings
from retrieval.core.values import Document, Evidence
from retrieval.index import Index
from retrieval.rerank.reranker import make_passage
from retrieval.words.names import find_proper_unnamed, find_unnamed
from retrieval.words.synonyms import names_all
from service.answering.relevance import is_same_kind, measure_comparator, measure_shares

IN_OTHER_WORDS = 0.2
"""The share of the question, and of its subject, that a paper must contain to be read in the second look."""
NEAREST = 3
"""Papers that a refusal names."""


class Candidates:
    """A `service.grounding.request.Only` that remembers the papers it was asked about, so that a refusal can name the nearest."""

    def __init__(self, index: Index, question: str, asked: YesNoQuestion, met: float) -> None:
        """`met` is the smallest share of each part of the question, and of what it compares with, that a paper must contain."""
        self._index, self._question, self._asked, self._met = index, question, asked, met
        self._seen: dict[str, tuple[float, float, Document]] = {}
        self._meeting: set[str] = set()
        self._near: set[str] = set()
        self._wider = False

    @property
    def searched(self) -> int:
        """How many papers were looked at."""
        return len(self._seen)

    def __call__(self, pmids: Sequence[str]) -> Collection[str]:
        """Those of these papers that can answer."""
        new = [pmid for pmid in pmids if pmid not in self._seen]
        for entry in self._index.entries(new):
            document = entry.document
            passage = make_passage(document)
            shares = measure_shares(self._question, self._asked, passage)
            whole, title = sum(shares) / len(shares), measure_shares(self._question, self._asked, document.title)
            self._seen[entry.pmid] = (whole + 0.5 * sum(title) / len(title), whole, document)
            least = min(*shares, measure_comparator(self._asked, passage))
            if whole < IN_OTHER_WORDS or not self._can_answer(document):
                continue
            if least >= self._met and names_all(self._question, passage):
                self._meeting.add(entry.pmid)
            elif shares[0] >= IN_OTHER_WORDS and not (self._wider and self._lacks_name(document)):
                self._near.add(entry.pmid)
        return self._near if self._wider else self._meeting

    def look_wider(self) -> bool:
        """Take papers with fewer of the question's words from now on, in place of those so far; whether there are any."""
        self._wider = True
        self._near -= {pmid for pmid in self._near if self._lacks_name(self._seen[pmid][2])}
        return bool(self._near)

    def measure_met(self) -> dict[str, float]:
        """For each paper that can answer, by PMID, the mean share of the question's parts that it contains (0 to 1)."""
        return {pmid: self._seen[pmid][1] for pmid in (self._near if self._wider else self._meeting)}

    def list_nearest(self, read: Sequence[Evidence]) -> tuple[Document, ...]:
        """The papers that a refusal names: those that were read, most probable first, then those with most of the words.

        Words in titles count more.
        """
        best = [one.document for one in sorted(read, key=lambda one: -one.score)]
        there = {one.pmid for one in best}
        rest = [document for *_, document in sorted(self._seen.values(), key=lambda one: -one[0])]
        return (*best, *(one for one in rest if one.title and not one.retracted and one.pmid not in there))[:NEAREST]

    def _lacks_name(self, document: Document) -> bool:
        passage = make_passage(document)
        return bool(find_unnamed(self._asked.claim, passage) or find_proper_unnamed(self._question, passage))

    def _can_answer(self, document: Document) -> bool:
        return not document.retracted and has_findings(document) and is_same_kind(self._question, document)


def name_nearest(documents: Sequence[Document]) -> str:
    """ " The nearest: “Title” (PMID); …", "" where there are none."""
    titles = [f"“{one.title.rstrip('.')}” ({one.pmid})" for one in documents[:NEAREST] if one.title]
    return f" Nearest papers: {'; '.join(titles)}." if titles else ""
