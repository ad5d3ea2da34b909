"""One claim grounded by one variant, and what is kept of the result: all that the measures read, so that none needs a model.

Branches, retrieval, gate and judges are those of the grounder, asked again with other limits to find how deep gold documents
would be returned; a grounder that caches its models' results answers most of this without asking them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from counterpoint.eval.scifact.files import LabelledClaim, Predicted, Prediction
from counterpoint.retrieval.core.values import Claim, Evidence, Stance
from counterpoint.retrieval.store.journal import Journal, Origin, hash_json
from counterpoint.service.assembly import make_grounder
from counterpoint.service.baseline.grounder import BaselineGrounder, Side
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.runs.journal import code_of

STANCES: tuple[Stance, Stance] = ("support", "contradict")


@dataclass(frozen=True, slots=True)
class Returned:
    """A document that was returned, the sentence shown, the judge's probabilities (support, neutral, contradict), all neutral
    where it was not judged, and the score that ranked it."""

    pmid: str
    sentence: int | None
    verdict: tuple[float, float, float]
    score: float


@dataclass(frozen=True, slots=True)
class ObservedSide:
    """One branch for one claim: what it returned and what it calls uncertain, best first; and, where the claim has gold documents
    of this stance, `whole`, all it would return without a cut, down to the last gold document."""

    returned: tuple[Returned, ...]
    whole: tuple[str, ...] = ()
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
    caching_grounder = make_grounder(grounder.index, grounder.config, grounder.models.with_caches())
    grounding = caching_grounder.ground(case.claim)
    evidence = {"support": grounding.supporting, "contradict": grounding.contradicting}

    def side(stance: Stance) -> ObservedSide:
        results = tuple(_make_returned(one) for one in evidence[stance])
        uncertain = tuple(_make_returned(one) for one in grounding.uncertain if one.stance == stance)
        gold = case.gold_of(stance)
        whole = rank_to_gold(caching_grounder, case.claim, stance, gold) if gold else ()
        return ObservedSide(results, whole, uncertain)

    return ClaimResult(case.claim.id, side("support"), side("contradict"))


def _make_returned(one: Evidence) -> Returned:
    verdict = one.verdict.support, one.verdict.neutral, one.verdict.contradict
    return Returned(one.document.pmid, one.sentence.index if one.sentence else None, verdict, float(one.score))


_RESULT: TypeAdapter[ClaimResult] = TypeAdapter(ClaimResult)


def recall(journal: Journal, claim: LabelledClaim, grounder: Grounder) -> ClaimResult:
    """The result of a claim from a variant's journal, where it is kept under the claim's text and gold documents; made if there
    is none."""
    gold = sorted((pmid, gold.stance) for pmid, gold in claim.gold.items())
    key = hash_json([claim.claim.id, claim.claim.text, gold])[:16]
    return _RESULT.validate_python(journal.fill(key, lambda: _RESULT.dump_python(observe(grounder, claim), mode="json")))


def journal_of(grounder: Grounder, folder: Path) -> Journal:
    """The journal in `folder` of results so far for a grounder's configuration, models and index, and this code."""
    settings = {
        "config": grounder.config.model_dump(mode="json"),
        "profile": grounder.models.profile.model_dump(mode="json"),
        "models": grounder.models.names(),
    }
    return Journal.of(Origin(grounder.index.manifest.id, settings, grounding_code()), folder, grounder.config.name)


def grounding_code() -> str:
    """The hash of the source that a grounding runs through.

    It covers all kinds of models, because a model with cached verdicts is wrapped in another class, which hides its source.
    """
    return code_of("counterpoint.service.assembly", "counterpoint.eval.scifact.observing")


def rank_to_gold(grounder: Grounder, claim: Claim, stance: Stance, gold: frozenset[str]) -> tuple[str, ...]:
    """What one side of a claim would return if it returned all it can, down to the last gold document of that stance."""
    ranked, last, left = list[str](), 0, set(gold)
    for pmid in _rank(grounder, claim, stance):
        ranked.append(pmid)
        if pmid in left:
            last = len(ranked)
            left.remove(pmid)
        if not left:
            break
    return tuple(ranked[:last])


def _rank(grounder: Grounder, claim: Claim, stance: Stance) -> Iterable[str]:
    """All that one side allows, best first: of the paper's variants judged only as far as is asked for; our own path reads each
    paper once for both sides."""
    if isinstance(grounder, BaselineGrounder):
        return (one.document.entry.pmid for one in Side(grounder, claim, stance).rank())
    ranked = grounder.rank(claim, grounder.find(claim))
    readings = {one.pmid: one.verdict for one in grounder.read(claim, ranked[: grounder.path.read.papers])}
    called = [pmid for pmid, one in readings.items() if one.label == stance]
    return sorted(called, key=lambda pmid: -readings[pmid].probability(stance))
