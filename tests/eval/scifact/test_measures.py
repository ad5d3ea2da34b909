"""The measures on claims that can be counted by hand, and the official ones beside the evaluator's definitions."""

from __future__ import annotations

import pytest

from counterpoint.eval.scifact.files import Gold, LabelledClaim, Prediction
from counterpoint.eval.scifact.measures import count, measure, official_figures
from counterpoint.eval.scifact.observing import ClaimResult, ObservedSide, Returned
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.core.values import Claim


def claim(id: str, support: str = "", contradict: str = "") -> LabelledClaim:
    gold = {pmid: Gold("support", ((0,),)) for pmid in support} | {pmid: Gold("contradict", ((0,),)) for pmid in contradict}
    return LabelledClaim(Claim(f"claim {id}", id=id), gold)


def side(returned: str = "", whole: str = "") -> ObservedSide:
    """Returned documents, each with its first sentence, and the whole ranking."""
    return ObservedSide(tuple(Returned(pmid, 0, (0.0, 1.0, 0.0), 1.0) for pmid in returned), tuple(whole))


CLAIMS = [
    claim("1", support="a"),
    claim("2", support="ab", contradict="c"),
    claim("3", contradict="d"),
    claim("4"),
]
RESULTS = [
    # Its gold document is second of the supports, fourth of the whole ranking.
    ClaimResult("1", side("xa", "xyza"), side("w")),
    # One of two supports returned; its contradiction is taken for a support.
    ClaimResult("2", side("bc", "ab"), side("", "xc")),
    ClaimResult("3", side(""), side("d", "d")),
    ClaimResult("4", side(""), side("")),
]


def test_every_figure_can_be_counted_by_hand() -> None:
    expected = {
        "mrr.whole.support": (1 / 4 + 1) / 2, "mrr.whole.contradict": (1 / 2 + 1) / 2, "mrr.at3.support": (0 + 1) / 2,
        # A claim with evidence of both stances counts once for each.
        "mrr.whole.weighted": (1 / 4 + 1 + 1 / 2 + 1) / 4,
        "mrr.stance_correct.support": (1 / 2 + 1) / 2, "mrr.stance_correct.contradict": (0 + 1) / 2,
        "mrr.stance_correct.weighted": (1 / 2 + 1 + 0 + 1) / 4,
        "pairs.support.precision": 2 / 4, "pairs.support.recall": 2 / 3, "pairs.support.f1": 4 / 7,
        "pairs.contradict.precision": 1 / 2, "pairs.contradict.recall": 1 / 2,
        "silence.without_evidence": 1.0, "silence.with_evidence": 0.0,
        "scifact.abstract_label_only_precision": 3 / 6, "scifact.abstract_label_only_recall": 3 / 5,
        # The contradiction called a support: its sentence is selected, its label is wrong.
        "scifact.sentence_selection_precision": 4 / 6, "scifact.sentence_label_precision": 3 / 6,
    }  # fmt: skip
    figures = {one.key: tally.value for one, tally in measure(CLAIMS, RESULTS)}
    assert {key: figures[key] for key in expected} == pytest.approx(expected)


SUPPORTED, REFUTED = Gold("support", ((1, 4), (6,))), Gold("contradict", ((2,),))
DOCUMENT, WRONG, NONE = (1, 1, 1), (0, 1, 1), (0, 0, 0)


@pytest.mark.parametrize(
    ("gold", "predicted", "counts"),
    [
        # A document with a whole rationale counts in every way, half a rationale proves nothing.
        ({"7": SUPPORTED}, {"7": Prediction("support", (4, 1))}, [DOCUMENT, DOCUMENT, (2, 2, 3), (2, 2, 3)]),
        ({"7": SUPPORTED}, {"7": Prediction("support", (1,))}, [DOCUMENT, WRONG, (0, 1, 3), (0, 1, 3)]),
        # Only the first three sentences rationalize a document, but all count as sentences.
        ({"7": SUPPORTED}, {"7": Prediction("support", (0, 2, 3, 6))}, [DOCUMENT, WRONG, (1, 4, 3), (1, 4, 3)]),
        # A wrong label keeps the selected sentences alone.
        ({"7": REFUTED}, {"7": Prediction("support", (2,))}, [WRONG, WRONG, (1, 1, 1), (0, 1, 1)]),
        ({"7": REFUTED}, {"8": Prediction("contradict", (2, 3))}, [WRONG, WRONG, (0, 2, 1), (0, 2, 1)]),
        ({}, {}, [NONE, NONE, NONE, NONE]),
    ],
)
def test_right_predicted_and_gold_are_counted_as_officially(
    gold: dict[str, Gold], predicted: dict[str, Prediction], counts: list[tuple[int, int, int]]
) -> None:
    assert list(count(gold, predicted).values()) == counts


def test_predictions_must_fit_the_claims() -> None:
    with pytest.raises(BadInput, match="3 claims have none"):
        official_figures(CLAIMS, {"1": {}})
    with pytest.raises(BadInput, match="9 is not a claim"):
        official_figures(CLAIMS, {one: {} for one in "12349"})
