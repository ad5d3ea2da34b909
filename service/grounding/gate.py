"""Gate: the papers found that are worth reading, best first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate
from types import MappingProxyType

from counterpoint.nli.judge import Reader, compute_margins
from counterpoint.nli.long_text import make_abstract
from counterpoint.nli.text.designs import has_findings
from counterpoint.retrieval.core.values import Claim, Hit
from counterpoint.retrieval.index import reciprocal_rank_fusion
from counterpoint.retrieval.rerank.reranker import Reranker, make_passage
from counterpoint.retrieval.store.documents import Entry
from counterpoint.service.grounding.full_text import Windows


def gate(
    rerankers: Sequence[Reranker],
    readers: Sequence[Reader],
    claim: Claim,
    found: Sequence[Entry],
    windows: Windows = MappingProxyType({}),
    most: int = 0,
) -> list[Entry]:
    """The papers by how well they answer the claim according to the rerankers, and by how surely they take a side according to
    the readers, best first; several orders are fused by reciprocal rank.

    Where rerankers come first, readers read only twice the `most` papers that are read in the end (0: all); the others follow
    in the rerankers' order. For a paper without an abstract one of the `windows` of full texts stands; papers without either, and
    protocols, which have no findings yet, are left out.
    """
    able = {entry.pmid: entry for entry in found if (len(entry) or entry.pmid in windows) and has_findings(entry.document)}
    words = [entry.sentences() or windows[entry.pmid] for entry in able.values()]
    abstracts = {entry.pmid: make_abstract(entry.document.title, some) for entry, some in zip(able.values(), words, strict=True)}
    passages = [
        make_passage(
            entry.document if len(entry) else replace(entry.document, abstract=" ".join(abstracts[entry.pmid].sentences))
        )
        for entry in able.values()
    ]
    rankings = [_rank(able, reranker(claim.text, passages)) for reranker in rerankers]
    order = [hit.pmid for hit in reciprocal_rank_fusion(rankings)] if rankings else list(able)
    near = order[: 2 * most if rankings and most else None]
    if readers:
        rankings = [[hit for hit in ranking if hit.pmid in near] for ranking in rankings]
        for reader in readers:
            readings = reader.read_abstracts(claim.text, [abstracts[pmid] for pmid in near])
            rankings.append(_rank(near, compute_margins([one.document for one in readings]).max(axis=1).tolist()))
        order = [*(hit.pmid for hit in reciprocal_rank_fusion(rankings)), *order[len(near) :]]
    return [able[pmid] for pmid in order]


def _rank(pmids: Iterable[str], scores: Iterable[float]) -> list[Hit]:
    """Best first; of two equal scores, the better rank of before comes first."""
    return sorted(map(Hit, pmids, scores), key=lambda hit: -hit.score)


def take_best(claim: Claim, ranked: Sequence[Entry], most: int) -> Sequence[Entry]:
    """The `most` best papers, and the known papers among them besides."""
    new = accumulate(entry.pmid not in claim.known_pmids for entry in ranked)
    return ranked[: sum(count <= most for count in new)]
