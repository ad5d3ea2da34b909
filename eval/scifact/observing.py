"""One claim grounded by one variant, and what is kept of the result: all that the measures read, so that none needs a model.

Of each gold document it is said how deep the branch retrieves it, and how deep it would return it. Branches, retrieval, gate and
judges are those of the grounder, asked again with other limits, or with the last steps off; a grounder that caches its models'
results answers most of this without asking them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from eval.scifact.files import LabelledClaim, Predicted, Prediction
from retrieval.core.values import BranchCounts, Claim, Evidence, Stance
from retrieval.store.journal import Journal, Origin, hash_json
from service.configuration.config import Branch, PathStep
from service.grounding.ground import Grounder
from service.grounding.variants import Request, run
from service.runs.journal import code_of

STANCES: tuple[Stance, Stance] = ("support", "contradict")


@dataclass(frozen=True, slots=True)
class Returned:
    """A document that a branch returned, the sentence it showed, the judge's probabilities for that sentence (support, neutral,
    contradict) where it was judged, and the score that ranked it."""

    pmid: str
    sentence: int | None
    verdict: tuple[float, float, float] | None
    score: float


@dataclass(frozen=True, slots=True)
class GoldRank:
    """A gold document, and its rank in its branch's retrieval (None where it was not retrieved)."""

    pmid: str
    depth: int | None


