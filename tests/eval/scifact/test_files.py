"""SciFact's files of claims and of predictions, read and written."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from counterpoint.eval.scifact.files import Prediction, predictions_text, read_claims, read_predictions
from counterpoint.retrieval.core.errors import BadInput


def write(path: Path, *records: Any) -> Path:
    path.write_text("".join(f"{json.dumps(one)}\n" for one in records))
    return path


def test_claims_are_read_with_every_name_of_a_label_plain_or_gzipped(tmp_path: Path) -> None:
    def sets(label: str) -> list[dict[str, Any]]:
        return [{"sentences": [0], "label": label}]

    record = {"id": 1, "claim": "a", "evidence": {"1": sets("SUPPORTS"), "2": sets("REFUTE"), "3": sets("CONTRADICT")}}
    path = tmp_path / "claims.jsonl.gz"
    with gzip.open(path, "wt") as file:
        file.write(f"{json.dumps(record)}\n\n")
    [claim] = read_claims(path)
    assert claim.gold_of("support") == {"1"}
    assert claim.gold_of("contradict") == {"2", "3"}


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ('{"id": 1}\n', "line 1: expected a SciFact claim"),
        ("[]\n", "line 1: expected one JSON object, got a list"),
        ('{"id": 1, "claim": " "}\n', "line 1: The claim is empty"),
        ('{"id": 1, "claim": "a"}\n{"id": 1, "claim": "b"}\n', "line 2: the claim 1 appears twice"),
        ('{"id": 1, "claim": "a", "evidence": {"2": [{"sentences": [0], "label": "MAYBE"}]}}\n', "'MAYBE' is not one of SUPPORT"),
        ('{"id": 1, "claim": "a", "evidence": {"2": []}}\n', "should have one label"),
        ("\n", "contains no claims"),
        ('{"id": 1, "evidence": {}, "of": "predictions"}\n' * 2, "line 2: the claim 1 appears twice"),
        ('{"id": 1, "of": "predictions"}\n', "line 1: a prediction such as"),
    ],
)
def test_claims_and_predictions_that_cannot_be_used_are_told(tmp_path: Path, lines: str, told: str) -> None:
    path = tmp_path / "claims.jsonl"
    path.write_text(lines)
    with pytest.raises(BadInput, match=told):
        (read_predictions if "predictions" in lines else read_claims)(path)


def test_predictions_are_written_as_they_are_read(tmp_path: Path) -> None:
    predicted = [{"12": Prediction("contradict", (3,)), "5": Prediction("support", ())}, {}]
    text = predictions_text(["4", "x"], predicted)
    first = json.loads(text.splitlines()[0])
    assert first == {
        "id": 4,
        "evidence": {"12": {"sentences": [3], "label": "CONTRADICT"}, "5": {"sentences": [], "label": "SUPPORT"}},
    }
    path = tmp_path / "predictions.jsonl"
    path.write_text(text)
    assert read_predictions(path) == dict(zip(["4", "x"], predicted, strict=True))
