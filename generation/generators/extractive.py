"""The embedded generator: an answer quoted from the papers. No network, no language model, the same bytes every time.

From the sentences that can stand alone (generation.sentences.candidates) it chooses those that are relevant to question and
narrative, central among what the other papers say, and not said already (retrieval.rerank.diverse). They stand in the order
context → mechanism → significance → intervention.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from generation.draft import CitedSource, Draft, DraftSentence, Limits, Source
from generation.sentences.candidates import QuotableSentence, find_all_candidates
from generation.sentences.findings import write_findings
from generation.sentences.order import ORDER, find_place
from generation.sentences.phrases import compile_phrases
from retrieval.core.errors import BadConfig
from retrieval.core.paper import Role
from retrieval.core.values import Topic
from retrieval.rerank.diverse import Floats, diversify
from retrieval.rerank.reranker import Reranker
from retrieval.words.terms import find_rare_words, find_subject, find_terms, weigh_share

_ROLES: dict[Role | None, float] = {"conclusion": 1.0, "results": 0.6, None: 0.5, "background": 0.1, "methods": 0.0}
_ASKS_BACKGROUND = compile_phrases("asks background")


@dataclass(frozen=True, slots=True)
class ExtractiveWeights:
    """What makes a sentence worth quoting; each part is 0 to 1 before it is weighted."""

    question: float = 1.0
    narrative: float = 0.3
    relevance: float = 0.8
    document: float = 0.4
    centrality: float = 0.4
    role: float = 0.6
    plainness: float = 0.8


class ExtractiveGenerator:
    """A `Generator` that only quotes.

    At most `sentences` and `words` are written, at most `each` from one paper. The sentence nearest to the question must hold
    the share `subject` of its telling words, or there is nothing to write; the others at least half of what that one holds.
    `novelty` is what a sentence loses for repeating another (0 to 1); one that repeats it with a similarity of at least `same`
    is cited beside it.
    """

    extractive = True

    def __init__(
        self,
        reranker: Reranker | None = None,
        sentences: int = 7,
        words: int = 170,
        each: int = 2,
        subject: float = 0.5,
        novelty: float = 0.6,
        same: float = 0.5,
    ) -> None:
        if sentences < 1 or words < 1 or each < 1 or not (0 <= subject <= 1 and 0 <= novelty <= 1 and 0 <= same <= 1):
            raise BadConfig(
                f"sentences {sentences}, words {words}, each {each}, subject {subject}, novelty {novelty}, same {same} "
                "do not fit; expected three counts of at least 1 and three shares of 0 to 1."
            )
        self._reranker, self._sentences, self._words, self._each = reranker, sentences, words, each
        self._subject, self._novelty, self._same, self._weights = subject, novelty, same, ExtractiveWeights()
        self.name = f"extractive with {reranker.name}" if reranker else "extractive"

    def __call__(self, topic: Topic, sources: Sequence[Source], limits: Limits, prompt: str) -> Draft:
        """The chosen sentences, each citing its paper and those that say the same; `prompt` is for language models.

        If the sources were read for the question, the answer states what each found and nothing else.
        """
        if any(source.finding for source in sources):
            return Draft(sentences=tuple(write_findings(sources, self._sentences, min(self._words, limits.words))))
        subject = find_subject(topic.question)
        able_to = find_all_candidates(sources)
        if not _ASKS_BACKGROUND.search(topic.question):
            # What a paper says about others, or before its own results, supports no statement.
            able_to = [one for one in able_to if one.source.tells is None or one.sentence.index in one.source.tells]
        shares = [(one, weigh_share(subject, find_terms(one.text))) for one in able_to]
        most = max((share for _, share in shares), default=0.0)
        if most < self._subject or not most:
            return Draft()
        able = [one for one, share in shares if share >= most / 2]
        cosines = compute_similarities([one.text for one in able])
        scores = self._score(topic, subject, able, cosines)
        picks = self._choose(able, scores, cosines, limits)
        places = sorted(picks, key=lambda place: (ORDER.index(find_place(able[place].text)), -scores[place]))
        return Draft(sentences=tuple(DraftSentence(able[p].text, self._cite(p, able, cosines)) for p in places))

    def rewrite(self, sentence: str, topic: Topic, sources: Sequence[Source], limits: Limits) -> Draft:
        """A quotation cannot be rewritten."""
        return Draft()

    def _score(
        self, topic: Topic, subject: dict[str, float], able: Sequence[QuotableSentence], cosines: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """[candidates]: how much each is worth quoting."""
        narrative, by = find_subject(topic.narrative), self._weights
        last = max(one.source.number for one in able)
        elsewhere = np.array([[one.source.number != other.source.number for other in able] for one in able])
        relevance = np.array(self._reranker(topic.question, [one.text for one in able]) if self._reranker else [0.0] * len(able))
        return (
            by.question * np.array([weigh_share(subject, find_terms(one.text)) for one in able])
            + by.narrative * np.array([weigh_share(narrative, find_terms(one.text)) for one in able])
            + by.relevance * _scale(relevance)
            + by.document * np.array([1 - (one.source.number - 1) / last for one in able])
            + by.centrality * _scale((cosines * elsewhere).sum(axis=1))
            + by.role * np.array([_ROLES[one.role] for one in able])
            + by.plainness * np.array([one.plainness for one in able])
        )

    def _choose(
        self, able: Sequence[QuotableSentence], scores: NDArray[np.float64], cosines: NDArray[np.float64], limits: Limits
    ) -> list[int]:
        """The places chosen, best first: each time the one with the best score less what it repeats."""
        lengths, room = [len(one.text.split()) for one in able], min(self._words, limits.words)

        def fits(row: int, picks: Sequence[int], overlap: float) -> bool:
            number = able[row].source.number
            return (
                overlap < self._same
                and lengths[row] <= room - sum(lengths[j] for j in picks)
                and self._each > sum(able[j].source.number == number for j in picks)
            )

        def less(worths: Floats, overlaps: Floats) -> Floats:
            return worths * (1 - self._novelty * overlaps)

        return diversify(scores, lambda row: cosines[row], less, self._sentences, fits)

    def _cite(self, place: int, able: Sequence[QuotableSentence], cosines: NDArray[np.float64]) -> tuple[CitedSource, ...]:
        """The sentence's own paper, then those with a sentence nearly the same, the most similar first."""
        own = able[place].source.number
        peers = sorted((j for j in range(len(able)) if cosines[place, j] >= self._same), key=lambda j: (-cosines[place, j], j))
        return tuple(CitedSource(number) for number in dict.fromkeys([own, *(able[j].source.number for j in peers)]))


def compute_similarities(texts: Sequence[str]) -> NDArray[np.float64]:
    """[texts, texts]: the cosine of their words, weighted by rarity; 0 on the diagonal."""
    term_weights = [find_rare_words(text) for text in texts]
    lengths = [sum(weight * weight for weight in one.values()) ** 0.5 or 1.0 for one in term_weights]
    cosines = np.zeros((len(texts), len(texts)))
    for i, one in enumerate(term_weights):
        for j in range(i):
            terms = one.keys() & term_weights[j].keys()
            cosines[i, j] = cosines[j, i] = sum(one[term] ** 2 for term in sorted(terms)) / (lengths[i] * lengths[j])
    return cosines


def _scale(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values moved to 0 to 1; all 0 where they are all the same."""
    spread = float(values.max() - values.min())
    return (values - values.min()) / spread if spread > 0 else np.zeros_like(values)
