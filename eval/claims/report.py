"""Shares of outcomes with bootstrap intervals over papers, and a claim-only baseline beside them.

The baseline says how far the wording of the claims alone, without any paper, gives their stance away. Where claims of one stance
are worded differently from those of the other (more of them negated, say), a system that looks at nothing else seems to
understand papers. Only the pairs on which such a baseline fails show whether a system does (Gururangan et al. 2018, arXiv
1803.02324).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from eval.claims.measuring import OUTCOMES, ClaimOutcome, Outcome, ground_claims
from eval.claims.reading import PaperClaim
from eval.measures.figures import RESAMPLES, SEED, Figure, Resampler, Tally, share
from eval.measures.report import Report, Table, show
from eval.scifact.observing import STANCES, grounding_code
from retrieval.core.errors import BadInput
from retrieval.core.values import LABELS, Label, Stance
from service.grounding.ground import Grounder

PLAIN: Mapping[Outcome, str] = {outcome: outcome for outcome in OUTCOMES}


@dataclass(frozen=True, slots=True)
class ClaimOnly:
    """The baseline's probability of "support" for each claim measured, in order; the name of the training file, how many of its
    claims were used, and how many were left out because they are about a paper that is measured."""

    file: str
    support: tuple[float, ...]
    trained_on: int
    left_out: int


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
class ClaimsReport:
    """The measurements, in groups of which the first is all claims; notes on how to read them; every failure; what made them."""

    title: str
    notes: tuple[str, ...]
    groups: tuple[Group, ...]
    failures: tuple[Failure, ...]
    made: Mapping[str, Any]


def claim_only(train: Sequence[PaperClaim], claims: Sequence[PaperClaim], path: Path) -> ClaimOnly:
    """Logistic regression over TF-IDF of the words and word pairs in the claims of `train`, read from `path`."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    papers = {claim.pmid for claim in claims}
    examples = [example for example in train if example.pmid not in papers and example.stance != "neutral"]
    for stance in STANCES:
        if not any(example.stance == stance for example in examples):
            raise BadInput(
                f"{path} has no claim with the stance {stance} about a paper outside the measured set; expected claims of both "
                "stances about other papers."
            )
    # Keep one-letter words ("vitamin D"), and also "no" and "not".
    words = TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"\b\w+\b", sublinear_tf=True)
    model = make_pipeline(words, LogisticRegression(max_iter=1000))
    try:
        model.fit([example.claim for example in examples], [example.stance for example in examples])
    except ValueError as error:
        raise BadInput(
            f"No classifier can be trained on the claims of {path} ({error}); expected claims made of words."
        ) from None
    place = list(model.classes_).index("support")
    chances = model.predict_proba([claim.claim for claim in claims])[:, place]
    return ClaimOnly(
        path.name, tuple(float(one) for one in chances), len(examples), sum(example.pmid in papers for example in train)
    )


def measure_claims(
    claims: Sequence[PaperClaim],
    path: Path,
    grounder: Grounder,
    work: Path,
    command: str,
    baseline: ClaimOnly | None = None,
    disputed: int = 0,
) -> ClaimsReport:
    """Measure the claims of the file at `path` by stance and by kind, with the baseline beside them where one was trained.

    `disputed` is how many were left out because those who labelled them disagree.
    """
    outcomes = ground_claims(claims, grounder, work)
    grouping = Grouping(outcomes, baseline.support if baseline else None)
    stances = [one for one in LABELS if one != "neutral" or any(claim.stance == one for claim in claims)]
    groups = [grouping.group("all claims"), *(grouping.group(stance, stance=stance) for stance in stances)]
    groups += [grouping.group(kind, kind=kind) for kind in dict.fromkeys(claim.kind for claim in claims if claim.kind)]
    notes = [count_others(outcomes)]
    if baseline:
        groups.append(grouping.group("baseline fails", papers=grouping.misled()))
        exclusion = f", {baseline.left_out} about papers measured here left out" if baseline.left_out else ""
        notes.append(f"Claim alone: a bag of words trained on {baseline.trained_on} claims of {baseline.file}{exclusion}.")
    if disputed:
        notes.append(f"Left out: {disputed} on which readers disagree.")
    title = f"{path.name}: {len(claims)} claims about {groups[0].papers} papers"
    return ClaimsReport(title, tuple(notes), tuple(groups), failures(outcomes), provenance(grounder, command))


