"""Figures of the document reader on dev splits: `python -m nli.training.reader.evaluate --data DIR`.

Retrieval is BM25 in memory and the shipped reranker (nli.training.reader.cases); the figures of the service itself come from
`counterpoint eval scifact`, `eval claims` and `eval titles`. Of ordinary's dev papers, only the half on which nothing was fitted
is measured.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from nli.decision.document import Decision
from nli.judges.embedded import read_decision
from nli.judges.judge import Abstract
from nli.reader.judge import READER_MODEL, DocumentReader
from nli.training.pairs import CONTRADICT, LABELS, NEUTRAL, SUPPORT
from nli.training.reader import cases
from nli.training.reader.cases import Given, PaperCollection, ReaderCase
from nli.training.reader.claim_only import fit_claim_only
from nli.training.reader.examples import read_ordinary
from nli.training.reader.fit import compute_scifact_f1, decide_label, make_features
from retrieval.rerank.embedded import EmbeddedReranker
from retrieval.training.command import return_exit_code
from retrieval.training.measure import balanced_accuracy, bootstrap_interval, calibration_error, macro_f1

Unit = TypeVar("Unit")
Line = tuple[str, float, float, float]
SETS = ("probes", "given", "ordinary", "healthver", "scifact")


def measure_figure(name: str, measure: Callable[[Sequence[Unit]], float], units: Sequence[Unit]) -> Line:
    """A figure with its 95 % interval from a bootstrap over the units."""
    return (name, *bootstrap_interval(measure, units, 300))


def measure_scifact(claims: Sequence[Sequence[ReaderCase]], reader: DocumentReader) -> Iterable[Line]:
    """Figures of open retrieval, polarity, cited abstracts and the calibration of the document's probability."""
    open_decision, given_decision = read_decision(reader.card, "open"), read_decision(reader.card, "given")

    def open_(one: ReaderCase) -> NDArray[np.float64]:
        return make_features(reader.calibration, one.logits, one.gap, one.about)

    def given_features(one: ReaderCase) -> NDArray[np.float64]:
        return make_features(reader.calibration, one.logits)

    def polarity(some: Sequence[Sequence[ReaderCase]]) -> float:
        documents = [one for claim in some for one in claim if one.named and one.bm25_rank < 10]
        predictions = [
            SUPPORT if row[0] >= row[2] else CONTRADICT
            for row in (given_decision.probabilities(given_features(one)[None])[0] for one in documents)
        ]
        return balanced_accuracy(np.array([one.gold for one in documents]), np.array(predictions))

    def cited_accuracy(some: Sequence[Sequence[ReaderCase]]) -> float:
        documents = [one for claim in some for one in claim if one.cited]
        return 100.0 * float(np.mean([decide_label(given_decision, given_features(one)) == one.gold for one in documents]))

    def error(some: Sequence[Sequence[ReaderCase]]) -> float:
        documents = [one for claim in some for one in claim if one.open]
        shares = np.vstack([open_decision.probabilities(open_(one)[None]) for one in documents])
        return calibration_error(shares.max(axis=1), shares.argmax(axis=1) == np.array([one.gold for one in documents]))

    yield measure_figure("SciFact, label-only F1", lambda some: compute_scifact_f1(some, open_, open_decision), claims)
    yield measure_figure(
        "  contradictions", lambda some: compute_scifact_f1(some, open_, open_decision, label=CONTRADICT), claims
    )
    yield measure_figure("  supports", lambda some: compute_scifact_f1(some, open_, open_decision, label=SUPPORT), claims)
    yield measure_figure("polarity of gold documents, balanced", polarity, claims)
    yield measure_figure("cited abstract, accuracy of three", cited_accuracy, claims)
    yield measure_figure("ECE of documents", error, claims)


def measure_given(name: str, abstracts: Sequence[Given], decision: Decision, reader: DocumentReader) -> Iterable[Line]:
    """Macro-F1, and the balanced accuracy of the sign where the label is not neutral, both with the abstract given."""

    def macro(some: Sequence[Given]) -> float:
        predictions = np.array([decide_label(decision, make_features(reader.calibration, logits)) for _, _, logits in some])
        return macro_f1(np.array([gold for gold, _, _ in some]), predictions, len(LABELS))

    def sign(some: Sequence[Given]) -> float:
        rows = [(gold, logits[0]) for gold, _, logits in some if gold != NEUTRAL]
        predictions = [SUPPORT if row[SUPPORT] >= row[CONTRADICT] else CONTRADICT for _, row in rows]
        return balanced_accuracy(np.array([gold for gold, _ in rows]), np.array(predictions))

    yield measure_figure(f"{name}, macro-F1", macro, abstracts)
    yield measure_figure(f"{name}, sign, balanced", sign, abstracts)


def measure_pairs(name: str, papers: Sequence[tuple[int, int, bool]]) -> Iterable[Line]:
    """Right side, wrong side, both claims of a pair right, and both right where the claim alone misleads.

    Each paper is the label given to its true claim, the label given to its false claim, and whether the claims alone mislead.
    """

    def share(some: Sequence[bool]) -> float:
        return 100.0 * float(np.mean(some)) if len(some) else float("nan")

    both = [(true == SUPPORT and false == CONTRADICT, trap) for true, false, trap in papers]
    yield measure_figure(
        f"{name}: right side", lambda some: share([x for t, f, _ in some for x in (t == SUPPORT, f == CONTRADICT)]), papers
    )
    yield measure_figure(
        f"{name}: wrong side", lambda some: share([x for t, f, _ in some for x in (t == CONTRADICT, f == SUPPORT)]), papers
    )
    yield measure_figure(f"{name}: both of a pair", lambda some: share([b for b, _ in some]), both)
    yield measure_figure(f"{name}: both where the claim misleads", lambda some: share([b for b, m in some if m]), both)


