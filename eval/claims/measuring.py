"""Claims about papers through the whole pipeline, each seen from the one paper that it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from counterpoint.eval.claims.reading import PaperClaim
from counterpoint.eval.measures.resuming import finish_each
from counterpoint.eval.scifact.files import LabelledClaim
from counterpoint.eval.scifact.observing import STANCES, ClaimResult, Returned, journal_of, recall
from counterpoint.retrieval.core.errors import BadRecord
from counterpoint.retrieval.core.values import OPPOSITE, Claim, Stance
from counterpoint.retrieval.index import Documents, Index
from counterpoint.service.grounding.ground import Grounder

Outcome = Literal["right", "wrong", "unsure", "absent"]
OUTCOMES: Mapping[Outcome, str] = {
    "right": "listed on the right side or, where the paper leaves the claim open, on neither",
    "wrong": "listed on the wrong side",
    "unsure": "called uncertain, on whichever side",
    "absent": "shown nowhere",
}


@dataclass(frozen=True, slots=True)
class ClaimOutcome:
    """What became of a claim's paper: the side it is shown on (None for absent), its sentence ("" for none), and the probability
    of that stance from the model that chose it (None where no model was asked). `others` is the number of other papers listed."""

    claim: PaperClaim
    outcome: Outcome
    side: Stance | None = None
    sentence: str = ""
    probability: float | None = None
    others: int = 0


def check_held(claims: Sequence[PaperClaim], store: Documents, path: Path, index: Path) -> None:
    """Raise `BadInput` where a claim of `path` is about a paper that the index lacks."""
    pmids = store.holds(list(dict.fromkeys(claim.pmid for claim in claims)))
    lacking = [claim for claim in claims if claim.pmid not in pmids]
    if lacking:
        others = len({claim.pmid for claim in lacking}) - 1
        more = f" (and {others} more PMIDs that are not in it)" if others else ""
        hint = f"expected the PMID of a paper in the index at {index}, got {lacking[0].pmid}{more}."
        raise BadRecord(path, f"line {lacking[0].line}", hint)


def ground_claims(claims: Sequence[PaperClaim], grounder: Grounder, work: Path) -> list[ClaimOutcome]:
    """Run each claim through the whole pipeline and return what became of its paper; a stopped run resumes from `work`.

    A claim is grounded only once, however many papers it is about.
    Raises `Interrupted` where the user stops it.
    """
    journal = journal_of(grounder, work)

    def ground(claim: PaperClaim) -> ClaimOutcome:
        return _find_outcome(claim, recall(journal, LabelledClaim(Claim(claim.claim), {}), grounder), grounder.index)

    return finish_each(claims, ground, "grounding", "claims", work)


def _find_outcome(claim: PaperClaim, result: ClaimResult, index: Index) -> ClaimOutcome:
    others = sum(hit.pmid != claim.pmid for stance in STANCES for hit in result.side(stance).returned)
    for outcome, sides in _list_places(claim, result).items():
        hits = [(side, document) for side, documents in sides for document in documents if document.pmid == claim.pmid]
        if hits:
            side, one = max(hits, key=lambda pair: pair[1].score)
            return ClaimOutcome(claim, outcome, side, _sentence(one, index), one.verdict[0 if side == "support" else 2], others)
    return ClaimOutcome(claim, "right" if claim.stance == "neutral" else "absent", others=others)


def _list_places(claim: PaperClaim, result: ClaimResult) -> Mapping[Outcome, Sequence[tuple[Stance, Sequence[Returned]]]]:
    """Where the claim's paper must be for each outcome, the outcome that applies first before the others."""
    if claim.stance == "neutral":
        return {"wrong": [(side, result.side(side).returned) for side in STANCES]}
    other = OPPOSITE[claim.stance]
    return {
        "right": [(claim.stance, result.side(claim.stance).returned)],
        "wrong": [(other, result.side(other).returned)],
        "unsure": [(side, result.side(side).uncertain) for side in STANCES],
    }


def _sentence(one: Returned, index: Index) -> str:
    entry = index.store.get(one.pmid) if one.sentence is not None else None
    return entry.sentences()[one.sentence].text if entry and one.sentence is not None else ""
