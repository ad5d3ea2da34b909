"""The four rules of selection: which documents of a ranking a branch returns. None of them calls a model itself.

A rule reads verdicts only as far as it needs them: if they are lazy, no more is judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from math import floor

from nli.decision.select import Penalty, get_probability
from nli.reader.abridge import score_findings
from nli.reader.alone import READ_ALONE
from retrieval.core.values import OPPOSITE, Sentence, Stance, Verdict
from service.grounding.request import Request
from service.grounding.values import ChosenDocument, DecidedDocument, JudgedText, RankedDocument, Selection

UNASKED = Verdict(0.0, 1.0, 0.0)
"""The verdict on a text that the judge was not asked about."""


def choose_top(request: Request, ranking: Sequence[RankedDocument]) -> Selection:
    """The top of the ranking, among the documents that pass the filter."""
    candidates = [one for one in ranking if request.branch.filter is None or request.sentence_count(one)]
    return Selection([ChosenDocument(one, None, None, one.score, one.scored_by) for one in candidates[: request.branch.select.n]])


def choose_first(request: Request, texts: Iterable[JudgedText]) -> Selection:
    """The first documents of the ranking with a text that the judge gives the label, each with its most probable such text.

    The paper's rule for contradictions (arXiv 2603.17580, V5). It reads up to the first verdict on the document after the last
    one that it chooses.
    """
    label, scored_by = request.label, request.judge.name

    def find_labelled() -> Iterator[JudgedText]:
        for _, of_document in groupby(texts, key=lambda one: one.candidate.position):
            matches = [one for one in of_document if one.verdict.label == label]
            if matches:
                yield max(matches, key=lambda one: get_probability(one.verdict, label))

    choices = islice(find_labelled(), request.branch.select.n)
    return Selection(
        [
            ChosenDocument(one.candidate, one.sentence, one.verdict, get_probability(one.verdict, label), scored_by)
            for one in choices
        ]
    )


def choose_likeliest(request: Request, decisions: Iterable[DecidedDocument]) -> Selection:
    """The documents that the judge's decision gives the label, most probable first, each with its strongest sentence.

    A neutral document is uncertain if the label has at least the rule's `uncertain` probability, and no less than its opposite;
    those that do not mention what the claim names come last. The other neutral documents are silent.
    """
    choices: list[ChosenDocument] = []
    close: list[ChosenDocument] = []
    unnamed: list[ChosenDocument] = []
    silent: list[ChosenDocument] = []
    for one in decisions:
        doubtful = _doubtful(request, one.verdict)
        # A document that is equally probable on both sides comes close on both, but is listed once.
        left_out = request.without | request.close if doubtful else request.without
        if one.candidate.entry.pmid not in left_out and (doubtful or one.verdict.label == request.label):
            kind = choices if not doubtful else unnamed if one.unnamed else close
            kind.append(_by_strongest(request, one))
        elif one.verdict.label == "neutral":
            silent.append(_by_strongest(request, one))
    choices, limit = _order_likeliest(request, choices), request.branch.select.n
    uncertain = [*_order_likeliest(request, close), *_order_likeliest(request, unnamed)]
    return Selection(
        choices[:limit], uncertain[:limit], [*choices[limit:], *uncertain[limit:]], _order_likeliest(request, silent)
    )


def choose_penalised(request: Request, ranking: Sequence[RankedDocument], texts: Iterable[JudgedText]) -> Selection:
    """The documents with the best penalised score (arXiv 2603.17580, appendix B); what was not judged counts as neutral."""
    verdicts = {one.candidate.position: one.verdict for one in texts}
    candidates = [one for one in ranking if request.sentence_count(one)]
    step = request.branch.select
    penalty = Penalty(**step.penalty.model_dump())
    order = penalty.order(
        [verdicts.get(one.position, UNASKED) for one in candidates], [one.entry.cue_count() for one in candidates]
    )
    best = [(candidates[place], score) for place, score in order[: step.n]]
    scored_by = f"S(d) by {request.judge.name}"
    return Selection([ChosenDocument(one, None, verdicts.get(one.position), score, scored_by) for one, score in best])


def _doubtful(request: Request, verdict: Verdict) -> bool:
    """Whether a document is neutral though it may well have a stance."""
    at_least, label = request.branch.select.uncertain, request.label
    if at_least is None or verdict.label != "neutral":
        return False
    return get_probability(verdict, label) >= max(at_least, get_probability(verdict, OPPOSITE[label]))


def _by_strongest(request: Request, one: DecidedDocument) -> ChosenDocument:
    """A document with its strongest sentence, and the verdict on the document if it was read whole, else on the sentence."""
    ranked = rank_quotable(request.claim.text, request.label, one)
    strongest = ranked[0][0]
    verdict = one.verdict if one.verdict.of == "document" else strongest.verdict
    likely = get_probability(one.verdict, request.label)
    return ChosenDocument(one.candidate, strongest.sentence, verdict, likely, request.judge.name, keep_sentences(ranked))


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


def _order_likeliest(request: Request, documents: list[ChosenDocument]) -> list[ChosenDocument]:
    """The most probable first; retracted papers come last, and of near equals the newer comes first."""
    step = request.branch.select.recency

    def place(one: ChosenDocument) -> tuple[bool, float, int, float]:
        document = one.candidate.entry.document
        return document.retracted, -floor(one.score / step) if step else -one.score, -(document.year or 0), -one.score

    return sorted(documents, key=place)