@dataclass(frozen=True, slots=True)
class ObservedSide:
    """One branch for one claim: what it returned and what it calls uncertain, best first; how much it examined; and, where the
    claim has gold documents of this stance, the rank of each and `whole`, all it would return without a cut, down to the last
    gold document."""

    returned: tuple[Returned, ...]
    counts: BranchCounts
    whole: tuple[str, ...] = ()
    gold: tuple[GoldRank, ...] = ()
    uncertain: tuple[Returned, ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """Both branches for one claim."""

    claim: str
    support: ObservedSide
    contradict: ObservedSide

    def side(self, stance: Stance) -> ObservedSide:
        """The branch of a stance."""
        return self.support if stance == "support" else self.contradict

    def predicted(self) -> Predicted:
        """The variant's predictions for the claim, in SciFact's terms."""
        return {
            hit.pmid: Prediction(stance, () if hit.sentence is None else (hit.sentence,))
            for stance in ("contradict", "support")
            for hit in self.side(stance).returned
        }


def observe(grounder: Grounder, case: LabelledClaim) -> ClaimResult:
    """Ground a claim as a user would, then find out how its gold documents rank."""
    caching_grounder = Grounder(grounder.index, grounder.config, grounder.models.with_caches())
    grounding = caching_grounder.ground(case.claim)
    evidence = {"support": grounding.supporting, "contradict": grounding.contradicting}

    def side(stance: Stance) -> ObservedSide:
        results = tuple(_make_returned(one) for one in evidence[stance])
        uncertain = tuple(_make_returned(one) for one in grounding.uncertain if one.stance == stance)
        gold = case.gold_of(stance)
        if not gold:
            return ObservedSide(results, grounding.checked[stance], uncertain=uncertain)
        trace = trace_branch(caching_grounder, case.claim, stance, gold)
        depths = {pmid: rank for rank, pmid in enumerate(trace.retrieved, 1)}
        ranks = tuple(GoldRank(pmid, depths.get(pmid)) for pmid in sorted(gold))
        return ObservedSide(results, grounding.checked[stance], trace.whole, ranks, uncertain)

    return ClaimResult(case.claim.id, side("support"), side("contradict"))


def _make_returned(one: Evidence) -> Returned:
    verdict = (one.verdict.support, one.verdict.neutral, one.verdict.contradict) if one.verdict else None
    return Returned(one.document.pmid, one.sentence.index if one.sentence else None, verdict, float(one.score))


_RESULT: TypeAdapter[ClaimResult] = TypeAdapter(ClaimResult)


class ClaimJournal:
    """The finished claims of one variant. A claim is identified by its text and gold documents, so a file may grow."""

    def __init__(self, folder: Path, name: str, origin: Origin) -> None:
        self._journal = Journal.of(origin, folder, name)

    def get(self, claim: LabelledClaim) -> ClaimResult | None:
        """The result of a claim, or None where there is none yet."""
        try:
            return _RESULT.validate_python(self._journal.get(_key(claim)))
        except ValidationError:
            return None

    def fill(self, claim: LabelledClaim, grounder: Grounder) -> ClaimResult:
        """The result of a claim, made and kept if there is none; it is on the disk when this returns."""
        result = self.get(claim)
        if result is None:
            result = observe(grounder, claim)
            self._journal.add(_key(claim), _RESULT.dump_python(result, mode="json"))
        return result


def _key(claim: LabelledClaim) -> str:
    return hash_json(
        [claim.claim.id, claim.claim.text, sorted((pmid, gold.stance) for pmid, gold in claim.gold.items())],
    )[:16]


def journal_of(grounder: Grounder, folder: Path) -> ClaimJournal:
    """The journal in `folder` of results so far for a grounder's configuration, models and index, and this code."""
    settings = {
        "config": grounder.config.model_dump(mode="json"),
        "profile": grounder.models.profile.model_dump(mode="json"),
        "models": grounder.models.names(),
    }
    origin = Origin(grounder.index.manifest.id, settings, grounding_code())
    return ClaimJournal(folder, grounder.config.name, origin)


def grounding_code() -> str:
    """The hash of the source that a grounding runs through.

    It covers all kinds of models, because a model with cached verdicts is wrapped in another class, which hides its source.
    """
    return code_of("service.grounding.ground", "eval.scifact.observing")


@dataclass(frozen=True, slots=True)
class Trace:
    """What one branch did for a claim, as far as its gold documents need it.

    `retrieved` is the ranking before any model saw it; `whole` what the branch would return if it returned all it can, down to
    the last gold document.
    """

    retrieved: tuple[str, ...]
    whole: tuple[str, ...]


def trace_branch(grounder: Grounder, claim: Claim, stance: Stance, gold: frozenset[str]) -> Trace:
    """What was done for one side of a claim, as far as the gold documents of that stance need it."""
    if grounder.config.path:
        return _trace_path(grounder, grounder.config.path, claim, stance, gold)
    branch = grounder.config.branch(stance)
    k, unread = branch.retrieve.k, {"filter": None, "judge": None}
    retrieval = _pmids(_run(grounder, claim, stance, branch, k, rule="top", rerank=None, **unread))
    ranking = _pmids(_run(grounder, claim, stance, branch, k, rule="top", **unread)) if branch.rerank else retrieval
    ranks = [rank for rank, pmid in enumerate(ranking, 1) if pmid in gold]
    if not ranks:
        return Trace(retrieval, ())
    reach = ranks[-1] if branch.select.rule in ("first", "top") else len(ranking)
    branch = _stop_after_gold(grounder, branch, reach)
    whole = _pmids(_run(grounder, claim, stance, branch, reach, label=branch.select.label or stance))
    last = max((rank for rank, pmid in enumerate(whole, 1) if pmid in gold), default=0)
    return Trace(retrieval, whole[:last])


def _trace_path(grounder: Grounder, path: PathStep, claim: Claim, stance: Stance, gold: frozenset[str]) -> Trace:
    """The same for our own path, which reads each paper once for both sides."""
    found = grounder.find(claim)
    ranked = grounder.rank(claim, found)
    readings = {one.pmid: one.verdict for one in grounder.read(claim, ranked[: path.read.papers])}
    called = [pmid for pmid, one in readings.items() if one.label == stance]
    whole = sorted(called, key=lambda pmid: -readings[pmid].probability(stance))
    last = max((rank for rank, pmid in enumerate(whole, 1) if pmid in gold), default=0)
    return Trace(tuple(one.pmid for one in found), tuple(whole[:last]))


def _stop_after_gold(grounder: Grounder, branch: Branch, reach: int) -> Branch:
    """The branch, judging no document after the last gold one: under the `first` rule these cannot change its rank.

    Where the profile limits what is asked (skim), fewer documents would mean other sentences, so all are read as usual.
    """
    step = branch.judge
    if step is None or branch.select.rule != "first" or (step.skim and grounder.models.profile.skim):
        return branch
    return branch.model_copy(update={"judge": step.model_copy(update={"documents": min(reach, step.documents or reach)})})


def _pmids(evidence: Iterable[Evidence]) -> tuple[str, ...]:
    return tuple(one.document.pmid for one in evidence)


def _run(
    grounder: Grounder,
    claim: Claim,
    stance: Stance,
    branch: Branch,
    n: int,
    rule: str | None = None,
    label: Stance | None = None,
    **steps: Any,
) -> tuple[Evidence, ...]:
    """What the branch returns with some steps changed; no model is asked which sentence to show."""
    ending = branch.select.model_copy(update={"n": n, "rule": rule or branch.select.rule, "label": label})
    variant = branch.model_copy(update={**steps, "select": ending, "evidence": None})
    config = grounder.config.model_copy(update={stance: variant})
    return run(Request(claim, stance, grounder.index, config, grounder.models.with_caches())).evidence
