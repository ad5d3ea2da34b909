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

from nli.judge import Abstract
from nli.reader.encode import DocumentTokenizer, EncodedDocument
from retrieval.core.probabilities import logistic

WITHIN, EDGE = 0.3, 0.5
"""The probabilities from which a word belongs to an answer within it, and as its first or last."""
_AROUND = " .,;:()[]{}\"'“”‘’"
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Answers:
    """How probably a paper answers a question, the words that name its answer, "" where no words do, and how probably its surest
    word does; both 0 to 1."""

    probability: float
    text: str
    named: float

    @property
    def likelihood(self) -> float:
        """How probably the paper answers the question with these words."""
        return self.probability * self.named


def make_claim(question: str, answer: str) -> str:
    """An answer to a question as the claim that a reader reads: "What helps against cluster headache? Verapamil."."""
    return f"{question.rstrip(' ?.!')}? {answer[:1].upper()}{answer[1:]}."


class AnswerFinder(Protocol):
    """Tells what papers answer to an open question."""

    name: str

    def find_answers(self, question: str, documents: Sequence[Abstract]) -> list[Answers]:
        """What each document answers, in order."""
        ...


def decode_answers(
    document: Abstract, encoding: EncodedDocument, odds: NDArray[np.float32], tokenize: DocumentTokenizer
) -> Answers:
    """The answer by the log `odds` [tokens]: the surest run of words of the title or, where it names none, of a sentence."""
    probabilities = 1 / (1 + np.exp(-odds.astype(np.float64)))
    texts, best = (document.title, *document.sentences), (0.0, "")
    for part, start, end in encoding.parts():
        words = tokenize.find_words(texts[part])
        best = max([best, *_find_runs(texts[part], words, probabilities[start:end])], key=lambda run: run[0])
        if part == 0 and best[1]:
            break
    return Answers(logistic(float(odds[0])), _write_as(best[1], " ".join(document.sentences)), best[0])


def _find_runs(text: str, words: list[int], probabilities: NDArray[np.float64]) -> Iterator[tuple[float, str]]:
    """The runs of words that belong to an answer, each with its highest probability; `words` has the place of each token's."""
    surest: dict[int, float] = {}
    for word, probability in zip(words, probabilities.tolist(), strict=False):
        surest[word] = max(surest.get(word, 0.0), probability)
    spans = [match.span() for match in _WORD.finditer(text)]
    run: list[int] = []
    for place in range(len(spans) + 1):
        if surest.get(place, 0.0) >= (WITHIN if run else EDGE):
            run.append(place)
        elif run:
            while surest[run[-1]] < EDGE:
                run.pop()
            yield max(surest[one] for one in run), text[spans[run[0]][0] : spans[run[-1]][1]].strip(_AROUND)
            run = []


def _write_as(phrase: str, text: str) -> str:
    """A phrase as a text writes it within a sentence, if it does."""
    written = [match[0] for match in re.finditer(re.escape(phrase), text, re.IGNORECASE)] if phrase else []
    return min(written, key=lambda one: sum(map(str.isupper, one)), default=phrase)
