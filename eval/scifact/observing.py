"""One claim grounded by one variant, and what is kept of the result: all that the measures read, so that none needs a model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from eval.scifact.files import LabelledClaim, Predicted, Prediction
from eval.scifact.tracing import Fate, fate, trace
from retrieval.core.values import BranchCounts, Evidence, Stance
from retrieval.store.journal import Journal, Origin, hash_json
from service.grounding.ground import Grounder
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
class GoldFate:
    """A gold document: its rank in its branch's retrieval (None where it was not retrieved), and what became of it."""

    pmid: str
    depth: int | None
    fate: Fate


@dataclass(frozen=True, slots=True)
class ObservedSide:
    """One branch for one claim: what it returned and what it calls uncertain, best first; how much it examined; and, where the
    claim has gold documents of this stance, what became of each and `whole`, all it would return without a cut, down to the last
    gold document."""

    returned: tuple[Returned, ...]
    counts: BranchCounts
    whole: tuple[str, ...] = ()
    gold: tuple[GoldFate, ...] = ()
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
    """Ground a claim as a user would, then find out what became of its gold documents."""
    caching_grounder = Grounder(grounder.index, grounder.config, grounder.models.with_caches())
    grounding = caching_grounder.ground(case.claim)
    evidence = {"support": grounding.supporting, "contradict": grounding.contradicting}
    pmids = {stance: {one.document.pmid for one in evidence[stance]} for stance in STANCES}

    def side(stance: Stance, other: Stance) -> ObservedSide:
        results = tuple(_make_returned(one) for one in evidence[stance])
        uncertain = tuple(_make_returned(one) for one in grounding.uncertain if one.stance == stance)
        gold = case.gold_of(stance)
        if not gold:
            return ObservedSide(results, grounding.checked[stance], uncertain=uncertain)
        branch_trace = trace(caching_grounder, case.claim, stance, gold)
        depths = {pmid: rank for rank, pmid in enumerate(branch_trace.retrieved, 1)}
        fates = tuple(
            GoldFate(pmid, depths.get(pmid), fate(pmid, stance, branch_trace, pmids[stance], pmids[other]))
            for pmid in sorted(gold)
        )
        return ObservedSide(results, grounding.checked[stance], branch_trace.whole, fates, uncertain)

    return ClaimResult(case.claim.id, side("support", "contradict"), side("contradict", "support"))


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

    def add(self, claim: LabelledClaim, result: ClaimResult) -> None:
        """Keep a result; it is on the disk when this returns."""
        self._journal.add(_key(claim), _RESULT.dump_python(result, mode="json"))


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
    origin = Origin(grounder.index.manifest.corpus_sha256, settings, grounding_code())
    return ClaimJournal(folder, grounder.config.name, origin)


def grounding_code() -> str:
    """The hash of the source that a grounding runs through.

    It covers all kinds of models, because a model with cached verdicts is wrapped in another class, which hides its source.
    """
    return code_of("service.grounding.ground", "eval.scifact.observing")
