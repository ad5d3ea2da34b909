"""What an answer to a question is made of: sentences with checked citations, conflicts, the lead, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from retrieval.core.values import Document, Evidence, Hit, Sentence, Topic, Verdict


@dataclass(frozen=True, slots=True)
class Citation:
    """A document cited for a sentence of an answer, and the sentence of its abstract that bears the answer's out.

    `verdict` is the judge's opinion of that sentence as the premise and the answer's sentence as the hypothesis; `verbatim` says
    that the answer's sentence stands there word for word, which needs no judge.
    """

    document: Document
    sentence: Sentence
    verdict: Verdict
    verbatim: bool = False


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence of an answer with the citations that were checked and hold."""

    text: str
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class RemovedSentence:
    """A sentence that the generator wrote and the check took out, and why."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """Evidence of the index against a sentence of the answer; `sentence` is its place in the answer, from 0."""

    sentence: int
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Usage:
    """What a generator was asked, by its server's own counts; `cost` is in US dollars where a price is configured."""

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Drafted:
    """What a generator wrote before anything was checked: sentences, those of them with a citation, and citations."""

    sentences: int
    cited: int
    citations: int


LeadVerdict = Literal["yes", "no", "mixed", "unclear"]


@dataclass(frozen=True, slots=True)
class Lead:
    """What the papers of the index say, weighed together, to a question that asks for yes or no.

    `claim` is the question as a claim; `certainty` is the probability that the verdict is the right one, calibrated on questions
    whose answer is known; `supporting` and `contradicting` are the papers that take a side, those that count most first; `silent`
    is how many on the question take none.
    """

    claim: str
    verdict: LeadVerdict
    certainty: float
    supporting: tuple[Evidence, ...]
    contradicting: tuple[Evidence, ...]
    silent: int = 0


Outcome = Literal["answered", "too little"]


@dataclass(frozen=True, slots=True)
class Answer:
    """A short answer to a topic's question. With the outcome "too little" there are no sentences, and `note` says why.

    `context` are the documents that the generator was given, best first; `generated_by` names the generator. `lead` is what the
    first sentence says, None where the question asks for no yes or no; `drafted` is None where no generator wrote.
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
        """The words of all sentences, counted at white space as the track does."""
        return sum(len(sentence.text.split()) for sentence in self.sentences)
