"""Figures of the document reader on dev splits: `python -m nli.training.reader.evaluate --data DIR`.

Retrieval is BM25 in memory and the shipped reranker (nli.training.reader.cases); the figures of the service itself come from
`counterpoint eval scifact`, `eval claims` and `eval titles`. Of ordinary's dev papers, only the half on which nothing was fitted
is measured.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from tqdm import tqdm

from nli.judge import Abstract, Reader
from nli.reader.judge import LARGE, DocumentReader
from nli.reader.paper import judge_paper, read_twice
from nli.training.reader import cases
from nli.training.reader.cases import PaperCollection, ReaderCase
from nli.training.reader.examples import read_kinds, read_ordinary
from nli.training.reader.lesson import CONTRADICT, LABELS, NEUTRAL, SUPPORT, fit_claim_only
from retrieval.core.values import Verdict
from retrieval.rerank.embedded import EmbeddedReranker
from retrieval.training.command import return_exit_code
from retrieval.training.data import read_lines
from retrieval.training.measure import balanced_accuracy, bootstrap_interval, calibration_error, f1, macro_f1

Unit = TypeVar("Unit")
Line = tuple[str, float, float, float]
SETS = ("probes", "kinds", "given", "ordinary", "healthver", "scifact")


def measure_figure(name: str, measure: Callable[[Sequence[Unit]], float], units: Sequence[Unit]) -> Line:
    """A figure with its 95 % interval from a bootstrap over the units."""
    return (name, *bootstrap_interval(measure, units, 300))


@dataclass(frozen=True, slots=True)
class Judged:
    """A case and the verdict on its paper."""

    case: ReaderCase
    verdict: Verdict

    @property
    def label(self) -> int:
        """The label that was given."""
        return LABELS.index(self.verdict.label)

    @property
    def sign(self) -> int:
        """The side towards which it leans."""
        return LABELS.index(self.verdict.leaning)


def judge_cases(reader: Reader, some: Iterable[ReaderCase]) -> list[Judged]:
    """The verdict on each case's paper, as the service reaches it."""
    return [Judged(one, judge_paper(reader, read_twice(reader, one.claim, one.abstract))[0]) for one in some]


def compute_scifact_f1(claims: Sequence[Sequence[Judged]], label: int | None = None) -> float:
    """Abstract-level label-only F1 of open retrieval, in per cent, of all stances or one `label`."""
    wanted = {SUPPORT, CONTRADICT} if label is None else {label}
    every = [one for claim in claims for one in claim]
    gold = sum(one.case.named and one.case.gold in wanted for one in every)
    predictions = [one for one in every if one.case.open and one.label in wanted]
    return f1(sum(one.case.named and one.case.gold == one.label for one in predictions), len(predictions), gold)


def measure_sign(some: Sequence[Judged]) -> float:
    """The balanced accuracy of the side towards which the verdicts lean, over cases that have one."""
    sided = [one for one in some if one.case.gold != NEUTRAL]
    return balanced_accuracy(np.array([one.case.gold for one in sided]), np.array([one.sign for one in sided]))


def measure_scifact(claims: Sequence[Sequence[Judged]]) -> Iterable[Line]:
    """Figures of open retrieval, polarity, cited abstracts and the calibration of the document's probability."""

    def select(some: Sequence[Sequence[Judged]], test: Callable[[ReaderCase], bool]) -> list[Judged]:
        return [one for claim in some for one in claim if test(one.case)]

    def cited_accuracy(some: Sequence[Sequence[Judged]]) -> float:
        return 100.0 * float(np.mean([one.label == one.case.gold for one in select(some, lambda one: one.cited)]))

    def error(some: Sequence[Sequence[Judged]]) -> float:
        documents = select(some, lambda one: one.open)
        shares = np.array([(one.verdict.support, one.verdict.neutral, one.verdict.contradict) for one in documents])
        return calibration_error(shares.max(axis=1), shares.argmax(axis=1) == np.array([one.case.gold for one in documents]))

    yield measure_figure("SciFact, label-only F1", compute_scifact_f1, claims)
    yield measure_figure("  contradictions", lambda some: compute_scifact_f1(some, CONTRADICT), claims)
    yield measure_figure("  supports", lambda some: compute_scifact_f1(some, SUPPORT), claims)
    yield measure_figure(
        "polarity of gold documents, balanced",
        lambda some: measure_sign(select(some, lambda one: one.named and one.near)),
        claims,
    )
    yield measure_figure("cited abstract, accuracy of three", cited_accuracy, claims)
    yield measure_figure("ECE of documents", error, claims)


def measure_given(name: str, some: Sequence[Judged]) -> Iterable[Line]:
    """Macro-F1, and the balanced accuracy of the sign where the label is not neutral, both with the abstract given."""

    def macro(some: Sequence[Judged]) -> float:
        return macro_f1(np.array([one.case.gold for one in some]), np.array([one.label for one in some]), len(LABELS))

    yield measure_figure(f"{name}, macro-F1", macro, some)
    yield measure_figure(f"{name}, sign, balanced", measure_sign, some)


