"""From a reading of an abstract to a verdict on the paper: its stance, strongest sentences and relevance, weighed together.

The weights are a `Decision`'s (multinomial logistic regression, symmetric in the two stances but for the biases). In place of the
strongest sentence it uses the document's own stance, and in place of the second the strongest sentence. Where that sentence and
the document take opposite sides, neither is trusted: the document stays neutral and, if probable enough, is listed as uncertain.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nli.decision.document import FARTHEST, Decision, compute_margins
from nli.judges.judge import Reading
from retrieval.core.values import Label, Verdict

DISAGREEMENT = "the paper and its best sentence disagree"
"""Why a document that is probable enough is given no side here."""
SILENT = -8.0
"""The log odds of a stance for the strongest sentence of a document of which no sentence was read."""


def make_marks(reading: Reading, gap: float, about: float) -> NDArray[np.float64]:
    """[6]: log odds of support for the document and its strongest sentence, the same for contradiction, the gap, aboutness."""
    document = compute_margins([reading.document])[0]
    verdicts = [verdict for verdict in reading.sentences if verdict is not None]
    sentence = compute_margins(verdicts).max(axis=0) if verdicts else np.full(2, SILENT)
    return np.array([document[0], sentence[0], document[1], sentence[1], min(max(gap, 0.0), FARTHEST), about])


def decide(decision: Decision, reading: Reading, gap: float = 0.0, about: float = 0.0) -> Verdict:
    """The document's calibrated verdict; `gap` and `about` are as in `nli.decision.document.Decision`."""
    marks = make_marks(reading, gap, about)
    support, neutral, contradict = decision.probabilities(marks[None])[0].tolist()
    label = decision.label(support, contradict)
    if is_at_odds(label, marks):
        return Verdict(support, neutral, contradict, decided="neutral", of="document", reason=DISAGREEMENT)
    return Verdict(support, neutral, contradict, decided=label, of="document")


def is_at_odds(label: Label, marks: NDArray[np.float64]) -> bool:
    """Whether the strongest sentence supports the opposite of the label; `marks` [6] is as `make_marks` returns it."""
    sentence_for, sentence_against = float(marks[1]), float(marks[3])
    if label == "contradict":
        sentence_for, sentence_against = sentence_against, sentence_for
    return label != "neutral" and sentence_against > max(sentence_for, 0.0)
