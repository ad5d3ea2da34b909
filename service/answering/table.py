"""The papers that answer an open question as a table: what each found to be an answer, and the sentence that says so.

The papers are found as for a claim. The small reader tells which of them answer the question, and by which of their words
(nli.reader.answers), which are made a whole name (service.answering.names). A paper is in the table if three readings of it
agree: of question and answer ("What lowers blood pressure? Verapamil."), of the plain statement that they make ("Verapamil lowers
blood pressure."), and of its opposite, which it must not support (generation.statement); only papers that pass the first are read
again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from generation.draft import Finding
from generation.question import TWO_AT_A_TIME, offers_many
from generation.statement import state_question
from nli.judge import Reader, make_reader
from nli.long_text import make_abstract
from nli.reader.answers import AnswerFinder, Answers, make_claim
from nli.reader.encode import score_findings
from nli.reader.paper import PaperReader
from nli.text.designs import find_design, has_findings
from nli.text.trials import name_trials
from retrieval.core.counts import format_count
from retrieval.core.values import Claim, Hit, PaperFinding, Row, Sentence
from retrieval.store.documents import Entry
from service.answering.events import OnEvent, Stage
from service.answering.names import choose_name, is_answer, name_alike, names_it, tidy_name
from service.answering.retrieve import measure_coverage
from service.configuration.config import OpenQuestions
from service.configuration.models import SENTENCES
from service.grounding.ground import Grounder
from service.grounding.read import read
from service.grounding.show import evidence_for

FEWEST = 2
"""The fewest studies that make an answer; reports of one trial are one."""


@dataclass(frozen=True, slots=True)
class Table:
    """How many papers were read on a question; those that report an answer, the most heavily weighted thing first; and the other
    papers on the subject, in the order of the search."""

    read: int
    rows: tuple[Row, ...]
    others: tuple[PaperFinding, ...]

    @property
    def answers(self) -> bool:
        """Whether enough studies report an answer."""
        return len({_name_study(row) for row in self.rows}) >= FEWEST

    @property
    def hits(self) -> tuple[Hit, ...]:
        """The papers in the table, then the others."""
        shown = [Hit(row.evidence.document.pmid, row.evidence.score) for row in self.rows]
        return (*shown, *(Hit(one.document.pmid, 0.0) for one in self.others))

    @property
    def findings(self) -> dict[str, Finding]:
        """What each paper in the table found, by PMID; its stance is on its own claim, so none is given."""
        return {
            one.document.pmid: Finding(one.sentence.index, None, find_design(one.document).says)
            for one in (row.evidence for row in self.rows)
            if one.sentence
        }

    def list_only(self) -> Table:
        """The table without rows, which are among the others instead, first."""
        papers = [PaperFinding(row.evidence.document, row.evidence.sentence) for row in self.rows]
        return Table(self.read, (), (*papers, *self.others))

    def describe_lack(self, question: str) -> str:
        """Why the question is not answered, where fewer than `FEWEST` studies report on it; no full stop."""
        if offers_many(question):
            return TWO_AT_A_TIME
        if not self.read:
            return "Not studied here: no paper found names an answer to this"
        some = f"only one{' trial' if len(self.rows) > 1 else ''}" if self.rows else "none"
        papers = format_count(self.read, "paper")
        return f"The index has too little on this: of {papers} read, {some} reports an answer that the models are sure enough of"


class _Named(NamedTuple):
    """A paper with names of what it may answer, the surest first, and how probably it answers the question with each."""

    entry: Entry
    names: list[str]
    likelihoods: list[float]


class _Choice(NamedTuple):
    """A paper with the name that is read, and how probably it answers the question with that."""

    entry: Entry
    name: str
    likelihood: float


def tabulate(grounder: Grounder, finder: AnswerFinder, question: str, rules: OpenQuestions, on_event: OnEvent) -> Table:
    """The table of a question; `grounder` must have a path."""
    reader = grounder.reader
    assert reader is not None

    def choose(pmids: Sequence[str]) -> Collection[str]:
        documents = (entry.document for entry in grounder.index.entries(pmids) if len(entry))
        return {one.pmid for one in documents if not one.retracted and has_findings(one)}

    found = grounder.find(Claim(question), choose, rules.found)
    shares = measure_coverage(question, [_join_text(entry) for entry in found])
    found = [entry for entry, share in zip(found, shares, strict=True) if share >= rules.subject]
    answers = finder.find_answers(question, [make_abstract(entry.document.title, entry.sentences()) for entry in found])
    named = [one for pair in zip(found, answers, strict=True) if (one := _name_answers(question, *pair))]
    # sorted() is stable: of two equal ones, the better rank of the search comes first.
    ranked = sorted(named, key=lambda one: -one.likelihoods[0])[: rules.papers]
    judge = grounder.models.judges.get(SENTENCES)
    chooser = make_reader(judge) if judge else None
    chosen = [_choose_name(chooser, question, one) for one in ranked if one.likelihoods[0] >= rules.likely]
    best = [one for one in chosen if one.likelihood >= rules.likely]
    on_event(Stage("rerank", f"Reading {format_count(len(best), 'paper')}."))
    rows = _share_names(_read_rows(reader, question, best, rules))
    there = {row.evidence.document.pmid for row in rows}
    rest = [entry for entry in found if entry.pmid not in there][: rules.others]
    return Table(len(best), tuple(rows), tuple(PaperFinding(one.document, _choose_finding(question, one)) for one in rest))


def _name_answers(question: str, entry: Entry, answers: Answers) -> _Named | None:
    passage, names = _join_text(entry), dict[str, float]()
    for words, named in answers.names:
        name = tidy_name(words, passage)
        if name and is_answer(name, question, passage):
            names.setdefault(name, answers.probability * named)
    return _Named(entry, list(names), list(names.values())) if names else None


def _choose_name(chooser: Reader | None, question: str, named: _Named) -> _Choice:
    """Of a paper's names the one that makes the likeliest answer by a small reader too."""
    read = [1.0] * len(named.names)
    if chooser and len(read) > 1:
        paper = make_abstract(named.entry.document.title, named.entry.sentences())
        claims = (make_claim(question, name) for name in named.names)
        read = [next(iter(chooser.read_abstracts(claim, [paper]))).document.support for claim in claims]
    best = max(range(len(read)), key=lambda place: named.likelihoods[place] * read[place])
    return _Choice(named.entry, named.names[best], named.likelihoods[best])


