"""The judge of a branch at work: which texts and documents of the ranking it is asked about, and in which order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, islice

from nli.decision.document import Decision
from nli.decision.skim import choose_most_promising, find_telling
from nli.judges.judge import Reader
from nli.text.designs import has_findings
from retrieval.core.values import Premise
from service.grounding.deciding import (
    decide_from_reading,
    decide_from_sentences,
    make_abstract,
    make_premise,
    measure_relevance,
    require_names,
)
from service.grounding.request import Request
from service.grounding.values import DecidedDocument, JudgedText, RankedDocument, Text

HOPE = 0.03
"""A document is read whole if its most telling sentences give this probability of a stance (docs/experiments.md), or less if
documents with less are to be listed."""

ON_SUBJECT = 0.1
"""The share of a claim's rare words that a document must contain to be read for it. Every paper known to answer a
claim contains more, and "We thank our colleagues" is about no claim (docs/experiments.md)."""


def judge_texts(request: Request, ranking: Sequence[RankedDocument]) -> Iterator[JudgedText]:
    """The judge's verdicts on sentences or whole abstracts past the filter, in ranking order; lazily, unless it is frugal."""
    step = request.judging
    candidates = ranking[: step.documents]
    if step.frugal:
        return iter(_judge_frugally(request, _drop_out_of_reach(request, request.judge.decision, candidates)))
    texts = _abstracts(request, candidates) if step.level == "document" else _sentences(request, candidates)
    return request.ask(request.judge, _skim(request, texts))


def decide_documents(request: Request, ranking: Sequence[RankedDocument]) -> Iterator[DecidedDocument]:
    """The judge's decision on each document that it read, in ranking order.

    Protocols, which have no findings yet, and papers on another subject are not read.
    """
    reader, step = request.reader, request.judging
    candidates = list(islice((one for one in ranking if _can_answer(request, one)), step.documents))
    if reader:
        return _read(request, reader, _drop_out_of_reach(request, reader.decision, candidates) if step.frugal else candidates)
    by_document = groupby(judge_texts(request, candidates), key=lambda one: one.candidate.position)
    return (decide_from_sentences(request, tuple(texts)) for _, texts in by_document)


def texts_of(request: Request, candidate: RankedDocument) -> Iterator[Text]:
    """The candidate's sentences past the filter, each with those around it."""
    for sentence in request.sentences(candidate):
        yield Text(candidate, sentence, make_premise(candidate.entry, sentence))


def _sentences(request: Request, candidates: Sequence[RankedDocument]) -> Iterator[Text]:
    for candidate in candidates:
        yield from texts_of(request, candidate)


def _abstracts(request: Request, candidates: Sequence[RankedDocument]) -> Iterator[Text]:
    for candidate in candidates:
        document = candidate.entry.document
        if document.abstract and request.sentence_count(candidate):
            yield Text(candidate, None, Premise(text=document.abstract, title=document.title))


def _skim(request: Request, texts: Iterator[Text]) -> Iterator[Text]:
    """The texts most worth a slow judge's time, if the branch allows skimming and the profile sets a limit; else all."""
    limit = request.models.profile.skim
    if not (request.judging.skim and limit):
        return texts
    every = list(texts)
    places = choose_most_promising(request.claim.text, [(one.candidate.position, one.premise) for one in every], limit)
    return iter([every[place] for place in places])


def _judge_frugally(request: Request, candidates: Sequence[RankedDocument]) -> list[JudgedText]:
    """The verdicts that can matter: first on each document's most telling sentences, then, if these are promising, the rest."""
    texts = list(_sentences(request, candidates))
    probes = [
        place
        for _, group in groupby(range(len(texts)), key=lambda place: texts[place].candidate.position)
        for place in find_telling(request.claim.text, [(place, texts[place].premise) for place in group])
    ]
    judge, least = request.judge, min(HOPE, _compute_least(request, request.judge.decision))
    results = dict(zip(probes, request.ask(judge, iter([texts[place] for place in probes])), strict=True))
    hopeful = set()
    for position, group in groupby(results.values(), key=lambda one: one.candidate.position):
        verdict = decide_from_sentences(request, tuple(group)).verdict
        if max(verdict.support, verdict.contradict) >= least:
            hopeful.add(position)
    rest = [place for place, one in enumerate(texts) if one.candidate.position in hopeful and place not in results]
    results.update(zip(rest, request.ask(judge, iter([texts[place] for place in rest])), strict=True))
    return [results[place] for place in sorted(results)]


def _drop_out_of_reach(request: Request, decision: Decision, candidates: Sequence[RankedDocument]) -> Sequence[RankedDocument]:
    """The candidates that could still be listed; the best match is always kept, so that something is read."""
    least = _compute_least(request, decision)
    rest = [one for one in candidates[1:] if decision.reach(*measure_relevance(request, one)) >= least]
    return [*candidates[:1], *rest]


def _compute_least(request: Request, decision: Decision) -> float:
    """The smallest probability of a stance with which a document is listed, even if only as uncertain."""
    uncertain = request.branch.select.uncertain
    return uncertain if uncertain is not None else min(decision.thresholds)


def _read(request: Request, reader: Reader, candidates: Sequence[RankedDocument]) -> Iterator[DecidedDocument]:
    """Read each abstract in one pass."""
    documents = [one for one in candidates if len(one.entry)]
    readings = reader.read_abstracts(request.claim.text, [make_abstract(one.entry) for one in documents])
    for candidate, reading in zip(documents, readings, strict=True):
        yield require_names(request, decide_from_reading(request, reader, candidate, reading))


def _can_answer(request: Request, candidate: RankedDocument) -> bool:
    return has_findings(candidate.entry.document) and measure_relevance(request, candidate)[1] >= ON_SUBJECT
