"""Grounding a claim: two branches over one index, contradictions first, no document on both sides.

A branch is data (service.configuration.config.Branch): retrieve → drop known → rerank → filter → judge → select → show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import floor
from typing import Literal

from nli.decision.document import Decision
from nli.decision.select import Judged, Penalty, best_sentence, first_with_label, overlap, probability
from nli.decision.skim import most_promising, telling
from nli.judges.judge import Abstract, BothWays, Judge, Reader, stated
from nli.reader.abridge import telling_shares
from nli.reader.decision import decide
from nli.text.scope import negation_scopes
from nli.wording.qualify import qualifiers
from retrieval.core.values import (
    OPPOSITE,
    BranchCounts,
    Claim,
    Document,
    Evidence,
    Grounding,
    Hit,
    Premise,
    Sentence,
    Stance,
    Verdict,
)
from retrieval.index import Index
from retrieval.rerank.reranker import passage
from retrieval.store.documents import Entry
from retrieval.words.aboutness import about
from retrieval.words.adversarial import adversarial_queries
from retrieval.words.lexical import most_alike
from service.configuration.config import Branch, GroundingConfig
from service.configuration.models import Models
from service.grounding.reasons import why
from service.grounding.retrieve import ranked_by, retrieve

HOPE = 0.03
"""From this probability of a stance on, after its telling sentences, a document is read whole (docs/experiments.md); from less
where less is to be listed."""
UNASKED = Verdict(0.0, 1.0, 0.0)
"""What a text counts as that the judge was not asked about."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A document of a branch's ranking: where it stands, what put it there, and its stored text."""

    position: int
    hit: Hit
    entry: Entry


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A document that a branch returns, with the sentence that speaks for it."""

    candidate: _Candidate
    sentence: Sentence | None
    verdict: Verdict | None
    score: float
    scored_by: str


@dataclass(frozen=True, slots=True)
class Side:
    """What one branch found: its evidence, what came close to being called so, both best first; and how much was looked at."""

    evidence: tuple[Evidence, ...]
    uncertain: tuple[Evidence, ...]
    counts: BranchCounts


@dataclass(frozen=True, slots=True)
class GroundStage:
    """A step of one side begins, or (`decided`) the side is done; the counts are what is known of it by then."""

    name: Literal["retrieve", "rerank", "judge", "decided"]
    side: Stance
    documents: int
    sentences: int = 0
    judged: int = 0
    found: int = 0


OnStage = Callable[[GroundStage], None]


def _quiet(_stage: GroundStage) -> None:
    """Nobody is told."""


class Grounder:
    """Grounds claims on one index with one configuration and its models; safe to use from several threads at once."""

    def __init__(self, index: Index, config: GroundingConfig, models: Models) -> None:
        self.index, self.config, self.models = index, config, models

    def over(self, index: Index) -> Grounder:
        """The same over another index; raises `IndexUnusable` where that lacks the vectors that the models need."""
        for encoder in self.models.encoders.values():
            index.dense(encoder.name)
        return Grounder(index, self.config, self.models)

    def ground(self, claim: Claim, on_stage: OnStage | None = None) -> Grounding:
        """Both sides of a claim. Contradictions are decided first: a document on that side is never offered as support.

        `on_stage` is told each step as it begins; what it raises ends the work there.
        """
        once, tell = Grounder(self.index, self.config, self.models.remembering()), on_stage or _quiet
        against = once.run_branch(claim, "contradict", tell=tell)
        taken = frozenset(evidence.document.pmid for evidence in against.evidence)
        close = frozenset(evidence.document.pmid for evidence in against.uncertain)
        for_it = once.run_branch(claim, "support", without=taken, close=close, tell=tell)
        return Grounding(
            claim,
            against.evidence,
            for_it.evidence,
            checked={"contradict": against.counts, "support": for_it.counts},
            uncertain=against.uncertain + for_it.uncertain,
        )

    def run_branch(
        self,
        claim: Claim,
        stance: Stance,
        without: frozenset[str] = frozenset(),
        close: frozenset[str] = frozenset(),
        tell: OnStage = _quiet,
    ) -> Side:
        """One side of a claim, without the documents in `without`; those in `close` came close on the other side already."""
        branch: Branch = self.config.contradict if stance == "contradict" else self.config.support
        known = frozenset(claim.known_pmids) if branch.drop_known else frozenset()
        # The likeliest are chosen by how far they lie behind the best, which must be the same document on both sides.
        by_gap = branch.select.rule == "likeliest"
        early, late = (frozenset(), without) if by_gap else (without, frozenset())
        tell(GroundStage("retrieve", stance, self.index.manifest.counts.documents))
        retrieved = self._retrieve(claim, branch, known, early)
        if branch.rerank:
            tell(GroundStage("rerank", stance, len(retrieved)))
        candidates, scored_by = self._rerank(claim, branch, retrieved)
        # A known document may be the best; the reranker has read it for the other side.
        best = self._rerank(claim, branch, self._retrieve(claim, branch))[0] if by_gap and known else candidates
        if branch.judge:
            tell(GroundStage("judge", stance, len(candidates), sum(len(c.entry) for c in candidates)))
        run = _Run(claim, stance, branch, self.models, scored_by, late, close, best[0].hit.score if best else 0.0)
        rules = {"first": run.first, "likeliest": run.likeliest, "penalised": run.penalised, "top": run.top}
        chosen = rules[branch.select.rule](candidates)
        counts = BranchCounts(
            documents=len(retrieved),
            sentences=sum(len(c.entry) for c in retrieved),
            candidates=sum(c.entry.cue_sentence_count() if branch.filter else len(c.entry) for c in retrieved),
            judged=run.judged_count,
            read=len(run.read),
        )
        tell(GroundStage("decided", stance, counts.documents, counts.sentences, counts.judged, len(chosen)))
        return Side(_evidence(chosen, claim.text, stance), _evidence(run.uncertain, claim.text, stance), counts)

    def _retrieve(
        self, claim: Claim, branch: Branch, known: frozenset[str] = frozenset(), without: frozenset[str] = frozenset()
    ) -> list[_Candidate]:
        """The documents to choose from: others stand in the place of the `known`, none in that of those `without`."""
        step = branch.retrieve
        texts = adversarial_queries(claim.text) if step.queries == "adversarial" else [claim.text]
        queries = [_query(replace(claim, text=text), step.query) for text in texts]
        hits = retrieve(step, queries, self.index, self.models.encoders, known)
        hits = [hit for hit in hits if hit.pmid not in without]
        entries = self.index.entries([hit.pmid for hit in hits])
        return [_Candidate(i, hit, entry) for i, (hit, entry) in enumerate(zip(hits, entries, strict=True))]

    def _rerank(self, claim: Claim, branch: Branch, candidates: list[_Candidate]) -> tuple[list[_Candidate], str]:
        if branch.rerank is None:
            return candidates, ranked_by(branch.retrieve, self.models.encoders)
        reranker = self.models.rerankers[branch.rerank.model]
        query = _query(claim, branch.rerank.query)
        texts = [passage(candidate.entry.document) for candidate in candidates]
        if branch.rerank.first:
            kept = most_alike(query, texts, branch.rerank.first)
            candidates, texts = [candidates[place] for place in kept], [texts[place] for place in kept]
        scores = reranker(query, texts)
        # sorted() is stable: of two equal scores the better BM25 rank stands first.
        ranked = sorted(zip(candidates, scores, strict=True), key=lambda pair: -pair[1])
        return [_Candidate(i, Hit(c.hit.pmid, s), c.entry) for i, (c, s) in enumerate(ranked)], reranker.name


class _Run:
    """One pass of one branch over its ranked candidates, counting what it looks at."""

    def __init__(
        self,
        claim: Claim,
        stance: Stance,
        branch: Branch,
        models: Models,
        ranked_by: str,
        without: frozenset[str],
        close: frozenset[str],
        best_score: float,
    ) -> None:
        self.claim, self.stance, self.branch, self.models, self.ranked_by = claim, stance, branch, models, ranked_by
        self.without, self.close, self.best_score = without, close, best_score
        self.judged_count = 0
        self.read: set[int] = set()
        self.uncertain: list[_Chosen] = []

    def first(self, candidates: Sequence[_Candidate]) -> list[_Chosen]:
        """The first documents of the ranking with a sentence that the judge gives the label."""
        judge, judged = self._judged(candidates)
        label = self.branch.select.label or self.stance
        chosen = first_with_label(judged, label, self.branch.select.n)
        found = [
            _Chosen(candidates[one.position], one.sentence, one.verdict, probability(one.verdict, label), judge.name)
            for one in chosen
        ]
        return [self._shown(one) if one.sentence is None else one for one in found]

    def likeliest(self, candidates: Sequence[_Candidate]) -> list[_Chosen]:
        """The documents that the judge's decision gives the label, the most probable first, each by its strongest sentence.

        Those that it leaves neutral though the label has the rule's `uncertain` probability, and more than the opposite has, are
        noted as uncertain.
        """
        judge, decided = self._decided(candidates)
        label, at_least = self.branch.select.label or self.stance, self.branch.select.uncertain
        called: list[_Chosen] = []
        close: list[_Chosen] = []
        for position, own, whole in decided:
            candidate, likely = candidates[position], probability(whole, label)
            doubtful = (
                whole.label == "neutral" and at_least is not None and likely >= max(at_least, probability(whole, OPPOSITE[label]))
            )
            # As likely on either side, a document comes close on both: it is told once.
            left_out = self.without | self.close if doubtful else self.without
            if candidate.hit.pmid in left_out or not (whole.label == label or doubtful):
                continue
            strongest = self._speaking(candidate, own, label, whole)
            verdict = whole if whole.of == "document" else strongest.verdict
            found = _Chosen(candidate, strongest.sentence, verdict, likely, judge.name)
            (close if doubtful else called).append(found)
        self.uncertain = self._best(close)
        return self._best(called)

    def _speaking(self, candidate: _Candidate, own: Sequence[Judged], label: Stance, whole: Verdict) -> Judged:
        """The sentence that speaks for the label: the most probable; of a paper read as a whole, one that tells its finding."""
        if whole.of == "sentence":
            return max(own, key=lambda one: probability(one.verdict, label))
        shares = telling_shares(self.claim.text, [sentence.text for sentence in candidate.entry.sentences()])

        def fitness(one: Judged) -> float:
            return probability(one.verdict, label) * float(shares[one.sentence.index] if one.sentence else 0.0)

        return max(own, key=fitness)

    def _decided(self, candidates: Sequence[_Candidate]) -> tuple[Judge, Iterator[tuple[int, list[Judged], Verdict]]]:
        """The branch's judge and, for each document that it read, its position, its sentences' verdicts and its own."""
        step = self.branch.judge
        assert step is not None
        named = self.models.judges[step.model]
        if step.level == "abstract" and isinstance(named, Reader):
            read = candidates[: step.documents]
            return named, self._read(named, self._within_reach(named.decision, read) if step.frugal else read)
        judge, judged = self._judged(candidates)

        def joined() -> Iterator[tuple[int, list[Judged], Verdict]]:
            for position, of_document in groupby(judged, key=lambda one: one.position):
                own = list(of_document)
                relevance = self._relevance(candidates[position])
                yield position, own, judge.decision([one.verdict for one in own], *relevance)

        return judge, joined()

    def _read(self, reader: Reader, candidates: Sequence[_Candidate]) -> Iterator[tuple[int, list[Judged], Verdict]]:
        """Each abstract read in one pass."""
        within = [one for one in candidates if len(one.entry)]
        sentences = [one.entry.sentences() for one in within]
        abstracts = [
            Abstract(stated(one.entry.document.title), tuple(sentence.text for sentence in own))
            for one, own in zip(within, sentences, strict=True)
        ]
        for candidate, own, reading in zip(within, sentences, reader.read_abstracts(self.claim.text, abstracts), strict=True):
            judged = [
                Judged(candidate.position, sentence, verdict)
                for sentence, verdict in zip(own, reading.sentences, strict=True)
                if verdict is not None
            ]
            self.judged_count += len(judged)
            self.read.add(candidate.position)
            yield candidate.position, judged, decide(reader.decision, reading, *self._relevance(candidate))

    def _relevance(self, candidate: _Candidate) -> tuple[float, float]:
        """What the decision is told of a document beside its sentences: how far it lies behind the best, and its aboutness."""
        # Only scores of a reranker have a scale that a decision was fitted to.
        behind = self.best_score - candidate.hit.score if self.branch.rerank else 0.0
        # "It is safe for most patients" is about everything: where there is a question, that says what the subject is.
        return behind, about(self.claim.question or self.claim.text, passage(candidate.entry.document))

    def _best(self, found: list[_Chosen]) -> list[_Chosen]:
        best = sorted(found, key=self._likelihood)[: self.branch.select.n]
        return [self._shown(one) if one.sentence is None else one for one in best]

    def _likelihood(self, one: _Chosen) -> tuple[bool, float, int, float]:
        """The order of the likeliest, smaller first: a retracted paper leads nobody, and of near equals the newer leads."""
        document, step = one.candidate.entry.document, self.branch.select.recency
        return document.retracted, -floor(one.score / step) if step else -one.score, -(document.year or 0), -one.score

    def penalised(self, candidates: Sequence[_Candidate]) -> list[_Chosen]:
        """The documents with the best penalised score; those that the judge was not asked about count as neutral."""
        judge, judged = self._judged(candidates)
        verdicts = {one.position: one.verdict for one in judged}
        passing = [c for c in candidates if self._passes(c)]
        penalty = Penalty(**self.branch.select.penalty.model_dump())
        order = penalty.order([verdicts.get(c.position, UNASKED) for c in passing], [c.entry.cue_count() for c in passing])
        best = [(passing[place], score) for place, score in order[: self.branch.select.n]]
        return [self._shown(_Chosen(c, None, verdicts.get(c.position), score, f"S(d) by {judge.name}")) for c, score in best]

    def _judged(self, candidates: Sequence[_Candidate]) -> tuple[Judge, Iterator[Judged]]:
        """The branch's judge, and its verdicts in ranking order, lazily."""
        step = self.branch.judge
        assert step is not None
        named, read = self.models.judges[step.model], candidates[: step.documents]
        judge: Judge = BothWays(named) if step.directions == 2 else named
        if step.frugal:
            return judge, iter(self._frugally(judge, read))
        stream = self._documents(read) if step.level == "document" else self._sentences(read)
        if step.skim and self.models.profile.skim:
            texts = list(stream)
            kept = most_promising(self.claim.text, [(place, premise) for place, _, premise in texts], self.models.profile.skim)
            stream = iter([texts[i] for i in kept])
        return judge, self._verdicts(judge, stream)

    def _frugally(self, judge: Judge, candidates: Sequence[_Candidate]) -> list[Judged]:
        """The verdicts that can matter: of documents within reach, first on their telling sentences, then, where these leave a
        document any hope, on all others."""
        texts = list(self._sentences(self._within_reach(judge.decision, candidates)))
        first = [
            place
            for _, own in groupby(range(len(texts)), key=lambda place: texts[place][0])
            for place in telling(self.claim.text, [(place, texts[place][2]) for place in own])
        ]
        judged = dict(zip(first, self._verdicts(judge, iter([texts[place] for place in first])), strict=True))
        hopeful = set()
        for position, read in groupby(judged.values(), key=lambda one: one.position):
            relevance = self._relevance(candidates[position])
            whole = judge.decision([one.verdict for one in read], *relevance)
            if max(whole.support, whole.contradict) >= min(HOPE, self._enough(judge.decision)):
                hopeful.add(position)
        rest = [place for place, (position, *_) in enumerate(texts) if position in hopeful and place not in judged]
        judged.update(zip(rest, self._verdicts(judge, iter([texts[place] for place in rest])), strict=True))
        return [judged[place] for place in sorted(judged)]

    def _within_reach(self, decision: Decision, candidates: Sequence[_Candidate]) -> Sequence[_Candidate]:
        """Those that could still be listed: the best match is always read, so that something was."""
        enough = self._enough(decision)
        rest = [c for c in candidates[1:] if decision.reach(*self._relevance(c)) >= enough]
        return [*candidates[:1], *rest]

    def _enough(self, decision: Decision) -> float:
        """The least probability of a stance with which a document is listed, be it as uncertain."""
        uncertain = self.branch.select.uncertain
        return uncertain if uncertain is not None else min(decision.thresholds)

    def top(self, candidates: Sequence[_Candidate]) -> list[_Chosen]:
        """The top of the ranking, among the documents that pass the filter."""
        passing = [c for c in candidates if self.branch.filter is None or c.entry.cue_sentence_count()]
        top = passing[: self.branch.select.n]
        return [self._shown(_Chosen(c, None, None, c.hit.score, self.ranked_by)) for c in top]

    def _passes(self, candidate: _Candidate) -> bool:
        """Whether `_filtered` would leave any sentence, without making one."""
        entry = candidate.entry
        return (entry.cue_sentence_count() if self.branch.filter == "negex" else len(entry)) > 0

    def _filtered(self, candidate: _Candidate) -> tuple[Sentence, ...]:
        entry = candidate.entry
        return entry.cue_sentences() if self.branch.filter == "negex" else entry.sentences()

    def _sentences(self, candidates: Sequence[_Candidate]) -> Iterator[tuple[int, Sentence | None, Premise]]:
        for candidate in candidates:
            for sentence in self._filtered(candidate):
                yield candidate.position, sentence, _premise(candidate.entry, sentence)

    def _documents(self, candidates: Sequence[_Candidate]) -> Iterator[tuple[int, Sentence | None, Premise]]:
        for candidate in candidates:
            if candidate.entry.document.abstract and self._passes(candidate):
                document = candidate.entry.document
                yield candidate.position, None, Premise(text=document.abstract, title=document.title)

    def _verdicts(self, judge: Judge, stream: Iterator[tuple[int, Sentence | None, Premise]]) -> Iterator[Judged]:
        """Verdicts in ranking order; the judge reads a window ahead, the counts say how many verdicts were used."""
        pending: list[tuple[int, Sentence | None]] = []

        def premises() -> Iterator[Premise]:
            for position, sentence, premise in stream:
                pending.append((position, sentence))
                yield premise

        for place, verdict in enumerate(judge(self.claim.text, premises())):
            position, sentence = pending[place]
            self.judged_count += 1
            self.read.add(position)
            yield Judged(position, sentence, verdict)

    def _shown(self, chosen: _Chosen) -> _Chosen:
        """The chosen document with the sentence to show for it: by a judge's verdict, or by the words it shares."""
        sentences = self._filtered(chosen.candidate)
        if not sentences:
            return chosen
        by = self.branch.evidence.by if self.branch.evidence else "overlap"
        if by == "overlap":
            return replace(chosen, sentence=max(sentences, key=overlap(self.claim.text)))
        premises = [_premise(chosen.candidate.entry, sentence) for sentence in sentences]
        verdicts = list(self.models.judges[by](self.claim.text, premises))
        self.judged_count += len(verdicts)
        self.read.add(chosen.candidate.position)
        sentence, verdict = best_sentence(sentences, verdicts, self.stance)
        return replace(chosen, sentence=sentence, verdict=verdict)


