"""Fit how a language model's grade and the embedded reading become a probability:
`python -m counterpoint.nli.training.reader.fit_chat FILE`.

FILE is a CSV of papers that both read for claims with known answers: claim, label (support, neutral, contradict; empty where
it is not known), grade, and the embedded reader's support, neutral and contradict.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from counterpoint.nli.reader.chat import DECISION, FEATURES, measure_sides, share_out
from counterpoint.nli.training.reader.fit import SIDE
from counterpoint.nli.training.reader.lesson import LABELS
from counterpoint.retrieval.core.values import Verdict

PULL = 0.1
"""The cost of a squared weight, in log likelihood."""
Floats = NDArray[np.float64]


class GradedPapers(NamedTuple):
    """`claims` and `gold` [papers], the latter places in `LABELS`; `sides` [papers, 2, `FEATURES`]."""

    claims: NDArray[np.str_]
    gold: NDArray[np.int64]
    sides: Floats


def read_papers(path: Path) -> GradedPapers:
    """The papers of a file that have a label and a grade."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["label"] and row["grade"]]
    sides = [measure_sides(int(r["grade"]), Verdict(*(float(r[name]) for name in LABELS))) for r in rows]
    return GradedPapers(np.array([r["claim"] for r in rows]), np.array([LABELS.index(r["label"]) for r in rows]), np.array(sides))


def fit(sides: Floats, gold: NDArray[np.int64]) -> Floats:
    """[`FEATURES`]: the weights of the highest penalised likelihood."""

    def cost(weights: Floats) -> float:
        shares = share_out(sides @ weights)[np.arange(len(gold)), gold]
        return float(PULL * (weights**2).sum() - np.log(np.maximum(shares, 1e-12)).sum())

    weights: Floats = minimize(cost, np.zeros(len(FEATURES)), method="L-BFGS-B").x
    return weights


def cross_validate(papers: GradedPapers, folds: int = 2) -> Floats:
    """[papers, 3]: each paper's probabilities by the weights fitted on the claims of the other folds."""
    names = sorted(set(papers.claims))
    fold = np.array([names.index(claim) % folds for claim in papers.claims])
    shares = np.zeros((len(fold), len(LABELS)))
    for held in range(folds):
        weights = fit(papers.sides[fold != held], papers.gold[fold != held])
        shares[fold == held] = share_out(papers.sides[fold == held] @ weights)
    return shares


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the decision, and say how it does on the half of the claims that it was not fitted on."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--out", type=Path, default=DECISION)
    options = parser.parse_args(arguments)
    papers = read_papers(options.file)
    shares = cross_validate(papers)
    loss = -np.log(shares[np.arange(len(shares)), papers.gold]).mean()
    weights = {name: round(float(weight), 4) for name, weight in zip(FEATURES, fit(papers.sides, papers.gold), strict=True)}
    options.out.write_text(
        f"{json.dumps({'weights': weights, 'side': SIDE, 'fitted_to': options.file.name}, indent=1)}\n", "utf-8"
    )
    right = (shares.argmax(1) == papers.gold).mean()
    print(f"{len(shares)} papers of {len(set(papers.claims))} claims; held out: log loss {loss:.3f}, right {right:.1%}")


if __name__ == "__main__":
    main()
