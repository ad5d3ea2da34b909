"""The documents that an answer is written from: retrieve, rerank, and whether they hold enough of what is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.core.values import Hit, Topic
from retrieval.index import Index
from retrieval.rerank.reranker import make_passage
from retrieval.words.forms import add_other_forms, unify_text
from service.answering.events import OnEvent, Stage
from service.answering.lead import NEAREST, Studied, name_nearest
from service.answering.relevance import about
from service.configuration.answers import AnswerConfig
from service.configuration.models import Models


@dataclass(frozen=True, slots=True)
class TooLittle:
    """Why nothing is written, and the documents that came nearest."""

    note: str
    nearest: list[Hit]


class DocumentSearch:
    """Looks for the documents on one topic."""

    def __init__(self, index: Index, config: AnswerConfig, models: Models, topic: Topic, tell: OnEvent) -> None:
        self.index, self.config, self.models, self.topic, self.tell = index, config, models, topic, tell

    def find(self) -> list[Hit] | TooLittle:
        """The documents that the generator is given, best first, or why there is too little in them to answer from."""
        found = self._find_candidates()
        # What all candidates together lack their best ten lack too: then nothing need be reranked.
        lacking = self._lacking([text for _, text in found])
        ranked = found if lacking else self._rerank(found)
        hits, texts = [hit for hit, _ in ranked], [text for _, text in ranked]
        lacking = lacking or self._lacking(texts)
        if lacking:
            nearest = hits[: self.config.documents]
            titles = [entry.document for entry in self.index.entries([hit.pmid for hit in nearest[:NEAREST]])]
            return TooLittle(f"The index has too little on this: {lacking}.{name_nearest(titles)}", nearest)
        return hits

    def find_studied(self, studied: Studied, fill: bool) -> list[Hit]:
        """The papers on a yes-or-no question, those first that carry the lead; `fill` adds the next best documents."""
        hits = [Hit(one.evidence.document.pmid, one.evidence.score) for one in studied.papers]
        if fill:
            there = {hit.pmid for hit in hits}
            hits += [hit for hit, _ in self._rerank(self._find_candidates()) if hit.pmid not in there]
        return hits[: self.config.documents]

    def _find_candidates(self) -> list[tuple[Hit, str]]:
        """The candidates by BM25, best first, with the text that a reranker reads; a retracted paper is none of them."""
        step, rerank = self.config.retrieve, self.config.rerank
        self.tell(Stage("retrieve", f"Searching {self.index.manifest.counts.documents:,} documents."))
        query = _make_query(self.topic, step.query)
        hits = self.index.search(add_other_forms(query) if step.spellings else query, step.k)
        if rerank and rerank.depth:
            hits = hits[: rerank.depth]
        entries = self.index.entries([hit.pmid for hit in hits])
        both = zip(hits, entries, strict=True)
        return [(hit, make_passage(entry.document)) for hit, entry in both if not entry.document.retracted]

    def _rerank(self, found: Sequence[tuple[Hit, str]]) -> list[tuple[Hit, str]]:
        """The documents that the generator is given, best first."""
        step = self.config.rerank
        if step is None:
            return list(found[: self.config.documents])
        self.tell(Stage("rerank", f"Reading {len(found):,} documents."))
        scores = self.models.rerankers[step.model](_make_query(self.topic, step.query), [text for _, text in found])
        # sorted() is stable: of two equal scores the better BM25 rank stands first.
        ranked = sorted(zip(found, scores, strict=True), key=lambda pair: -pair[1])[: self.config.documents]
        return [(Hit(hit.pmid, score), text) for (hit, text), score in ranked]

    def _lacking(self, texts: Sequence[str]) -> str:
        """Why there is too little to answer from, "" where there is enough."""
        enough = self.config.enough
        if not texts:
            return "no document shares a word with the question"
        if enough is None:
            return ""
        best = sorted(about(self.topic.question, texts), reverse=True)[: min(enough.among, self.config.documents)]
        held = sum(best) / len(best)
        reason = f"the best documents cover {held:.0%} of what the question asks about; {enough.about:.0%} is needed"
        return reason if held < enough.about else ""


def unify_topic(topic: Topic) -> Topic:
    """The topic in American spelling, its Greek letters as their names."""
    parts = (unify_text(part) for part in (topic.question, topic.topic, topic.narrative))
    return Topic(topic.id, *parts)


def _make_query(topic: Topic, parts: str) -> str:
    """The parts of a topic, joined; where what is asked for is not there the question stands in."""
    named = [getattr(topic, part) for part in parts.split("+")]
    return " ".join(part for part in named if part) or topic.question