def _join_text(entry: Entry) -> str:
    return " ".join((entry.document.title, *(sentence.text for sentence in entry.sentences())))


def _read_rows(reader: Reader, question: str, best: Sequence[_Choice], rules: OpenQuestions) -> list[Row]:
    """The rows on which all readings agree. A language model that reads papers reads each once: it gives its reasons."""
    claims = [Claim(make_claim(question, one.name)) for one in best]
    asked = None if isinstance(reader, PaperReader) else state_question(question)
    stated = [asked.state(one.name) if asked else None for one in best]
    least = rules.asked if isinstance(reader, PaperReader) or (asked and asked.sure) else rules.unstated
    readings = read(reader, claims, [one.entry for one in best])
    passed = [
        place for place, reading in enumerate(readings) if reading.verdict.label == "support" and reading.verdict.support >= least
    ]
    again = [(place, text) for place in passed for text in stated[place] or ()]
    more = read(reader, [Claim(text) for _, text in again], [best[place].entry for place, _ in again])
    second = dict(zip(again, more, strict=True))
    rows = []
    for place in passed:
        one, statement = best[place], stated[place]
        if statement:
            says, turned = (second[place, text].verdict.support for text in statement)
            if says < rules.stated or turned > rules.opposite:
                continue
        reading, text = readings[place], _join_text(one.entry)
        said = [reading.sentence, second[place, statement[0]].sentence if statement else None]
        sentence = next((said_by for said_by in said if said_by and names_it(one.name, said_by.text, text)), None)
        if sentence is None:
            continue
        evidence = evidence_for(
            claims[place].text, "support", one.entry.document, sentence, reading.verdict, 0,
            reading.verdict.support, reading.by, reading.note,
        )  # fmt: skip
        rows.append(Row(one.name, one.name, claims[place].text, statement[0] if statement else "", evidence))
    return rows


def _share_names(rows: Sequence[Row]) -> list[Row]:
    """The rows with one name for one thing, those on the same thing together; the things and their rows by weight.

    A trial has the weight of its heaviest report.
    """
    documents = [row.evidence.document for row in rows]
    passages, groups = [one.abstract for one in documents], list[list[Row]]()
    trials = zip(rows, name_trials(documents), strict=True)
    told = [replace(row, evidence=replace(row.evidence, trial=trial)) for row, trial in trials]
    for row in sorted(told, key=lambda one: -_weigh(one)):
        alike = (group for group in groups if any(name_alike(row.named, one.named, passages) for one in group))
        if group := next(alike, None):
            group.append(row)
        else:
            groups.append([row])
    ordered = sorted(groups, key=lambda group: -sum({_name_study(row): _weigh(row) for row in reversed(group)}.values()))
    names = [choose_name([row.named for row in group]) for group in ordered]
    shared = [replace(row, answer=name) for name, group in zip(names, ordered, strict=True) for row in group]
    return [replace(row, evidence=replace(row.evidence, rank=rank)) for rank, row in enumerate(shared, 1)]


def _name_study(row: Row) -> str:
    return row.evidence.trial or row.evidence.document.pmid


def _weigh(row: Row) -> float:
    return find_design(row.evidence.document).weight * row.evidence.score


def _choose_finding(question: str, entry: Entry) -> Sentence:
    """The finding of a paper that is nearest to the question."""
    sentences = entry.sentences()
    return sentences[int(score_findings(question, [one.text for one in sentences]).argmax())]
