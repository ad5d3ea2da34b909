"""Calibrate probabilities: one scale and a bias per class, fitted on claims held out of training."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from nli.reader.judge import Calibration


def fit_calibration(logits: NDArray[np.float32], labels: NDArray[np.int64]) -> Calibration:
    """The calibration with the least negative log likelihood; logits [pairs, 3]."""
    values, gold = torch.from_numpy(logits.astype(np.float64)), torch.from_numpy(labels)
    scale = torch.ones(1, dtype=torch.float64, requires_grad=True)
    bias = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([scale, bias], max_iter=200)

    def loss() -> float:
        optimizer.zero_grad()
        # The small pull to 0 fixes what softmax leaves open: a constant added to every bias.
        value = functional.cross_entropy(scale * values + bias, gold) + 1e-4 * (bias**2).sum()
        value.backward()  # type: ignore[no-untyped-call]
        return float(value.detach())

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    support, neutral, contradict = (round(float(number), 4) for number in bias.detach())
    return Calibration(round(float(scale.detach()), 4), (support, neutral, contradict))
