"""Our variants, assembled for a comparison through the same interfaces that the service uses."""

from __future__ import annotations

from pathlib import Path

from nli.judges.judge import Judge
from retrieval.core.values import Claim, Stance
from retrieval.rerank.reranker import Reranker
from service.assembly import assemble
from service.configuration.models import Models
from service.grounding.ground import Grounder
from service.grounding.values import OnStage, tell_nobody
from service.grounding.variants import Request, Side, run


def every_sentence(grounder: Grounder) -> Grounder:
    """The same grounder with every sentence judged (a profile's `skim` limits how many are, which changes what is found)."""
    models = grounder.models
    profile = models.profile.model_copy(update={"skim": None})
    return Grounder(grounder.index, grounder.config, Models(profile, models.rerankers, models.judges, models.encoders))


def v5(index: Path) -> Grounder:
    """The paper's V5 with the shipped models and the shipped profile."""
    return assemble(index, "v5", "fast")


def with_models(grounder: Grounder, judge: Judge, reranker: Reranker | None = None) -> Grounder:
    """The same with another judge, and another reranker, behind the names that the paper's V5 uses."""
    rerankers = {"relevance": reranker} if reranker else grounder.models.rerankers
    return Grounder(grounder.index, grounder.config, Models(grounder.models.profile, rerankers, {"stance": judge}))


def run_side(
    grounder: Grounder, claim: Claim, stance: Stance, without: frozenset[str] = frozenset(), tell: OnStage = tell_nobody
) -> Side:
    """One side of a claim alone, without the documents in `without`."""
    return run(Request(claim, stance, grounder.index, grounder.config, grounder.models, tell, without))
