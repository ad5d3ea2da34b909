"""Shares of outcomes with bootstrap intervals over papers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from eval.claims.measuring import OUTCOMES, ClaimOutcome, Outcome, ground_claims
from eval.claims.reading import PaperClaim
from eval.measures.figures import RESAMPLES, SEED, Figure, Resampler, Tally, share
from eval.measures.report import Report, Table, show
from eval.scifact.observing import STANCES, grounding_code
from retrieval.core.counts import format_count
from retrieval.core.values import LABELS, Label, Stance
from service.grounding.ground import Grounder

PLAIN: Mapping[Outcome, str] = {outcome: outcome for outcome in OUTCOMES}


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


@dataclass(frozen=True, slots=True)
class Failure:
    """A claim whose outcome is not right: the paper's stance, the side that it is shown on, its sentence and probability."""

    outcome: str
    pmid: str
    claim: str
    stance: Label
    kind: str
    shown_as: Stance | None
    sentence: str
    probability: float | None


@dataclass(frozen=True, slots=True)
class ClaimsReport:
    """The measurements, in groups of which the first is all claims; notes on how to read them; every failure; what made them."""

    title: str
    notes: tuple[str, ...]
    groups: tuple[Group, ...]
    failures: tuple[Failure, ...]
    made: Mapping[str, Any]


def measure_claims(
    claims: Sequence[PaperClaim],
    path: Path,
    grounder: Grounder,
    work: Path,
    command: str,
    disputed: int = 0,
) -> ClaimsReport:
    """Measure the claims of the file at `path` by stance and by kind.

    `disputed` is how many were left out because those who labelled them disagree.
    """
    outcomes = ground_claims(claims, grounder, work)
    grouping = Grouping(outcomes)
    stances = [one for one in LABELS if one != "neutral" or any(claim.stance == one for claim in claims)]
    groups = [grouping.group("all claims"), *(grouping.group(stance, stance=stance) for stance in stances)]
    groups += [grouping.group(kind, kind=kind) for kind in dict.fromkeys(claim.kind for claim in claims if claim.kind)]
    notes = [count_others(outcomes)]
    if disputed:
        notes.append(f"Left out: {disputed} on which readers disagree.")
    title = f"{path.name}: {format_count(len(claims), 'claim')} about {format_count(groups[0].papers, 'paper')}"
    return ClaimsReport(title, tuple(notes), tuple(groups), failures(outcomes), provenance(grounder, command))


def provenance(grounder: Grounder, command: str) -> dict[str, Any]:
    """What is needed to make the report again."""
    return {
        "counterpoint": version("counterpoint"),
        "code": grounding_code(),
        "command": command,
        "index": grounder.index.manifest.id,
        "analyzer": grounder.index.manifest.analyzer,
        "config": grounder.config.name,
        "models": grounder.models.names(),
        "bootstrap_seed": SEED,
        "bootstrap_resamples": RESAMPLES,
    }


class Grouping:
    """Makes groups of the claims seen, all on the same samples of papers."""

    def __init__(self, outcomes: Sequence[ClaimOutcome]) -> None:
        self._outcomes = outcomes
        self._papers = list(dict.fromkeys(outcome.claim.pmid for outcome in outcomes))
        self._resampler = Resampler(len(self._papers))

    def group(
        self,
        name: str,
        stance: Label | None = None,
        kind: str | None = None,
        words: Mapping[Outcome, str] = PLAIN,
    ) -> Group:
        """The claims of a stance, of a kind (None for any), with outcomes named by `words`."""
        of_paper: dict[str, list[int]] = {pmid: [] for pmid in self._papers}
        for place, one in enumerate(self._outcomes):
            claim = one.claim
            if stance in (None, claim.stance) and kind in (None, claim.kind):
                of_paper[claim.pmid].append(place)
        outcomes = {
            words[outcome]: self._share(of_paper, [one.outcome == outcome for one in self._outcomes]) for outcome in OUTCOMES
        }
        pairs = [own if self._is_pair(own) else [] for own in of_paper.values()]
        pairs_right = [(all(self._is_right(place) for place in own), 1) if own else (0, 0) for own in pairs]
        return Group(
            name=name,
            claims=sum(map(len, of_paper.values())),
            papers=sum(map(bool, of_paper.values())),
            shares=outcomes,
            pairs=sum(map(bool, pairs)),
            both_right=self._resampler.figure(Tally.of(pairs_right, share)),
        )

    def _is_pair(self, places: Sequence[int]) -> bool:
        return {*STANCES} <= {self._outcomes[place].claim.stance for place in places}

    def _is_right(self, place: int) -> bool:
        """Whether a claim is right, or neutral: pairs leave neutral claims out."""
        return self._outcomes[place].outcome == "right" or self._outcomes[place].claim.stance == "neutral"

    def _share(self, of_paper: Mapping[str, Sequence[int]], counts: Sequence[bool]) -> Figure:
        rows = [(sum(counts[place] for place in own), len(own)) for own in of_paper.values()]
        return self._resampler.figure(Tally.of(rows, share))


def count_others(outcomes: Sequence[ClaimOutcome]) -> str:
    """One sentence on how many papers other than the claims' own are listed."""
    others = sum(outcome.others for outcome in outcomes)
    return (
        f"Papers listed beside the claims' own: {others}, {others / len(outcomes):.1f} a claim; whether these are right is not "
        "known."
    )


def failures(
    outcomes: Sequence[ClaimOutcome], words: Callable[[ClaimOutcome], str] = lambda one: one.outcome
) -> tuple[Failure, ...]:
    """The claims whose outcome is not right, the wrong ones first."""
    order = list(OUTCOMES)
    cases = sorted((outcome for outcome in outcomes if outcome.outcome != "right"), key=lambda one: order.index(one.outcome))
    return tuple(
        Failure(
            words(case),
            case.claim.pmid,
            case.claim.claim,
            case.claim.stance,
            case.claim.kind,
            case.side,
            case.sentence,
            case.probability,
        )
        for case in cases
    )


def show_claims(report: ClaimsReport) -> Report:
    """A row for each group, in a table for each set of outcome names, then the failures, each with what was shown."""
    blocks: list[Table | str] = [*report.notes]
    for header in dict.fromkeys(tuple(group.shares) for group in report.groups):
        groups = [group for group in report.groups if tuple(group.shares) == header]
        rows = [
            [group.name, str(group.claims), str(group.pairs), *map(show, group.shares.values()), show(group.both_right)]
            for group in groups
        ]
        blocks.append(Table("", ["", "claims", "pairs", *header, "both of a pair"], rows))
    if report.failures:
        blocks.append(f"{len(report.failures)} wrong outcomes:")
    for failure in report.failures:
        kind = f", {failure.kind}" if failure.kind else ""
        blocks.append(f"{failure.outcome}: PMID {failure.pmid} ({failure.stance}{kind}): {failure.claim}")
        if failure.shown_as:
            sure = "" if failure.probability is None else f" {failure.probability:.2f}"
            blocks.append(f"    {failure.shown_as}{sure}: {failure.sentence}")
    return Report(f"{report.title}; 95 % bootstrap intervals over papers", blocks, report, made_with=report.made)
