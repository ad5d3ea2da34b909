"""Grounding what was typed: a paper by its finding, a yes-or-no question by the claim it asks about, anything else as it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from nli.text.forms import load_form_model
from retrieval.core.errors import BadInput
from retrieval.core.values import Claim, Evidence, Grounding
from retrieval.index import Index
from retrieval.runtime.usage import count_usage
from service.grounding.ground import Grounder
from service.grounding.schemas import GroundResponse
from service.grounding.weigh import weigh
from service.queries.classify import classify_query, say_no_claim
from service.queries.follow_ups import find_follow_ups
from service.queries.papers import check_known, find_finding, open_paper
from service.queries.schemas import MOST_TYPED, TypedGroundResponse, TypedOut
from service.queries.spelling import find_missing, suggest_words
from service.schemas import Provenance, SentenceOut

Ground = Callable[[Claim], Grounding]


def check_written(text: str) -> str:
    """The text, if it is not empty and has at most 200,000 characters; raises `BadInput` for any other."""
    if not text.strip():
        raise BadInput("The text is empty; give a claim, a question, keywords, a PMID or DOI, or a text.")
    if len(text) > MOST_TYPED:
        raise BadInput(f"The text has {len(text):,} characters; the limit is {MOST_TYPED:,}, so shorten it.")
    return text


def describe_query(index: Index, text: str) -> TypedOut:
    """What the input is taken for on an index; raises `BadInput` for a paper that the index does not hold."""
    typed = classify_query(text, index.store)
    if typed.cited:
        entry = open_paper(index.store, typed.cited, index.manifest.counts.documents)
        finding = find_finding(entry)
        sentence = SentenceOut.of(finding[0]) if finding else None
        return TypedOut.of(typed, finding[1] if finding else "", entry.document, sentence)
    if typed.kind not in ("claim", "question", "keywords"):
        return TypedOut.of(typed, typed.claim)
    # Without its verb a claim would be none; whether papers use just that verb says nothing of them.
    form = load_form_model().choose(typed.text)
    words = find_missing(index, typed.text)
    missing = tuple(word for word in words if load_form_model().choose(typed.text.replace(word, "")) == form)
    return TypedOut.of(typed, typed.claim, suggestions=suggest_words(index, typed.text), missing=missing)


def ground_query(grounder: Grounder, claim: Claim, ground: Ground | None = None) -> tuple[TypedGroundResponse, Grounding]:
    """Both sides of what was typed as a claim, with what it was taken for; and the grounding behind the response.

    `ground` replaces the grounder's own method, for callers that time or watch it. Raises `BadInput` for a paper that the index
    does not hold, or that has no abstract, for keywords, and for a known paper that is none.
    """
    typed = describe_query(grounder.index, claim.text)
    statement = _mean(check_known(claim, grounder.index.store), typed)
    grounding = (ground or grounder.ground)(statement)
    if typed.paper:
        grounding = _leave_out(grounding, typed.paper.pmid)
    budget = grounder.config.budget
    with count_usage(budget.left(grounding.usage) if budget else None) as tally:
        follow_ups = find_follow_ups(grounder, statement.text, found=weigh(grounding).says)
    grounding = replace(grounding, follow_ups=follow_ups, usage=grounding.usage + tally.total)
    response = GroundResponse.of(grounding, Provenance.of(grounder))
    return TypedGroundResponse(**dict(response), typed=typed), grounding


def _mean(claim: Claim, typed: TypedOut) -> Claim:
    """The claim that is meant; raises `BadInput` for keywords."""
    if typed.kind == "keywords":
        hints = [f"no document contains “{one.word}”: did you mean “{one.instead}”?" for one in typed.suggestions]
        raise BadInput(" ".join([say_no_claim(typed.text), *(f"{hint[0].upper()}{hint[1:]}" for hint in hints)]))
    if typed.paper:
        if not typed.claim:
            raise BadInput(f"{typed.paper.pmid} has no abstract in this index, so there is nothing to check; type a claim.")
        return replace(claim, text=typed.claim, known_pmids=tuple(dict.fromkeys((*claim.known_pmids, typed.paper.pmid))))
    if typed.kind == "question" and typed.claim:
        return replace(claim, text=typed.claim)
    return claim


def _leave_out(grounding: Grounding, pmid: str) -> Grounding:
    """The grounding without the paper itself, which is no evidence for or against its own finding."""

    def others(evidence: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
        rest = [one for one in evidence if one.document.pmid != pmid]
        return (
            tuple(replace(one, rank=rank) for rank, one in enumerate(rest, evidence[0].rank))
            if len(rest) < len(evidence)
            else evidence
        )

    lists = ("contradicting", "supporting", "uncertain", "more", "silent")
    rest: dict[str, Any] = {name: others(getattr(grounding, name)) for name in lists}
    return replace(grounding, **rest)
