"""An evaluation as data: what `counterpoint eval scifact --json` writes, and everything that its page and tables are made from.

All figures are fractions of 1; None stands where there is nothing to measure. `read_report` reads what `report_json` wrote.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from eval.measures.formulas import Point
from eval.measures.losses import Fate
from retrieval.core.errors import BadInput
from retrieval.core.values import Stance


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with its 95 % bootstrap interval over claims."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Difference:
    """A figure minus the baseline's, its 95 % interval and the two-sided p of no difference, on the same samples of claims."""

    value: float | None
    low: float | None
    high: float | None
    p: float | None


@dataclass(frozen=True, slots=True)
class Measure:
    """What a figure is: its key in `figures`, a short title, and how it is defined."""

    key: str
    title: str
    definition: str


@dataclass(frozen=True, slots=True)
class Work:
    """How much one branch examined, on average per claim."""

    documents: float
    sentences: float
    candidates: float
    judged: float
    read: float = 0.0


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence of a document, by its place (from 0) and as it stands in the index; "" where the index does not hold it."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class Case:
    """A gold document that a variant lost: the claim, the document with its gold sentences, its rank in the retrieval,
    and how it was lost."""

    fate: Fate
    claim: str
    claim_text: str
    pmid: str
    title: str
    depth: int | None
    rationale: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class SideReport:
    """One stance of a variant: what its branch examined, what became of every gold document (every fate has an entry), up to
    twelve cases of each kind of loss, and precision against recall over thresholds on the returned documents' scores.

    A point says what would remain if only scores of at least its threshold were returned. Scores of different variants are not
    comparable, and those of a reranker are hardly comparable between claims.
    """

    work: Work
    fates: Mapping[Fate, int]
    cases: tuple[Case, ...]
    precision_recall: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class VariantReport:
    """One variant: its configuration and models, a hash of the source code that its grounding runs, its figures by measure, the
    difference of each from the baseline's (empty for the baseline itself and where it was not evaluated), and both its sides."""

    name: str
    description: str
    config: Mapping[str, Any]
    models: Mapping[str, str]
    code: str
    figures: Mapping[str, Figure]
    against_baseline: Mapping[str, Difference]
    sides: Mapping[Stance, SideReport]


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims: how many, how many with evidence of each stance and with none, how many (claim, document) pairs of each stance,
    and how many of these documents are not in the corpus."""

    all: int
    with_support: int
    with_contradict: int
    without_evidence: int
    support_pairs: int
    contradict_pairs: int
    gold_not_in_corpus: int


@dataclass(frozen=True, slots=True)
class Provenance:
    """What is needed to reproduce the report. `code` is a hash of the source that makes it."""

    counterpoint: str
    code: str
    command: str
    claims_file: str
    claims_sha256: str
    corpus_file: str
    corpus_sha256: str
    index: str
    profile: Mapping[str, Any]
    bootstrap_seed: int
    bootstrap_resamples: int


@dataclass(frozen=True, slots=True)
class Report:
    """An evaluation of variants on one set of claims.

    `measures` defines the keys of `figures`, and `fates` the words for losses; `blind` holds the figures of plain BM25, which
    judges no stance, for the measures that apply to it; `published` holds others' figures (expected.yaml).
    """

    claims: Claims
    measures: tuple[Measure, ...]
    fates: Mapping[Fate, str]
    baseline: str | None
    blind: Mapping[str, Figure]
    variants: tuple[VariantReport, ...]
    published: Mapping[str, Any]
    provenance: Provenance


_REPORT: TypeAdapter[Report] = TypeAdapter(Report)


def report_json(report: Report) -> str:
    """The report as JSON."""
    return _REPORT.dump_json(report, indent=2).decode() + "\n"


def read_report(path: Path) -> Report:
    """A report that `report_json` wrote to a file. Raises `BadInput` for any other file."""
    try:
        return _REPORT.validate_json(path.read_bytes())
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}); name a file written by `eval scifact --json`.") from None
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(str(part) for part in fault["loc"])
        raise BadInput(f"{path} is not a report of `counterpoint eval scifact` ({place}: {fault['msg']}).") from None
