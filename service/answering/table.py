"""The papers on an open question as a table: what each studied, and whether it found of that what is asked.

The papers are found and chosen as for a claim. Each row is a reading as of any claim: "Verapamil helps against cluster headache",
made of what the paper studied and of what is asked, is read against that paper.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest

from generation.draft import Finding
from nli.text.designs import find_design, has_findings
from nli.text.studied import Studied, find_studied
from retrieval.core.values import CitedSentence, Claim, Document, Hit, Row
from retrieval.rerank.reranker import make_passage
from retrieval.words.forms import unify_text
from retrieval.words.terms import split_terms
from service.answering.events import OnEvent, Stage
from service.answering.lead import cite, list_kinds
from service.answering.open_questions import OpenQuestion
from service.answering.retrieve import is_same_kind, measure_coverage
from service.configuration.config import OpenQuestions
from service.grounding.claims import state_claim
from service.grounding.coverage import format_count
from service.grounding.find import find
from service.grounding.ground import Grounder
from service.grounding.read import read
from service.grounding.show import show
from service.grounding.weigh import place_papers

FEWEST = 2
"""The fewest papers that make an answer."""


@dataclass(frozen=True, slots=True)
class Group:
    """The rows on one thing that was studied, those that count most first."""

    studied: Studied
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """The papers that were read on a question, best first, and those of them that report something: most of it first."""

    asked: OpenQuestion
    read: tuple[Document, ...]
    groups: tuple[Group, ...]

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows."""
        return tuple(row for group in self.groups for row in group.rows)

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
            return f"Not studied here: no paper on this names something of which it studied whether it {self.asked.predicate}"
        some = "only one" if self.rows else "none"
        return (
            f"The index has too little on this: of {format_count(len(self.read), 'paper')} read, {some} reports what "
            f"{self.asked.predicate}"
        )


def tabulate(grounder: Grounder, question: str, asked: OpenQuestion, rules: OpenQuestions, on_event: OnEvent) -> Table:
    """The table of a question in American spelling; `grounder` must have a path."""
    path, reader = grounder.config.path, grounder.reader
    assert path is not None and reader is not None
    claim, about = Claim(question), unify_text(asked.about)
    terms = frozenset(split_terms(f"{question} {asked.predicate}"))

    def choose(pmids: Sequence[str]) -> Collection[str]:
        documents = [entry.document for entry in grounder.index.entries(pmids)]
        shares = measure_coverage(about, [make_passage(one) for one in documents])
        return {
            one.pmid
            for one, share in zip(documents, shares, strict=True)
            if share >= rules.coverage and not one.retracted and has_findings(one) and is_same_kind(question, one)
        }

    ranked = grounder.rank(claim, find(grounder.index, grounder.models, path.find, claim, choose))
    able = ((entry, studied) for entry in ranked if (studied := find_studied(entry, terms)))
    pairs = list(islice(able, rules.papers))
    on_event(Stage("rerank", f"Reading {format_count(len(pairs), 'paper')}."))
    claims = [Claim(state_claim(asked.state(studied))) for _, studied in pairs]
    readings = read(reader, claims, [entry for entry, _ in pairs])
    least = {"support": rules.supports, "contradict": rules.denies}
    found: list[tuple[Studied, Row]] = []
    for (entry, studied), made, reading in zip(pairs, claims, readings, strict=True):
        (placed,) = place_papers(show(made, [reading], {entry.pmid: entry}, 1, path.show))
        if placed.place in least and placed.evidence.sentence and placed.evidence.score >= least[placed.place]:
            found.append((studied, Row(studied.text, made.text, placed.evidence)))
    return Table(asked, tuple(entry.document for entry, _ in pairs), tuple(_group(found)))


def _group(found: Sequence[tuple[Studied, Row]]) -> list[Group]:
    """The rows on the same thing together: "oral zeta" and "zeta", but not "zeta gel" and "zeta pills"."""
    groups: list[tuple[Studied, list[Row]]] = []
    for studied, row in sorted(found, key=lambda one: len(one[0].text)):
        words = frozenset(split_terms(studied.text))
        same = (rows for other, rows in groups if other.term == studied.term and words.issuperset(split_terms(other.text)))
        if rows := next(same, None):
            rows.append(row)
        else:
            groups.append((studied, [row]))
    ordered = [Group(studied, tuple(sorted(rows, key=lambda row: -_weigh(row)))) for studied, rows in groups]
    return sorted(ordered, key=lambda group: -sum(map(_weigh, group.rows)))


def _weigh(row: Row) -> float:
    return find_design(row.evidence.document).weight * row.evidence.score


def write_group(asked: OpenQuestion, group: Group, most: int) -> CitedSentence:
    """What the papers on one thing found, in one sentence with at most `most` citations."""
    sides = {side: [row.evidence for row in group.rows if row.evidence.stance == side] for side in ("support", "contradict")}
    parts: list[str] = []
    for side, papers in sides.items():
        if papers:
            kinds = list_kinds([find_design(one.document).says for one in papers])
            parts.append(f"by {kinds}, {asked.deny(group.studied) if parts else asked.state(group.studied, side == 'support')}")
    text = "; ".join(parts)
    carrying = [one for pair in zip_longest(*sides.values()) for one in pair if one]
    return CitedSentence(f"{text[:1].upper()}{text[1:]}.", tuple(cite(one) for one in carrying[:most]))
