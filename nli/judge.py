"""The judge's seam: what a sentence says about a claim.

A judge is anything that turns a claim and premises into verdicts, in order and lazily, so that a rule that needs only the
first three contradictions stops paying after the third.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Protocol

from nli.decision import Decision
from retrieval.kept import Kept, key
from retrieval.source import code_sha256
from retrieval.values import Premise, Verdict

WINDOW = 64
"""Premises judged at a time: enough to sort by length, few enough that a rule that stops early saves work."""
_TWO_WAY_WINDOW = 16
"""Premises that are read both ways at a time."""
_BYTES = struct.Struct("<3d")
"""A verdict on disk: its three probabilities, to the last bit."""


class Judge(Protocol):
    """`name` identifies model and weights, so that every verdict can be traced to them; `decision` says what a document holds
    from the verdicts on its sentences (`nli.decision.PLAIN` where none was fitted for the model)."""

    name: str
    decision: Decision

    def __call__(self, claim: str, premises: Iterable[Premise]) -> Iterator[Verdict]:
        """One verdict a premise, in order; consumes premises only as verdicts are asked for (a window ahead)."""
        ...


class Remembering:
    """A judge that is asked once for each (claim, premise); for the length of one request, since nothing is ever forgotten."""

    def __init__(self, judge: Judge) -> None:
        self.name, self.decision, self._judge = judge.name, judge.decision, judge
        self._known: dict[tuple[str, Premise], Verdict] = {}

    def __call__(self, claim: str, premises: Iterable[Premise]) -> Iterator[Verdict]:
        """One verdict a premise, in order, lazily."""

        def predict(chunk: Sequence[Premise]) -> list[Verdict]:
            new = [premise for premise in dict.fromkeys(chunk) if (claim, premise) not in self._known]
            self._known.update(((claim, premise), verdict) for premise, verdict in zip(new, self._judge(claim, new), strict=True))
            return [self._known[claim, premise] for premise in chunk]

        return lazily(predict, premises, WINDOW)


class Keeping:
    """A judge whose verdicts outlive the process: each (claim, premise) is judged once for as long as `kept` holds it.

    Only for judges that give a pair the same verdict whatever else they are asked about.
    """

    def __init__(self, judge: Judge, kept: Kept) -> None:
        self.name, self.decision, self._judge, self.kept = judge.name, judge.decision, judge, kept
        self._made_by = (judge.name, code_sha256([type(judge).__module__]))

    def __call__(self, claim: str, premises: Iterable[Premise]) -> Iterator[Verdict]:
        """One verdict a premise, in order, lazily."""

        def predict(chunk: Sequence[Premise]) -> list[Verdict]:
            keys = [key(*self._made_by, claim, p.text, p.title, p.before, p.after) for p in chunk]
            known = {k: Verdict(*_BYTES.unpack(found)) for k, found in zip(keys, self.kept.get(keys), strict=True) if found}
            new = {k: premise for k, premise in zip(keys, chunk, strict=True) if k not in known}
            if new:
                made = dict(zip(new, self._judge(claim, list(new.values())), strict=True))
                self.kept.put((k, _BYTES.pack(v.support, v.neutral, v.contradict)) for k, v in made.items())
                known.update(made)
            return [known[k] for k in keys]

        return lazily(predict, premises, WINDOW)


class BothWays:
    """A judge that reads each pair in both directions, premise to claim and claim to premise, and gives the mean.

    The paper's two-way scoring (arXiv 2603.17580, appendix B). Each premise is the hypothesis of a call of its own, so this costs
    more than twice as much.
    """

    def __init__(self, judge: Judge) -> None:
        self.name, self.decision, self._judge = judge.name, judge.decision, judge

    def __call__(self, claim: str, premises: Iterable[Premise]) -> Iterator[Verdict]:
        """One mean verdict a premise, in order."""
        stated = Premise(claim)

        def back(premise: Premise) -> Verdict:
            return next(iter(self._judge(premise.text, [stated])))

        with ThreadPoolExecutor(os.cpu_count()) as pool:

            def both(chunk: Sequence[Premise]) -> list[Verdict]:
                others = pool.map(back, chunk)
                return [_mean(one, other) for one, other in zip(self._judge(claim, chunk), others, strict=True)]

            yield from lazily(both, premises, _TWO_WAY_WINDOW)


def _mean(one: Verdict, other: Verdict) -> Verdict:
    return Verdict((one.support + other.support) / 2, (one.neutral + other.neutral) / 2, (one.contradict + other.contradict) / 2)


def lazily(
    predict: Callable[[Sequence[Premise]], Sequence[Verdict]], premises: Iterable[Premise], window: int
) -> Iterator[Verdict]:
    """Judge `premises` window by window: within one window a model may sort and batch as it likes."""
    stream = iter(premises)
    while chunk := list(islice(stream, window)):
        yield from predict(chunk)
