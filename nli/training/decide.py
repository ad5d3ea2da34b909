"""Fit the seven numbers of a `Decision` on documents judged for claims that no model was trained on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from nli.decision.document import Decision

GRID = tuple(round(0.1 + 0.025 * step, 3) for step in range(25))


def fit_decision(
    features: NDArray[np.float64], labels: NDArray[np.int64], counts: NDArray[np.float64] | None = None, pull: float = 1e-4
) -> Decision:
    """The most likely weights for documents' features [documents, 6] and labels [documents].

    `counts` [documents] is the weight of each document, 1 unless given; `pull` is the strength of the pull of weights to 0.
    """
    marks, gold = torch.from_numpy(features), torch.from_numpy(labels)
    shares = torch.from_numpy(counts / counts.sum() if counts is not None else np.full(len(labels), 1 / len(labels)))
    s1, s2, c1, c2 = marks.T[:4]
    start = [1.0, *[0.0] * 6]
    weights = torch.tensor(start, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=300)

    def loss() -> float:
        optimizer.zero_grad()
        strongest, second, against, *_, support, contradict = weights
        relevance = marks[:, 4:] @ weights[3:5]
        for_it = strongest * s1 + second * s2 + against * c1 + relevance + support
        other = strongest * c1 + second * c2 + against * s1 + relevance + contradict
        each = functional.cross_entropy(torch.stack([for_it, torch.zeros_like(for_it), other], 1), gold, reduction="none")
        value = (shares * each).sum() + pull * (weights**2).sum()
        value.backward()  # type: ignore[no-untyped-call]
        return float(value.detach())

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    strongest, second, against, gap, about, support, contradict = (round(float(weight), 4) for weight in weights.detach())
    return Decision(strongest, second, against, gap, support, contradict, about)


def fit_threshold(decision: Decision, score: Callable[[Decision], float]) -> Decision:
    """The decision with the threshold of `GRID`, one for both stances, whose `score` is highest; of equal ones, the middle one.

    The probabilities are calibrated, so one threshold is right for both (for F1 it is half of the F1 reached: Lipton et al. 2014,
    arXiv 1402.1892), and two would be fitted to the luck of some hundred claims.
    """
    scores = np.array([score(replace(decision, thresholds=(at, at))) for at in GRID])
    # Each score is averaged with its neighbours, so that a lucky one does not win.
    smooth = np.convolve(np.pad(scores, 2, mode="edge"), np.full(5, 0.2), mode="valid")
    equals = np.flatnonzero(smooth >= smooth.max() - 1e-9)
    at = GRID[equals[len(equals) // 2]]
    return replace(decision, thresholds=(at, at))
