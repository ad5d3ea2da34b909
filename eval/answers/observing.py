"""Observations of each answer of a run: its citations judged one by one, how much it repeats itself, and its uptake."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eval.answers.runs import Response
from generation.draft import Source
from nli.judge import CachingJudge, Judge, judge_by_strongest, make_premises
from retrieval.core.values import Label, Topic
from retrieval.dense.encoder import Encoder, normalise
from retrieval.store.documents import Documents
from retrieval.words.terms import measure_aboutness, split_terms
from service.answering.attribution import find_verbatim


@dataclass(frozen=True, slots=True)
class JudgedCitation:
    """A citation of the sentence at place `sentence`, from 0: what the judge decides about the whole document from its sentences
    (nli.judge), and whether the document holds the sentence verbatim. Verbatim sentences are judged all the same.

    `label` is None where the index does not hold the document or its abstract, so that nothing can be judged.
    """

    sentence: int
    pmid: str
    verbatim: bool
    label: Label | None


@dataclass(frozen=True, slots=True)
class Observed:
    """The figures of an answer; None stands where there is nothing to measure."""

    topic: str
    sentences: int
    words: int
    cited: int
    citations: tuple[JudgedCitation, ...]
    redundancy: float | None
    narrative: float | None


class Observer:
    """Observes answers, using the documents of a store, a judge of citations, and an encoder for similarity."""

    def __init__(self, store: Documents, judge: Judge, encoder: Encoder) -> None:
        self._store, self._judge, self._encoder = store, CachingJudge(judge), encoder

    def observe(self, topic: Topic, responses: Sequence[Response]) -> Observed:
        """All measurements of one answer, which has at least one sentence."""
        texts = [response.text for response in responses]
        return Observed(
            topic=topic.id,
            sentences=len(texts),
            words=sum(len(text.split()) for text in texts),
            cited=sum(bool(response.citations) for response in responses),
            citations=tuple(
                self._judge_citation(at, one.text, pmid) for at, one in enumerate(responses) for pmid in one.citations
            ),
            redundancy=mean_similarity(self._encoder, texts),
            narrative=measure_uptake(topic.narrative, " ".join(texts)),
        )

    def _judge_citation(self, sentence: int, text: str, pmid: str) -> JudgedCitation:
        entry = self._store.get(pmid)
        if entry is None or not len(entry):
            return JudgedCitation(sentence, pmid, verbatim=False, label=None)
        source = Source(1, entry.document, entry.sentences())
        is_quote = find_verbatim(text, source.sentences) is not None
        premises = make_premises(source.document.title, [found.text for found in source.sentences])
        return JudgedCitation(sentence, pmid, is_quote, judge_by_strongest(list(self._judge(text, premises))).label)


def mean_similarity(encoder: Encoder, texts: Sequence[str]) -> float | None:
    """The mean cosine over all pairs of an answer's sentences, each as the encoder reads a query; None below two sentences."""
    if len(texts) < 2:
        return None
    vectors = normalise(encoder.queries(texts))
    pairs = np.triu_indices(len(texts), k=1)
    return float((vectors @ vectors.T)[pairs].mean())


def measure_uptake(narrative: str, answer: str) -> float | None:
    """The share of the narrative's words, weighted by inverse document frequency, that the answer also holds.

    Words are stemmed lightly (retrieval.words.terms) and only exact matches count, not synonyms or meaning. The words with
    which a narrative asks ("information", "looking") are in the sum, so no answer reaches 1. None without a narrative.
    """
    return measure_aboutness(narrative, answer) if split_terms(narrative) else None
