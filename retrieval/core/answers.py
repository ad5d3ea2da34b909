"""The parts of an answer to a question: sentences with checked citations, conflicts, the lead, and the cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from retrieval.core.values import Document, Evidence, Hit, Sentence, Stance, Topic, Verdict


@dataclass(frozen=True, slots=True)
class Citation:
    """A document cited for a sentence of an answer, and the sentence of its abstract that supports it.

    `verdict` is the judge's verdict with that sentence as the premise and the answer's sentence as the hypothesis; `verbatim`
    means that the answer's sentence is in the abstract word for word, which needs no judge.
    """

    document: Document
    sentence: Sentence
    verdict: Verdict
    verbatim: bool = False


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence of an answer with the citations that passed the check."""

    text: str
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class RemovedSentence:
    """A sentence that the generator wrote and the check removed, and why."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """Evidence from the index against a sentence of the answer; `sentence` is that sentence's position in the answer, from 0."""

    sentence: int
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Usage:
    """A generator's requests and tokens, as counted by its server; `cost` is in US dollars if a price is configured."""

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Drafted:
    """Counts of what a generator wrote, before any check: sentences, sentences with a citation, and citations."""

    sentences: int
    cited: int
    citations: int


LeadVerdict = Literal["yes", "no", "mixed", "unclear"]


@dataclass(frozen=True, slots=True)
class Lead:
    """What the papers of the index, weighed together, answer to a yes/no question.

    `claim` is the question as a claim; `certainty` is the probability that the verdict is right, calibrated on questions whose
    answer is known; `supporting` and `contradicting` are the papers that take a side, those that count most first; `silent` is
    the number of papers on the question that take none.
    """

    claim: str
    verdict: LeadVerdict
    certainty: float
    supporting: tuple[Evidence, ...]
    contradicting: tuple[Evidence, ...]
    silent: int = 0

    @property
    def side(self) -> Stance | None:
        """The side of the papers that carry the verdict; None if it takes none."""
        sides: dict[LeadVerdict, Stance] = {"yes": "support", "no": "contradict"}
        return sides.get(self.verdict)


Outcome = Literal["answered", "too little"]


@dataclass(frozen=True, slots=True)
class Answer:
    """A short answer to a topic's question. With the outcome "too little" there are no sentences, and `note` says why.

    `context` are the documents that the generator was given, best first; `generated_by` names the generator. `lead` is what the
    first sentence states, None unless it is a yes/no question; `drafted` is None if no generator wrote anything.
    """

    topic: Topic
    outcome: Outcome
    sentences: tuple[CitedSentence, ...]
    conflicts: tuple[Conflict, ...]
    removed: tuple[RemovedSentence, ...]
    context: tuple[Hit, ...]
    generated_by: str
    usage: Usage = Usage()
    note: str = ""
    lead: Lead | None = None
    drafted: Drafted | None = None

    @property
    def words(self) -> int:
        """The number of words in all sentences, split at white space as the track does."""
        return sum(len(sentence.text.split()) for sentence in self.sentences)
