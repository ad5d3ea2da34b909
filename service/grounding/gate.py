"""Gate: which of the papers found are worth reading, best first."""

from __future__ import annotations

from collections.abc import Sequence

from nli.text.designs import has_findings
from retrieval.core.values import Claim
from retrieval.rerank.reranker import Reranker, make_passage
from retrieval.store.rows import Entry
from retrieval.words.aboutness import measure_aboutness

ON_SUBJECT = 0.1
"""The share of a claim's rare words that a paper must contain to be read. Every paper known to answer a claim contains more
(docs/experiments.md)."""


def gate(reranker: Reranker, claim: Claim, found: Sequence[Entry], most: int) -> list[Entry]:
    """The `most` papers that answer the claim best by the reranker, best first.

    Protocols, which have no findings yet, papers without an abstract and papers on another subject are left out.
    """
    # "It is safe for most patients" could be about anything: if there is a question, it names the subject.
    subject = claim.question or claim.text
    passages = [(entry, make_passage(entry.document)) for entry in found if len(entry) and has_findings(entry.document)]
    able = [(entry, text) for entry, text in passages if measure_aboutness(subject, text) >= ON_SUBJECT]
    scores = reranker(claim.text, [text for _, text in able])
    # sorted() is stable: of two equal scores, the better rank of the search comes first.
    ranked = sorted(zip(able, scores, strict=True), key=lambda pair: -pair[1])
    return [entry for (entry, _), _ in ranked[:most]]
