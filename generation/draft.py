"""The generator's interface: a topic and its sources go in, an unchecked draft comes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from counterpoint.retrieval.core.values import Document, Sentence, Stance, Topic
from counterpoint.retrieval.rerank.reranker import make_passage


@dataclass(frozen=True, slots=True)
class Finding:
    """What a paper found about the question, according to a judge that read it: the sentence that states it, of its abstract or
    full text, its stance (None for neither side), and the kind of study in words ("a randomised trial")."""

    sentence: Sentence
    stance: Stance | None
    study: str


@dataclass(frozen=True, slots=True)
class Source:
    """A document as a generator is given it: its number in the prompt, from 1, and its sentences as the index holds them, first
    those of the abstract, then passages of its full text.

    `finding` is set if the document was read for the question; `own_findings` holds the places of the sentences that state what
    the paper itself found or concludes, None if nobody looked.
    """

    number: int
    document: Document
    sentences: tuple[Sentence, ...]
    finding: Finding | None = None
    own_findings: frozenset[int] | None = None

    @property
    def text(self) -> str:
        """Title, abstract and passages in one."""
        return " ".join((make_passage(self.document), *(one.in_context for one in self.sentences if one.location)))


@dataclass(frozen=True, slots=True)
class Limits:
    """What an answer may hold: words, counted at white space, and citations per sentence."""

    words: int = 250
    citations: int = 3


@dataclass(frozen=True, slots=True)
class CitedSource:
    """A source that a draft cites for a sentence; `part` is the part of the sentence that it is cited for, "" for all of it."""

    number: int
    part: str = ""


@dataclass(frozen=True, slots=True)
class DraftSentence:
    """A sentence of a draft, without its citation marks, and the sources that it cites, in the order of the text."""

    text: str
    cited: tuple[CitedSource, ...]


@dataclass(frozen=True, slots=True)
class Failed:
    """A sentence of which no citation holds, and why, in words."""

    sentence: DraftSentence
    reason: str


@dataclass(frozen=True, slots=True)
class Draft:
    """What a generator wrote: whole sentences where it has them, else the running text of a language model."""

    text: str = ""
    sentences: tuple[DraftSentence, ...] = ()


class Generator(Protocol):
    """`name` identifies the model, so that every answer can be traced to it; `extractive` says that it only quotes."""

    name: str
    extractive: bool

    def __call__(self, topic: Topic, sources: Sequence[Source], limits: Limits, prompt: str, first: str = "") -> Draft:
        """An answer to the topic's question from the sources alone; `prompt` names the instructions (generation/prompts), and
        `first` is the sentence with which the answer begins already, if there is one."""

    def correct(self, failed: Sequence[Failed], topic: Topic, sources: Sequence[Source]) -> list[Draft]:
        """Each sentence rewritten so that the sources support it; an empty draft for one that the generator cannot correct."""