def _query(claim: Claim, parts: str) -> str:
    return f"{claim.question} {claim.text}".strip() if parts == "question+claim" else claim.text


def _premise(entry: Entry, sentence: Sentence) -> Premise:
    spans, abstract = entry.spans, entry.document.abstract

    def text(index: int) -> str:
        return abstract[slice(*spans[index])] if 0 <= index < len(spans) else ""

    return Premise(sentence.text, entry.document.title, text(sentence.index - 1), text(sentence.index + 1))


def _evidence(ranked: Sequence[_Chosen], claim: str, stance: Stance) -> tuple[Evidence, ...]:
    return tuple(
        evidence_for(
            claim, stance, one.candidate.entry.document, one.sentence, one.verdict, rank, one.score, scored_by=one.scored_by
        )
        for rank, one in enumerate(ranked, 1)
    )


def evidence_for(
    claim: str,
    stance: Stance,
    document: Document,
    sentence: Sentence | None,
    verdict: Verdict | None,
    rank: int,
    score: float,
    scored_by: str,
) -> Evidence:
    """A document on one side of a claim by the sentence that says so, with what that negates and reserves."""
    scopes = negation_scopes(sentence) if sentence else ()
    reserved = qualifiers(claim, sentence) if sentence else ()
    return Evidence(
        document=document,
        stance=stance,
        sentence=sentence,
        rank=rank,
        score=score,
        scored_by=scored_by,
        verdict=verdict,
        negations=scopes,
        qualifiers=reserved,
        why=why(claim, stance, sentence, verdict, scopes, reserved, scored_by),
    )
