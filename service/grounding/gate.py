"""Gate: which of the papers found are worth reading, best first."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from nli.text.designs import has_findings
from nli.text.populations import studied_others
from retrieval.core.values import Claim, Document
from retrieval.rerank.reranker import Reranker, make_passage
from retrieval.store.rows import Entry
from retrieval.words.names import find_unnamed


def gate(reranker: Reranker, claim: Claim, found: Sequence[Entry], most: int) -> list[Entry]:
    """The `most` papers that answer the claim best by the reranker, best first, and the known papers among them besides.

    Papers without an abstract, protocols, which have no findings yet, and papers that mention not all that the claim names, or
    studied other people, are left out: a reader is not sure to notice either.
    """
    passages = [(entry, make_passage(entry.document)) for entry in found if len(entry) and has_findings(entry.document)]
    able = [(entry, text) for entry, text in passages if is_on_subject(claim.text, entry.document, text)]
    scores = reranker(claim.text, [text for _, text in able])
    # sorted() is stable: of two equal scores, the better rank of the search comes first.
    ranked = sorted(zip(able, scores, strict=True), key=lambda pair: -pair[1])
    new = accumulate(entry.pmid not in claim.known_pmids for (entry, _), _ in ranked)
    return [entry for ((entry, _), _), count in zip(ranked, new, strict=True) if count <= most]


def is_on_subject(claim: str, document: Document, passage: str) -> bool:
    """Whether a paper mentions every drug, exposure, disease or group of people that a claim names, and studied no other people.

    Of papers that a search finds for a claim and that say nothing on it, 31 % lack such a name, of those on a side 2 %
    (docs/experiments.md).
    """
    return not find_unnamed(claim, passage) and not studied_others(claim, document.title)
