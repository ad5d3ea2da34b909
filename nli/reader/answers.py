"""What a paper answers to an open question, in its own words: "verapamil" to "What helps against cluster headache?".

The small reader reads question and abstract as it reads a claim. One output says of each token whether it belongs to words that
name an answer, another of the whole paper whether it gives one; both were learnt from labelled pairs
(nli.training.reader.train_answers).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from counterpoint.nli.judge import Abstract
from counterpoint.nli.reader.encode import DocumentTokenizer, EncodedDocument
from counterpoint.retrieval.core.probabilities import logistic
from counterpoint.retrieval.words.forms import capitalise

_AROUND = " .,;:()[]{}\"'“”‘’"
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class AnswerRule:
    """Which words name an answer: `least` is the least probability of the surest of them; `within` and `edge` are the shares of
    it that a word beside it needs, within the answer and at its edge. At most `most` answers of a paper are told."""

    least: float = 0.15
    within: float = 0.35
    edge: float = 0.4
    most: int = 3


@dataclass(frozen=True, slots=True)
class Answers:
    """How probably a paper answers a question, and the words that may name its answer, each with the probability of its surest
    word, the surest first; all probabilities are 0 to 1."""

    probability: float
    names: tuple[tuple[str, float], ...]


def make_claim(question: str, answer: str) -> str:
    """An answer to a question as the claim that a reader reads: "What helps against cluster headache? Verapamil."."""
    return f"{question.rstrip(' ?.!')}? {capitalise(answer)}."


class AnswerFinder(Protocol):
    """Tells what papers answer to an open question."""

    name: str

    def find_answers(self, question: str, documents: Sequence[Abstract]) -> list[Answers]:
        """What each document answers, in order."""
        ...


def decode_answers(
    document: Abstract,
    encoding: EncodedDocument,
    odds: NDArray[np.float32],
    tokenize: DocumentTokenizer,
    rule: AnswerRule = AnswerRule(),
) -> Answers:
    """The answers by the log `odds` [tokens]: the surest runs of words of the title and the sentences, no words twice."""
    probabilities = 1 / (1 + np.exp(-odds.astype(np.float64)))
    texts, names = (document.title, *document.sentences), dict[str, tuple[str, float]]()
    runs = [
        run
        for part, start, end in encoding.parts()
        for run in _find_runs(texts[part], tokenize.find_words(texts[part]), probabilities[start:end], rule)
    ]
    for named, words in sorted(runs, key=lambda run: -run[0]):
        names.setdefault(words.lower(), (write_as(words, " ".join(document.sentences)), named))
    return Answers(logistic(float(odds[0])), tuple(names.values())[: rule.most])


def _find_runs(text: str, words: list[int], probabilities: NDArray[np.float64], rule: AnswerRule) -> Iterator[tuple[float, str]]:
    """The runs of words around the surest ones, each with its highest probability; `words` has the place of each token's."""
    surest: dict[int, float] = {}
    for word, probability in zip(words, probabilities.tolist(), strict=False):
        surest[word] = max(surest.get(word, 0.0), probability)
    spans = [match.span() for match in _WORD.finditer(text)]
    taken: set[int] = set()
    for peak in sorted(surest, key=lambda place: -surest[place]):
        most = surest[peak]
        if most < rule.least or peak in taken:
            continue
        first = last = peak
        while first - 1 not in taken and surest.get(first - 1, 0.0) >= rule.within * most:
            first -= 1
        while last + 1 not in taken and surest.get(last + 1, 0.0) >= rule.within * most:
            last += 1
        taken.update(range(first, last + 1))
        while surest[first] < rule.edge * most:
            first += 1
        while surest[last] < rule.edge * most:
            last -= 1
        yield most, text[spans[first][0] : spans[last][1]].strip(_AROUND)


def write_as(phrase: str, text: str) -> str:
    """A phrase as a text writes it within a sentence, if it does."""
    written = [match[0] for match in re.finditer(re.escape(phrase), text, re.IGNORECASE)] if phrase else []
    return min(written, key=lambda one: sum(map(str.isupper, one)), default=phrase)
