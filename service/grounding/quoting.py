"""Which sentence of a paper is quoted: a finding that speaks for the paper's side, if possible also when it is read alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nli.decision.select import get_probability
from nli.judges.judge import Abstract
from nli.reader.abridge import score_findings
from nli.reader.alone import READ_ALONE, weigh_alone
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
    return sorted(zip(one.sentences, fitness, strict=True), key=lambda pair: -pair[1])[:READ_ALONE]


def keep_sentences(ranked: Sequence[tuple[JudgedText, float]]) -> tuple[tuple[Sentence, float], ...]:
    """The ranked texts without verdicts, and without whole abstracts."""
    return tuple((text.sentence, fitness) for text, fitness in ranked if text.sentence)


def quote_best(request: Request, documents: Sequence[ChosenDocument]) -> list[ChosenDocument]:
    """The documents, each with the best of its quotable sentences, by their fitness and by what they say when read alone."""
    quotes = _choose_quotes(request, request.label, [one.quotable for one in documents])
    return [replace(one, sentence=quote or one.sentence) for one, quote in zip(documents, quotes, strict=True)]


def quote_one(request: Request, side: Stance, one: DecidedDocument) -> Sentence | None:
    """The sentence to quote for a side from one paper that the request's judge decided on; None if only whole abstracts were
    judged."""
    return _choose_quotes(request, side, [keep_sentences(rank_quotable(request.claim.text, side, one))])[0]


def _choose_quotes(request: Request, side: Stance, papers: Sequence[Sequence[tuple[Sentence, float]]]) -> list[Sentence | None]:
    """The best of each paper's quotable sentences, or None where there are none. Only rivals of the same paper are read."""
    rivals = [sentence for some in papers if len(some) > 1 for sentence, _ in some]
    reader = request.reader if rivals else None
    if reader is None:
        return [some[0][0] if some else None for some in papers]
    readings = reader.read_abstracts(request.claim.text, [Abstract("", (sentence.text,)) for sentence in rivals])
    alone = {one: get_probability(reading.document, side) for one, reading in zip(rivals, readings, strict=True)}
    return [max(some, key=lambda pair: weigh_alone(pair[1], alone.get(pair[0], 0.0)))[0] if some else None for some in papers]
