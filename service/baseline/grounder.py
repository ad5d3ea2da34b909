"""Grounding by the variants of *Negation is Not Semantic* (arXiv 2603.17580): two branches over one index, contradictions first.

A branch is data (service.baseline.config.Branch). Verdicts are lazy: a rule reads them only as far as it needs, so that "the
first three" costs no more than it must.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby, islice, starmap, tee

from counterpoint.nli.judge import Judge
from counterpoint.nli.text.designs import is_notice
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.core.values import Checked, Claim, Evidence, Grounding, Premise, Sentence, Stance, Verdict
from counterpoint.retrieval.index import Index
from counterpoint.retrieval.rerank.reranker import make_passage
from counterpoint.retrieval.runtime.usage import Budget
from counterpoint.retrieval.store.documents import Entry
from counterpoint.service.baseline.choosing import BothWays, choose_most_promising, make_adversarial_queries, order_penalised
from counterpoint.service.baseline.config import BaselineConfig, Branch
from counterpoint.service.configuration.models import Models
from counterpoint.service.grounding.find import Only, make_query, retrieve
from counterpoint.service.grounding.ground import Choose, Grounder
from counterpoint.service.grounding.show import evidence_for
from counterpoint.service.grounding.values import GroundStage, OnStage, ignore_progress

UNASKED = Verdict(0.0, 1.0, 0.0)
"""The verdict on a text that no judge was asked about."""
_WORD = re.compile(r"\w+")
Text = tuple["Ranked", Sentence | None]
"""What a judge is asked about: a sentence of a document or, if None, its whole abstract."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A document of a branch's ranking: its position, from 0; the score that put it there, and its source; its stored text."""

    position: int
    score: float
    scored_by: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class Chosen:
    """A document that a rule chose, why, and the sentence that speaks for it, None if none is chosen yet."""

    document: Ranked
    sentence: Sentence | None
    verdict: Verdict | None
    score: float
    scored_by: str


class BaselineGrounder(Grounder):
    """Grounds claims by the branches of a variant; it reads sentences or abstracts, but no papers as the product does."""

    reads_papers = False

    def __init__(self, index: Index, config: BaselineConfig, models: Models) -> None:
        """Ground on `index` as `config` says; raises `IndexUnusable` if the index lacks the vectors of an encoder."""
        self.index, self.config, self.asked_config, self.models, self._variant = index, config, config, models, config
        for encoder in models.encoders.values():
            index.dense(encoder.name)

    def over(self, index: Index) -> BaselineGrounder:
        """The same grounder over another index."""
        return BaselineGrounder(index, self._variant, self.models)

    def for_answers(self, budget: Budget | None, found: int | None) -> BaselineGrounder:
        """The same grounder: it reads abstracts alone."""
        return self

    def branch(self, stance: Stance) -> Branch:
        """The steps for a side."""
        return self._variant.branch(stance)

    def ground_both(
        self, first: Claim, second: Claim, papers: int | None = None, choose: Choose | None = None
    ) -> tuple[Grounding, Grounding]:
        """Two claims, each grounded for itself."""
        return self.ground(first), self.ground(second)

    def _ground(
        self,
        claim: Claim,
        on_progress: OnStage,
        only: Only | None,
        papers: int | None,
        until: float | None,
        choose: Choose | None,
    ) -> Grounding:
        """Both sides of a claim. Contradictions are decided first: a document on that side is never offered as support."""
        if papers is not None:
            raise BadInput(f"The configuration {self.config.name} reads sentences, not papers; leave out how many to read.")
        # Both sides read much the same: the models cache their results while this claim is grounded.
        shared = BaselineGrounder(self.index, self._variant, self.models.with_caches())
        against = Side(shared, claim, "contradict", on_progress, frozenset(claim.own), only)
        contradicting = against.choose()
        without = against.without | {one.document.pmid for one in contradicting}
        for_it = Side(shared, claim, "support", on_progress, without, only)
        supporting = for_it.choose()
        counts = zip(against.count(), for_it.count(), strict=True)
        checked = Checked(*map(max, counts))
        on_progress(GroundStage("weigh", checked.documents, checked.sentences, checked.read, len(contradicting), len(supporting)))
        return Grounding(claim, contradicting, supporting, checked)


