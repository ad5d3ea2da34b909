"""Grounding a claim: two branches over one index, contradictions first, no document on both sides.

A branch is data (service.configuration.config.Branch): retrieve → drop known → rerank → filter → judge → select → show.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from retrieval.core.values import Claim, Evidence, Grounding, Stance
from retrieval.index import Index
from service.configuration.config import Branch, GroundingConfig
from service.configuration.models import Models
from service.grounding import rules
from service.grounding.claims import state_claim
from service.grounding.judging import decide_documents, judge_texts
from service.grounding.ranking import find, rank
from service.grounding.request import Only, OnStage, Request, tell_nobody
from service.grounding.showing import quote_best, show
from service.grounding.values import RankedDocument, Selection, Side


class Grounder:
    """Grounds claims on one index with one configuration and its models; safe to use from several threads at once."""

    def __init__(self, index: Index, config: GroundingConfig, models: Models) -> None:
        """Ground on `index` as `config` says; raises `IndexUnusable` if the index lacks vectors that are required.

        `config` and `models` are then what the index allows, `asked_config` what was asked for.
        """
        self.index, self.asked_config, self._asked_models = index, config, models
        self.config, self.models = adapt(index, config, models)

    def over(self, index: Index) -> Grounder:
        """The same grounder over another index; raises `IndexUnusable` if that lacks vectors that are required."""
        return Grounder(index, self.asked_config, self._asked_models)

    def ground(self, claim: Claim, on_stage: OnStage | None = None, only: Only | None = None) -> Grounding:
        """Both sides of a claim. Contradictions are decided first: a document on that side is never offered as support.

        `on_stage` is called as each step begins; an exception from it ends the work there. With `only`, nothing is read but the
        documents that it returns; their probabilities are still computed relative to the whole index.
        """
        # Both sides read much the same: the models cache their results while this claim is grounded.
        models, tell = self.models.with_caches(), on_stage or tell_nobody
        request = Request(_state(claim), "contradict", self.index, self.config, models, tell, only=only)
        against = run(request)
        against_pmids, close = _pmids(against.evidence), _pmids(against.uncertain)
        for_it = run(request.turn(without=against_pmids, close=close))
        evidence = [*against.evidence, *for_it.evidence, *against.uncertain, *for_it.uncertain]
        more = _drop_listed(evidence, [*against.more, *for_it.more])
        return Grounding(
            claim,
            against.evidence,
            for_it.evidence,
            checked={"contradict": against.counts, "support": for_it.counts},
            uncertain=against.uncertain + for_it.uncertain,
            more=more,
            silent=_drop_listed([*evidence, *more], [*against.silent, *for_it.silent]),
        )

    def run_branch(
        self, claim: Claim, stance: Stance, without: frozenset[str] = frozenset(), tell: OnStage = tell_nobody
    ) -> Side:
        """One side of a claim alone, without the documents in `without`."""
        return run(Request(_state(claim), stance, self.index, self.config, self.models, tell, without))


def _state(claim: Claim) -> Claim:
    """The claim as it is searched for and read; the result shows it as it was typed."""
    return replace(claim, text=state_claim(claim.text))


def adapt(index: Index, config: GroundingConfig, models: Models) -> tuple[GroundingConfig, Models]:
    """The configuration and the models without the vectors that the index lacks, as far as they are not required."""
    sides = {
        "contradict": _adapt_branch(index, config.contradict, models),
        "support": _adapt_branch(index, config.support, models),
    }
    used = {side.retrieve.encoder for side in sides.values() if "dense" in side.retrieve.sources}
    encoders = {name: encoder for name, encoder in models.encoders.items() if name in used}
    for encoder in encoders.values():
        index.dense(encoder.name)
    return config.model_copy(update=sides), models.with_encoders(encoders)


def _adapt_branch(index: Index, branch: Branch, models: Models) -> Branch:
    step = branch.retrieve
    encoder = models.encoders.get(step.encoder)
    if step.vectors == "required" or (encoder is not None and index.has_vectors(encoder.name)):
        return branch
    return branch.model_copy(update={"retrieve": step.without_vectors()})


def run(request: Request) -> Side:
    """One side of a claim, by the steps of its branch."""
    branch = request.branch
    request.begin("retrieve", request.index.manifest.counts.documents)
    documents = find(request)
    if branch.rerank:
        request.begin("rerank", len(documents))
    ranking = rank(request, documents)
    if branch.judge:
        request.begin("judge", len(ranking), sum(len(one.entry) for one in ranking))
    selection = quote_best(request, _select(request, ranking))
    evidence, uncertain = show(request, selection.chosen), show(request, selection.uncertain)
    more, silent = show(request, selection.more, first=len(evidence) + 1), show(request, selection.silent)
    return Side(evidence, uncertain, more, silent, request.finish(documents, len(evidence)))


def _select(request: Request, ranking: Sequence[RankedDocument]) -> Selection:
    """What the branch's rule chooses; filter and judge read lazily, only as far as the rule needs."""
    match request.branch.select.rule:
        case "top":
            return rules.choose_top(request, ranking)
        case "first":
            return rules.choose_first(request, judge_texts(request, ranking))
        case "likeliest":
            return rules.choose_likeliest(request, decide_documents(request, ranking))
        case "penalised":
            return rules.choose_penalised(request, ranking, judge_texts(request, ranking))


def _drop_listed(evidence: Iterable[Evidence], candidates: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Each document that is not listed yet, once, from the side that it leans to, in the order found."""
    pmids, best = _pmids(evidence), dict[str, Evidence]()
    for one in candidates:
        pmid = one.document.pmid
        if pmid not in pmids and (pmid not in best or one.score > best[pmid].score):
            best[pmid] = one
    return tuple(best.values())


def _pmids(evidence: Iterable[Evidence]) -> frozenset[str]:
    return frozenset(one.document.pmid for one in evidence)
