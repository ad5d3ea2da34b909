"""The variants of *Negation is Not Semantic* (arXiv 2603.17580): two branches over one index, contradictions first.

A branch is data (service.configuration.config.Branch): retrieve → drop known → rerank → filter → judge → select → show. Verdicts
are lazy: a rule reads them only as far as it needs, so that "the first three" costs no more than it must. No document is ever on
both sides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice, starmap, tee

from nli.judge import BothWays, Judge
from nli.text.designs import is_notice
from nli.variants import choose_most_promising, order_penalised
from retrieval.core.values import OPPOSITE, BranchCounts, Claim, Evidence, Grounding, Premise, Sentence, Stance, Verdict
from retrieval.dense.encoder import Encoder
from retrieval.index import Index
from retrieval.rerank.reranker import make_passage
from retrieval.store.documents import Entry
from retrieval.words.terms import find_most_alike
from service.configuration.config import Branch, GroundingConfig, JudgeStep, Retrieve
from service.configuration.models import Models
from service.grounding.find import Only, make_queries, make_query, retrieve
from service.grounding.show import evidence_for
from service.grounding.values import GroundStage, OnStage, StageName, tell_nobody

UNASKED = Verdict(0.0, 1.0, 0.0)
"""The verdict on a text that the judge was not asked about."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A document of a branch's ranking: its position, from 0; the score that put it there, and its source; its stored text."""

    position: int
    score: float
    scored_by: str
    entry: Entry


Text = tuple[RankedDocument, Sentence | None]
"""What a judge is asked about: a sentence of a document or, if None, its whole abstract."""


@dataclass(frozen=True, slots=True)
class JudgedText:
    """A sentence of a candidate, or None for its whole abstract, and the judge's verdict on it."""

    candidate: RankedDocument
    sentence: Sentence | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class ChosenDocument:
    """A document that a rule chose, with the sentence that speaks for it, or None if none is picked yet."""

    candidate: RankedDocument
    sentence: Sentence | None
    verdict: Verdict | None
    score: float
    scored_by: str


@dataclass(frozen=True, slots=True)
class Side:
    """What one branch found, and how much was looked at."""

    evidence: tuple[Evidence, ...]
    counts: BranchCounts


@dataclass(slots=True)
class Request:
    """One side of a claim, what it is grounded with, and how much was judged for it so far.

    The documents in `without` are on the other side already; with `only`, no other documents are considered. `judged` counts the
    texts whose verdicts were used; `read` holds the positions of their documents.
    """

    claim: Claim
    stance: Stance
    index: Index
    config: GroundingConfig
    models: Models
    tell: OnStage = tell_nobody
    without: frozenset[str] = frozenset()
    only: Only | None = None
    judged: int = 0
    read: set[int] = field(default_factory=set)

    @property
    def branch(self) -> Branch:
        """The steps to take."""
        return self.config.branch(self.stance)

    @property
    def judging(self) -> JudgeStep:
        """How the branch judges; only for a branch with a judge."""
        step = self.branch.judge
        assert step is not None
        return step

    @property
    def judge(self) -> Judge:
        """The judge that the step names, reading in both directions if it says so."""
        model = self.models.judges[self.judging.model]
        return BothWays(model) if self.judging.directions == 2 else model

    def sentences(self, candidate: RankedDocument) -> tuple[Sentence, ...]:
        """The candidate's sentences that pass the branch's filter."""
        entry = candidate.entry
        return entry.cue_sentences() if self.branch.filter == "negex" else entry.sentences()

    def sentence_count(self, candidate: RankedDocument) -> int:
        """How many sentences pass the filter, counted without building them."""
        entry = candidate.entry
        return entry.cue_sentence_count() if self.branch.filter == "negex" else len(entry)

    def ask(self, judge: Judge, texts: Iterator[Text]) -> Iterator[JudgedText]:
        """Verdicts in the order of the texts, lazily, each counted as it is used; the judge itself reads a window ahead."""
        texts, ahead = tee(texts)
        for verdict, (candidate, sentence) in zip(judge(self.claim.text, starmap(make_premise, ahead)), texts, strict=True):
            self.judged += 1
            self.read.add(candidate.position)
            yield JudgedText(candidate, sentence, verdict)

    def begin(self, step: StageName, documents: int, sentences: int = 0) -> None:
        """Report that a step begins, with the numbers of documents and of their sentences."""
        self.tell(GroundStage(step, self.stance, documents, sentences))