def measure_probes(path: Path, reader: DocumentReader) -> float:
    """The percentage of probes whose most probable class is right."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    predictions = [int(reader.logits(one["claim"], [Abstract("", (one["sentence"],))])[0][0].argmax()) for one in lines]
    hits = [LABELS[label] == one["label"] for label, one in zip(predictions, lines, strict=True)]
    return 100.0 * float(np.mean(hits))


def show(lines: Iterable[Line]) -> None:
    """Print each figure as it is measured."""
    for name, value, low, high in lines:
        print(f"{name:48s} {value:7.3f}  95 % {low:.3f} to {high:.3f}", flush=True)


def make_parser() -> argparse.ArgumentParser:
    """The options of the command."""
    parser = argparse.ArgumentParser(
        prog="python -m nli.training.reader.evaluate", description="Evaluate the reader on dev splits."
    )
    parser.add_argument("--data", type=Path, required=True, help="the folder with the data sets")
    parser.add_argument("--model", type=Path, default=READER_MODEL, help="the folder of the model (default: the shipped one)")
    parser.add_argument("--probes", type=Path, default=Path("tests/probes.jsonl"), help="JSON lines of probes")
    parser.add_argument("--only", nargs="*", default=list(SETS), choices=SETS, help="which sets")
    parser.add_argument("--most", type=int, default=10_000, help="read at most this many papers or claims of each set")
    return parser


class Evaluation:
    """A reader measured on one set after another."""

    def __init__(self, reader: DocumentReader, data: Path, most: int) -> None:
        self._reader, self._data, self._most = reader, data, most
        self._reranker = EmbeddedReranker(remembered_mb=600)
        decisions = reader.card["decision"]
        self._given = read_decision(reader.card, "given" if "given" in decisions else "open")
        self._lay = read_decision(reader.card, "lay") if decisions.get("lay") else self._given

    def measure(self, name: str) -> Iterable[Line]:
        """The figures of one set of `SETS` but the probes."""
        return {
            "given": self._measure_given, "ordinary": self._measure_open, "healthver": self._measure_healthver,
            "scifact": self._measure_scifact,
        }[name]()  # fmt: skip

    @cached_property
    def _papers(self) -> tuple[list[dict[str, Any]], list[bool]]:
        """Ordinary's dev papers, and whether their claims alone mislead a bag of words."""
        train, papers = read_ordinary(self._data, "train"), cases.read_dev_papers(self._data)[1][: self._most]
        score_claim = fit_claim_model([paper["true"] for paper in train], [paper["false"] for paper in train])
        return papers, [score_claim(paper["true"]) <= score_claim(paper["false"]) for paper in papers]

    def _measure_given(self) -> Iterable[Line]:
        reader, (papers, traps) = self._reader, self._papers
        abstracts: list[Given] = [(one.gold, one.labels, one.logits) for one in cases.read_cases_of_papers(reader, papers)]
        predictions = [decide_label(self._given, make_features(reader.calibration, logits)) for _, _, logits in abstracts]
        yield from measure_given("ordinary, abstract given", abstracts, self._given, reader)
        yield from measure_pairs("ordinary, abstract given", list(zip(predictions[::3], predictions[1::3], traps, strict=True)))

    def _measure_open(self) -> Iterable[Line]:
        reader, (papers, traps) = self._reader, self._papers
        claims = cases.make_ordinary_cases(PaperCollection(cases.read_pubmed_papers(self._data), reader, self._reranker), papers)
        labels = [
            decide_label(reader.decision, make_features(reader.calibration, own.logits, own.gap, own.about))
            if own.open
            else NEUTRAL
            for own in (next(one for one in claim if one.named) for claim in claims)
        ]
        return measure_pairs("ordinary, open", list(zip(labels[::2], labels[1::2], traps, strict=True)))

    def _measure_healthver(self) -> Iterable[Line]:
        abstracts = cases.read_labelled_given(self._data, self._reader, "healthver", "dev", most=self._most)
        return measure_given("HealthVer dev", abstracts, self._lay, self._reader)

    def _measure_scifact(self) -> Iterable[Line]:
        science = PaperCollection(cases.read_scifact_papers(self._data), self._reader, self._reranker)
        return measure_scifact(cases.make_scifact_cases(self._data, science, "dev", most=self._most), self._reader)


@return_exit_code
def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures."""
    options = make_parser().parse_args(arguments)
    reader = DocumentReader(options.model)
    evaluation = Evaluation(reader, options.data, options.most)
    for name in (one for one in SETS if one in options.only):
        if name == "probes":
            print(f"probes, most probable class {measure_probes(options.probes, reader):.1f} %", flush=True)
        else:
            show(evaluation.measure(name))


def fit_claim_model(true: Sequence[str], false: Sequence[str]) -> Callable[[str], float]:
    """The claim-only baseline: how true a claim sounds, from its words alone."""
    model = fit_claim_only(true, false)
    return lambda claim: float(model.decision_function([claim])[0])


if __name__ == "__main__":
    sys.exit(main())
