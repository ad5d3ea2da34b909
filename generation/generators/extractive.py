"""The embedded generator: an answer quoted from the papers. No network, no language model, the same bytes every time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from generation.draft import CitedSource, Draft, DraftSentence, Finding, Limits, Source
from generation.quoting import LONGEST_QUOTE, choose_quotable, drop_label, stands_alone, trim_sentence
from retrieval.core.errors import BadConfig
from retrieval.core.values import Topic
from retrieval.rerank.reranker import Reranker
from retrieval.words.abbreviations import find_acronyms
from retrieval.words.terms import find_subject, find_terms, weigh_share

_SHARE = 0.5
"""The share of the question's content words that a sentence must hold to be quoted from a paper that was not read for it."""


class ExtractiveGenerator:
    """A `Generator` that only quotes: a sentence of each paper, at most `sentences` and `words` in all.

    If the papers were read for the question, these are their findings, and nothing else is written. If not, they are the
    sentences that can stand alone and come nearest to the question by the reranker, in the papers' order.
    """

    extractive = True

    def __init__(self, reranker: Reranker | None = None, sentences: int = 7, words: int = 170) -> None:
        if sentences < 1 or words < 1:
            raise BadConfig(f"sentences {sentences}, words {words} do not fit; expected two counts of at least 1.")
        self._reranker, self._sentences, self._words = reranker, sentences, words
        self.name = f"extractive with {reranker.name}" if reranker else "extractive"

    def __call__(self, topic: Topic, sources: Sequence[Source], limits: Limits, prompt: str) -> Draft:
        """The quotations, each citing its paper; `prompt` is for language models."""
        words = min(self._words, limits.words)
        if any(source.finding for source in sources):
            return Draft(sentences=tuple(write_findings(sources, self._sentences, words)))
        return Draft(sentences=tuple(self._quote_nearest(topic.question, sources, words)))

    def rewrite(self, sentence: str, topic: Topic, sources: Sequence[Source], limits: Limits) -> Draft:
        """A quotation cannot be rewritten."""
        return Draft()

    def _quote_nearest(self, question: str, sources: Sequence[Source], words: int) -> Iterator[DraftSentence]:
        """The sentence of each paper nearest to the question, in their order; the nearest have a place first, no text twice."""
        wanted = find_subject(question)
        numbers: dict[str, int] = {}
        for source in sources:
            for text in _list_quotable(source):
                numbers.setdefault(text, source.number)
        shares = {text: share for text in numbers if (share := weigh_share(wanted, find_terms(text))) >= _SHARE}
        scores = self._reranker(question, list(shares)) if self._reranker else shares.values()
        nearest: dict[int, str] = {}
        for text, _ in sorted(zip(shares, scores, strict=True), key=lambda pair: -pair[1]):
            length = sum(len(other.split()) for other in nearest.values())
            if numbers[text] not in nearest and len(nearest) < self._sentences and length + len(text.split()) <= words:
                nearest[numbers[text]] = text
        yield from (DraftSentence(text, (CitedSource(number),)) for number, text in sorted(nearest.items()))


def _list_quotable(source: Source) -> Iterator[str]:
    """The sentences of a source that can stand alone, as they are shown; only its own findings, if these are known."""
    for sentence in source.sentences:
        text = trim_sentence(choose_quotable(sentence.text))
        if stands_alone(text) and (source.own_findings is None or sentence.index in source.own_findings):
            yield text


def write_findings(sources: Sequence[Source], most: int, words: int) -> Iterator[DraftSentence]:
    """A sentence for each source that has a finding, in their order, at most `most` and of at most `words` words in all.

    The first that takes the opposite side to the first source is introduced as a contrast; it is included before any of the
    others. If all are too long to be quoted, the first that has room is quoted nevertheless.
    """
    reporters = [source for source in sources if source.finding]
    lead = next((source.finding.stance for source in reporters if source.finding), None)
    contrast = next((one for one in reporters if one.finding and lead and one.finding.stance not in (None, lead)), None)
    first = [one for one in (*reporters[:1], contrast) if one]
    sentences: dict[int, DraftSentence] = {}
    for source in [*first, *(one for one in reporters if one not in first)]:
        assert source.finding
        sentence = _write_finding(source, source.finding, source is contrast)
        length = sum(len(one.text.split()) for one in sentences.values())
        new = sentence and sentence.text not in {one.text for one in sentences.values()}
        if sentence and new and len(sentences) < most and length + len(sentence.text.split()) <= words:
            sentences[source.number] = sentence
    yield from (sentences[source.number] for source in reporters if source.number in sentences)
    if not sentences:
        quotes = (_write_finding(one, one.finding, longest=words) for one in reporters if one.finding)
        yield from list(filter(None, quotes))[:1]


def _write_finding(
    source: Source, finding: Finding, contrast: bool = False, longest: int = LONGEST_QUOTE
) -> DraftSentence | None:
    """The finding as it stands if it stands alone, else as a quotation; None if it is too long or too short to be either.

    A finding that leans on what stood before it ("This trial found no benefit") is no less a finding: it is quoted whole, and the
    frame around it says what kind of study says so.
    """
    quote = choose_quotable(source.sentences[finding.sentence].text)
    statement = trim_sentence(quote)
    if stands_alone(statement) and not contrast and _explain_acronyms(statement, source) == statement:
        return DraftSentence(statement, (CitedSource(source.number),))
    quote = drop_label(quote).strip().rstrip(".").rstrip()
    if not 3 <= len(quote.split()) <= longest:
        return None
    study = f"By contrast, {finding.study}" if contrast else finding.study[:1].upper() + finding.study[1:]
    text = f"{study} reports: “{_explain_acronyms(quote, source)}”."
    return DraftSentence(text, (CitedSource(source.number, quote),))


def _explain_acronyms(quote: str, source: Source) -> str:
    """A quotation with the long form, in square brackets, after each acronym that its abstract introduces elsewhere."""
    for acronym, words in find_acronyms(source.document.abstract):
        if words.lower() not in quote.lower():
            quote = f"{acronym} [{words}]".join(re.split(rf"(?<![\w-]){re.escape(acronym)}(?![\w-])", quote, maxsplit=1))
    return quote
