"""Shares of outcomes with bootstrap intervals over papers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from counterpoint.eval.claims.measuring import OUTCOMES, ClaimOutcome, Outcome, ground_claims
from counterpoint.eval.claims.reading import PaperClaim
from counterpoint.eval.measures.figures import RESAMPLES, SEED, Figure, Resampler, Tally, share
from counterpoint.eval.measures.report import Report, Table, show
from counterpoint.eval.scifact.observing import STANCES, grounding_code
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.values import LABELS, Label
from counterpoint.service.grounding.ground import Grounder

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


def measure_claims(
    claims: Sequence[PaperClaim], path: Path, grounder: Grounder, work: Path, command: str, disputed: int = 0
) -> Report:
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
    return make_report(title, notes, groups, outcomes, grounder, command)


class Grouping:
    """Makes groups of the claims seen, all on the same samples of papers."""

    def __init__(self, outcomes: Sequence[ClaimOutcome]) -> None:
        self._outcomes = outcomes
        self._papers = list(dict.fromkeys(outcome.claim.pmid for outcome in outcomes))
        self._resampler = Resampler(len(self._papers))

    def group(
        self, name: str, stance: Label | None = None, kind: str | None = None, words: Mapping[Outcome, str] = PLAIN
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
        pairs = [own if {*STANCES} <= {self._outcomes[place].claim.stance for place in own} else [] for own in of_paper.values()]
        pairs_right = [(all(self._is_right(place) for place in own), 1) if own else (0, 0) for own in pairs]
        return Group(
            name=name,
            claims=sum(map(len, of_paper.values())),
            papers=sum(map(bool, of_paper.values())),
            shares=outcomes,
            pairs=sum(map(bool, pairs)),
            both_right=self._resampler.figure(Tally.of(pairs_right, share)),
        )

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


def make_report(
    title: str,
    notes: Sequence[str],
    groups: Sequence[Group],
    outcomes: Sequence[ClaimOutcome],
    grounder: Grounder,
    command: str,
    word: Callable[[ClaimOutcome], str] = lambda one: one.outcome,
) -> Report:
    """A row for each group, in a table for each set of outcome names, then the claims whose outcome is not right, each called by
    `word`, with what was shown; the wrong ones first. `groups` begin with all claims."""
    blocks: list[Table | str] = [*notes]
    for header in dict.fromkeys(tuple(group.shares) for group in groups):
        rows = [
            [group.name, str(group.claims), str(group.pairs), *map(show, group.shares.values()), show(group.both_right)]
            for group in groups
            if tuple(group.shares) == header
        ]
        blocks.append(Table("", ["", "claims", "pairs", *header, "both of a pair"], rows))
    order = list(OUTCOMES)
    failures = sorted((one for one in outcomes if one.outcome != "right"), key=lambda one: order.index(one.outcome))
    if failures:
        blocks.append(f"{len(failures)} wrong outcomes:")
    for one in failures:
        kind = f", {one.claim.kind}" if one.claim.kind else ""
        blocks.append(f"{word(one)}: PMID {one.claim.pmid} ({one.claim.stance}{kind}): {one.claim.claim}")
        if one.side:
            sure = "" if one.probability is None else f" {one.probability:.2f}"
            blocks.append(f"    {one.side}{sure}: {one.sentence}")
    made = {
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
    data = {
        "title": title,
        "notes": notes,
        "groups": groups,
        "failures": [
            {
                "outcome": word(one), "pmid": one.claim.pmid, "claim": one.claim.claim, "stance": one.claim.stance,
                "kind": one.claim.kind, "shown_as": one.side, "sentence": one.sentence, "probability": one.probability,
            }
            for one in failures
        ],
        "made": made,
    }  # fmt: skip
    return Report(f"{title}; 95 % bootstrap intervals over papers", blocks, data, made_with=made)
