"""Claims about papers of an index, measured: shares of outcomes with bootstrap intervals over papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from counterpoint.eval.claims.measuring import OUTCOMES, ClaimOutcome, ground_claims
from counterpoint.eval.claims.reading import PaperClaim
from counterpoint.eval.measures.figures import Figure, Resampler, Tally, share
from counterpoint.eval.measures.report import Report, Table, show
from counterpoint.eval.scifact.observing import STANCES, grounding_code
from counterpoint.retrieval.core.values import LABELS
from counterpoint.service.grounding.ground import Grounder


@dataclass(frozen=True, slots=True)
class Group:
    """Some of the claims: the share of each outcome; of the papers with claims of both stances among them, the share with all of
    those claims right."""

    name: str
    claims: int
    papers: int
    shares: Mapping[str, Figure]
    pairs: int
    both_right: Figure


def measure_claims(claims: Sequence[PaperClaim], title: str, notes: Sequence[str], grounder: Grounder, work: Path) -> Report:
    """Ground the claims, and report what became of their papers; a stopped run resumes from `work`.

    There is a row for all of them, for each stance and for each kind, all on the same samples of papers; then come the claims
    whose outcome is not right, with what was shown, the wrong ones first.
    """
    outcomes = ground_claims(claims, grounder, work)
    papers = list(dict.fromkeys(claim.pmid for claim in claims))
    resampler = Resampler(len(papers))
    stances = [one for one in LABELS if one != "neutral" or any(claim.stance == one for claim in claims)]
    kinds = dict.fromkeys(claim.kind for claim in claims if claim.kind)
    groups = [
        make_group("all claims", outcomes, papers, resampler),
        *(make_group(name, [one for one in outcomes if one.claim.stance == name], papers, resampler) for name in stances),
        *(make_group(name, [one for one in outcomes if one.claim.kind == name], papers, resampler) for name in kinds),
    ]
    others = sum(outcome.others for outcome in outcomes)
    notes = [
        f"Papers listed beside the claims' own: {others}, {others / len(outcomes):.1f} a claim; whether these are right is not "
        "known.",
        *notes,
    ]
    rows = [[one.name, str(one.claims), str(one.pairs), *map(show, one.shares.values()), show(one.both_right)] for one in groups]
    blocks: list[Table | str] = [*notes, Table("", ["", "claims", "pairs", *OUTCOMES, "both of a pair"], rows)]
    order = list(OUTCOMES)
    failures = sorted((one for one in outcomes if one.outcome != "right"), key=lambda one: order.index(one.outcome))
    if failures:
        blocks.append(f"{len(failures)} wrong outcomes:")
    for one in failures:
        kind = f", {one.claim.kind}" if one.claim.kind else ""
        blocks.append(f"{one.outcome}: PMID {one.claim.pmid} ({one.claim.stance}{kind}): {one.claim.claim}")
        if one.side:
            sure = "" if one.probability is None else f" {one.probability:.2f}"
            blocks.append(f"    {one.side}{sure}: {one.sentence}")
    made = {
        "code": grounding_code(),
        "index": grounder.index.manifest.id,
        "analyzer": grounder.index.manifest.analyzer,
        "config": grounder.config.name,
        "models": grounder.models.names(),
    }
    data = {
        "title": title,
        "notes": notes,
        "groups": groups,
        "failures": [
            {
                "outcome": one.outcome, "pmid": one.claim.pmid, "claim": one.claim.claim, "stance": one.claim.stance,
                "kind": one.claim.kind, "shown_as": one.side, "sentence": one.sentence, "probability": one.probability,
            }
            for one in failures
        ],
    }  # fmt: skip
    return Report(f"{title}; 95 % bootstrap intervals over papers", blocks, data, made_with=made)


def make_group(name: str, outcomes: Sequence[ClaimOutcome], papers: Sequence[str], resampler: Resampler) -> Group:
    """The figures of these outcomes; `resampler` draws from all `papers`, whether or not they have any."""
    of_paper: dict[str, list[ClaimOutcome]] = {pmid: [] for pmid in papers}
    for one in outcomes:
        of_paper[one.claim.pmid].append(one)

    def measure(outcome: str) -> Figure:
        rows = [(sum(one.outcome == outcome for one in own), len(own)) for own in of_paper.values()]
        return resampler.figure(Tally.of(rows, share))

    pairs = [own if {*STANCES} <= {one.claim.stance for one in own} else [] for own in of_paper.values()]
    right = [all(one.outcome == "right" or one.claim.stance == "neutral" for one in own) for own in pairs]
    return Group(
        name=name,
        claims=len(outcomes),
        papers=sum(map(bool, of_paper.values())),
        shares={outcome: measure(outcome) for outcome in OUTCOMES},
        pairs=sum(map(bool, pairs)),
        both_right=resampler.share(right, map(bool, pairs)),
    )
