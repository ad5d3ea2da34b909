"""SciFact's files: claims with the documents that bear on them (Wadden et al. 2020, arXiv 2004.14974), and predictions.

Predictions have the format of the official evaluator (https://github.com/allenai/scifact-evaluator): one claim per line, its
documents best first, each with sentences and the label SUPPORT or CONTRADICT. The evaluator wants every claim of the labelled
file, in its order.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from counterpoint.indexes.readers.base import jsonl
from counterpoint.indexes.readers.base.fields import RecordError
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.core.values import Claim, Stance
from counterpoint.service.grounding.claims import check_claim

_Read = TypeVar("_Read")
LABELS: Mapping[str, Stance] = {
    "SUPPORT": "support",
    "SUPPORTS": "support",
    "REFUTE": "contradict",
    "REFUTES": "contradict",
    "CONTRADICT": "contradict",
    "CONTRADICTS": "contradict",
}
"""The data set uses CONTRADICT, its earlier release REFUTE, and related data sets the plurals."""
_ORIGIN = "the data are at https://github.com/allenai/scifact (data.tar.gz: corpus.jsonl and claims_dev.jsonl)"
_RECORD = "expected a SciFact claim with id, claim and evidence"
_PREDICTION = 'a prediction such as {"id": 7, "evidence": {"1234": {"sentences": [0], "label": "SUPPORT"}}} was expected'
_LABEL: Mapping[Stance, str] = {"support": "SUPPORT", "contradict": "CONTRADICT"}


@dataclass(frozen=True, slots=True)
class Gold:
    """A document's stance on a claim, and its rationales: sets of sentences (counted from 0), each of which proves the stance."""

    stance: Stance
    rationales: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class LabelledClaim:
    """A claim with the documents that bear on it, by PMID; none where the corpus holds no evidence."""

    claim: Claim
    gold: Mapping[str, Gold]

    def gold_of(self, stance: Stance) -> frozenset[str]:
        """The documents of one stance."""
        return frozenset(pmid for pmid, gold in self.gold.items() if gold.stance == stance)


@dataclass(frozen=True, slots=True)
class Files:
    """The claims to evaluate on and the documents to search."""

    claims: Path
    corpus: Path


def find(data: str | Path | None, claims: Path | None = None, corpus: Path | None = None) -> Files:
    """The dev claims and the corpus in a folder of SciFact's files (or its subfolder `scifact`); files given take precedence.

    Raises `BadInput` where a folder is needed and none is given.
    """
    if claims and corpus:
        return Files(claims, corpus)
    if not data:
        raise BadInput(f"No data folder is named; give --data DIR or set COUNTERPOINT_DATA ({_ORIGIN}).")
    folder = Path(data)
    root = folder / "scifact" if (folder / "scifact").is_dir() else folder
    return Files(claims or _in(root, "claims_dev"), corpus or _in(root, "corpus"))


def _in(root: Path, name: str) -> Path:
    for suffix in (".jsonl", ".jsonl.gz"):
        if (root / f"{name}{suffix}").is_file():
            return root / f"{name}{suffix}"
    raise BadInput(f"{root} has no {name}.jsonl or {name}.jsonl.gz; name the folder with SciFact's files ({_ORIGIN}).")


def read_claims(path: Path) -> list[LabelledClaim]:
    """The claims of a file, plain or gzipped, in its order.

    Raises `BadInput` for a file that cannot be used and `BadRecord` for an invalid line.
    """
    claims = _read_by_id(path, _read_claim, _RECORD)
    if not claims:
        raise BadInput(f"{path} contains no claims; {_ORIGIN}.")
    return list(claims.values())


def _read_by_id(path: Path, read: Callable[[dict[str, Any]], _Read], hint: str) -> dict[str, _Read]:
    """What `read` makes of each record of a file of JSON lines, plain or gzipped, by the record's id.

    Raises `BadInput` for a file that cannot be read and `BadRecord` for an invalid line; `hint` says what each should be.
    """
    records: dict[str, _Read] = {}

    def add(record: dict[str, Any], _number: int) -> None:
        try:
            claim, one = str(record["id"]), read(record)
        except (KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
            raise RecordError(f"{hint} ({type(error).__name__}: {error})") from None
        except BadInput as error:
            raise RecordError(str(error).rstrip(".")) from None
        if claim in records:
            raise RecordError(f"the claim {claim} appears twice; every id must be unique")
        records[claim] = one

    for _ in jsonl.read_records(path, add):
        pass
    return records


def _read_claim(record: dict[str, Any]) -> LabelledClaim:
    claim = check_claim(str(record["claim"]), id=str(record["id"]))
    return LabelledClaim(claim, {str(pmid): _gold(sets) for pmid, sets in (record.get("evidence") or {}).items()})


def _gold(sets: Any) -> Gold:
    stances = {stance_of(rationale["label"]) for rationale in sets}
    if len(stances) != 1:
        raise ValueError("the rationales of one document should have one label")
    return Gold(stances.pop(), tuple(tuple(int(index) for index in rationale["sentences"]) for rationale in sets))


def stance_of(label: Any) -> Stance:
    """The stance that a label names."""
    if label not in LABELS:
        raise ValueError(f"the label {label!r} is not one of {', '.join(LABELS)}")
    return LABELS[label]


@dataclass(frozen=True, slots=True)
class Prediction:
    """A stance predicted for a document, and the sentences (counted from 0) offered as its rationale, best first."""

    stance: Stance
    sentences: tuple[int, ...]


Predicted = Mapping[str, Prediction]
"""For one claim: predictions by PMID, best first within a stance."""


def read_predictions(path: Path) -> dict[str, Predicted]:
    """The predictions for each claim, by its id. Raises `BadRecord` for an invalid line."""
    return _read_by_id(path, _read_predicted, _PREDICTION)


def _read_predicted(record: dict[str, Any]) -> Predicted:
    return {
        str(pmid): Prediction(stance_of(one["label"]), tuple(int(index) for index in one.get("sentences") or ()))
        for pmid, one in record["evidence"].items()
    }


def predictions_text(ids: Sequence[str], predictions: Sequence[Predicted]) -> str:
    """The predictions for claims, in their order, as the official evaluator reads them."""
    lines = []
    for claim, of_claim in zip(ids, predictions, strict=True):
        evidence = {pmid: {"sentences": list(one.sentences), "label": _LABEL[one.stance]} for pmid, one in of_claim.items()}
        number = int(claim) if claim.isascii() and claim.isdigit() else claim
        lines.append(json.dumps({"id": number, "evidence": evidence}, ensure_ascii=False) + "\n")
    return "".join(lines)
