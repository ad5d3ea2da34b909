"""The judge interface: what a sentence says about a claim.

A judge is anything that turns a claim and premises into verdicts, in order and lazily, so that a caller that needs only the
first three contradictions does not pay for more after the third.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from counterpoint.retrieval.core.code_hash import hash_code
from counterpoint.retrieval.core.probabilities import softmax
from counterpoint.retrieval.core.result_cache import Cache, make_key
from counterpoint.retrieval.core.values import Label, Premise, Verdict

WINDOW = 64
"""Premises judged at a time: enough to sort by length, few enough that a caller that stops early saves work."""
_BYTES = struct.Struct("<3d")
"""A verdict on disk: its three probabilities, at full precision."""


class Judge(Protocol):
    """`name` identifies model and weights, so that every verdict can be traced to them."""

    name: str

    def __call__(self, claim: str, premises: Iterable[Premise]) -> Iterator[Verdict]:
        """One verdict per premise, in order; consumes premises only as verdicts are requested (at most a window ahead)."""


@dataclass(frozen=True, slots=True)
class Abstract:
    """What a reader reads in one pass: a title and the sentences that follow it, in order."""

    title: str
    sentences: tuple[str, ...]


def drop_question(title: str) -> str:
    """The title as a small reader sees it: empty for a question, which states nothing but is easily read as a yes to it."""
    return "" if title.rstrip(" .]").endswith("?") else title


@dataclass(frozen=True, slots=True)
class Reading:
    """A reader's result for one document: a verdict on the whole, and one on each sentence (None for a sentence not read)."""

    document: Verdict
    sentences: tuple[Verdict | None, ...]


@dataclass(frozen=True, slots=True)
class OppositeRule:
    """How a comparison is read: its opposite's verdict counts with `weight`, from 0 to 1; `side` is the least probability of a
    side."""

    weight: float
    side: float


@dataclass(frozen=True, slots=True)
class FullTextRule:
    """How full texts are read beside abstracts: how many `passages` of a paper are looked at, how many `words` are read at once,
    and whether a row of a table, which may be of a subgroup, gives a paper its side by itself."""

    passages: int = 10
    words: int = 95
    row_decides: bool = False


class Decide(Protocol):
    """From a paper's readings to its verdict; `quotes` is how many of its sentences are read once more with the title.

    From the probability `off_claim` on that it takes no side, a paper's first reading stands, and nothing is read once more.
    """

    @property
    def quotes(self) -> int:
        """How many sentences to read once more."""

    @property
    def off_claim(self) -> float:
        """The probability of neither side from which the first reading stands."""

    @property
    def full_text(self) -> FullTextRule:
        """How full texts are read."""

    @property
    def opposite(self) -> OppositeRule | None:
        """How comparisons are read; None for as all claims are."""

    def __call__(self, whole: Reading, quoted: Sequence[Verdict]) -> Verdict:
        """The verdict on the paper."""


@dataclass(frozen=True, slots=True)
class DecideAsRead:
    """The decision of a reader whose verdict on the whole paper stands."""

    quotes: int = 0
    off_claim: float = 1.0
    full_text: FullTextRule = FullTextRule()
    opposite: OppositeRule | None = None

    def __call__(self, whole: Reading, quoted: Sequence[Verdict]) -> Verdict:
        """The verdict on the paper."""
        return replace(whole.document, of="document")


@runtime_checkable
class Reader(Judge, Protocol):
    """A judge that also reads whole abstracts: the stance of the paper and that of each sentence, in one pass.

    `paper` derives the verdict on a paper from its readings.
    """

    paper: Decide

    def read_abstracts(self, claim: str, documents: Iterable[Abstract]) -> Iterator[Reading]:
        """One reading per document, in order."""


def make_premises(title: str, sentences: Sequence[str]) -> list[Premise]:
    """Each sentence of a text as a judge receives it: with the title and the sentences around it."""
    texts = ("", *sentences, "")
    return [Premise(text, title, texts[at], texts[at + 2]) for at, text in enumerate(sentences)]


class SentenceReader:
    """A judge of sentences as a reader: it reads an abstract sentence by sentence, and the strongest judges the paper."""

    def __init__(self, judge: Judge) -> None:
        self.name = judge.name
        self.paper: Decide = DecideAsRead()
        self._judge = judge

    def __call__(self, claim: str, premises: Iterable[Premise]) -> Iterator[Verdict]:
        """The judge's own verdicts."""
        return self._judge(claim, premises)

    def read_abstracts(self, claim: str, documents: Iterable[Abstract]) -> Iterator[Reading]:
        """One reading per document, in order."""
        for one in documents:
            verdicts = tuple(self._judge(claim, make_premises(drop_question(one.title), one.sentences)))
            yield Reading(judge_by_strongest(verdicts), verdicts)


def make_reader(judge: Judge) -> Reader:
    """The judge if it reads abstracts, else one that does so with it."""
    return judge if isinstance(judge, Reader) else SentenceReader(judge)


_WIDEST = 8.0
"""The largest log odds that a probability is turned into."""


