"""The last step of a branch: the sentence to show for a chosen document, and the evidence that this makes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from nli.decision.select import get_probability
from nli.judges.judge import Abstract
from nli.reader.alone import weigh_alone
from nli.text.scope import negation_scopes
from nli.wording.qualify import find_qualifiers
from retrieval.core.values import Document, Evidence, Sentence, Stance, Verdict
from service.grounding.judging import texts_of
from service.grounding.reasons import why
from service.grounding.request import Request
from service.grounding.rules import keep_sentences, rank_quotable
from service.grounding.values import ChosenDocument, DecidedDocument, Selection

_WORD = re.compile(r"\w+")


def show(request: Request, choices: Sequence[ChosenDocument], first: int = 1) -> tuple[Evidence, ...]:
    """The chosen documents as evidence, in order, each with a sentence if it has any; ranks begin at `first`."""
    return tuple(
        evidence_for(
            request.claim.text, request.stance, one.candidate.entry.document, one.sentence, one.verdict, rank, one.score,
            scored_by=one.scored_by,
        )
        for rank, one in enumerate((_with_sentence(request, one) for one in choices), first)
    )  # fmt: skip


def quote_best(request: Request, selection: Selection) -> Selection:
    """The selection, each document but the silent with the best of its quotable sentences, by their fitness and what they say
    alone."""
    kinds = (selection.chosen, selection.uncertain, selection.more)
    quotes = iter(_choose_quotes(request, request.label, [one.quotable for some in kinds for one in some]))
    chosen, uncertain, more = ([replace(one, sentence=next(quotes) or one.sentence) for one in some] for some in kinds)
    return Selection(chosen, uncertain, more, selection.silent)


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


def evidence_for(
    claim: str,
    stance: Stance,
    document: Document,
    sentence: Sentence | None,
    verdict: Verdict | None,
    rank: int,
    score: float,
    scored_by: str,
) -> Evidence:
    """A document on one side of a claim, with the sentence that says so, its negations and its qualifiers."""
    scopes = negation_scopes(sentence) if sentence else ()
    qualifiers = find_qualifiers(claim, sentence) if sentence else ()
    return Evidence(
        document=document,
        stance=stance,
        sentence=sentence,
        rank=rank,
        score=score,
        scored_by=scored_by,
        verdict=verdict,
        negations=scopes,
        qualifiers=qualifiers,
        why=why(claim, stance, sentence, verdict, scopes, qualifiers, scored_by),
    )


def _with_sentence(request: Request, choice: ChosenDocument) -> ChosenDocument:
    """The document with a sentence to show, if its rule named none.

    The sentence is chosen by a judge's verdict, or by the words that it shares with the claim.
    """
    sentences = request.sentences(choice.candidate) if choice.sentence is None else ()
    if not sentences:
        return choice
    step = request.branch.evidence
    if step is None or step.by == "overlap":
        return replace(choice, sentence=max(sentences, key=_overlap(request.claim.text)))
    texts = request.ask(request.models.judges[step.by], texts_of(request, choice.candidate))
    best = max(texts, key=lambda one: get_probability(one.verdict, request.stance))
    return replace(choice, sentence=best.sentence, verdict=best.verdict)


def _overlap(claim: str) -> Callable[[Sentence], float]:
    """A score for sentences: the share of the claim's words that a sentence contains."""
    words = set(_WORD.findall(claim.lower()))

    def score(sentence: Sentence) -> float:
        return len(words & set(_WORD.findall(sentence.text.lower()))) / len(words) if words else 0.0

    return score
