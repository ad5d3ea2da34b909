"""What a judge says about one document, be it ranked by a search or cited by a text."""

from __future__ import annotations

from dataclasses import replace

from nli.judges.judge import Abstract, Reader, Reading, drop_question
from nli.reader.decision import decide
from retrieval.core.values import Premise, Sentence
from retrieval.rerank.reranker import make_passage
from retrieval.store.rows import Entry
from retrieval.words.aboutness import measure_aboutness
from retrieval.words.names import find_unnamed
from service.grounding.request import Request
from service.grounding.values import DecidedDocument, JudgedText, RankedDocument, Text

MOST_NAMES = 3
"""The most names that a reason lists."""


def decide_alone(request: Request, entry: Entry) -> DecidedDocument:
    """What the branch's judge says about a document that no search ranked: it counts as the best match and is read in full.

    The document must have a sentence.
    """
    candidate = RankedDocument(0, 0.0, "", entry)
    if request.reader:
        (reading,) = request.reader.read_abstracts(request.claim.text, [make_abstract(entry)])
        return decide_from_reading(request, request.reader, candidate, reading)
    texts = (Text(candidate, sentence, make_premise(entry, sentence)) for sentence in entry.sentences())
    return decide_from_sentences(request, tuple(request.ask(request.judge, texts)))


def decide_from_sentences(request: Request, texts: tuple[JudgedText, ...]) -> DecidedDocument:
    """The judge's decision from the verdicts on one document's sentences, of which there is at least one."""
    candidate = texts[0].candidate
    decision = request.judge.decision
    return DecidedDocument(candidate, texts, decision([one.verdict for one in texts], *measure_relevance(request, candidate)))


def decide_from_reading(request: Request, reader: Reader, candidate: RankedDocument, reading: Reading) -> DecidedDocument:
    """The reader's decision from its reading of one document; every sentence that it read counts as judged."""
    texts = tuple(
        JudgedText(candidate, sentence, verdict)
        for sentence, verdict in zip(candidate.entry.sentences(), reading.sentences, strict=True)
        if verdict is not None
    )
    request.count(candidate, len(texts))
    return DecidedDocument(candidate, texts, decide(reader.decision, reading, *measure_relevance(request, candidate)))


def require_names(request: Request, decided: DecidedDocument) -> DecidedDocument:
    """The decision on a document that a search found: neutral if it does not mention what the claim names.

    Its probabilities stay as they are.
    """
    unnamed = find_unnamed(request.claim.text, make_passage(decided.candidate.entry.document))
    if not unnamed:
        return decided
    names = [f"“{word}”" for word in unnamed[:MOST_NAMES]]
    reason = f"title and abstract do not mention {' or '.join(names)}"
    return replace(decided, verdict=replace(decided.verdict, decided="neutral", reason=reason), unnamed=unnamed)


def measure_relevance(request: Request, candidate: RankedDocument) -> tuple[float, float]:
    """What a decision uses besides a document's sentences: how far it is behind the best match, and its aboutness."""
    # "It is safe for most patients" could be about anything: if there is a question, it names the subject.
    subject = request.claim.question or request.claim.text
    return candidate.behind, measure_aboutness(subject, make_passage(candidate.entry.document))


def make_abstract(entry: Entry) -> Abstract:
    """A document as a reader receives it."""
    return Abstract(drop_question(entry.document.title), tuple(sentence.text for sentence in entry.sentences()))


def make_premise(entry: Entry, sentence: Sentence) -> Premise:
    """A sentence of a document as a judge receives it: with the title and the sentences around it."""
    spans, abstract = entry.spans, entry.document.abstract

    def text(index: int) -> str:
        return abstract[slice(*spans[index])] if 0 <= index < len(spans) else ""

    return Premise(sentence.text, entry.document.title, text(sentence.index - 1), text(sentence.index + 1))