def compute_margins(verdicts: Sequence[Verdict]) -> NDArray[np.float64]:
    """[sentences, 2]: the log odds of support and of contradict against neutral."""
    shares = np.array([[v.support, v.neutral, v.contradict] for v in verdicts]).reshape(-1, 3)
    shares = np.log(np.maximum(shares, 1e-9))
    odds: NDArray[np.float64] = np.clip(shares[:, [0, 2]] - shares[:, [1]], -_WIDEST, _WIDEST)
    return odds


def judge_by_strongest(verdicts: Sequence[Verdict]) -> Verdict:
    """A document's verdict by the strongest of its sentences' for either side; it takes one that is likelier than not."""
    support, contradict = compute_margins(verdicts).max(axis=0) if verdicts else (-_WIDEST, -_WIDEST)
    for_it, neither, against = softmax(np.array([support, 0.0, contradict])).tolist()
    side: Label = "support" if for_it >= against else "contradict"
    return Verdict(for_it, neither, against, decided=side if max(for_it, against) > 0.5 else "neutral")


class CachingJudge:
    """A judge that is asked once for each (claim, premise). Use it for one request only, since it never evicts anything."""

    def __init__(self, judge: Judge) -> None:
        self.name, self._judge = judge.name, judge
        self._kept: dict[tuple[str, ...], Any] = {}

    def __call__(self, claim: str, premises: Iterable[Premise]) -> Iterator[Verdict]:
        """One verdict per premise, in order, lazily."""

        def predict(chunk: Sequence[Premise]) -> list[Verdict]:
            keys = [("premise", claim, one.text, one.title, one.before, one.after) for one in chunk]
            return self._recall(keys, chunk, lambda new: self._judge(claim, new))

        return judge_lazily(predict, premises, WINDOW)

    def _recall(
        self, keys: Sequence[tuple[str, ...]], asked: Sequence[Any], answer: Callable[[list[Any]], Iterator[Any]]
    ) -> list[Any]:
        """What is kept under each key or, where nothing is, the answer to what is asked."""
        found = self._get(keys)
        if new := {key: one for key, one in zip(keys, asked, strict=True) if key not in found}:
            answers = dict(zip(new, answer(list(new.values())), strict=True))
            self._put(answers)
            found |= answers
        return [found[key] for key in keys]

    def _get(self, keys: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], Any]:
        return {key: self._kept[key] for key in keys if key in self._kept}

    def _put(self, answers: Mapping[tuple[str, ...], Any]) -> None:
        self._kept.update(answers)


class DiskCachingJudge(CachingJudge):
    """A judge whose verdicts outlive the process: each (claim, premise) is judged once for as long as `cache` holds its verdict.

    Only for judges that give a pair the same verdict whatever else they judge with it.
    """

    def __init__(self, judge: Judge, cache: Cache) -> None:
        super().__init__(judge)
        self.cache, self._made_by = cache, (judge.name, hash_code([type(judge).__module__]))

    def _get(self, keys: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], Any]:
        entries = self.cache.get([make_key(*self._made_by, *key) for key in keys])
        return {key: _unpack(entry, key[0] == "abstract") for key, entry in zip(keys, entries, strict=True) if entry}

    def _put(self, answers: Mapping[tuple[str, ...], Any]) -> None:
        self.cache.put((make_key(*self._made_by, *key), _pack(one)) for key, one in answers.items())


class CachingReader(CachingJudge):
    """The same for a reader: each abstract is read once for a claim."""

    def __init__(self, reader: Reader, *cache: Cache) -> None:
        super().__init__(reader, *cache)
        self._reader, self.paper = reader, reader.paper

    def read_abstracts(self, claim: str, documents: Iterable[Abstract]) -> Iterator[Reading]:
        """One reading per document, in order."""
        abstracts = list(documents)
        keys = [("abstract", claim, one.title, *one.sentences) for one in abstracts]
        return iter(self._recall(keys, abstracts, lambda new: self._reader.read_abstracts(claim, new)))


class DiskCachingReader(CachingReader, DiskCachingJudge):
    """A reader whose readings outlive the process, as the verdicts on the whole and on each sentence."""


def cache_verdicts(judge: Judge) -> Judge:
    """The judge with a cache, so that it is never asked the same thing twice."""
    return CachingReader(judge) if isinstance(judge, Reader) else CachingJudge(judge)


def cache_verdicts_on_disk(judge: Judge, cache: Cache) -> Judge:
    """The judge with its verdicts cached on disk."""
    return DiskCachingReader(judge, cache) if isinstance(judge, Reader) else DiskCachingJudge(judge, cache)


def _pack(answer: Verdict | Reading) -> bytes:
    verdicts = (answer,) if isinstance(answer, Verdict) else (answer.document, *answer.sentences)
    return b"".join(_BYTES.pack(*((v.support, v.neutral, v.contradict) if v else (math.nan,) * 3)) for v in verdicts)


def _unpack(entry: bytes, whole: bool) -> Verdict | Reading:
    first, *others = (None if math.isnan(row[0]) else Verdict(*row) for row in _BYTES.iter_unpack(entry))
    assert first is not None
    return Reading(first, tuple(others)) if whole else first


def judge_lazily(
    predict: Callable[[Sequence[Premise]], Sequence[Verdict]], premises: Iterable[Premise], window: int
) -> Iterator[Verdict]:
    """Judge `premises` window by window: within one window a model may sort and batch as it likes."""
    stream = iter(premises)
    while chunk := list(islice(stream, window)):
        yield from predict(chunk)