def ground(
    claim: Claim, index: Index, config: GroundingConfig, models: Models, tell: OnStage = tell_nobody, only: Only | None = None
) -> Grounding:
    """Both sides of a claim. Contradictions are decided first: a document on that side is never offered as support."""
    request = Request(claim, "contradict", index, config, models, tell, frozenset(claim.own), only)
    against = run(request)
    without = request.without | {one.document.pmid for one in against.evidence}
    for_it = run(replace(request, stance=OPPOSITE[request.stance], without=without, judged=0, read=set()))
    checked: dict[Stance, BranchCounts] = {"contradict": against.counts, "support": for_it.counts}
    return Grounding(claim, against.evidence, for_it.evidence, checked)


def run(request: Request) -> Side:
    """One side of a claim, by the steps of its branch."""
    branch = request.branch
    request.begin("retrieve", request.index.manifest.counts.documents)
    documents = _find(request)
    if branch.rerank:
        request.begin("rerank", len(documents))
    ranking = _rerank(request, documents) if branch.rerank and documents else documents
    if branch.judge:
        request.begin("judge", len(ranking), sum(len(one.entry) for one in ranking))
    evidence = tuple(
        evidence_for(
            request.claim.text, request.stance, one.candidate.entry.document, one.sentence, one.verdict, rank, one.score,
            one.scored_by,
        )
        for rank, one in enumerate((_with_sentence(request, one) for one in _select(request, ranking)), 1)
    )  # fmt: skip
    counts = BranchCounts(
        documents=len(documents),
        sentences=sum(len(one.entry) for one in documents),
        candidates=sum(request.sentence_count(one) for one in documents),
        judged=request.judged,
        read=len(request.read),
    )
    request.tell(GroundStage("decided", request.stance, counts.documents, counts.sentences, counts.judged, len(evidence)))
    return Side(evidence, counts)


def _find(request: Request) -> list[RankedDocument]:
    """The ranking of the first step: other documents replace the known ones, none replace those of the other side."""
    step, encoders = request.branch.retrieve, request.models.encoders
    known = frozenset(request.claim.known_pmids if request.branch.drop_known else ())
    ranking = retrieve(step, make_queries(request.claim, step), request.index, encoders, known)
    hits = [hit for hit in ranking if hit.pmid not in request.without]
    if request.only:
        pmids = request.only([hit.pmid for hit in hits])
        hits = [hit for hit in hits if hit.pmid in pmids]
    entries = request.index.entries([hit.pmid for hit in hits])
    scored_by = describe_ranking(step, encoders)
    papers = [(hit, entry) for hit, entry in zip(hits, entries, strict=True) if not is_notice(entry.document)]
    return [RankedDocument(i, hit.score, scored_by, entry) for i, (hit, entry) in enumerate(papers)]


def describe_ranking(step: Retrieve, encoders: Mapping[str, Encoder]) -> str:
    """The name of that ranking's scores, with one word for each source."""
    names = [source if source == "bm25" else encoders[step.encoder].name for source in step.sources]
    return f"rrf({', '.join(names)})" if step.fused else names[0]


def _rerank(request: Request, documents: list[RankedDocument]) -> list[RankedDocument]:
    step = request.branch.rerank
    assert step is not None
    reranker, query = request.models.rerankers[step.model], make_query(request.claim, step.query)
    texts = [make_passage(one.entry.document) for one in documents]
    if step.first:
        places = find_most_alike(query, texts, step.first)
        documents, texts = [documents[place] for place in places], [texts[place] for place in places]
    # sorted() is stable: of two equal scores, the better earlier rank comes first.
    ranking = sorted(zip(documents, reranker(query, texts), strict=True), key=lambda pair: -pair[1])
    return [RankedDocument(i, score, reranker.name, one.entry) for i, (one, score) in enumerate(ranking)]


def _select(request: Request, ranking: Sequence[RankedDocument]) -> list[ChosenDocument]:
    """What the branch's rule chooses; filter and judge read lazily, only as far as the rule needs."""
    match request.branch.select.rule:
        case "top":
            candidates = [one for one in ranking if request.branch.filter is None or request.sentence_count(one)]
            return [ChosenDocument(one, None, None, one.score, one.scored_by) for one in candidates[: request.branch.select.n]]
        case "first":
            return _choose_first(request, _judge_texts(request, ranking))
        case "penalised":
            return _choose_penalised(request, ranking, _judge_texts(request, ranking))


