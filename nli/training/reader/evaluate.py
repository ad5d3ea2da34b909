"""Figures of the document reader, the paper given, on dev splits: `python -m nli.training.reader.evaluate --data DIR`.

Those of the whole service, which finds the papers itself, come from `counterpoint eval scifact`, `eval claims` and `eval titles`.
Of ordinary's dev papers, only the half on which nothing was fitted is measured.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from sklearn.metrics import balanced_accuracy_score, f1_score
from tqdm import tqdm

from nli.judge import Abstract, Reader
from nli.reader.judge import LARGE, DocumentReader
from nli.reader.paper import judge_paper, read_twice
from nli.training.reader import cases
from nli.training.reader.cases import ReaderCase
from nli.training.reader.examples import read_kinds, read_ordinary
from nli.training.reader.lesson import CONTRADICT, LABELS, NEUTRAL, SUPPORT, fit_claim_only
from retrieval.core.values import Verdict
from retrieval.training.command import return_exit_code
from retrieval.training.data import read_lines
from retrieval.training.measure import bootstrap_interval

Unit = TypeVar("Unit")
Line = tuple[str, float, float, float]
SETS = ("probes", "kinds", "given", "healthver")


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


def measure_sign(some: Sequence[Judged]) -> float:
    """The balanced accuracy of the side towards which the verdicts lean, over cases that have one."""
    sided = [one for one in some if one.case.gold != NEUTRAL]
    return 100.0 * float(balanced_accuracy_score([one.case.gold for one in sided], [one.sign for one in sided]))


def measure_given(name: str, some: Sequence[Judged]) -> Iterable[Line]:
    """Macro-F1, and the balanced accuracy of the sign where the label is not neutral, both with the abstract given."""

    def macro(some: Sequence[Judged]) -> float:
        gold, said = [one.case.gold for one in some], [one.label for one in some]
        return 100.0 * float(f1_score(gold, said, labels=range(len(LABELS)), average="macro", zero_division=0.0))

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


def measure_kinds_of(reader: DocumentReader, data: Path, kinds: Path, most: int) -> Iterable[Line]:
    """Claims by kind of mistake (nli.training.reader.contrast_sets)."""
    judged: dict[str, list[Judged]] = {}
    for row in tqdm(read_kinds(kinds, data)[:most], desc="kinds of mistakes"):
        some = [cases.make_case({**row, "evidence": places}, claim, label) for label, claim, places in row["claims"]]
        judged.setdefault(row["kind"], []).extend(judge_cases(reader, some))
    return measure_kinds(judged)


def measure_ordinary(reader: DocumentReader, data: Path, most: int) -> Iterable[Line]:
    """Ordinary claims of dev papers: the true, the false and the open one of each."""
    train, papers = read_ordinary(data, "train"), cases.read_dev_papers(data)[1][:most]
    model = fit_claim_only([paper["true"] for paper in train], [paper["false"] for paper in train])
    true, false = (model.decision_function([paper[name] for paper in papers]) for name in ("true", "false"))
    judged = judge_cases(reader, tqdm(cases.make_cases_of_papers(papers), desc="ordinary claims"))
    labels = [one.label for one in judged]
    yield from measure_given("ordinary", judged)
    yield from measure_pairs("ordinary", list(zip(labels[::3], labels[1::3], (true <= false).tolist(), strict=True)))


def measure_healthver(reader: DocumentReader, data: Path, most: int) -> Iterable[Line]:
    """HealthVer's dev split, each abstract whole."""
    some = cases.read_labelled_cases(data, "healthver", "dev", most=most)
    return measure_given("HealthVer dev", judge_cases(reader, tqdm(some, desc="HealthVer dev")))


@return_exit_code
def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures."""
    options = make_parser().parse_args(arguments)
    reader = DocumentReader(options.model)
    if "probes" in options.only:
        print(f"probes, most probable class {measure_probes(options.probes, reader):.1f} %", flush=True)
    if "kinds" in options.only:
        show(measure_kinds_of(reader, options.data, options.kinds, options.most))
    if "given" in options.only:
        show(measure_ordinary(reader, options.data, options.most))
    if "healthver" in options.only:
        show(measure_healthver(reader, options.data, options.most))


if __name__ == "__main__":
    sys.exit(main())