@dataclass(slots=True)
class Side:
    """One side of a claim. The documents in `without` are on the other side already; with `only`, no others are considered."""

    grounder: BaselineGrounder
    claim: Claim
    stance: Stance
    on_progress: OnStage = ignore_progress
    without: frozenset[str] = frozenset()
    only: Only | None = None
    found: list[Ranked] = field(default_factory=list)
    judged: int = 0
    read: set[int] = field(default_factory=set)

    @property
    def branch(self) -> Branch:
        """The steps to take."""
        return self.grounder.branch(self.stance)

    def choose(self) -> tuple[Evidence, ...]:
        """The documents of this side, best first, each with a sentence to show."""
        chosen = map(self._add_sentence, islice(self.rank(), self.branch.n))
        return tuple(self._make_evidence(rank, one) for rank, one in enumerate(chosen, 1))

    def _make_evidence(self, rank: int, one: Chosen) -> Evidence:
        document, none = one.document.entry.document, "" if one.sentence else "; it has no sentence to show"
        note = "" if one.verdict else f"ranked by {one.scored_by}; its stance was not judged{none}"
        shown = document, one.sentence, one.verdict or UNASKED, rank, one.score, one.scored_by, note
        return evidence_for(self.claim.text, self.stance, *shown)

    def count(self) -> tuple[int, int, int]:
        """How many documents were found, how many of them were read, and how many texts the judge was asked about."""
        return len(self.found), len(self.read), self.judged

    def rank(self) -> Iterator[Chosen]:
        """All documents that the branch's rule allows, best first, lazily: the judge reads only as far as is asked for."""
        ranking = self._find()
        if self.branch.judge is None:
            return (
                Chosen(one, None, None, one.score, one.scored_by)
                for one in ranking
                if not self.branch.filter or one.entry.cue_sentence_count()
            )
        self.on_progress(GroundStage("read", len(ranking), sum(len(one.entry) for one in ranking)))
        judge: Judge = self.grounder.models.judges[self.branch.judge]
        if self.branch.rule == "penalised":
            return self._rank_penalised(ranking, BothWays(judge))
        return self._rank_labelled(ranking, judge)

    def _find(self) -> list[Ranked]:
        """The ranking to choose from: other documents replace the known ones, none replace those of the other side."""
        grounder, step = self.grounder, self.branch.retrieve
        # As in the paper: a paper that is known to support the claim may also hold a sentence that contradicts it.
        models, known = grounder.models, self.claim.known_pmids if self.stance == "support" else ()
        self.on_progress(GroundStage("find", grounder.index.manifest.counts.documents))
        texts = make_adversarial_queries(self.claim.text) if step.queries == "adversarial" else [self.claim.text]
        queries = [make_query(replace(self.claim, text=text), step.query) for text in texts]
        hits = [hit for hit in retrieve(step, queries, grounder.index, models.encoders, known) if hit.pmid not in self.without]
        if self.only:
            pmids = self.only([hit.pmid for hit in hits])
            hits = [hit for hit in hits if hit.pmid in pmids]
        entries = grounder.index.entries([hit.pmid for hit in hits])
        papers = [(hit.score, entry) for hit, entry in zip(hits, entries, strict=True) if not is_notice(entry.document)]
        names = [source if source == "bm25" else models.encoders[step.encoder].name for source in step.sources]
        scored_by = f"rrf({', '.join(names)})" if step.fused else names[0]
        if self.branch.rerank and papers:
            self.on_progress(GroundStage("gate", len(papers)))
            reranker = models.rerankers[self.branch.rerank]
            scores, scored_by = reranker(self.claim.text, [make_passage(one.document) for _, one in papers]), reranker.name
            # sorted() is stable: of two equal scores, the better earlier rank comes first.
            papers = sorted(((score, one) for score, (_, one) in zip(scores, papers, strict=True)), key=lambda pair: -pair[0])
        self.found = [Ranked(i, score, scored_by, entry) for i, (score, entry) in enumerate(papers)]
        return self.found

    def _sentences(self, one: Ranked) -> tuple[Sentence, ...]:
        """The document's sentences that pass the filter."""
        return one.entry.cue_sentences() if self.branch.filter else one.entry.sentences()

    def _has_sentences(self, one: Ranked) -> bool:
        """Whether any pass the filter, without building them."""
        return bool(one.entry.cue_sentence_count() if self.branch.filter else len(one.entry))

    def _ask(self, judge: Judge, texts: Iterator[Text]) -> Iterator[tuple[Ranked, Sentence | None, Verdict]]:
        """Verdicts in the order of the texts, lazily, each counted as it is used; the judge itself reads a window ahead."""
        texts, ahead = tee(texts)
        for verdict, (one, sentence) in zip(judge(self.claim.text, starmap(make_premise, ahead)), texts, strict=True):
            self.judged += 1
            self.read.add(one.position)
            yield one, sentence, verdict

    def _judge_texts(self, ranking: list[Ranked], judge: Judge) -> Iterator[tuple[Ranked, Sentence | None, Verdict]]:
        """The verdicts on sentences or whole abstracts past the filter, in ranking order; on as many as the profile allows."""
        texts: Iterator[Text] = ((one, sentence) for one in ranking for sentence in self._sentences(one))
        if self.branch.level == "document":
            texts = ((one, None) for one in ranking if one.entry.document.abstract and self._has_sentences(one))
        if limit := self.grounder.models.profile.skim:
            every = list(texts)
            premises = [(one.position, make_premise(one, sentence)) for one, sentence in every]
            texts = (every[place] for place in choose_most_promising(self.claim.text, premises, limit))
        return self._ask(judge, texts)

    def _rank_labelled(self, ranking: list[Ranked], judge: Judge) -> Iterator[Chosen]:
        """The paper's rule for contradictions (V5): each document with a text on this side, and its most probable such text."""
        for _, texts in groupby(self._judge_texts(ranking, judge), key=lambda text: text[0].position):
            matches = [text for text in texts if text[2].label == self.stance]
            if matches:
                one, sentence, verdict = max(matches, key=lambda text: text[2].probability(self.stance))
                yield Chosen(one, sentence, verdict, verdict.probability(self.stance), judge.name)

    def _rank_penalised(self, ranking: list[Ranked], judge: Judge) -> Iterator[Chosen]:
        """The documents by their penalised score (appendix B); what was not judged counts as neutral."""
        verdicts = {one.position: verdict for one, _, verdict in self._judge_texts(ranking, judge)}
        able = [one for one in ranking if self._has_sentences(one)]
        asked = [verdicts.get(one.position, UNASKED) for one in able]
        for place, score in order_penalised(asked, [one.entry.cue_count() for one in able]):
            yield Chosen(able[place], None, verdicts.get(able[place].position), score, f"S(d) by {judge.name}")

    def _add_sentence(self, chosen: Chosen) -> Chosen:
        """The document with a sentence to show, if its rule named none."""
        sentences = self._sentences(chosen.document) if chosen.sentence is None else ()
        if not sentences:
            return chosen
        if self.branch.sentence is None:
            words = set(_WORD.findall(self.claim.text.lower()))
            return replace(chosen, sentence=max(sentences, key=lambda one: len(words & set(_WORD.findall(one.text.lower())))))
        texts = self._ask(self.grounder.models.judges[self.branch.sentence], ((chosen.document, one) for one in sentences))
        _, sentence, verdict = max(texts, key=lambda text: text[2].probability(self.stance))
        return replace(chosen, sentence=sentence, verdict=verdict)


def make_premise(one: Ranked, sentence: Sentence | None) -> Premise:
    """A sentence of a document as a judge receives it, with the title and the sentences around it; the abstract for None."""
    document, spans = one.entry.document, one.entry.spans
    if sentence is None:
        return Premise(document.abstract, document.title)
    before, after = (
        document.abstract[slice(*spans[at])] if 0 <= at < len(spans) else "" for at in (sentence.index - 1, sentence.index + 1)
    )
    return Premise(sentence.text, document.title, before, after)
