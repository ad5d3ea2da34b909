"""The papers that answer an open question as a table: what each found to be an answer, and the sentence that says so.

The papers are found as for a claim. The small reader tells which of them answer the question, and by which of their words
(nli.reader.answers), which are made a whole name (service.answering.names). A paper is in the table if three readings of it
agree: of question and answer ("What lowers blood pressure? Verapamil."), of the plain statement that they make ("Verapamil lowers
blood pressure."), and of its opposite, which it must not support (generation.statement); only papers that pass the first are read
again. Where a language model reads papers, it says what the best of them tested (service.answering.asked).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from counterpoint.generation.draft import Finding
from counterpoint.generation.question import TWO_AT_A_TIME, offers_many
from counterpoint.generation.statement import state_question
from counterpoint.nli.judge import Reader, make_reader
from counterpoint.nli.long_text import make_abstract
from counterpoint.nli.reader.answers import AnswerFinder, Answers, make_claim
from counterpoint.nli.reader.encode import score_findings
from counterpoint.nli.text.designs import find_design, has_findings
from counterpoint.nli.text.trials import name_trials
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.values import Claim, Evidence, Hit, PaperFinding, Row, Sentence
from counterpoint.retrieval.store.documents import Entry
from counterpoint.service.answering.asked import ask_papers, choose_papers, find_chat_reader, find_more, rank_papers, share_names
from counterpoint.service.answering.events import OnEvent, Stage
from counterpoint.service.answering.find import measure_coverage
from counterpoint.service.answering.names import choose_name, is_answer, name_alike, names_it, tidy_name
from counterpoint.service.configuration.config import SENTENCES, OpenQuestions
from counterpoint.service.grounding.coverage import READING
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.grounding.read import read
from counterpoint.service.grounding.show import evidence_for
from counterpoint.service.grounding.weigh import find_side

FEWEST = 2
"""The fewest studies that make an answer, where no language model read them; reports of one trial are one."""


@dataclass(frozen=True, slots=True)
class Table:
    """How many papers were read on a question; those that report an answer, the most heavily weighted thing first; the other
    papers on the subject, in the order of the search; what a language model was to do and the embedded models did; and the PMIDs
    of the papers that it read."""

    read: int
    rows: tuple[Row, ...]
    others: tuple[PaperFinding, ...]
    note: str = ""
    asked: tuple[str, ...] = ()

    @property
    def answers(self) -> bool:
        """Whether enough studies report an answer, or that something is none."""
        studies = {_name_study(row) for row in self.rows if find_side(row.evidence) != "uncertain"}
        return len(studies) >= (1 if self.asked else FEWEST)

    @property
    def papers(self) -> dict[str, Evidence]:
        """The papers in the table by PMID, each as its first row has it."""
        first = {row.evidence.document.pmid: row.evidence for row in reversed(self.rows)}
        return {row.evidence.document.pmid: first[row.evidence.document.pmid] for row in self.rows}

    @property
    def hits(self) -> tuple[Hit, ...]:
        """The papers in the table, then the others."""
        shown = [Hit(pmid, one.score) for pmid, one in self.papers.items()]
        return (*shown, *(Hit(one.document.pmid, 0.0) for one in self.others))

    @property
    def findings(self) -> dict[str, Finding]:
        """What each paper in the table found, by PMID; its stance is on its own claim, so none is given."""
        found = ((pmid, one.sentence, find_design(one.document)) for pmid, one in self.papers.items())
        return {pmid: Finding(sentence, None, design.text) for pmid, sentence, design in found if sentence}

    def list_only(self) -> Table:
        """The table without rows, which are among the others instead, first."""
        papers = (PaperFinding(one.document, one.sentence) for one in self.papers.values())
        return replace(self, rows=(), others=(*papers, *self.others))

    def describe_lack(self, question: str) -> str:
        """Why the question is not answered, where fewer than `FEWEST` studies report on it; no full stop."""
        if offers_many(question):
            return TWO_AT_A_TIME
        if not self.read:
            return "Not studied here: no paper found names an answer to this"
        some = f"only one{' trial' if len(self.papers) > 1 else ''}" if self.rows else "none"
        papers = format_count(self.read, "paper")
        return f"The index has too little on this: of {papers} read, {some} reports an answer that the models are sure enough of"


class _Choice(NamedTuple):
    """A paper with the name that is read, and how probably it answers the question with that."""

    entry: Entry
    name: str
    likelihood: float


def tabulate(
    grounder: Grounder, finder: AnswerFinder, question: str, rules: OpenQuestions, on_event: OnEvent, words: str = ""
) -> Table:
    """The table of a question, which a language model also searches for in technical `words`; `grounder` must read papers."""
    reader = grounder.reader

    def choose(pmids: Sequence[str]) -> Collection[str]:
        documents = (entry.document for entry in grounder.index.entries(pmids) if len(entry))
        return {one.pmid for one in documents if not one.retracted and has_findings(one)}

    asked = find_chat_reader(grounder)
    found = grounder.find(Claim(question), choose, rules.found)
    if asked:
        found = find_more(grounder, question, words, found, choose, rules.found)
    texts = [_join_text(entry) for entry in found]
    shares = list(map(max, *(measure_coverage(text, texts) for text in (question, words or question))))
    found = [entry for entry, share in zip(found, shares, strict=True) if share >= rules.subject]
    answers = finder.find_answers(question, [make_abstract(entry.document.title, entry.sentences()) for entry in found])
    rows, told, left, notes = list[Row](), 0, {entry.pmid for entry in found}, list[str]()
    papers: Sequence[Entry] = ()
    if asked:
        ranked = rank_papers(grounder, question, found, answers)
        papers = choose_papers(grounder, asked, question, words, rules.requests, ranked)
        on_event(Stage("read", f"Asking what {format_count(len(papers), 'paper')} tested."))
        windows = grounder.choose_windows(Claim(question), papers, READING * len(papers))
        rows, unread, note = ask_papers(asked, question, papers, windows)
        told, notes = len(papers) - len(unread), [note]
        # A model that says nothing of any paper is not there: the embedded models then read as without it.
        left = {entry.pmid for entry in unread} if told else left
    pairs = (pair for pair in zip(found, answers, strict=True) if pair[0].pmid in left)
    best = _choose_answers(grounder, question, pairs, rules)
    if best or not asked:
        on_event(Stage("read", f"Reading {format_count(len(best), 'paper')}."))
    rows += _read_rows(asked.embedded if asked else reader, question, best, rules)
    groups = _group_alike(rows)
    names = [choose_name([row.named for row in group]) for group in groups]
    if asked and told:
        names, note = share_names(asked, question, names)
        notes.append(note)
    shown = _order_rows(names, groups)
    # A paper that a language model read and that answers nothing is none of the others on the subject either.
    silent = {entry.pmid for entry in papers} - left if told else set()
    there = silent | {row.evidence.document.pmid for row in shown}
    others = (PaperFinding(one.document, _choose_finding(question, one)) for one in found if one.pmid not in there)
    listed, note = tuple(islice(others, rules.others)), " ".join(filter(None, notes))
    read_by_model = tuple(entry.pmid for entry in papers if told and entry.pmid not in left)
    return Table(len(best) + told, tuple(shown), listed, note, read_by_model)


def _choose_answers(
    grounder: Grounder, question: str, pairs: Iterable[tuple[Entry, Answers]], rules: OpenQuestions
) -> list[_Choice]:
    """Of these papers those that most probably answer the question, each with the name that a small reader prefers too."""
    named = [(entry, names) for entry, found in pairs if (names := _name_answers(question, entry, found))]
    # sorted() is stable: of two equal ones, the better rank of the search comes first.
    ranked = sorted(named, key=lambda one: -one[1][0].likelihood)[: rules.papers]
    judge = grounder.models.judges.get(SENTENCES)
    chooser = make_reader(judge) if judge else None
    chosen = [_choose_name(chooser, question, entry, names) for entry, names in ranked if names[0].likelihood >= rules.likely]
    return [one for one in chosen if one.likelihood >= rules.likely]


def _name_answers(question: str, entry: Entry, answers: Answers) -> list[_Choice]:
    """The paper with each name of what it may answer, the surest first."""
    passage, names = _join_text(entry), dict[str, float]()
    for words, named in answers.names:
        name = tidy_name(words, passage)
        if name and is_answer(name, question, passage):
            names.setdefault(name, answers.probability * named)
    return [_Choice(entry, name, likelihood) for name, likelihood in names.items()]


def _choose_name(chooser: Reader | None, question: str, entry: Entry, names: Sequence[_Choice]) -> _Choice:
    if chooser is None or len(names) < 2:
        return max(names, key=lambda one: one.likelihood)
    paper = make_abstract(entry.document.title, entry.sentences())
    claims = (make_claim(question, one.name) for one in names)
    read = [next(iter(chooser.read_abstracts(claim, [paper]))).document.support for claim in claims]
    return max(zip(names, read, strict=True), key=lambda pair: pair[0].likelihood * pair[1])[0]


def _join_text(entry: Entry) -> str:
    return " ".join((entry.document.title, *(sentence.text for sentence in entry.sentences())))


def _read_rows(reader: Reader, question: str, best: Sequence[_Choice], rules: OpenQuestions) -> list[Row]:
    """The rows on which all readings agree."""
    claims = [Claim(make_claim(question, one.name)) for one in best]
    asked = state_question(question)
    stated = [asked.state(one.name) if asked else None for one in best]
    least = rules.asked if asked and asked.sure else rules.unstated
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


def _group_alike(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows whose names are alike together, each with its trial; the weightiest rows first.

    A trial has the weight of its heaviest report.
    """
    documents = {row.evidence.document.pmid: row.evidence.document for row in rows}  # a paper may name several answers
    passages, groups = [one.abstract for one in documents.values()], list[list[Row]]()
    trials = dict(zip(documents, name_trials([*documents.values()]), strict=True))
    named = [replace(row, evidence=replace(row.evidence, trial=trials[row.evidence.document.pmid])) for row in rows]
    for row in sorted(named, key=lambda one: -_weigh(one)):
        alike = (group for group in groups if any(name_alike(row.named, one.named, passages) for one in group))
        if group := next(alike, None):
            group.append(row)
        else:
            groups.append([row])
    return groups


def _order_rows(names: Sequence[str], groups: Sequence[Sequence[Row]]) -> list[Row]:
    """The rows under the names of their groups, those with one name together; the things and their rows by weight."""
    things = dict[str, list[Row]]()
    for name, group in zip(names, groups, strict=True):
        things.setdefault(name, []).extend(replace(row, answer=name) for row in group)
    rows = [sorted(some, key=lambda one: -_weigh(one)) for some in things.values()]
    rows.sort(key=lambda some: -sum({_name_study(row): _weigh(row) for row in reversed(some)}.values()))
    ordered = [row for some in rows for row in some]
    return [replace(row, evidence=replace(row.evidence, rank=rank)) for rank, row in enumerate(ordered, 1)]


def _name_study(row: Row) -> str:
    return row.evidence.trial or row.evidence.document.pmid


def _weigh(row: Row) -> float:
    """How much a row weighs for its answer: nothing if the paper found otherwise."""
    return find_design(row.evidence.document).weight * row.evidence.score * (row.evidence.stance == "support")


def _choose_finding(question: str, entry: Entry) -> Sentence:
    """The finding of a paper that is nearest to the question."""
    sentences = entry.sentences()
    return sentences[int(score_findings(question, [one.text for one in sentences]).argmax())]
