"""Agreement between two annotations of the same papers: on which sentences are evidence, and on what the aspects are.

The benchmark publishes no text for its aspects, only the sentences that show each. The similarity of two aspects is therefore
that of their sentences: each aspect of one annotation is paired with one of the other to maximise the sum of similarities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eval.evidence.evidencebench import EvidenceCase
from eval.measures.formulas import Floats, Tally, f1, kappa, precision, recall
from eval.measures.report_data import Figure
from eval.measures.resampling import Resampler
from retrieval.core.errors import BadInput

_TASK = "er-10"
"""The task that counts all aspects."""
_ALIKE = 0.5


@dataclass(frozen=True, slots=True)
class PaperAgreement:
    """One paper. `sentences` counts those that both, only the first, only the second, and neither take as evidence; `aspects` is
    how many each has; `likeness` holds the similarity of each of the second's aspects to its pair (Jaccard of sentences, 0 for
    no pair)."""

    id: str
    sentences: tuple[int, int, int, int]
    aspects: tuple[int, int]
    likeness: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """All papers: precision, recall and F1 of the first's evidence sentences against the second's, Cohen's kappa over sentences,
    the mean likeness of the second's aspects, and the share of them whose pair has a likeness of 0.5 or more."""

    papers: tuple[PaperAgreement, ...]
    precision: Figure
    recall: Figure
    f1: Figure
    kappa: Figure
    likeness: Figure
    found: Figure


def compare_annotations(ours: Sequence[EvidenceCase], theirs: Sequence[EvidenceCase]) -> Agreement:
    """Compare the papers of `ours` with the same papers of `theirs`, with 95 % bootstrap intervals over papers.

    Raises `BadInput` where `theirs` lacks a paper or has other sentences for it.
    """
    cases = {case.id: case for case in theirs}
    papers = []
    for case in ours:
        if case.id not in cases:
            raise BadInput(f"The paper {case.id} is not in the other annotation; name the file that it was made from.")
        if [one.text for one in case.paper.sentences] != [one.text for one in cases[case.id].paper.sentences]:
            raise BadInput(
                f"The paper {case.id} has other sentences in the other annotation; name the file that it was made from."
            )
        papers.append(_compare(case, cases[case.id]))
    return _sum_up(papers)


def _compare(ours: EvidenceCase, theirs: EvidenceCase) -> PaperAgreement:
    one, other = (case.goals[_TASK].aspects for case in (ours, theirs))
    mine, yours = frozenset[int]().union(*one), frozenset[int]().union(*other)
    both = len(mine & yours)
    neither = len(ours.paper.body) - len(mine | yours)
    counts = (both, len(mine) - both, len(yours) - both, neither)
    return PaperAgreement(ours.id, counts, (len(one), len(other)), pair_aspects(one, other))


def pair_aspects(ours: Sequence[frozenset[int]], theirs: Sequence[frozenset[int]]) -> tuple[float, ...]:
    """The likeness of each of `theirs` to its pair among `ours`, each used once (Kuhn 1955, by SciPy)."""
    from scipy.optimize import linear_sum_assignment

    similarity = np.array([[len(one & other) / len(one | other) for one in ours] for other in theirs])
    likeness = np.zeros(len(theirs))
    rows, columns = linear_sum_assignment(similarity, maximize=True)
    likeness[rows] = similarity[rows, columns]
    return tuple(float(one) for one in likeness)


def _sum_up(papers: Sequence[PaperAgreement]) -> Agreement:
    resampler = Resampler(len(papers))
    # The formulas take (right, predicted, gold).
    counts = [(both, both + mine, both + yours) for both, mine, yours, _ in (one.sentences for one in papers)]
    per_aspect = [(sum(one.likeness), sum(value >= _ALIKE for value in one.likeness), len(one.likeness)) for one in papers]
    figures = [resampler.figure(Tally.of(counts, formula)) for formula in (precision, recall, f1)]
    return Agreement(
        tuple(papers),
        figures[0],
        figures[1],
        figures[2],
        resampler.figure(Tally.of([one.sentences for one in papers], kappa)),
        resampler.figure(Tally.of([(similarity, count) for similarity, _, count in per_aspect], _mean)),
        resampler.figure(Tally.of([(pairs, count) for _, pairs, count in per_aspect], _mean)),
    )


def _mean(sums: Floats) -> Floats:
    mean: Floats = sums[..., 0] / sums[..., 1]
    return mean


def lines(agreement: Agreement) -> list[str]:
    """The agreement for a terminal: one line per paper, then all papers together."""
    rows = [f"{'paper':<32}{'sentences: both, ours, theirs':>32}{'aspects: ours, theirs':>24}{'likeness':>10}"]
    for one in agreement.papers:
        both, mine, yours, _ = one.sentences
        mean = sum(one.likeness) / len(one.likeness)
        rows.append(f"{one.id:<32}{f'{both}, {mine}, {yours}':>32}{f'{one.aspects[0]}, {one.aspects[1]}':>24}{mean:>10.2f}")
    for title, figure in (
        ("Evidence sentences, precision", agreement.precision),
        ("Evidence sentences, recall", agreement.recall),
        ("Evidence sentences, F1", agreement.f1),
        ("Evidence sentences, Cohen's kappa", agreement.kappa),
        ("Their aspects, mean likeness of the pair", agreement.likeness),
        ("Their aspects with a pair alike by half", agreement.found),
    ):
        if figure.value is not None:
            rows.append(f"{title:<44}{figure.value:.2f} ({figure.low:.2f} to {figure.high:.2f})")
    return [*rows, f"{len(agreement.papers)} papers; in brackets: 95 % intervals by a bootstrap over papers."]
