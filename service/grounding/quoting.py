"""Which sentence of a paper is quoted: a finding that speaks for the paper's side, also when it is read alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from nli.decision.select import get_probability
from nli.judges.judge import Abstract, Reader
from nli.reader.abridge import score_findings
from nli.reader.alone import MOST, weigh_alone
from retrieval.core.values import Sentence, Stance
from service.grounding.request import Request
from service.grounding.values import ChosenDocument, DecidedDocument, JudgedText


def rank_quotable(claim: str, label: Stance, one: DecidedDocument) -> list[tuple[JudgedText, float]]:
    """The sentences that may be quoted for the label, best first, with their fitness; at least one.

    Where only sentences were judged, it is the most probable one. Where the paper was read as a whole, the squares of the
    probabilities are weighted by how far a sentence is a finding on the claim.
    """
    if one.verdict.of == "sentence":
        strongest = max(one.sentences, key=lambda text: get_probability(text.verdict, label))
        return [(strongest, get_probability(strongest.verdict, label))]
    shares = score_findings(claim, [sentence.text for sentence in one.candidate.entry.sentences()])
    fitness = [
        get_probability(text.verdict, label) ** 2 * float(shares[text.sentence.index] if text.sentence else 0.0)
        for text in one.sentences
    ]
    return sorted(zip(one.sentences, fitness, strict=True), key=lambda pair: -pair[1])[:MOST]


def keep_sentences(ranked: Sequence[tuple[JudgedText, float]]) -> tuple[tuple[Sentence, float], ...]:
    """The ranked texts without verdicts, and without whole abstracts."""
    return tuple((text.sentence, fitness) for text, fitness in ranked if text.sentence)


def quote_best(request: Request, documents: Sequence[ChosenDocument]) -> list[ChosenDocument]:
    """The documents, each with that of its quotable sentences which speaks most clearly for the side when it is read alone."""
    quotes = _choose_quotes(request, [one.quotable for one in documents])
    return [replace(one, sentence=quote or one.sentence) for one, quote in zip(documents, quotes, strict=True)]


def quote_one(request: Request, one: DecidedDocument) -> Sentence | None:
    """The sentence to quote from one paper for the request's side; None if only whole abstracts were judged."""
    return _choose_quotes(request, [keep_sentences(rank_quotable(request.claim.text, request.label, one))])[0]


def _choose_quotes(request: Request, papers: Sequence[Sequence[tuple[Sentence, float]]]) -> list[Sentence | None]:
    """The best of each paper's quotable sentences; the first where there is no reader or no other. None where there is none."""
    rivals = [some if len(some) > 1 else () for some in papers]
    reader = request.reader if any(rivals) else None
    if reader is None:
        return [some[0][0] if some else None for some in papers]
    alone = iter(_read_alone(request, reader, [sentence for some in rivals for sentence, _ in some]))
    worth = [{sentence: weigh_alone(math.sqrt(fitness), next(alone)) for sentence, fitness in some} for some in rivals]
    best = [max(some, key=some.__getitem__) if some else None for some in worth]
    return [quote or (some[0][0] if some else None) for quote, some in zip(best, papers, strict=True)]


def _read_alone(request: Request, reader: Reader, sentences: Sequence[Sentence]) -> list[float]:
    """The probability of the side for each sentence without its title and neighbours."""
    readings = reader.read_abstracts(request.claim.text, [Abstract("", (sentence.text,)) for sentence in sentences])
    return [get_probability(reading.document, request.label) for reading in readings]