def _choose_first(request: Request, texts: Iterable[JudgedText]) -> list[ChosenDocument]:
    """The first documents of the ranking with a text that the judge gives the label, each with its most probable such text.

    The paper's rule for contradictions (V5). It reads up to the first verdict on the document after the last one that it chooses.
    """
    label, scored_by = request.branch.select.label or request.stance, request.judge.name

    def find_labelled() -> Iterator[JudgedText]:
        for _, of_document in groupby(texts, key=lambda one: one.candidate.position):
            matches = [one for one in of_document if one.verdict.label == label]
            if matches:
                yield max(matches, key=lambda one: one.verdict.probability(label))

    return [
        ChosenDocument(one.candidate, one.sentence, one.verdict, one.verdict.probability(label), scored_by)
        for one in islice(find_labelled(), request.branch.select.n)
    ]


def _choose_penalised(request: Request, ranking: Sequence[RankedDocument], texts: Iterable[JudgedText]) -> list[ChosenDocument]:
    """The documents with the best penalised score (appendix B); what was not judged counts as neutral."""
    verdicts = {one.candidate.position: one.verdict for one in texts}
    candidates = [one for one in ranking if request.sentence_count(one)]
    asked = [verdicts.get(one.position, UNASKED) for one in candidates]
    order = order_penalised(asked, [one.entry.cue_count() for one in candidates])
    best = [(candidates[place], score) for place, score in order[: request.branch.select.n]]
    scored_by = f"S(d) by {request.judge.name}"
    return [ChosenDocument(one, None, verdicts.get(one.position), score, scored_by) for one, score in best]


def _judge_texts(request: Request, ranking: Sequence[RankedDocument]) -> Iterator[JudgedText]:
    """The judge's verdicts on sentences or whole abstracts past the filter, in ranking order, lazily."""
    step = request.judging
    candidates = ranking[: step.documents]
    list_texts = _list_abstract if step.level == "document" else _list_sentences
    texts = (text for one in candidates for text in list_texts(request, one))
    limit = request.models.profile.skim
    if not (step.skim and limit):
        return request.ask(request.judge, texts)
    every = list(texts)
    premises = [(one.position, make_premise(one, sentence)) for one, sentence in every]
    return request.ask(request.judge, (every[place] for place in choose_most_promising(request.claim.text, premises, limit)))


def _list_sentences(request: Request, candidate: RankedDocument) -> list[Text]:
    """The candidate's sentences past the filter."""
    return [(candidate, sentence) for sentence in request.sentences(candidate)]


def _list_abstract(request: Request, candidate: RankedDocument) -> list[Text]:
    return [(candidate, None)] if candidate.entry.document.abstract and request.sentence_count(candidate) else []


def make_premise(candidate: RankedDocument, sentence: Sentence | None) -> Premise:
    """A sentence of a document as a judge receives it, with the title and the sentences around it; the abstract for None."""
    document, spans = candidate.entry.document, candidate.entry.spans
    if sentence is None:
        return Premise(document.abstract, document.title)
    before, after = (
        document.abstract[slice(*spans[at])] if 0 <= at < len(spans) else "" for at in (sentence.index - 1, sentence.index + 1)
    )
    return Premise(sentence.text, document.title, before, after)


def _with_sentence(request: Request, choice: ChosenDocument) -> ChosenDocument:
    """The document with a sentence to show, if its rule named none.

    The sentence is chosen by a judge's verdict, or by the words that it shares with the claim.
    """
    sentences = request.sentences(choice.candidate) if choice.sentence is None else ()
    if not sentences:
        return choice
    step = request.branch.evidence
    if step is None or step.by == "overlap":
        words = set(_WORD.findall(request.claim.text.lower()))
        return replace(choice, sentence=max(sentences, key=lambda one: len(words & set(_WORD.findall(one.text.lower())))))
    texts = request.ask(request.models.judges[step.by], iter(_list_sentences(request, choice.candidate)))
    best = max(texts, key=lambda one: one.verdict.probability(request.stance))
    return replace(choice, sentence=best.sentence, verdict=best.verdict)
