"""The documents that an answer is written from: find, gate, and check that they cover enough of what is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from counterpoint.generation.draft import Finding
from counterpoint.nli.text.designs import has_findings
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.values import Hit, Topic
from counterpoint.retrieval.index import Index
from counterpoint.retrieval.rerank.reranker import make_passage
from counterpoint.retrieval.words.forms import unify_text
from counterpoint.retrieval.words.terms import find_subject, weigh_shared_terms
from counterpoint.service.answering.events import OnEvent, Stage
from counterpoint.service.answering.verdict import NEAREST, name_nearest
from counterpoint.service.configuration.config import AnswerConfig
from counterpoint.service.configuration.models import Models

NO_WORD = "The index has too little on this: no document shares a word with the question"


@dataclass(frozen=True, slots=True)
class FoundDocuments:
    """The documents for a generator, best first, and by PMID the findings of those that answer the question."""

    hits: list[Hit]
    findings: Mapping[str, Finding]


@dataclass(frozen=True, slots=True)
class TooLittle:
    """Why no answer is written, and the documents that came nearest."""

    note: str
    nearest: list[Hit]


class DocumentSearch:
    """Finds the documents on one topic."""

    def __init__(self, index: Index, config: AnswerConfig, models: Models, topic: Topic, on_event: OnEvent) -> None:
        self.index, self.config, self.models, self.topic, self.on_event = index, config, models, topic, on_event

    def find(self) -> FoundDocuments | TooLittle:
        """The documents for the generator, best first; or why there is nothing to answer from."""
        found = self._find_candidates()
        if not found:
            return self.lack(NO_WORD)
        return FoundDocuments([hit for hit, _ in self._rerank(found, self.config.documents)], {})

    def add_next(self, read: Sequence[Hit], findings: Mapping[str, Finding]) -> FoundDocuments:
        """The papers that were read for the question, with what they found, then the next best documents."""
        there = {hit.pmid for hit in read}
        more = [hit for hit, _ in self._rerank(self._find_candidates(), self.config.documents) if hit.pmid not in there]
        return FoundDocuments([*read, *more][: self.config.documents], findings)

    def find_near_topic(self) -> list[Hit]:
        """The papers with findings that are nearest to the whole topic, best first, whether or not they answer its question."""
        ranked = self._rerank(self._find_candidates("question+topic+narrative"), None)
        entries = self.index.entries([hit.pmid for hit, _ in ranked])
        near = (hit for (hit, _), entry in zip(ranked, entries, strict=True) if len(entry) and has_findings(entry.document))
        return list(islice(near, self.config.documents))

    def _find_candidates(self, parts: str = "") -> list[tuple[Hit, str]]:
        """The candidates by BM25 for these parts of the topic, or the configured ones, best first, with what a reranker reads.

        Retracted papers are left out.
        """
        step, gate = self.config.find, self.config.gate
        self.on_event(Stage("find", f"Searching {format_count(self.index.manifest.counts.documents, 'document')}."))
        query = _make_query(self.topic, parts or step.query)
        hits = self.index.search(query, step.k, step.spellings)
        depth = gate.depth if gate and gate.depth else len(hits)
        both = zip(hits, self.index.entries([hit.pmid for hit in hits[:depth]]), strict=False)
        return [(hit, make_passage(entry.document)) for hit, entry in both if not entry.document.retracted]

    def _rerank(self, found: Sequence[tuple[Hit, str]], most: int | None) -> list[tuple[Hit, str]]:
        """The `most` best of these documents, best first; all of them if `most` is None."""
        step = self.config.gate
        if step is None:
            return list(found[:most])
        self.on_event(Stage("gate", f"Reading {format_count(len(found), 'document')}."))
        scores = self.score(_make_query(self.topic, step.query), [text for _, text in found])
        # sorted() is stable: of two equal scores, the better BM25 rank comes first.
        ranked = sorted(zip(found, scores, strict=True), key=lambda pair: -pair[1])[:most]
        return [(Hit(hit.pmid, score), text) for (hit, text), score in ranked]

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """How well each text answers the query, by the configured reranker; all alike without one."""
        step = self.config.gate
        return self.models.rerankers[step.model](query, texts) if step else [0.0] * len(texts)

    def lack(self, reason: str, nearest: Sequence[Hit] = ()) -> TooLittle:
        """Why no answer is written, with the nearest papers: those given, or else the hits that contain most of the question."""
        near = list(nearest) or self._find_nearest()
        titles = [entry.document for entry in self.index.entries([hit.pmid for hit in near[:NEAREST]])]
        return TooLittle(f"{reason}.{name_nearest(titles)}", near[: self.config.documents])

    def _find_nearest(self) -> list[Hit]:
        found = self._find_candidates()
        shares = measure_coverage(self.topic.question, [text for _, text in found])
        return [hit for (hit, _), _ in sorted(zip(found, shares, strict=True), key=lambda pair: -pair[1])]


def unify_topic(topic: Topic) -> Topic:
    """The topic in American spelling, with Greek letters written as their names."""
    parts = (unify_text(part) for part in (topic.question, topic.topic, topic.narrative))
    return Topic(topic.id, *parts)


def _make_query(topic: Topic, parts: str) -> str:
    """The named parts of a topic, joined; the question if all of them are empty."""
    named = [getattr(topic, part) for part in parts.split("+")]
    return " ".join(part for part in named if part) or topic.question


def measure_coverage(question: str, texts: Sequence[str]) -> list[float]:
    """The share of the question's informative words that each text contains, in the same or other words, 0 to 1.

    Words are weighted by their rarity. A ranking only says which text is better; this says whether one is about it at all.
    """
    wanted = find_subject(question)
    return [weigh_shared_terms(question, wanted, text) for text in texts]
