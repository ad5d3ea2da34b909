"""Answering a topic: verdict, or table, or find → gate; write → check every citation → keep to the limits → find conflicts.

A yes-or-no question is grounded as a claim, on both sides. Its papers are those that take a side, and the first sentence states
their overall verdict (service.answering.verdict); of a choice, either side is a claim (service.answering.choice).
For an open question, what each paper names as an answer is read as a claim
(service.answering.table), and without a language model the answer sums up these readings. For any other question, the generator
gets the best documents. Whatever it writes, no unchecked sentence is kept: every sentence has a citation that holds, and those
without one are listed as removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from counterpoint.generation.draft import Draft, DraftSentence, Finding, Generator, Limits, Source
from counterpoint.generation.extractive import write_findings
from counterpoint.nli.reader.paper import LanguageModelReader
from counterpoint.nli.text.designs import find_design
from counterpoint.nli.text.roles import find_findings
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.errors import ModelUnusable
from counterpoint.retrieval.core.values import (
    Answer,
    CitedSentence,
    Claim,
    Conflict,
    Drafted,
    Hit,
    Outcome,
    RemovedSentence,
    Row,
    Topic,
    Usage,
)
from counterpoint.retrieval.index import Index
from counterpoint.retrieval.runtime.chat import BudgetSpent
from counterpoint.retrieval.runtime.usage import Tally, count_usage
from counterpoint.service.answering.asked import ask_words
from counterpoint.service.answering.attribution import Attribution, StatedVerdict, find_own_findings
from counterpoint.service.answering.choice import GroundedChoice, ground_choice, write_choice_sentence
from counterpoint.service.answering.conflicts import Disagreements, find_conflicts_between_sides
from counterpoint.service.answering.drafts import DraftChecker, Settled
from counterpoint.service.answering.events import KeptSentence, OnEvent, Stage
from counterpoint.service.answering.find import DocumentSearch, FoundDocuments, TooLittle, unify_topic
from counterpoint.service.answering.table import Table, tabulate
from counterpoint.service.answering.verdict import (
    NEAREST,
    GroundedQuestion,
    collect_findings,
    describe_not_studied,
    ground_question,
    list_nearest,
    write_verdict_sentence,
)
from counterpoint.service.configuration.config import AnswerConfig
from counterpoint.service.configuration.models import FALLBACK, Models
from counterpoint.service.grounding.coverage import READING, WRITING
from counterpoint.service.grounding.full_text import Windows
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.grounding.show import list_papers
from counterpoint.service.queries.follow_ups import find_follow_ups

_FEWEST_WRITTEN = 3
"""Papers that answer an open question, below which a language model also writes from those that it read and that do not."""
_EXTRACTIVE = "This answer is extractive: rules chose its sentences from the papers and put them in order."
_NEAREST = "The papers found do not answer this question. The sentences report what comes nearest to it."


class Answerer:
    """Answers topics on one index with one configuration and its models; safe to use from several threads at once.

    `grounder` is None if the configuration looks for no conflicts.
    """

    def __init__(self, index: Index, config: AnswerConfig, models: Models, grounder: Grounder | None) -> None:
        self.index, self.config, self.grounder = index, config, None
        if grounder:
            self.grounder = grounder.for_answers(config.reading, config.verdict.found if config.verdict else None)
        # Verdicts are searched for as the grounder searches, with the vectors that it uses.
        self.models = replace(models, encoders=grounder.models.encoders) if grounder else models

    def over(self, index: Index) -> Answerer:
        """The same answerer over another index; raises `IndexUnusable` if that lacks vectors that are required."""
        return Answerer(index, self.config, self.models, self.grounder.over(index) if self.grounder else None)

    def extractive(self, generated_by: str) -> bool:
        """Whether the generator with this name only quotes."""
        return any(one.extractive for one in self.models.generators.values() if one.name == generated_by)

    def answer(self, topic: Topic, on_event: OnEvent | None = None, fill: bool = False) -> Answer:
        """The answer to a topic's question; `on_event` receives each stage and sentence as it comes.

        With `fill`, an answer for which there is too little holds what the nearest papers found, and its note says so.
        Raises `ModelUnusable` if the generator does not respond and no other can write instead.
        """
        with count_usage(self.config.budget) as tally:
            work = _AnswerInProgress(self, topic, on_event or (lambda event: None), fill, tally)
            answer = work.finish()
            if fill or self.grounder is None:
                return answer
            found = " ".join(one.text for one in answer.sentences) or answer.note
            follow_ups = find_follow_ups(self.grounder, topic.question, answer.rows, found, work.words)
            return replace(answer, follow_ups=follow_ups, usage=tally.total)


class _AnswerInProgress:
    """One answer: the sentences kept and removed so far, and what they cost.

    `topic` is in American spelling, like the papers as they are read, so that spelling makes no difference; `asked` is the topic
    as it was asked, for readers and language models.
    """

    def __init__(self, answerer: Answerer, topic: Topic, on_event: OnEvent, fill: bool, tally: Tally) -> None:
        self.index, self.config, self.grounder = answerer.index, answerer.config, answerer.grounder
        self.models = answerer.models.with_caches()
        self.on_event, self.fill, self.tally = on_event, fill, tally
        self.asked = topic
        self.topic = unify_topic(topic) if self.config.find.spellings else topic
        self.search = DocumentSearch(self.index, self.config, self.models, self.topic, on_event)
        self.limits = Limits(self.config.limits.words, self.config.limits.citations)
        self.kept: list[CitedSentence] = []
        self.removed: list[RemovedSentence] = []
        self.drafted: Drafted | None = None
        self.notes: list[str] = []
        self.answering: list[bool | None] = []
        self.words = ""
        judge = answerer.models.judges[self.config.attribute.model]
        self.reader = judge if isinstance(judge, LanguageModelReader) else None

    @property
    def usage(self) -> Usage:
        """What language models were asked so far: to read, to write and to correct."""
        return self.tally.total

    def finish(self) -> Answer:
        generator = self.models.generators[self.config.generate.generator]
        self.extractive = generator.extractive
        if self.grounder and (self.config.verdict or self.config.open_questions):
            self.words = ask_words(self.grounder, self.asked.question)
        grounded = self._ground()
        if grounded and grounded.verdict is None:
            nearest = [Hit(document.pmid, 0.0) for document in list_nearest(grounded)]
            declined = self._decline(describe_not_studied(grounded), nearest, generator.name)
            return replace(declined, grounding=grounded.grounding)
        table = None if grounded else self._tabulate()
        if table and generator.extractive:
            return self._sum_up(table, generator.name)
        found = self._choose_documents(grounded, table)
        left, table = table.note if table else "", table if table and table.answers else None
        if isinstance(found, TooLittle):
            return self._decline(found.note, found.nearest, generator.name)
        hits, sources = found.hits, self._sources(found, grounded.question.claim if grounded else self.asked.question)
        if grounded and (first := self._write_first(grounded)):
            self._keep(first)
        stated = StatedVerdict(grounded.question.claim, grounded.verdict.side) if grounded and grounded.verdict else None
        generator, note = self._write(generator, sources, stated, table is not None)
        note = " ".join(filter(None, (left, note)))
        if not (self.kept or table):
            removed = format_count(len(self.removed), "sentence")
            reason = f"the retrieved documents support none of what {generator.name} wrote ({removed} removed)"
            return self._decline(f"The index has too little on this: {reason}.", hits, generator.name)
        outcome, conflicts = self._find_outcome(bool(grounded or table)), tuple[Conflict, ...]()
        if grounded:
            conflicts = find_conflicts_between_sides(grounded, self.kept)
        elif outcome == "answered":
            conflicts = self._disagreements(hits, table.rows if table else ())
        return Answer(
            self.asked,
            outcome,
            tuple(self.kept),
            conflicts,
            tuple(self.removed),
            tuple(hits),
            generator.name,
            self.usage,
            " ".join(filter(None, dict.fromkeys((*self.notes, note)))),
            grounded.verdict if grounded else None,
            self.drafted,
            *((table.rows, table.others) if table else ((), ())),
            grounding=grounded.grounding if grounded else None,
        )

    def _find_outcome(self, answered: bool) -> Outcome:
        """Whether the sentences answer the question, as a verdict or a table does; where a language model checked, it says so."""
        if answered or True in self.answering or False not in self.answering:
            return "answered"
        self.notes.insert(0, _NEAREST)
        return "nearest"

    def _write_first(self, grounded: GroundedQuestion) -> CitedSentence | None:
        if isinstance(grounded, GroundedChoice):
            return write_choice_sentence(self.asked.question, grounded, self.limits.citations)
        return write_verdict_sentence(self.asked.question, grounded, self.limits.citations)

    def _decline(self, note: str, hits: Sequence[Hit], generator: str) -> Answer:
        if self.fill and (nearest := self._report_nearest()):
            hits, note = nearest, f"{note} The sentences report what the papers nearest to the topic found."
        kept, removed = tuple(self.kept), tuple(self.removed)
        return Answer(self.asked, "too little", kept, (), removed, tuple(hits), generator, self.usage, note, drafted=self.drafted)

    def _report_nearest(self) -> list[Hit]:
        """Quote the finding nearest to the question from each of the papers nearest to the topic.

        Return these papers, none if nothing can be quoted.
        """
        hits, rules, sources = self.search.find_near_topic(), self.config.attribute, []
        for number, entry in enumerate(self.index.entries([hit.pmid for hit in hits]), 1):
            sentences = entry.sentences()
            places = find_findings([one.text for one in sentences])
            scores = self.search.score(self.topic.question, [sentences[place].text for place in places])
            _, nearest = max(zip(scores, places, strict=True))
            finding = Finding(sentences[nearest], None, find_design(entry.document).text)
            sources.append(Source(number, entry.document, sentences, finding))
        attribution = Attribution(self.models.judges[rules.model], rules, self.limits.citations, sources)
        for sentence in write_findings(sources, NEAREST, self.limits.words):
            if checked := attribution.check(sentence).citations:
                self._keep(CitedSentence(sentence.text, checked))
        return hits if self.kept else []

    def _ground(self) -> GroundedQuestion | None:
        """What the papers say on a yes-or-no question; None if the question is of another kind."""
        if not (self.grounder and self.config.verdict):
            return None
        papers = self.config.verdict.papers if self.grounder.reads_papers and not self.extractive else None
        self.on_event(
            Stage("find", f"Searching {format_count(self.index.manifest.counts.documents, 'document')} for both sides.")
        )
        question = self.asked.question
        with count_usage(self.config.reading):
            choice = ground_choice(self.grounder, question, papers, self.words)
            return choice or ground_question(self.grounder, question, papers, self.words)

    def _tabulate(self) -> Table | None:
        """The papers on an open question; None where they are not read before a generator writes."""
        rules, grounder, finder = self.config.open_questions, self.grounder, self.models.finder
        if rules is None or grounder is None or not grounder.reads_papers or finder is None:
            return None
        self.on_event(Stage("find", f"Searching {format_count(self.index.manifest.counts.documents, 'document')}."))
        with count_usage(self.config.reading):
            return tabulate(grounder, finder, self.asked.question, rules, self.on_event, self.words)

    def _sum_up(self, table: Table, generator: str) -> Answer:
        """What the papers in the table found, quoted as far as the limits allow; or the papers on the subject alone."""
        if not table.answers:
            table, lack = table.list_only(), table.describe_lack(self.asked.question)
            if not table.others:
                found = self.search.lack(lack, table.hits)
                return self._decline(found.note, found.nearest, generator)
            listed = self._decline(f"{lack}. The papers listed are on its subject.", table.hits, generator)
            return replace(listed, outcome="listed", others=table.others)
        sources = self._sources(FoundDocuments(list(table.hits), table.findings))
        attribution = Attribution(
            self.models.judges[self.config.attribute.model], self.config.attribute, self.limits.citations, sources
        )
        for sentence in write_findings(sources, len(table.papers), self.limits.words):
            if checked := attribution.check(sentence).citations:
                self._keep(CitedSentence(sentence.text, checked))
        kept, hits = tuple(self.kept), table.hits
        note = f"{table.note} {_EXTRACTIVE}".lstrip()
        answer = Answer(self.asked, "answered", kept, (), (), hits, generator, self.usage, note)
        return replace(answer, rows=table.rows, others=table.others)

    def _choose_documents(self, grounded: GroundedQuestion | None, table: Table | None) -> FoundDocuments | TooLittle:
        """The documents for the generator: those that were read for the question, or else the best for it."""
        if grounded:
            # Papers that say nothing on the question are written from only where there is little else.
            silent = grounded.grounding.silent if len(grounded.papers) > 1 else ()
            read = [] if self.extractive else [one for one in list_papers(grounded.grounding) if one not in silent]
            hits = [Hit(one.document.pmid, one.score) for one in (*grounded.papers, *read) if not one.document.retracted]
            return self._take(hits, collect_findings(grounded))
        if table is None or not (table.rows or table.asked):
            return self.search.find()
        hits = [Hit(pmid, one.score) for pmid, one in table.papers.items()]
        if table.asked:
            # Papers that answer nothing are written from only where there is little else.
            more = table.asked if len(hits) < _FEWEST_WRITTEN else ()
            return self._take([*hits, *(Hit(pmid, 0.0) for pmid in more)], table.findings)
        return self.search.add_next(table.hits if table.answers else hits, table.findings)

    def _take(self, hits: Iterable[Hit], findings: Mapping[str, Finding]) -> FoundDocuments:
        """These documents, each once, as many as are written from."""
        once = {hit.pmid: hit for hit in reversed([*hits])}
        return FoundDocuments([*once.values()][::-1][: self.config.documents], findings)

    def _sources(self, found: FoundDocuments, claim: str = "") -> list[Source]:
        """The documents as a generator is given them; with a claim, also what is read of their full texts for it.

        The sentence that states what a paper found is always there, wherever it stands.
        """
        entries, sources = list(self.index.entries([hit.pmid for hit in found.hits])), list[Source]()
        windows: Windows = {}
        if claim and self.grounder and self.grounder.reads_papers and not self.extractive:
            # The documents are sent to write and to check; then conflicts are looked for.
            windows = self.grounder.choose_windows(Claim(claim), entries, 2 * (WRITING + READING), sent=2)
        for number, entry in enumerate(entries, 1):
            abstract, finding = entry.sentences(), found.findings.get(entry.pmid)
            passages = (*windows.get(entry.pmid, ()), *((finding.sentence,) if finding and finding.sentence.location else ()))
            sentences = (*abstract, *dict.fromkeys(passages))
            own = frozenset(find_own_findings(sentences)) if self.config.verdict else None
            sources.append(Source(number, entry.document, sentences, finding, own))
        return sources

    def _disagreements(self, hits: list[Hit], rows: Sequence[Row]) -> tuple[Conflict, ...]:
        """What in the index contradicts the sentences; a closing sentence states the strongest; its papers join the hits."""
        if not (self.grounder and self.config.conflicts):
            return ()
        self.on_event(Stage("conflicts", "Looking for papers that contradict the answer."))
        attribute = self.config.attribute
        judge = self.models.judges[attribute.model]
        against = Disagreements(self.grounder, self.config.conflicts, judge, attribute.contradict, self.topic)
        if self.reader and self.grounder.reads_papers:
            entries = self.index.entries([hit.pmid for hit in hits])
            conflicts = against.against_by_model(self.kept, self.reader, entries, rows)
        else:
            conflicts = against.against(self.kept)
        closing = against.state_conflict(self.kept, conflicts, self.limits) if self.config.conflicts.report else None
        if closing:
            self._keep(closing)
            known = {hit.pmid for hit in hits}
            hits += [Hit(c.document.pmid, 0.0) for c in closing.citations if c.document.pmid not in known]
        return conflicts

    def _write(
        self, generator: Generator, sources: Sequence[Source], stated: StatedVerdict | None, tabled: bool
    ) -> tuple[Generator, str]:
        """Write and check every sentence; return the generator that wrote, and a note about it.

        A table is not lost with the model that was to write from it: the embedded generator then does, whatever is configured.
        """
        self.on_event(Stage("write", f"Writing from {format_count(len(sources), 'document')} with {generator.name}."))
        note = _EXTRACTIVE if generator.extractive else ""
        stand_in, falls_back = self.models.generators.get(FALLBACK), tabled or self.config.generate.fallback is not None
        try:
            draft = self._draft(generator, sources)
        except ModelUnusable as error:
            if stand_in is None or not (falls_back or isinstance(error, BudgetSpent)):
                raise
            self.on_event(Stage("write", f"{error} {stand_in.name} writes instead."))
            generator, draft, note = stand_in, self._draft(stand_in, sources), f"{error} {_EXTRACTIVE}"
        before = len(self.kept)
        self._check_draft(draft, generator, sources, stated)
        if len(self.kept) > before or generator.extractive or stand_in is None or not falls_back:
            return generator, note
        failure = f"Nothing that {generator.name} wrote held ({format_count(len(self.removed), 'sentence')} removed)."
        self.on_event(Stage("write", f"{failure} {stand_in.name} writes instead."))
        self._check_draft(self._draft(stand_in, sources), stand_in, sources, stated)
        return stand_in, f"{failure} {_EXTRACTIVE}"

    def _draft(self, generator: Generator, sources: Sequence[Source]) -> Draft:
        words = self.limits.words - sum(len(one.text.split()) for one in self.kept)
        topic = self.topic if generator.extractive else self.asked
        first = self.kept[0].text if self.kept else ""
        return generator(topic, sources, replace(self.limits, words=words), self.config.generate.prompt, first)

    def _check_draft(self, draft: Draft, generator: Generator, sources: Sequence[Source], stated: StatedVerdict | None) -> None:
        """Keep the sentences of a draft of which a citation holds, up to the limit, and remove the others."""
        rules = self.config.attribute
        attribution = Attribution(self.models.judges[rules.model], rules, self.limits.citations, sources, stated)
        checker = DraftChecker(attribution, self.reader, self.asked, sources, self.config.generate.prompt)
        sentences = checker.split(draft)
        self.drafted = Drafted(
            len(sentences), sum(bool(one.cited) for one in sentences), sum(len(one.cited) for one in sentences)
        )
        self.on_event(Stage("check", f"Checking the citations of {format_count(len(sentences), 'sentence')}."))
        settled: Iterable[Settled] = (Settled.of(one, attribution.check(one)) for one in sentences)
        if not generator.extractive:
            settled = checker.settle(sentences, generator, rules.rewrite)
        self.notes += checker.notes
        for place, one in enumerate(settled):
            if not one.citations:
                self._remove(one.sentence, one.why)
            elif self._keep(CitedSentence(one.sentence.text, one.citations)):
                self.answering.append(one.answers)
            else:
                for rest in (one.sentence, *sentences[place + 1 :]):
                    self._remove(rest, f"the answer is limited to {self.limits.words} words")
                return

    def _keep(self, sentence: CitedSentence) -> bool:
        """Add a sentence if the answer stays within its word limit; return whether it was added."""
        if sum(len(one.text.split()) for one in (*self.kept, sentence)) > self.limits.words:
            return False
        self.kept.append(sentence)
        self.on_event(KeptSentence(len(self.kept) - 1, sentence))
        return True

    def _remove(self, sentence: DraftSentence, reason: str) -> None:
        self.removed.append(RemovedSentence(sentence.text, reason))
        self.on_event(self.removed[-1])
