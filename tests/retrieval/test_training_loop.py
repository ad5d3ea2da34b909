"""The training loop: a stopped run goes on where it was, and nothing else does."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from retrieval.core.errors import ModelUnusable
from retrieval.training.loop import Recipe, descend

TODO = [[0.5, 1.0], [2.0], [1.5, -1.0], [0.25]]


class Stopped(Exception):
    """What a killed run is in these tests."""


def run(path: Path, todo: list[list[float]], recipe: Recipe, stop_at: int = 100) -> tuple[list[list[float]], Tensor]:
    """Train a line through the origin; the batches that were read and the weights."""
    torch.manual_seed(1)
    model = nn.Linear(1, 1)
    steps = torch.optim.AdamW([{"params": list(model.parameters()), "lr": 0.1, "top": 0.1}])
    read: list[list[float]] = []

    def loss(batch: list[float]) -> Tensor:
        if len(read) == stop_at:
            raise Stopped
        read.append(batch)
        numbers = torch.tensor(batch)[:, None]
        return nn.functional.mse_loss(model(numbers), 3 * numbers)

    with suppress(Stopped):
        descend(model, steps, todo, loss, recipe, path, torch.device("cpu"))
    return read, model.weight.detach().clone()


def test_stopped_run_goes_on(tmp_path: Path) -> None:
    recipe = Recipe(checkpoint_seconds=-1.0)
    _, whole = run(tmp_path / "whole.pt", TODO, recipe)
    first, _ = run(tmp_path / "parts.pt", TODO, recipe, stop_at=2)
    rest, pieced = run(tmp_path / "parts.pt", TODO, recipe)
    assert first + rest == TODO
    assert torch.equal(whole, pieced)


@pytest.mark.parametrize(
    ("todo", "recipe"),
    [
        (TODO, Recipe(checkpoint_seconds=-1.0, seed=14)),
        (TODO, Recipe(checkpoint_seconds=-1.0, rate=2e-4)),
        ([*TODO[:3], [0.75]], Recipe(checkpoint_seconds=-1.0)),
        (TODO, Recipe(checkpoint_seconds=-1.0, most_batches=3)),
    ],
    ids=["seed", "rate", "data", "batches"],
)
def test_another_run_does_not_go_on(tmp_path: Path, todo: list[list[float]], recipe: Recipe) -> None:
    run(tmp_path / "checkpoint.pt", TODO, Recipe(checkpoint_seconds=-1.0), stop_at=2)
    with pytest.raises(ModelUnusable, match=r"checkpoint\.pt belongs to a run with other data, rates, seed"):
        run(tmp_path / "checkpoint.pt", todo, recipe)


def test_checkpoint_of_an_older_version_does_not_go_on(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.pt"
    run(path, TODO, Recipe(checkpoint_seconds=-1.0), stop_at=2)
    state = torch.load(path, weights_only=True)
    del state["run"]
    torch.save(state, path)
    with pytest.raises(ModelUnusable, match="belongs to a run"):
        run(path, TODO, Recipe(checkpoint_seconds=-1.0))
