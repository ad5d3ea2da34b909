"""What was typed as a claim, and the claim that is meant: a paper by its finding, a yes-or-no question by what it asks about."""

from __future__ import annotations

from dataclasses import replace

from nli.text.forms import load_form_model
from retrieval.core.errors import BadInput
from retrieval.core.values import Claim
from retrieval.index import Index
from service.queries.classify import classify_query, say_no_claim
from service.queries.papers import check_known, find_finding, open_paper
from service.queries.schemas import TypedOut
from service.queries.spelling import find_missing, suggest_words
from service.schemas import SentenceOut


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


def interpret(index: Index, claim: Claim) -> tuple[TypedOut, Claim]:
    """What was typed as a claim, and the claim to ground, with its known papers by their ids.

    Raises `BadInput` for keywords, for a paper that the index does not hold or that has no abstract, and for a known paper that
    is none.
    """
    typed, claim = describe_query(index, claim.text), check_known(claim, index.store)
    if typed.kind == "keywords":
        hints = [f"no document contains “{one.word}”: did you mean “{one.instead}”?" for one in typed.suggestions]
        raise BadInput(" ".join([say_no_claim(typed.text), *(f"{hint[0].upper()}{hint[1:]}" for hint in hints)]))
    if typed.paper:
        if not typed.claim:
            raise BadInput(f"{typed.paper.pmid} has no abstract in this index, so there is nothing to check; type a claim.")
        return typed, replace(claim, text=typed.claim, known_pmids=tuple(dict.fromkeys((*claim.known_pmids, typed.paper.pmid))))
    return typed, replace(claim, text=typed.claim) if typed.kind == "question" and typed.claim else claim
