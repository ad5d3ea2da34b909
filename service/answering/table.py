"""The papers on an open question as a table: what each studied, and whether it found that this is an answer.

The papers are found as for a claim. The small reader tells which of them answer the question, and by which of their words
(nli.reader.answers). Each row is then a reading as of any claim: "What helps against cluster headache? Verapamil." is read
against the paper that studied verapamil.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from generation.draft import Finding
from nli.reader.answers import AnswerFinder, make_claim
from nli.text.designs import find_design, has_findings
from retrieval.core.counts import format_count
from retrieval.core.values import CitedSentence, Claim, Document, Hit, Row
from retrieval.words.terms import split_terms
from service.answering.events import OnEvent, Stage
from service.answering.lead import cite, list_kinds
from service.configuration.config import OpenQuestions
from service.grounding.ground import Grounder
from service.grounding.read import make_abstract, read
from service.grounding.show import show
from service.grounding.weigh import place_papers

FEWEST = 2
"""The fewest papers that make an answer."""


Group = tuple[Row, ...]
"""The rows with one answer, those that count most first."""


@dataclass(frozen=True, slots=True)
class Table:
    """The papers that were read on a question, best first, and those of them that report an answer: most of it first."""

    read: tuple[Document, ...]
    groups: tuple[Group, ...]

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows."""
        return tuple(row for group in self.groups for row in group)

    @property
    def hits(self) -> tuple[Hit, ...]:
        """The papers in the table, then the others that were read."""
        shown = [Hit(row.evidence.document.pmid, row.evidence.score) for row in self.rows]
        there = {hit.pmid for hit in shown}
        return (*shown, *(Hit(one.pmid, 0.0) for one in self.read if one.pmid not in there))

    @property
    def findings(self) -> dict[str, Finding]:
        """What each paper in the table found, by PMID; its stance is on its own claim, so none is given."""
        return {
            one.document.pmid: Finding(one.sentence.index, None, find_design(one.document).says)
            for one in (row.evidence for row in self.rows)
            if one.sentence
        }

    def describe_lack(self) -> str:
        """Why the question is not answered, where fewer than `FEWEST` papers report on it; no full stop."""
        if not self.read:
            return "Not studied here: no paper found names an answer to this"
        some = "only one" if self.rows else "none"
        papers = format_count(len(self.read), "paper")
        return f"The index has too little on this: of {papers} read, {some} reports an answer that the models are sure enough of"


def tabulate(grounder: Grounder, finder: AnswerFinder, question: str, rules: OpenQuestions, on_event: OnEvent) -> Table:
    """The table of a question; `grounder` must have a path."""
    path, reader = grounder.config.path, grounder.reader
    assert path is not None and reader is not None

    def choose(pmids: Sequence[str]) -> Collection[str]:
        documents = (entry.document for entry in grounder.index.entries(pmids) if len(entry))
        return {one.pmid for one in documents if not one.retracted and has_findings(one)}

    found = grounder.find(Claim(question), choose, rules.found)
    answers = finder.find_answers(question, [make_abstract(entry) for entry in found])
    able = [(entry, answer) for entry, answer in zip(found, answers, strict=True) if answer.text]
    # sorted() is stable: of two equal ones, the better rank of the search comes first.
    best = sorted(able, key=lambda pair: -pair[1].likelihood)[: rules.papers]
    on_event(Stage("rerank", f"Reading {format_count(len(best), 'paper')}."))
    claims = [Claim(make_claim(question, answer.text)) for _, answer in best]
    readings = read(reader, claims, [entry for entry, _ in best])
    rows: list[Row] = []
    for (entry, answer), made, reading in zip(best, claims, readings, strict=True):
        (placed,) = place_papers(show(made, [reading], {entry.pmid: entry}, 1, path.show))
        likely = answer.likelihood * placed.evidence.score >= rules.likely
        if likely and placed.place in ("support", "contradict") and placed.evidence.sentence:
            rows.append(Row(answer.text, made.text, placed.evidence))
    return Table(tuple(entry.document for entry, _ in best), tuple(_group(rows)))


def _group(rows: Sequence[Row]) -> list[Group]:
    """The rows on the same thing together: "oral zeta" and "zeta", but not "zeta gel" and "zeta pills"."""
    groups: list[tuple[list[Row], frozenset[str]]] = []
    for row in sorted(rows, key=lambda one: len(one.answer)):
        words = frozenset(split_terms(row.answer))
        same = (group for group, within in groups if within and words >= within)
        if group := next(same, None):
            group.append(row)
        else:
            groups.append(([row], words))
    ordered = [tuple(sorted(group, key=lambda row: -_weigh(row))) for group, _ in groups]
    return sorted(ordered, key=lambda group: -sum(map(_weigh, group)))


def _weigh(row: Row) -> float:
    return find_design(row.evidence.document).weight * row.evidence.score


def write_group(group: Group, most: int) -> CitedSentence:
    """What the papers on one thing found, in one sentence with at most `most` citations."""
    name, parts = min((row.answer for row in group), key=len), list[str]()
    words = {"support": "yes", "contradict": "no"}
    sides = {side: [row.evidence for row in group if row.evidence.stance == side] for side in words}
    for side, papers in sides.items():
        if papers:
            parts.append(f"{words[side]}, in {list_kinds([find_design(one.document).says for one in papers])}")
    carrying = [one for pair in zip_longest(*sides.values()) for one in pair if one]
    text = f"{name[:1].upper()}{name[1:]}: {'; '.join(parts)}."
    return CitedSentence(text, tuple(cite(one) for one in carrying[:most]))
