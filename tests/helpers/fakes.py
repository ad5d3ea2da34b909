"""Small stand-ins for the seams: a judge that goes by a word, a reranker that counts one, and an index made of a few lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from counterpoint.indexes.build import build
from counterpoint.nli.judge import Abstract, Decide, FullTextRule, Judge, OppositeRule, Reader, Reading, drop_question
from counterpoint.retrieval.core.values import Answer, Citation, CitedSentence, Hit, Premise, Topic, Verdict
from counterpoint.retrieval.index import Index
from counterpoint.service import assembly
from counterpoint.service.assembly import load_config
from counterpoint.service.calls.calls import Progress, ground
from counterpoint.service.calls.requests import GroundRequest
from counterpoint.service.configuration.config import GroundingConfig, ReadStep, load_profile
from counterpoint.service.configuration.models import Models
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.operating.live_index import Serving
from counterpoint.service.queries.schemas import GroundedInput

CONTRADICTS, SUPPORTS = Verdict(0.1, 0.1, 0.8), Verdict(0.7, 0.25, 0.05)
NEUTRAL, SILENT = Verdict(0.2, 0.6, 0.2), Verdict(0.02, 0.96, 0.02)
_BY_WORD = (("against", CONTRADICTS), ("for", SUPPORTS), ("silent", SILENT))


class WordJudge:
    """Contradict where the text holds "against", support where it holds "for", surely neutral where it holds "silent", else
    neutral; keeps what it was asked."""

    name = "word-judge@1"

    def __init__(self) -> None:
        self.read: list[str] = []

    def __call__(self, claim: str, premises: Iterable[Premise]) -> Iterator[Verdict]:
        for premise in premises:
            self.read.append(premise.text)
            words = premise.text.lower().replace(".", " ").split()
            yield next((verdict for word, verdict in _BY_WORD if word in words), NEUTRAL)


class StoppingJudge(WordJudge):
    """Ctrl-C when it is asked for the n-th time."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.left = after

    def __call__(self, claim: str, premises: Iterable[Premise]) -> Iterator[Verdict]:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return super().__call__(claim, premises)


@dataclass(frozen=True)
class WholePaper:
    """A paper is what its reading as a whole says; `quotes` sentences are read once more, for the quotation alone."""

    quotes: int = 0
    off_claim: float = 1.0
    full_text: FullTextRule = field(default_factory=FullTextRule)
    opposite: OppositeRule | None = None

    def __call__(self, whole: Reading, quoted: Sequence[Verdict]) -> Verdict:
        return replace(whole.document, of="document")


class WordReader:
    """Reads whole abstracts: a paper is what its title says by the words of `WordJudge`, or, where that has none of them, its
    first sentence."""

    name = "word-reader@1"
    paper: Decide = WholePaper()

    def __call__(self, claim: str, premises: Iterable[Premise]) -> Iterator[Verdict]:
        return WordJudge()(claim, premises)

    def read_abstracts(self, claim: str, documents: Iterable[Abstract]) -> Iterator[Reading]:
        """One reading a document, in order."""
        for document in documents:
            title, *own = self(claim, [Premise(text) for text in (drop_question(document.title), *document.sentences)])
            yield Reading(own[0] if title == NEUTRAL else title, tuple(own))


class WordReranker:
    """The more often a text says "best", the better it is."""

    name = "word-reranker@1"

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        return [float(text.lower().count("best")) for text in texts]


def make_index(folder: Path, documents: Iterable[dict[str, Any]]) -> Index:
    """A real index of a few documents in Counterpoint's own format."""
    folder.mkdir(parents=True, exist_ok=True)
    corpus = folder / "corpus.jsonl"
    corpus.write_text("".join(f"{json.dumps(document)}\n" for document in documents), "utf-8")
    build([corpus], folder / "index")
    return Index(folder / "index")


def make_grounder(index: Index, config: str = "v5") -> tuple[Grounder, WordJudge]:
    """The named variant over an index, with the stand-ins for models."""
    judge = WordJudge()
    return assembly.make_grounder(index, load_config(config), _models(judge)), judge


def make_reading_grounder(
    index: Index, reader: Reader | None = None, gate: Sequence[str] = ("relevance",), **read: Any
) -> Grounder:
    """Our own variant over an index with a reader for its judge: every verdict shown is on a whole paper. It reads five papers,
    or what the fields `read` of its step say, chosen by the models of its `gate`."""
    config = load_config("counterpoint")
    assert isinstance(config, GroundingConfig)
    step = ReadStep(model="stance", papers=5).model_copy(update=read)
    config = config.model_copy(update={"path": config.path.model_copy(update={"read": step, "gate": list(gate)})})
    return Grounder(index, config, _models(reader or WordReader()))


def ground_text(grounder: Grounder, text: str) -> GroundedInput:
    """What is found for a text that was typed as a claim."""
    return ground(Serving(grounder, None, None), GroundRequest(claim=text), Progress()).response


def _models(judge: Judge) -> Models:
    return Models(load_profile("embedded"), {"relevance": WordReranker()}, {"stance": judge, "sentences": judge})


def made_answer(topic: Topic, sentences: Sequence[tuple[str, Sequence[str]]], index: Index, note: str = "") -> Answer:
    """An answer of these (text, PMIDs), each citation borne out by the first sentence of its document."""
    cited = []
    for text, pmids in sentences:
        entries = list(index.entries(pmids))
        cited.append(CitedSentence(text, tuple(Citation(one.document, one.sentences()[0], SUPPORTS) for one in entries)))
    context = tuple(Hit(pmid, 1.0) for pmid in dict.fromkeys(pmid for _, pmids in sentences for pmid in pmids))
    return Answer(topic, "answered" if cited else "too little", tuple(cited), (), (), context, "scripted", note=note)
