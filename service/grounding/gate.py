"""Gate: the papers found that are worth reading, best first."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from nli.text.designs import has_findings
from retrieval.core.values import Claim
from retrieval.rerank.reranker import Reranker, make_passage
from retrieval.store.documents import Entry


def gate(reranker: Reranker, claim: Claim, found: Sequence[Entry]) -> list[Entry]:
    """The papers by how well they answer the claim according to the reranker, best first.

    Papers without an abstract, and protocols, which have no findings yet, are left out.
    """
    able = [entry for entry in found if len(entry) and has_findings(entry.document)]
    scores = reranker(claim.text, [make_passage(entry.document) for entry in able])
    # sorted() is stable: of two equal scores, the better rank of the search comes first.
    return [entry for entry, _ in sorted(zip(able, scores, strict=True), key=lambda pair: -pair[1])]


def take_best(claim: Claim, ranked: Sequence[Entry], most: int) -> Sequence[Entry]:
    """The `most` best papers, and the known papers among them besides."""
    new = accumulate(entry.pmid not in claim.known_pmids for entry in ranked)
    return ranked[: sum(count <= most for count in new)]
