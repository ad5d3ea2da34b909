"""Shares of outcomes with bootstrap intervals over papers, as data, JSON and lines for a terminal."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version

from eval.claims.outcomes import OUTCOMES, ClaimOutcome, Outcome
from eval.measures.formulas import Tally, share
from eval.measures.report_data import Figure
from eval.measures.resampling import RESAMPLES, SEED, Resampler
from eval.scifact.observing import STANCES
from eval.variants.evaluation import grounding_code
from eval.variants.lines import interval
from retrieval.core.values import Label, Stance
from service.grounding.ground import Grounder

PLAIN: Mapping[Outcome, str] = {outcome: outcome for outcome in OUTCOMES}


@dataclass(frozen=True, slots=True)
class Group:
    """Some of the claims: the share of each outcome; of the papers with claims of both stances among them, the share with all of
    those claims right; and, where a baseline was trained, how often it guesses a claim's stance and how often it ranks such a
    paper's true claims above its false ones."""

    name: str
    claims: int
    papers: int
    shares: Mapping[str, Figure]
    pairs: int
    both_right: Figure
    baseline: Figure | None = None
    baseline_ranks: Figure | None = None


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
class ClaimsProvenance:
    """What is needed to make the report again."""

    counterpoint: str
    code: str
    command: str
    index: str
    config: str
    models: Mapping[str, str]
    bootstrap_seed: int
    bootstrap_resamples: int

    @classmethod
    def by(cls, grounder: Grounder, command: str) -> ClaimsProvenance:
        """Make one from a grounder and a command."""
        return cls(
            counterpoint=version("counterpoint"),
            code=grounding_code(),
            command=command,
            index=grounder.index.manifest.id,
            config=grounder.config.name,
            models=grounder.models.names(),
            bootstrap_seed=SEED,
            bootstrap_resamples=RESAMPLES,
        )


@dataclass(frozen=True, slots=True)
class ClaimsReport:
    """The measurements, in groups of which the first is all claims; notes on how to read them; and every failure."""

    title: str
    notes: tuple[str, ...]
    groups: tuple[Group, ...]
    failures: tuple[Failure, ...]
    made: ClaimsProvenance


class Grouping:
    """Makes groups of the claims seen, all on the same samples of papers; `support` is a baseline's probability for each."""

    def __init__(self, outcomes: Sequence[ClaimOutcome], support: Sequence[float] | None = None) -> None:
        self._outcomes, self._support = outcomes, support
        self._papers = list(dict.fromkeys(one.claim.pmid for one in outcomes))
        self._resampler = Resampler(len(self._papers))

    def group(
        self,
        name: str,
        stance: Label | None = None,
        kind: str | None = None,
        papers: Collection[str] | None = None,
        words: Mapping[Outcome, str] = PLAIN,
    ) -> Group:
        """The claims of a stance, of a kind, about some papers (None for any), with outcomes named by `words`."""
        places = [
            place
            for place, one in enumerate(self._outcomes)
            if stance in (None, one.claim.stance)
            and kind in (None, one.claim.kind)
            and (papers is None or one.claim.pmid in papers)
        ]
        of_paper: dict[str, list[int]] = {pmid: [] for pmid in self._papers}
        for place in places:
            of_paper[self._outcomes[place].claim.pmid].append(place)
        outcomes = {
            words[outcome]: self._figure(of_paper, [one.outcome == outcome for one in self._outcomes]) for outcome in OUTCOMES
        }
        sided = {
            pmid: [place for place in own if self._outcomes[place].claim.stance != "neutral"] for pmid, own in of_paper.items()
        }
        pairs = {pmid: own if self._is_pair(own) else [] for pmid, own in sided.items()}
        both = [(all(self._outcomes[place].outcome == "right" for place in own), 1) if own else (0, 0) for own in pairs.values()]
        return Group(
            name=name,
            claims=len(places),
            papers=sum(map(bool, of_paper.values())),
            shares=outcomes,
            pairs=sum(map(bool, pairs.values())),
            both_right=self._resampler.figure(Tally.of(both, share)),
            baseline=self._guess_rate(sided),
            baseline_ranks=self._rank_rate(pairs),
        )

    def misled(self) -> frozenset[str]:
        """The papers with claims of both stances that the baseline does not rank correctly."""
        own: dict[str, list[int]] = {pmid: [] for pmid in self._papers}
        for place, one in enumerate(self._outcomes):
            own[one.claim.pmid].append(place)
        return frozenset(pmid for pmid, places in own.items() if self._is_pair(places) and not self._ranks(places))

    def _is_pair(self, places: Sequence[int]) -> bool:
        return {*STANCES} <= {self._outcomes[place].claim.stance for place in places}

    def _ranks(self, places: Sequence[int]) -> bool:
        """Whether the baseline ranks each of a paper's true claims above each of its false ones; a tie does not count."""
        assert self._support is not None
        true = [self._support[place] for place in places if self._outcomes[place].claim.stance == "support"]
        false = [self._support[place] for place in places if self._outcomes[place].claim.stance == "contradict"]
        return min(true) > max(false)

    def _figure(self, of_paper: Mapping[str, Sequence[int]], counts: Sequence[bool]) -> Figure:
        rows = [(sum(counts[place] for place in own), len(own)) for own in of_paper.values()]
        return self._resampler.figure(Tally.of(rows, share))

    def _guess_rate(self, of_paper: Mapping[str, Sequence[int]]) -> Figure | None:
        if self._support is None:
            return None
        right = [
            (chance > 0.5) == (one.claim.stance == "support") for one, chance in zip(self._outcomes, self._support, strict=True)
        ]
        return self._figure(of_paper, right)

    def _rank_rate(self, pairs: Mapping[str, Sequence[int]]) -> Figure | None:
        if self._support is None:
            return None
        rows = [(self._ranks(own), 1) if own else (0, 0) for own in pairs.values()]
        return self._resampler.figure(Tally.of(rows, share))