def provenance(grounder: Grounder, command: str) -> dict[str, Any]:
    """What is needed to make the report again."""
    return {
        "counterpoint": version("counterpoint"),
        "code": grounding_code(),
        "command": command,
        "index": grounder.index.manifest.id,
        "config": grounder.config.name,
        "models": grounder.models.names(),
        "bootstrap_seed": SEED,
        "bootstrap_resamples": RESAMPLES,
    }


class Grouping:
    """Makes groups of the claims seen, all on the same samples of papers; `support` is a baseline's probability for each."""

    def __init__(self, outcomes: Sequence[ClaimOutcome], support: Sequence[float] | None = None) -> None:
        self._outcomes, self._support = outcomes, support
        self._papers = list(dict.fromkeys(outcome.claim.pmid for outcome in outcomes))
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
        of_paper: dict[str, list[int]] = {pmid: [] for pmid in self._papers}
        for place, one in enumerate(self._outcomes):
            claim = one.claim
            if stance in (None, claim.stance) and kind in (None, claim.kind) and (papers is None or claim.pmid in papers):
                of_paper[claim.pmid].append(place)
        outcomes = {
            words[outcome]: self._share(of_paper, [one.outcome == outcome for one in self._outcomes]) for outcome in OUTCOMES
        }
        sided = {
            pmid: [place for place in own if self._outcomes[place].claim.stance != "neutral"] for pmid, own in of_paper.items()
        }
        pairs = [own if self._is_pair(own) else [] for own in sided.values()]
        guesses: Figure | None = None
        ranks: Figure | None = None
        if self._support is not None:
            right = [
                (chance > 0.5) == (one.claim.stance == "support")
                for one, chance in zip(self._outcomes, self._support, strict=True)
            ]
            guesses, ranks = self._share(sided, right), self._share_of_pairs(pairs, self._ranks)
        return Group(
            name=name,
            claims=sum(map(len, of_paper.values())),
            papers=sum(map(bool, of_paper.values())),
            shares=outcomes,
            pairs=sum(map(bool, pairs)),
            both_right=self._share_of_pairs(pairs, lambda own: all(self._outcomes[place].outcome == "right" for place in own)),
            baseline=guesses,
            baseline_ranks=ranks,
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

    def _share(self, of_paper: Mapping[str, Sequence[int]], counts: Sequence[bool]) -> Figure:
        rows = [(sum(counts[place] for place in own), len(own)) for own in of_paper.values()]
        return self._resampler.figure(Tally.of(rows, share))

    def _share_of_pairs(self, pairs: Sequence[Sequence[int]], test: Callable[[Sequence[int]], bool]) -> Figure:
        return self._resampler.figure(Tally.of([(test(own), 1) if own else (0, 0) for own in pairs], share))


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
        with_baseline = ("claim alone", "its pairs") if groups[0].baseline else ()
        rows = [
            [group.name, str(group.claims), str(group.pairs), *map(show, group.shares.values()), show(group.both_right)]
            + ([show(group.baseline), show(group.baseline_ranks)] if with_baseline else [])
            for group in groups
        ]
        blocks.append(Table("", ["", "claims", "pairs", *header, "both of a pair", *with_baseline], rows))
    if report.failures:
        blocks.append(f"{len(report.failures)} wrong outcomes:")
    for failure in report.failures:
        kind = f", {failure.kind}" if failure.kind else ""
        blocks.append(f"{failure.outcome}: PMID {failure.pmid} ({failure.stance}{kind}): {failure.claim}")
        if failure.shown_as:
            sure = "" if failure.probability is None else f" {failure.probability:.2f}"
            blocks.append(f"    {failure.shown_as}{sure}: {failure.sentence}")
    return Report(f"{report.title}; 95 % bootstrap intervals over papers", blocks, report, made_with=report.made)
