"""What was typed as a claim, and the claim that is meant: a paper by its finding, a yes-or-no question by what it asks about."""

from __future__ import annotations

from dataclasses import replace

from counterpoint.nli.text.forms import load_form_model
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.core.values import Claim
from counterpoint.retrieval.index import Index
from counterpoint.service.queries.classify import classify_query, say_no_claim
from counterpoint.service.queries.papers import check_known, find_finding, open_paper
from counterpoint.service.queries.schemas import InputOut
from counterpoint.service.queries.spelling import find_missing, suggest_words
from counterpoint.service.schemas import SentenceOut


def describe_query(index: Index, text: str) -> InputOut:
    """What the input is taken for on an index; raises `BadInput` for a paper that the index does not hold."""
    given = classify_query(text, index.store)
    if given.cited:
        entry = open_paper(index.store, given.cited, index.manifest.counts.documents)
        finding = find_finding(entry)
        sentence = SentenceOut.of(finding[0]) if finding else None
        return InputOut.of(given, finding[1] if finding else "", entry.document, sentence)
    if given.kind not in ("claim", "question", "keywords"):
        return InputOut.of(given, given.claim)
    # Without its verb a claim would be none; whether papers use just that verb says nothing of them.
    form = load_form_model().choose(given.text)
    words = find_missing(index, given.text)
    missing = tuple(word for word in words if load_form_model().choose(given.text.replace(word, "")) == form)
    return InputOut.of(given, given.claim, suggestions=suggest_words(index, given.text), missing=missing)


def interpret(index: Index, claim: Claim) -> tuple[InputOut, Claim]:
    """What was typed as a claim, and the claim to ground, with its known papers by their ids.

    Raises `BadInput` for keywords, for a paper that the index does not hold or that has no abstract, and for a known paper that
    is none.
    """
    given, claim = describe_query(index, claim.text), check_known(claim, index.store)
    if given.kind == "keywords":
        hints = [f"no document contains “{one.word}”: did you mean “{one.instead}”?" for one in given.suggestions]
        raise BadInput(" ".join([say_no_claim(given.text), *(f"{hint[0].upper()}{hint[1:]}" for hint in hints)]))
    if given.paper:
        if not given.claim:
            raise BadInput(
                f"{given.paper.pmid} has no abstract in this index, so there is nothing to check; state a claim in a sentence."
            )
        return given, replace(claim, text=given.claim, known_pmids=tuple(dict.fromkeys((*claim.known_pmids, given.paper.pmid))))
    return given, replace(claim, text=given.claim) if given.kind == "question" and given.claim else claim
