"""The training loop of both models: batches of similar length, AdamW, warm-up then linear decay, checkpoints that resume.

The order of the batches, the dropout and so the weights follow from the seed and the examples alone.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import joblib
import torch
from torch import Tensor, nn
from tqdm import tqdm

from counterpoint.retrieval.core.errors import ModelUnusable

Batch = TypeVar("Batch")


@dataclass(frozen=True, slots=True)
class Recipe:
    """What the loop needs to know; `rate` is AdamW's at the top of the schedule."""

    rate: float = 1e-4
    warm_up: float = 0.04
    floor: float = 0.03
    seed: int = 13
    checkpoint_seconds: float = 240.0
    most_batches: int = 0
    """Stop after so many batches, the schedule shortened to suit; 0 for all of them."""


def scale_rate(step: int, steps: int, recipe: Recipe) -> float:
    """Linear warm-up, then linear decay to `floor`."""
    warm = max(1, int(recipe.warm_up * steps))
    if step < warm:
        return (step + 1) / warm
    return recipe.floor + (1 - recipe.floor) * (steps - step) / max(1, steps - warm)


def has_fast_bfloat16(device: torch.device) -> bool:
    """Whether autocast pays: GPUs and AMX compute bfloat16 in hardware, three times as fast; elsewhere it is slower, also with
    the bfloat16 of AVX-512 (397 tokens a second of the large reader against 652 in float32, two cores)."""
    return device.type == "cuda" or torch.cpu._is_amx_tile_supported()


def descend(
    model: nn.Module,
    steps: torch.optim.AdamW,
    todo: Sequence[Batch],
    loss_of: Callable[[Batch], Tensor],
    recipe: Recipe,
    checkpoint: Path,
    device: torch.device,
) -> None:
    """Take one step per batch.

    `checkpoint` is written every few minutes and read first, so that a stopped run resumes. Raises `ModelUnusable` if it belongs
    to another run (other batches, rates or seed).
    """
    todo = todo[: recipe.most_batches or None]
    start, save_time, loss_mean = 0, time.monotonic(), 1.1
    torch.manual_seed(recipe.seed)
    run = joblib.hash((todo, recipe))
    if checkpoint.exists():
        start = restore(checkpoint, run, model, steps, device)
    model.train()
    with tqdm(total=len(todo), initial=start, desc="training", unit="batch") as bar:
        for step in range(start, len(todo)):
            for group in steps.param_groups:
                group["lr"] = group["top"] * scale_rate(step, len(todo), recipe)
            loss = loss_of(todo[step])
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            steps.step()
            steps.zero_grad()
            loss_mean += 0.02 * (loss.item() - loss_mean)
            bar.set_postfix(loss=f"{loss_mean:.3f}", refresh=False)
            bar.update()
            if time.monotonic() - save_time > recipe.checkpoint_seconds or step + 1 == len(todo):
                save(checkpoint, run, model, steps, step + 1)
                save_time = time.monotonic()


def save(path: Path, run: str, model: nn.Module, steps: torch.optim.AdamW, step: int) -> None:
    """Write beside and rename: a killed run leaves the last whole checkpoint. `run` tells this run from others."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".part")
    state = {"model": model.state_dict(), "optimizer": steps.state_dict(), "rng": torch.get_rng_state(), "step": step, "run": run}
    torch.save(state, beside)
    beside.replace(path)


def restore(path: Path, run: str, model: nn.Module, steps: torch.optim.AdamW, device: torch.device) -> int:
    """Put back what `save` wrote; returns the step to go on from."""
    state = torch.load(path, map_location=device, weights_only=True)
    if state.get("run") != run:
        raise ModelUnusable(
            f"{path} belongs to a run with other data, rates, seed or number of batches; expected this run's own: give another "
            "--out, or delete the file to begin anew."
        )
    model.load_state_dict(state["model"])
    steps.load_state_dict(state["optimizer"])
    torch.set_rng_state(state["rng"].cpu())
    return int(state["step"])


def read_weights(path: Path) -> dict[str, Tensor]:
    """The model's weights from a checkpoint; raises `ModelUnusable` if there is none."""
    try:
        weights: dict[str, Tensor] = torch.load(path, map_location="cpu", weights_only=True)["model"]
    except (OSError, RuntimeError, KeyError, pickle.UnpicklingError) as error:
        raise ModelUnusable(f"{path} holds no weights ({error}): give the checkpoint.pt of a training run.") from None
    return weights