def count_others(outcomes: Sequence[ClaimOutcome]) -> str:
    """One sentence on how many papers other than the claims' own are listed."""
    others = sum(one.others for one in outcomes)
    return (
        f"Papers listed beside the claims' own: {others}, {others / len(outcomes):.1f} a claim; whether these are right is not "
        "known."
    )


def failures(
    outcomes: Sequence[ClaimOutcome], words: Callable[[ClaimOutcome], str] = lambda one: one.outcome
) -> tuple[Failure, ...]:
    """The claims whose outcome is not right, the wrong ones first."""
    order = list(OUTCOMES)
    cases = sorted((one for one in outcomes if one.outcome != "right"), key=lambda one: order.index(one.outcome))
    return tuple(
        Failure(
            words(one), one.claim.pmid, one.claim.claim, one.claim.stance, one.claim.kind, one.side, one.sentence, one.probability
        )
        for one in cases
    )


def report_json(report: ClaimsReport) -> str:
    """The whole report."""
    return json.dumps(asdict(report), indent=2, ensure_ascii=False) + "\n"


def report_lines(report: ClaimsReport) -> list[str]:
    """A table with one line per group, then the failures, each with what was shown."""
    wide = max(len(one.name) for one in report.groups) + 2
    lines = [f"{report.title}; 95 % bootstrap intervals over papers", *report.notes]
    header: list[str] = []
    for one in report.groups:
        cells = {**one.shares, "both of a pair": one.both_right}
        if one.baseline and one.baseline_ranks:
            cells |= {"claim alone": one.baseline, "its pairs": one.baseline_ranks}
        if list(cells) != header:
            header = list(cells)
            lines += ["", " " * wide + f"{'claims':>7}{'pairs':>7}" + "".join(f"{name:>22}" for name in header)]
        figures = "".join(f"{interval(figure):>22}" for figure in cells.values())
        lines.append(f"{one.name:<{wide}}{one.claims:>7}{one.pairs:>7}{figures}")
    if report.failures:
        lines += ["", f"{len(report.failures)} wrong outcomes:"]
    for failure in report.failures:
        kind = f", {failure.kind}" if failure.kind else ""
        lines.append(f"{failure.outcome}: PMID {failure.pmid} ({failure.stance}{kind}): {failure.claim}")
        if failure.shown_as:
            sure = "" if failure.probability is None else f" {failure.probability:.2f}"
            lines.append(f"    {failure.shown_as}{sure}: {failure.sentence}")
    return lines
