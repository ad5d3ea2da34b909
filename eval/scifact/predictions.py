"""SciFact's format of predictions, read and written: one claim per line, its documents best first, with sentences and a label.

The format is that of the official evaluator (https://github.com/allenai/scifact-evaluator), which wants every claim of the
labelled file, in its order, and knows the labels SUPPORT and CONTRADICT.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.scifact.files import read_records, stance_of
from retrieval.core.errors import BadRecord
from retrieval.core.values import Stance

_RECORD = 'a prediction such as {"id": 7, "evidence": {"1234": {"sentences": [0], "label": "SUPPORT"}}} was expected'
_LABEL: Mapping[Stance, str] = {"support": "SUPPORT", "contradict": "CONTRADICT"}


@dataclass(frozen=True, slots=True)
class Prediction:
    """A stance predicted for a document, and the sentences (counted from 0) offered as its rationale, best first."""

    stance: Stance
    sentences: tuple[int, ...]


Predicted = Mapping[str, Prediction]
"""For one claim: predictions by PMID, best first within a stance."""


def read_predictions(path: Path) -> dict[str, Predicted]:
    """The predictions for each claim, by its id. Raises `BadRecord` for an invalid line."""
    predictions: dict[str, Predicted] = {}
    for number, record in read_records(path, _RECORD):
        try:
            claim = str(record["id"])
            evidence = {
                str(pmid): Prediction(stance_of(one["label"]), tuple(int(index) for index in one.get("sentences") or ()))
                for pmid, one in record["evidence"].items()
            }
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise BadRecord(path, f"line {number}", f"{_RECORD} ({type(error).__name__}: {error}).") from None
        if claim in predictions:
            raise BadRecord(path, f"line {number}", f"the claim {claim} appears twice; every id must be unique.")
        predictions[claim] = evidence
    return predictions


def predictions_text(ids: Sequence[str], predictions: Sequence[Predicted]) -> str:
    """The predictions for claims, in their order, as the official evaluator reads them."""
    lines = []
    for claim, of_claim in zip(ids, predictions, strict=True):
        evidence = {pmid: {"sentences": list(one.sentences), "label": _LABEL[one.stance]} for pmid, one in of_claim.items()}
        number = int(claim) if claim.isascii() and claim.isdigit() else claim
        lines.append(json.dumps({"id": number, "evidence": evidence}, ensure_ascii=False) + "\n")
    return "".join(lines)
