"""Making probabilities mean something: a scale and a bias a class, and thresholds, all fitted on claims held out of training."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from nli.embedded import Calibration

GRID = (0.02, 0.04, 0.06, 0.08, *(round(0.1 + 0.05 * step, 2) for step in range(17)))


def fitted(logits: NDArray[np.float32], labels: NDArray[np.int64]) -> Calibration:
    """The calibration with the least negative log likelihood; logits [pairs, 3]."""
    values, gold = torch.from_numpy(logits.astype(np.float64)), torch.from_numpy(labels)
    scale = torch.ones(1, dtype=torch.float64, requires_grad=True)
    bias = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([scale, bias], max_iter=200)

    def loss() -> float:
        optimizer.zero_grad()
        # The small pull to 0 fixes what softmax leaves open: one number added to every bias.
        value = functional.cross_entropy(scale * values + bias, gold) + 1e-4 * (bias**2).sum()
        value.backward()  # type: ignore[no-untyped-call]
        return float(value.detach())

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    support, neutral, contradict = (round(float(number), 4) for number in bias.detach())
    return Calibration(round(float(scale.detach()), 4), (support, neutral, contradict))


def thresholds(score: Callable[[tuple[float, float]], float]) -> tuple[float, float]:
    """The pair of thresholds (support, contradict) of `GRID` with the highest `score`; of equals the middle one."""
    size = range(len(GRID))
    scores = np.array([[score((GRID[a], GRID[b])) for b in size] for a in size])
    # Averaged with its neighbours, so that a lucky cell does not win.
    padded = np.pad(scores, 1, mode="edge")
    smooth = np.mean([padded[a : a + len(GRID), b : b + len(GRID)] for a in range(3) for b in range(3)], axis=0)
    equals = np.argwhere(smooth >= smooth.max() - 1e-9)
    support, contradict = equals[len(equals) // 2]
    return GRID[support], GRID[contradict]
