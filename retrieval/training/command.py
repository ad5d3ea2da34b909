"""What the training and measuring commands share: their options, and one sentence with exit code 2 for errors users can fix."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path

from counterpoint.retrieval.core.errors import CounterpointError


def make_option_parser(prog: str, model: str) -> argparse.ArgumentParser:
    """The options of a command that builds `model` and leaves it in the folder of that name under --out."""
    parser = argparse.ArgumentParser(prog=prog, description=f"Train the {model} model.")
    parser.add_argument("--data", type=Path, required=True, help="the folder with the data sets")
    parser.add_argument("--out", type=Path, required=True, help=f"where to write the checkpoint and, in {model}/, the model")
    parser.add_argument("--seed", type=int, default=13, help="the seed of every random choice")
    parser.add_argument("--threads", type=int, default=0, help="threads of PyTorch; 0: its default")
    parser.add_argument("--batches", type=int, default=0, help="train on this many batches, with a schedule to match; 0: on all")
    return parser


def return_exit_code(command: Callable[[Sequence[str] | None], None]) -> Callable[..., int]:
    """`command` with an exit code: 0, or 2 after the one sentence of an error that the user can do something about."""

    @wraps(command)
    def run(arguments: Sequence[str] | None = None) -> int:
        try:
            command(arguments)
        except CounterpointError as error:
            print(error, file=sys.stderr)
            return 2
        return 0

    return run
