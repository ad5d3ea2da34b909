"""The judge's seam: what a sentence says about a claim.

A judge is anything that turns a claim and premises into verdicts, in order and lazily, so that a rule that needs only the
first three contradictions stops paying after the third.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Protocol

from retrieval.values import Premise, Verdict


class Judge(Protocol):
    """`name` identifies model and weights, so that every verdict can be traced to them."""

    name: str

    def __call__(self, claim: str, premises: Iterable[Premise]) -> Iterator[Verdict]:
        """One verdict a premise, in order; consumes premises only as verdicts are asked for (a window ahead)."""
        ...


def lazily(
    predict: Callable[[Sequence[Premise]], Sequence[Verdict]], premises: Iterable[Premise], window: int
) -> Iterator[Verdict]:
    """Judge `premises` window by window: within one window a model may sort and batch as it likes."""
    stream = iter(premises)
    while chunk := list(islice(stream, window)):
        yield from predict(chunk)