def measure_kinds(judged: Mapping[str, Sequence[Judged]]) -> Iterable[Line]:
    """Accuracy of three, of all claims and by kind of mistake."""

    def accuracy(some: Sequence[Judged]) -> float:
        return 100.0 * float(np.mean([one.label == one.case.gold for one in some]))

    yield measure_figure("kinds of mistakes, all claims", accuracy, [one for some in judged.values() for one in some])
    for kind, some in judged.items():
        yield measure_figure(f"  {kind}", accuracy, some)


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
    lines = read_lines(path)
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
    parser.add_argument("--model", type=Path, default=LARGE, help="the folder of the model (default: the shipped one)")
    parser.add_argument("--probes", type=Path, default=Path("tests/probes.jsonl"), help="JSON lines of probes")
    parser.add_argument("--kinds", type=Path, default=Path("eval/claims/kinds.jsonl"), help="claims by kind of mistake")
    parser.add_argument("--only", nargs="*", default=list(SETS), choices=SETS, help="which sets")
    parser.add_argument("--most", type=int, default=10_000, help="read at most this many papers or claims of each set")
    return parser


class Evaluation:
    """A reader measured on one set after another."""

    def __init__(self, reader: DocumentReader, data: Path, kinds: Path, most: int) -> None:
        self._reader, self._data, self._kinds, self._most = reader, data, kinds, most
        self._reranker = EmbeddedReranker(remembered_mb=600)

    def measure(self, name: str) -> Iterable[Line]:
        """The figures of one set of `SETS` but the probes."""
        return {
            "given": self._measure_given, "ordinary": self._measure_open, "healthver": self._measure_healthver,
            "scifact": self._measure_scifact, "kinds": self._measure_kinds,
        }[name]()  # fmt: skip

    @cached_property
    def _papers(self) -> tuple[list[dict[str, Any]], list[bool]]:
        """Ordinary's dev papers, and whether their claims alone mislead a bag of words."""
        train, papers = read_ordinary(self._data, "train"), cases.read_dev_papers(self._data)[1][: self._most]
        model = fit_claim_only([paper["true"] for paper in train], [paper["false"] for paper in train])
        true, false = (model.decision_function([paper[name] for paper in papers]) for name in ("true", "false"))
        return papers, (true <= false).tolist()

    def _measure_given(self) -> Iterable[Line]:
        papers, traps = self._papers
        judged = judge_cases(self._reader, tqdm(cases.make_cases_of_papers(papers), desc="ordinary claims, paper given"))
        labels = [one.label for one in judged]
        yield from measure_given("ordinary, abstract given", judged)
        yield from measure_pairs("ordinary, abstract given", list(zip(labels[::3], labels[1::3], traps, strict=True)))

    def _measure_open(self) -> Iterable[Line]:
        papers, traps = self._papers
        collection = PaperCollection(cases.read_pubmed_papers(self._data), self._reranker)
        own = [next(one for one in claim if one.named) for claim in cases.make_ordinary_cases(collection, papers)]
        judged = judge_cases(self._reader, tqdm(own, desc="ordinary claims, open"))
        labels = [one.label if one.case.open else NEUTRAL for one in judged]
        return measure_pairs("ordinary, open", list(zip(labels[::2], labels[1::2], traps, strict=True)))

    def _measure_kinds(self) -> Iterable[Line]:
        judged: dict[str, list[Judged]] = {}
        for row in tqdm(read_kinds(self._kinds, self._data)[: self._most], desc="kinds of mistakes"):
            some = [cases.make_case({**row, "evidence": places}, claim, label) for label, claim, places in row["claims"]]
            judged.setdefault(row["kind"], []).extend(judge_cases(self._reader, some))
        return measure_kinds(judged)

    def _measure_healthver(self) -> Iterable[Line]:
        some = cases.read_labelled_cases(self._data, "healthver", "dev", most=self._most)
        return measure_given("HealthVer dev", judge_cases(self._reader, tqdm(some, desc="HealthVer dev")))

    def _measure_scifact(self) -> Iterable[Line]:
        science = PaperCollection(cases.read_scifact_papers(self._data), self._reranker)
        claims = cases.make_scifact_cases(self._data, science, "dev", most=self._most)
        return measure_scifact([judge_cases(self._reader, claim) for claim in tqdm(claims, desc="SciFact dev")])


@return_exit_code
def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures."""
    options = make_parser().parse_args(arguments)
    reader = DocumentReader(options.model)
    evaluation = Evaluation(reader, options.data, options.kinds, options.most)
    for name in (one for one in SETS if one in options.only):
        if name == "probes":
            print(f"probes, most probable class {measure_probes(options.probes, reader):.1f} %", flush=True)
        else:
            show(evaluation.measure(name))


if __name__ == "__main__":
    sys.exit(main())
