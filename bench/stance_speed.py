"""Pairs per second of the shipped stance model against the float torch model: `python -m bench.stance_speed`.

With `--checkpoint OUT/checkpoint.pt` the drift of the shipped logits from the torch model's is printed too.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import torch

from nli.judges.embedded import LABELS, STANCE_MODEL
from nli.train import PARTS
from retrieval.runtime.engine import BATCH, Batch, open_graph
from retrieval.training.encoder import MarkedEncoder

TOKENS, BATCHES, ROUNDS = 96, 4, 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Time every engine in turn, round after round, so that other load on the machine affects all alike; print medians."""
    parser = argparse.ArgumentParser(prog="python -m bench.stance_speed", description="Speed and drift of the stance model.")
    parser.add_argument("--model", type=Path, default=STANCE_MODEL, help="the model folder")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--checkpoint", type=Path, help="the training checkpoint that the model was exported from")
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    model = MarkedEncoder(len(LABELS), PARTS).eval()
    if options.checkpoint:
        model.load_state_dict(torch.load(options.checkpoint, map_location="cpu", weights_only=True)["model"])

    def of_torch(batches: Sequence[Batch]) -> Iterator[np.ndarray]:
        with torch.inference_mode():
            for batch in batches:
                yield model(*(torch.from_numpy(array) for array in batch)).numpy()

    runs: dict[str, Callable[[Sequence[Batch]], Iterator[np.ndarray]]] = {"torch float32": of_torch}
    for engine in ("openvino", "onnxruntime"):
        runs[engine] = open_graph(options.model / "model.onnx", engine, options.threads).each
    rng = np.random.default_rng(0)
    shape = (BATCH, TOKENS)
    types = np.repeat(np.where(np.arange(TOKENS) < 32, 0, 25)[None], BATCH, axis=0)
    batches: list[Batch] = [(rng.integers(1000, 20000, shape), np.ones(shape, dtype=np.int64), types) for _ in range(BATCHES)]
    rates: dict[str, list[float]] = {name: [] for name in runs}
    logits: dict[str, np.ndarray] = {}
    for _ in range(ROUNDS + 1):
        for name, run in runs.items():
            start = time.perf_counter()
            logits[name] = np.vstack(list(run(batches)))
            rates[name].append(BATCH * BATCHES / (time.perf_counter() - start))
    reference = statistics.median(rates["torch float32"][1:])
    for name, values in rates.items():
        median = statistics.median(values[1:])
        drift = np.abs(logits[name] - logits["torch float32"]).max() if options.checkpoint else float("nan")
        print(
            f"{name:14s} {median:7.1f} pairs a second, {median / reference:.2f} times torch; largest drift of a logit {drift:.4f}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
