"""The stance model that ships with the package: a small cross-encoder over (claim, sentence with its title)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nli.decision.document import Decision
from nli.judges.judge import WINDOW, judge_lazily
from nli.wording.marking import TITLE_BREAK, Lexicon, Marker
from retrieval.core.errors import ModelUnusable
from retrieval.core.probabilities import softmax
from retrieval.core.values import Premise, Verdict
from retrieval.runtime.engine import Engine, PairEncoder
from retrieval.words.forms import unify_text

STANCE_MODEL = Path(__file__).parent.parent / "models" / "stance"
LABELS = ["support", "neutral", "contradict"]


def make_premise_text(premise: Premise) -> str:
    """The second text of a pair: the judged text, then its title. Neighbouring sentences are not included."""
    return f"{' '.join(premise.text.split())}{TITLE_BREAK}{' '.join(premise.title.split())}"


@dataclass(frozen=True, slots=True)
class Calibration:
    """How logits become probabilities: softmax(scale * logits + bias).

    Temperature scaling with one bias per class (Guo et al. 2017, "On Calibration of Modern Neural Networks", arXiv 1706.04599,
    section 4.2), fitted on claims from the train split.
    """

    scale: float
    bias: tuple[float, float, float]

    def probabilities(self, logits: NDArray[np.float32]) -> NDArray[np.float64]:
        """[pairs, 3] from logits [pairs, 3]."""
        return softmax(self.scale * logits.astype(np.float64) + np.asarray(self.bias))


def read_decision(card: dict[str, Any], setting: str) -> Decision:
    """The decision fitted for a setting: "open" (any document of the index), "given" (a document known to be cited) or "lay"."""
    fields = {name: value for name, value in card["decision"][setting].items() if name != "most"}
    return Decision(**{**fields, "thresholds": tuple(fields["thresholds"])})


class EmbeddedJudge:
    """Judges sentences on the CPU with the shipped stance model.

    Raises `ModelUnusable` where the model's folder is incomplete or damaged.
    """

    def __init__(self, folder: Path = STANCE_MODEL, engine: Engine = "auto", threads: int = 0) -> None:
        self._encoder = PairEncoder(folder, engine, Marker(Lexicon.read(folder / "polarity.txt")), threads)
        self.name = self._encoder.name
        self.card = self._encoder.card
        if self.card["labels"] != LABELS:
            raise ModelUnusable(f"{folder} is not a stance model: its labels are {self.card['labels']}, expected {LABELS}.")
        try:
            self.calibration = Calibration(**self.card["calibration"])
            self.decision = read_decision(self.card, "open")
        except (TypeError, KeyError) as error:
            raise ModelUnusable(
                f"{folder / 'model.json'} has a calibration that cannot be read ({error}); reinstall the package."
            ) from error

    def logits(self, claim: str, premises: Sequence[Premise]) -> NDArray[np.float32]:
        """[premises, 3], before calibration."""
        # Spelling variants must not change the verdict (retrieval.words.forms).
        claim = unify_text(" ".join(claim.split()))
        return self._encoder.logits([(claim, unify_text(make_premise_text(premise))) for premise in premises])

    def __call__(self, claim: str, premises: Iterable[Premise]) -> Iterator[Verdict]:
        """One verdict per premise, in order."""

        def predict(chunk: Sequence[Premise]) -> list[Verdict]:
            rows = self.calibration.probabilities(self.logits(claim, chunk)).tolist()
            return [Verdict(*row) for row in rows]

        return judge_lazily(predict, premises, WINDOW)
